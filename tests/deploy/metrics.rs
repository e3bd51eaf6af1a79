//! Alert rules and the dashboard, by promtool and against the metrics that
//! kdns writes.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::{KDNS, Outcome, deploy, documents, found, output, root};

/// What `node_exporter` says about the files that it reads.
const OTHERS: [&str; 1] = ["node_textfile_mtime_seconds"];

pub(crate) fn rules() -> Outcome {
    let promtool = found("promtool").unwrap();
    let text = output(
        Command::new(&promtool)
            .args(["check", "rules", "rules.yaml"])
            .current_dir(deploy("prometheus")),
    )?;
    assert!(text.contains("6 rules found"), "{text}");
    let mut unit = Command::new(&promtool);
    unit.args(["test", "rules", "rules-test.yaml"])
        .current_dir(deploy("prometheus"));
    output(&mut unit)?;
    let rules = fs::read_to_string(deploy("prometheus/rules.yaml")).unwrap();
    let tests = fs::read_to_string(deploy("prometheus/rules-test.yaml")).unwrap();
    for name in rules
        .lines()
        .filter_map(|it| it.trim().strip_prefix("- alert: "))
    {
        assert!(
            tests.contains(&format!("alertname: {name}")),
            "{name} is not tested"
        );
    }
    // Without comments, which name programs.
    let is_rule = |it: &&str| !it.trim_start().starts_with('#');
    let expressions: Vec<&str> = rules.lines().filter(is_rule).collect();
    names_are_known(&expressions.join("\n"))
}

/// The operator's resource has the same groups.
pub(crate) fn operator() -> Outcome {
    let plain = documents(&deploy("prometheus/rules.yaml"))?;
    let path = deploy("prometheus/prometheus-rule.yaml");
    let wanted = json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "kdns", "labels": {"app.kubernetes.io/name": "kdns"}},
        "spec": {"groups": plain[0]["groups"]},
    });
    if std::env::var_os("KDNS_BLESS").is_some() {
        let rules = fs::read_to_string(deploy("prometheus/rules.yaml")).unwrap();
        let rules = rules
            .lines()
            .filter(|it| !it.starts_with('#'))
            .map(|it| format!("  {it}\n"));
        let head = "# rules.yaml for the Prometheus operator. Your Prometheus may select rules by other labels.\n\
            apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: kdns\n  labels:\n    \
            app.kubernetes.io/name: kdns\nspec:\n";
        fs::write(&path, format!("{head}{}", rules.collect::<String>())).unwrap();
    }
    assert_eq!(
        documents(&path)?,
        [wanted],
        "stale: run KDNS_BLESS=1 cargo test --test deploy"
    );
    Ok(())
}

pub(crate) fn dashboard() -> Outcome {
    let text = fs::read(deploy("grafana/dashboard.json")).unwrap();
    let all: Value = serde_json::from_slice(&text).unwrap();
    let panels = all["panels"].as_array().unwrap();
    let ids: BTreeSet<u64> = panels.iter().map(|it| it["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "two panels have the same id");
    let mut expressions = Vec::new();
    for panel in panels {
        let title = panel["title"].as_str().unwrap();
        let place = &panel["gridPos"];
        let number = |key: &str| place[key].as_u64().unwrap();
        assert!(
            number("x") + number("w") <= 24 && number("h") > 0,
            "{title}"
        );
        assert_eq!(
            panel["datasource"]["uid"],
            json!("${datasource}"),
            "{title}"
        );
        assert!(panel["type"].is_string(), "{title}");
        for target in panel["targets"].as_array().unwrap() {
            expressions.push(target["expr"].as_str().unwrap().replace("$instance", ".*"));
        }
    }
    no_panels_overlap(panels);
    for variable in all["templating"]["list"].as_array().unwrap() {
        if variable["type"] == "query" {
            let query = variable["definition"].as_str().unwrap();
            let inside = query.strip_prefix("label_values(").unwrap();
            expressions.push(inside.split(',').next().unwrap().to_owned());
        }
    }
    assert!(expressions.len() > 6);
    names_are_known(&expressions.join("\n"))?;
    parses(&expressions)
}

/// Every expression as a rule, for promtool's parser.
fn parses(expressions: &[String]) -> Outcome {
    let rules = expressions.iter().enumerate();
    let rules: Vec<Value> = rules
        .map(|(number, expr)| json!({"record": format!("e{number}"), "expr": expr}))
        .collect();
    let groups = json!({"groups": [{"name": "dashboard", "rules": rules}]});
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), groups.to_string()).unwrap();
    output(
        Command::new(found("promtool").unwrap())
            .args(["check", "rules"])
            .arg(file.path()),
    )?;
    Ok(())
}

fn no_panels_overlap(panels: &[Value]) {
    let mut taken = BTreeSet::new();
    for panel in panels {
        let number = |key: &str| panel["gridPos"][key].as_u64().unwrap();
        for x in number("x")..number("x") + number("w") {
            for y in number("y")..number("y") + number("h") {
                assert!(
                    taken.insert((x, y)),
                    "{} lies on another panel",
                    panel["title"]
                );
            }
        }
    }
}

/// Metrics and values of labels are those that kdns writes.
fn names_are_known(text: &str) -> Outcome {
    let mut written = String::new();
    for node in ["cluster-loop", "not-there"] {
        let node = root().join("testdata/nodes").join(node);
        let mut kdns = Command::new(KDNS);
        kdns.args([
            "check-loop",
            "--exit-zero",
            "--format",
            "prometheus",
            "--root",
        ])
        .arg(node);
        written += &String::from_utf8(kdns.output().unwrap().stdout).unwrap();
    }
    let metric = |line: &str| line.split(['{', ' ']).next().map(str::to_owned);
    let known: BTreeSet<String> = written
        .lines()
        .filter(|it| !it.starts_with('#'))
        .filter_map(metric)
        .collect();
    assert!(known.len() > 4, "{known:?}");
    let words = text.split(|it: char| !(it.is_ascii_alphanumeric() || it == '_'));
    let metrics: BTreeSet<&str> = words
        .filter(|it| it.starts_with("kdns_") || it.starts_with("node_"))
        .collect();
    for name in metrics {
        if !known.contains(name) && !OTHERS.contains(&name) {
            return Err(Failed::from(format!("kdns writes no metric {name}")));
        }
    }
    for verdicts in text.split("verdict=").skip(1) {
        let words = verdicts.trim_start_matches('~').trim_start_matches('"');
        let words = words.split('"').next().unwrap();
        for word in words.split('|') {
            assert!(
                written.contains(&format!("verdict=\"{word}\"")),
                "no verdict {word}"
            );
        }
    }
    Ok(())
}
