//! YAML as the kubelet's decoder takes it: a table that the decoder itself
//! made (`testdata/yaml/decoder.tsv` says how), and thousands of documents that
//! it and kdns read side by side. `KDNS_SEED` and `KDNS_SCENARIOS` choose them.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod differential;
#[path = "../needs/mod.rs"]
mod needs;
#[path = "../needs/seed.rs"]
mod seed;

use std::process::ExitCode;

use kdns::config::yaml::{self, Entry, Kind, Node, Value};
use kdns::text::Source;
use libtest_mimic::{Arguments, Trial};
use serde_json::Value as Json;

fn main() -> ExitCode {
    let table = Trial::test("documents_are_taken_as_the_kubelet_takes_them", || {
        documents_are_taken_as_the_kubelet_takes_them();
        Ok(())
    });
    let trials = vec![table, differential::trial()];
    needs::run(&Arguments::from_args(), trials)
}

/// Documents that are taken differently, and why that is right or harmless.
const OTHERWISE: [(&str, &str); 8] = [
    (
        "a: !!null x\n",
        "nobody writes the tag, and the key is as good as not there",
    ),
    (
        "a: \"\\x41\\u00e9\\/\"\n",
        "in JSON, which has its own decoder, it is allowed",
    ),
    (
        "{\"a\":\"\\ud83d\\ude00\"}\n",
        "JSON has its own decoder, which takes it",
    ),
    ("1: a\n\"1\": b\n", "no key of ours"),
    ("yes: a\ntrue: b\n", "no key of ours"),
    ("a: !!int x\n", "nobody writes the tag"),
    (
        "%YAML 1.2\n---\na: yes\n",
        "those of Talos, cloud-init and Ansible take it",
    ),
    (
        "{\"a\":\"\\/\"}\n",
        "JSON has its own decoder, which takes it",
    ),
];

fn documents_are_taken_as_the_kubelet_takes_them() {
    let table = include_str!("../../testdata/yaml/decoder.tsv");
    let rows: Vec<&str> = table.lines().filter(|it| !it.starts_with('#')).collect();
    assert!(rows.len() >= 200, "{}", rows.len());
    let mut failures = Vec::new();
    for row in rows {
        let (text, verdict) = row.split_once('\t').unwrap();
        let text: String = serde_json::from_str(&text.replace("\\x01", "\\u0001")).unwrap();
        let is_otherwise = OTHERWISE.iter().any(|it| it.0 == text);
        if is_taken_so(&text, verdict) == is_otherwise {
            failures.push(format!("{row}\n    {:?}", taken(&text)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Whether kdns makes of a document what the decoder made of it: `ok` and the
/// value, or `error` and a message, with a tab between.
fn is_taken_so(text: &str, verdict: &str) -> bool {
    let (verdict, value) = verdict.split_once('\t').unwrap();
    match (verdict, taken(text)) {
        ("ok", Some(root)) => is_like(&serde_json::from_str(value).unwrap(), &root),
        ("error", None) => true,
        _ => false,
    }
}

/// The first document, if the decoder could take it: repeated keys are read,
/// and are an error there.
fn taken(text: &str) -> Option<Node> {
    let source = Source::new("table", text);
    let documents = yaml::documents(&source);
    let Some(first) = documents.into_iter().next() else {
        return Some(null());
    };
    first
        .root
        .ok()
        .filter(|it| !has_repeats(it) && !has_odd_number(it))
}

fn null() -> Node {
    let source = Source::new("", b"~");
    yaml::documents(&source).remove(0).root.unwrap()
}

/// JSON has no such numbers.
fn has_odd_number(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(scalar) => {
            let text = scalar.text.trim_start_matches(['+', '-']).to_lowercase();
            node.kind() == Some(Kind::Number) && matches!(text.as_str(), ".inf" | ".nan")
        }
        Value::Sequence(items) => items.iter().any(has_odd_number),
        Value::Mapping(entries) => entries.iter().any(|it| has_odd_number(&it.value)),
    }
}

fn has_repeats(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(_) => false,
        Value::Sequence(items) => items.iter().any(has_repeats),
        Value::Mapping(entries) => {
            let keys: Vec<&str> = keys(entries).collect();
            let is_repeated =
                |at: usize| keys.iter().skip(at + 1).any(|it| Some(it) == keys.get(at));
            (0..keys.len()).any(is_repeated) || entries.iter().any(|it| has_repeats(&it.value))
        }
    }
}

/// The keys of a mapping, those that `<<` brings among them.
fn keys(entries: &[Entry]) -> impl Iterator<Item = &str> {
    let keys = entries.iter().filter_map(|it| it.key.as_scalar());
    keys.map(|it| it.text.as_str())
}

/// Whether both are of the same kind, and texts the same.
fn is_like(json: &Json, node: &Node) -> bool {
    let scalar = || {
        node.as_scalar()
            .map(|it| it.text.clone())
            .unwrap_or_default()
    };
    match json {
        Json::Null => node.is_null(),
        Json::Bool(value) => node.kind() == Some(Kind::Bool(*value)),
        Json::Number(_) => node.kind() == Some(Kind::Number),
        Json::String(text) => {
            let is_binary = node.tag.as_deref() == Some("tag:yaml.org,2002:binary");
            node.kind() == Some(Kind::Text) && (is_binary || scalar() == *text)
        }
        Json::Array(values) => {
            let items = node.as_sequence().unwrap_or_default();
            values.len() == items.len()
                && values.iter().zip(items).all(|(json, it)| is_like(json, it))
        }
        Json::Object(values) => {
            node.as_mapping().is_some()
                && values.iter().all(|(key, json)| {
                    // A key that is a boolean is written out.
                    let others: &[&str] = if key == "true" {
                        &["true", "yes", "y"]
                    } else {
                        &[key]
                    };
                    let value = others.iter().find_map(|it| node.get(it));
                    value.is_some_and(|it| is_like(json, it))
                })
        }
    }
}
