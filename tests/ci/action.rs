//! `action.yml`: its steps, as a runner takes them.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Yaml, repository, root, run, said};

/// The steps of the action as a runner would take them, with the inputs that
/// a workflow gives.
fn act(directory: &Path, inputs: &[(&str, &str)]) -> (i32, String, PathBuf) {
    let action = Yaml::of("action.yml");
    let given = |name: &str| {
        let default = action.at("inputs").at(name).at("default").text().to_owned();
        inputs
            .iter()
            .find(|it| it.0 == name)
            .map_or(default, |it| it.1.to_owned())
    };
    let output = directory.join("../output");
    fs::write(&output, "").unwrap();
    let mut said_all = String::new();
    let steps = action.at("runs").at("steps").list();
    for step in steps {
        let Some(script) = step.get("run") else {
            let outputs = fs::read_to_string(&output).unwrap();
            if step.at("uses").text().starts_with("actions/cache@") {
                is_cache(step, &outputs);
            } else {
                is_upload(step, &outputs, &directory.join(given("sarif")));
            }
            continue;
        };
        assert_eq!(step.at("shell").text(), "bash");
        let Yaml::Map(env) = step.at("env") else {
            panic!("no variables");
        };
        let outputs = fs::read_to_string(&output).unwrap();
        let value = |text: &str| -> String {
            let name = text.trim_start_matches("${{ ").trim_end_matches(" }}");
            match name.split_once('.').unwrap() {
                ("inputs", name) => given(name),
                ("github", "action_path") => root().display().to_string(),
                ("steps", "lint.outputs.status") => output_of(&outputs, "status=").to_owned(),
                other => panic!("{other:?}"),
            }
        };
        let mut variables: Vec<(String, String)> = env
            .iter()
            .map(|(key, it)| (key.clone(), value(it.text())))
            .collect();
        variables.push(("GITHUB_OUTPUT".to_owned(), output.display().to_string()));
        let variables: Vec<(&str, &str)> = variables
            .iter()
            .map(|(key, it)| (key.as_str(), it.as_str()))
            .collect();
        // Values come by variables: what an input says is never the script.
        assert!(!script.text().contains("${{"));
        let ended = run(script.text(), directory, &variables);
        said_all += &said(&ended);
        if !ended.status.success() {
            return (
                ended.status.code().unwrap(),
                said_all,
                directory.join(given("sarif")),
            );
        }
    }
    (0, said_all, directory.join(given("sarif")))
}

/// The output of a step: what follows `begin` on its line.
fn output_of<'o>(outputs: &'o str, begin: &str) -> &'o str {
    let mut lines = outputs.lines();
    lines.find_map(|it| it.strip_prefix(begin)).unwrap()
}

/// A step that keeps what is built, by the name of what the step before said and of nothing
/// that the workflow's repository has.
fn is_cache(step: &Yaml, outputs: &str) {
    let key = step.at("with").at("key").text().to_owned();
    assert!(key.ends_with("-${{ steps.built.outputs.of }}"), "{key}");
    assert_eq!(output_of(outputs, "of=").len(), 64, "{outputs}");
}

/// A step that runs nothing else uploads what was written, if something was.
fn is_upload(step: &Yaml, outputs: &str, sarif: &Path) {
    let uses = step.at("uses").text();
    assert!(uses.starts_with("github/codeql-action/upload-sarif@"));
    let condition = "inputs.upload == 'true' && steps.lint.outputs.written == 'true'";
    assert_eq!(step.at("if").text(), condition);
    let is_written = outputs.lines().any(|it| it == "written=true");
    assert_eq!(is_written, sarif.is_file());
}

