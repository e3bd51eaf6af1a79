//! `docs/ci.md`, its files, the action and the hooks: every command is run,
//! every file parsed.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kdns::config::yaml::{self, Value};
use kdns::text::Source;
use tempfile::TempDir;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Runs a script with kdns on the PATH.
fn run(script: &str, directory: &Path, variables: &[(&str, &str)]) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_kdns"));
    let mut path = program.parent().unwrap().as_os_str().to_owned();
    path.push(":/usr/bin:/bin");
    Command::new("bash")
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
        .current_dir(directory)
        .env_clear()
        .env("PATH", path)
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

/// A block of the page: the words of its first line, and its text.
fn blocks(page: &str) -> Vec<(Vec<String>, String)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let text = lines.by_ref().take_while(|it| *it != "```");
            let text: String = text.map(|it| it.to_owned() + "\n").collect();
            blocks.push((info.split(' ').map(str::to_owned).collect(), text));
        }
    }
    blocks
}

/// `LANGUAGE file PATH` is written, `sh status=N` is run line by line: the last
/// line ends with that status, those before with any but 2.
#[test]
fn the_page_is_true() {
    let repository = tempfile::tempdir().unwrap();
    let mut commands = 0;
    for (info, text) in blocks(&read("docs/ci.md")) {
        let words: Vec<&str> = info.iter().map(String::as_str).collect();
        match words.as_slice() {
            [_, "file", path] => {
                let path = repository.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            ["sh", status] => {
                let expected: i32 = status.strip_prefix("status=").unwrap().parse().unwrap();
                let lines: Vec<&str> = text.lines().collect();
                for (index, line) in lines.iter().enumerate() {
                    let output = run(line, repository.path(), &[]);
                    let status = output.status.code().unwrap();
                    let is_last = index + 1 == lines.len();
                    let is_right = if is_last {
                        status == expected
                    } else {
                        status < 2
                    };
                    // The rule's page is printed whatever was found.
                    let is_page = line.starts_with("kdns rule") && status == 0;
                    assert!(is_right || is_page, "{line}: {status}\n{}", said(&output));
                    commands += 1;
                }
            }
            other => panic!("{other:?} is none of a file and commands"),
        }
    }
    assert!(commands > 9, "{commands}");
}

#[test]
fn links_of_the_page_lead_somewhere() {
    let page = read("docs/ci.md");
    for target in page
        .split("](")
        .skip(1)
        .map(|it| it.split(')').next().unwrap())
    {
        assert!(root().join("docs").join(target).is_file(), "{target}");
    }
}

/// A file's text in plain words, as far as it is needed.
enum Yaml {
    Map(Vec<(String, Self)>),
    List(Vec<Self>),
    Text(String),
}

impl Yaml {
    fn of(path: &str) -> Self {
        let source = Source::new(path, read(path));
        let documents = yaml::documents(&source);
        assert_eq!(documents.len(), 1, "{path}");
        Self::from(documents[0].root.as_ref().unwrap())
    }

    fn from(node: &yaml::Node) -> Self {
        match &node.value {
            Value::Scalar(scalar) => Self::Text(scalar.text.clone()),
            Value::Sequence(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Mapping(entries) => {
                let entries = entries.iter().map(|it| {
                    let Self::Text(key) = Self::from(&it.key) else {
                        panic!("a key is no text");
                    };
                    (key, Self::from(&it.value))
                });
                Self::Map(entries.collect())
            }
        }
    }

    fn at(&self, key: &str) -> &Self {
        self.get(key).unwrap_or_else(|| panic!("no {key}"))
    }

    fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else {
            panic!("no mapping for {key}");
        };
        let mut found = entries.iter().filter(|it| it.0 == key);
        let first = found.next().map(|it| &it.1);
        assert!(found.next().is_none(), "{key} twice");
        first
    }

    fn list(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => panic!("no list"),
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => panic!("no text"),
        }
    }
}

/// A repository with an error, a warning and a name that is hard to quote.
fn repository() -> TempDir {
    let repository = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = repository.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("dns/Corefile", ". {\n    forward . 127.0.0.1\n}\n");
    put("clean/resolv.conf", "nameserver 192.0.2.1\n");
    put(
        "clean/config.yaml",
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nresolvConf: /etc/resolv.conf\n",
    );
    repository
}

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
            is_upload(step, &outputs, &directory.join(given("sarif")));
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
                ("steps", "lint.outputs.status") => {
                    let mut lines = outputs.lines();
                    lines
                        .find_map(|it| it.strip_prefix("status="))
                        .unwrap()
                        .to_owned()
                }
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

