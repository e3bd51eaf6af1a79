//! What `kdns lint` finds in what public repositories set.
//!
//! `manifest.tsv` names repository, commit and path, and what is set there: of a pod
//! its kind, network, policy, `dnsConfig`, the last parts of its images and whether it
//! is a part of the system; of a kubelet its settings; a Corefile as directives. The
//! files are made from that here. `expected.tsv` has every finding, each judged by
//! hand, with the reason. Any other finding is a false one.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// At least so many repositories are there.
const LEAST: usize = 60;

/// A file of a repository.
struct Row {
    repository: String,
    kind: String,
    facts: String,
}

#[test]
fn only_what_is_expected_is_found() {
    let rows = manifest();
    let expected: BTreeMap<String, String> = lines("expected.tsv")
        .into_iter()
        .map(|mut it| (it.remove(0), it.join(" ")))
        .collect();
    let mut repositories: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in &rows {
        repositories.entry(&row.repository).or_default().push(row);
    }
    assert!(repositories.len() >= LEAST, "{}", repositories.len());
    let mut found = BTreeSet::new();
    for (repository, rows) in repositories {
        let directory = tempfile::tempdir().unwrap();
        for (number, row) in rows.iter().enumerate() {
            make(row, &directory.path().join(number.to_string()));
        }
        let findings = lint(directory.path());
        found.extend(findings.iter().map(|it| format!("{repository} {it}")));
    }
    let wanted: BTreeSet<String> = expected.keys().cloned().collect();
    let unexpected: Vec<&String> = found.difference(&wanted).collect();
    let missing: Vec<&String> = wanted.difference(&found).collect();
    assert!(
        unexpected.is_empty() && missing.is_empty(),
        "found and not expected:\n{unexpected:#?}\nexpected and not found:\n{missing:#?}"
    );
    for (finding, reason) in &expected {
        assert!(reason.len() > 20, "{finding} is not argued");
    }
}

/// Makes a file of what a repository sets.
fn make(row: &Row, directory: &Path) {
    fs::create_dir(directory).unwrap();
    if row.kind == "corefile" {
        let text = row.facts.replace(" ; ", "\n");
        fs::write(directory.join("Corefile"), format!("{text}\n")).unwrap();
        return;
    }
    let object = if row.kind == "kubelet" {
        let mut object: Value = serde_json::from_str(&row.facts).unwrap();
        object["apiVersion"] = json!("kubelet.config.k8s.io/v1beta1");
        object["kind"] = json!("KubeletConfiguration");
        object
    } else {
        let (kind, facts) = row.facts.split_once(' ').unwrap();
        pod(kind, &serde_json::from_str(facts).unwrap())
    };
    fs::write(directory.join("object.json"), object.to_string()).unwrap();
}

fn pod(kind: &str, facts: &Value) -> Value {
    let images = facts["images"].as_array().unwrap().iter();
    let containers: Vec<Value> = images
        .enumerate()
        .map(|(number, image)| json!({"name": format!("c{number}"), "image": image}))
        .collect();
    let mut spec = json!({ "containers": containers });
    for key in ["hostNetwork", "dnsPolicy", "dnsConfig"] {
        if let Some(value) = facts.get(key) {
            spec[key] = value.clone();
        }
    }
    if facts["priority"] == "system" {
        spec["priorityClassName"] = json!("system-node-critical");
    }
    let mut template = json!({ "spec": spec });
    if facts.get("dns").is_some() {
        template["metadata"] = json!({"labels": {"k8s-app": "kube-dns"}});
    }
    let own = match kind {
        "Pod" => template["spec"].clone(),
        "CronJob" => json!({"jobTemplate": {"spec": {"template": template}}}),
        _ => json!({ "replicas": facts.get("replicas"), "template": template }),
    };
    let mut object = json!({"kind": kind, "metadata": {"name": "x"}, "spec": own});
    object["apiVersion"] = json!(if kind == "Pod" { "v1" } else { "apps/v1" });
    if facts["namespace"] != "" {
        object["metadata"]["namespace"] = facts["namespace"].clone();
    }
    object
}

/// The findings: `NUMBER: CODE SEVERITY`.
fn lint(directory: &Path) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kdns"));
    let args = ["lint", "--exit-zero", "--allow-empty", "--format", "json"];
    let output = command.current_dir(directory).args(args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let shown = findings.map(|it| {
        let file = it["file"].as_str().or(it["primary"]["file"].as_str());
        let file = file.unwrap();
        let number = file.split('/').next().unwrap();
        let word = |key: &str| it[key].as_str().unwrap().to_owned();
        format!("{number}: {} {}", word("code"), word("severity"))
    });
    shown.collect()
}

fn manifest() -> Vec<Row> {
    let rows = lines("manifest.tsv").into_iter().map(|it| {
        let [repository, commit, path, kind, facts] = it.as_slice() else {
            panic!("{it:?}");
        };
        assert!(commit.len() == 12 && !path.is_empty(), "{it:?}");
        Row {
            repository: repository.clone(),
            kind: kind.clone(),
            facts: facts.clone(),
        }
    });
    rows.collect()
}

fn lines(table: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lint_world");
    let text = fs::read_to_string(path.join(table)).unwrap();
    let rows = text
        .lines()
        .filter(|it| !it.is_empty() && !it.starts_with('#'));
    rows.map(|row| row.split('\t').map(str::to_owned).collect())
        .collect()
}