#[test]
fn the_action_lints_uploads_and_ends_as_kdns_did() {
    let outside = repository();
    let inside = outside.path().join("checkout");
    fs::create_dir(&inside).unwrap();
    for name in ["dns", "clean"] {
        fs::rename(outside.path().join(name), inside.join(name)).unwrap();
    }
    let (status, said, sarif) = act(&inside, &[]);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("::error file=dns/Corefile,line=2,"), "{said}");
    let log: serde_json::Value = serde_json::from_str(&fs::read_to_string(sarif).unwrap()).unwrap();
    assert_eq!(
        log["runs"][0]["invocations"][0]["executionSuccessful"],
        true
    );
    assert!(!log["runs"][0]["results"].as_array().unwrap().is_empty());

    for (inputs, expected) in [
        (&[("paths", "clean"), ("args", "--assume none")][..], 0),
        (&[("paths", "clean dns")], 1),
        (
            &[
                ("paths", "clean"),
                ("args", "--assume systemd-resolved --ignore KK001"),
            ],
            0,
        ),
        (&[("paths", "nowhere")], 2),
        (&[("args", "--exit-zero"), ("sarif", "dns/a b.sarif")], 0),
        // Nothing of it is run, and no pattern becomes file names.
        (&[("paths", "$(touch evil) `touch evil` ;touch evil *")], 2),
        (&[("args", "--assume $(touch evil)")], 2),
    ] {
        let (status, said, sarif) = act(&inside, inputs);
        assert_eq!(status, expected, "{inputs:?}: {said}");
        let is_usage = said.contains("invalid value");
        assert!(sarif.is_file() || is_usage, "{inputs:?}: {said}");
        assert!(!inside.join("evil").exists(), "{inputs:?}");
    }
}

#[test]
fn the_action_has_nothing_against_a_repository_without_files_for_it() {
    let outside = tempfile::tempdir().unwrap();
    let inside = outside.path().join("checkout");
    fs::create_dir(&inside).unwrap();
    for (file, text) in [("README.md", "# a\n"), ("app.yaml", "name: a\n")] {
        let (status, said, sarif) = act(&inside, &[]);
        assert_eq!(status, 0, "{said}");
        assert!(sarif.is_file(), "{said}");
        fs::write(inside.join(file), text).unwrap();
    }
}

#[test]
fn the_action_takes_a_program_by_its_checksum_only() {
    let action = Yaml::of("action.yml");
    let steps = action.at("runs").at("steps").list();
    let mut installs = steps
        .iter()
        .filter(|it| it.at("name").text() == "Install kdns");
    let install = installs.next().unwrap().at("run").text();
    // As on a runner, which has no kdns.
    let install = format!("command() {{ return 1; }}\n{install}");
    let folder = tempfile::tempdir().unwrap();
    let (built, path) = (folder.path().join("built"), folder.path().join("path"));
    fs::write(&built, "#!/bin/sh\n").unwrap();
    let sum = run("sha256sum built", folder.path(), &[]);
    let sum = said(&sum).split(' ').next().unwrap().to_owned();
    let url = format!("file://{}", built.display());
    let temporary = folder.path().display().to_string();
    let list = path.display().to_string();
    let action_path = root().display().to_string();
    let other = "0".repeat(64);
    for (sum, is_taken) in [("", false), (other.as_str(), false), (&sum, true)] {
        let variables = [
            ("KDNS_URL", url.as_str()),
            ("KDNS_SHA256", sum),
            ("KDNS_ACTION", &action_path),
            ("RUNNER_TEMP", &temporary),
            ("GITHUB_PATH", &list),
        ];
        let ended = run(&install, folder.path(), &variables);
        assert_eq!(ended.status.success(), is_taken, "{sum}: {}", said(&ended));
        assert_eq!(path.exists(), is_taken, "{sum}");
    }
    assert!(folder.path().join("kdns").join(&sum).join("kdns").exists());
    let left = fs::read_dir(folder.path().join("kdns").join(&other)).unwrap();
    assert_eq!(left.count(), 0, "what is something else is not kept");
}

#[test]
fn outputs_of_the_action_are_those_of_its_steps() {
    let action = Yaml::of("action.yml");
    assert_eq!(action.at("runs").at("using").text(), "composite");
    let status = action.at("outputs").at("status").at("value").text();
    assert_eq!(status, "${{ steps.lint.outputs.status }}");
    let ids = action
        .at("runs")
        .at("steps")
        .list()
        .iter()
        .filter_map(|it| it.get("id"));
    assert_eq!(ids.map(Yaml::text).collect::<Vec<_>>(), ["built", "lint"]);
}