/// A step that runs nothing uploads what was written, if something was.
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
    let install = action.at("runs").at("steps").list()[0].at("run").text();
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
    for (sum, is_taken) in [("", false), (&"0".repeat(64)[..], false), (&sum, true)] {
        let variables = [
            ("KDNS_URL", url.as_str()),
            ("KDNS_SHA256", sum),
            ("RUNNER_TEMP", &temporary),
            ("GITHUB_PATH", &list),
        ];
        let ended = run(&install, folder.path(), &variables);
        assert_eq!(ended.status.success(), is_taken, "{sum}: {}", said(&ended));
        assert_eq!(path.exists(), is_taken, "{sum}");
    }
    assert!(folder.path().join("kdns/kdns").exists());
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
    assert_eq!(ids.map(Yaml::text).collect::<Vec<_>>(), ["lint"]);
}

#[test]
fn hooks_run() {
    let Yaml::List(hooks) = Yaml::of(".pre-commit-hooks.yaml") else {
        panic!("no list");
    };
    let ids: Vec<&str> = hooks.iter().map(|it| it.at("id").text()).collect();
    let languages: Vec<&str> = hooks.iter().map(|it| it.at("language").text()).collect();
    assert_eq!(languages, ["rust", "system"]);
    for hook in &hooks {
        assert_eq!(hook.at("pass_filenames").text(), "false");
        let found = repository();
        assert_eq!(
            run(hook.at("entry").text(), found.path(), &[])
                .status
                .code(),
            Some(1)
        );
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(
            run(hook.at("entry").text(), empty.path(), &[])
                .status
                .code(),
            Some(0)
        );
    }
    let config = Yaml::of("docs/ci/pre-commit-config.yaml");
    let wanted = config.at("repos").list()[0].at("hooks").list()[0]
        .at("id")
        .text();
    assert!(ids.contains(&wanted));
}

#[test]
fn examples_of_other_systems_run() {
    let github = Yaml::of("docs/ci/github.yml");
    let steps = github.at("jobs").at("lint").at("steps").list();
    assert_eq!(steps[1].at("uses").text(), "kdns-rs/kdns@main");
    let args = steps[1].at("with").at("args").text();
    let repository = repository();
    let ended = run(&format!("kdns lint {args}"), repository.path(), &[]);
    assert_eq!(ended.status.code(), Some(1));

    let gitlab = Yaml::of("docs/ci/gitlab-ci.yml");
    let job = gitlab.at("kdns");
    let script: Vec<&str> = job.at("script").list().iter().map(Yaml::text).collect();
    let ended = run(&script.join("\n"), repository.path(), &[]);
    assert_eq!(ended.status.code(), Some(1), "{}", said(&ended));
    let artifacts = job.at("artifacts");
    let report = artifacts.at("reports").at("junit").text();
    assert!(repository.path().join(report).is_file());
    let sarif = artifacts.at("paths").list()[0].text();
    assert!(repository.path().join(sarif).is_file());

    let jenkins = read("docs/ci/Jenkinsfile");
    let quoted = |word: &str| {
        let rest = jenkins.split_once(&format!("{word} '")).unwrap().1;
        rest.split('\'').next().unwrap().to_owned()
    };
    let other = self::repository();
    let ended = run(&quoted("sh"), other.path(), &[]);
    assert_eq!(ended.status.code(), Some(1), "{}", said(&ended));
    assert!(other.path().join(quoted("junit")).is_file());
}

/// `make` is not everywhere: its lines are run as it would.
#[test]
fn lines_of_the_makefile_run() {
    let makefile = read("docs/ci/Makefile");
    let lines = makefile.lines().filter_map(|it| it.strip_prefix('\t'));
    let repository = repository();
    let mut count = 0;
    for line in lines {
        let ended = run(&line.replace("$(KDNS)", "kdns"), repository.path(), &[]);
        assert_eq!(ended.status.code(), Some(1), "{line}: {}", said(&ended));
        count += 1;
    }
    assert_eq!(count, 2);
}
