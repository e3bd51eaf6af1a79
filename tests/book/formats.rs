//! `docs/formats.md`: the keys of each machine format, from its schema, and an
//! example of it.

use std::fmt::Write as _;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::examples::output;
use crate::pages::{root, settle};

/// An example of each format: a command of which the beginning is shown.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "explain",
        "kdns explain web --file testdata/readme/pod.conf --resolver glibc --format json | head -n 31",
    ),
    (
        "prediction",
        "kdns explain web --file testdata/readme/pod.conf --resolver glibc-res_query --format jsonl",
    ),
    (
        "pod-file",
        "kdns pod-file --namespace shop --root testdata/nodes/kubeadm --format json",
    ),
    (
        "check-loop",
        "kdns check-loop --root testdata/nodes/cluster-loop --format json | head -n 40",
    ),
    (
        "upstream",
        "kdns upstream --root testdata/nodes/plain --format json | head -n 40",
    ),
    (
        "path",
        "kdns path --source 10.244.0.7 --rules testdata/path/iptables-legacy-2/rules.txt --format json 10.96.0.10:53/udp | head -n 40",
    ),
    (
        "pods",
        "kdns pods --root testdata/nodes/drift-fixed --format json | head -n 40",
    ),
    (
        "lint",
        "kdns lint testdata/readme/repository --format json | head -n 40",
    ),
    (
        "why",
        "kdns why --format json 'lookup db on 127.0.0.53:53: server misbehaving' | head -n 24",
    ),
    (
        "why-log",
        "kdns why --log testdata/why/log-waste/0.log --format json | head -n 40",
    ),
    (
        "why-metrics",
        "kdns why --metrics testdata/metrics/upstream-timeout.metrics --format json | head -n 40",
    ),
    (
        "doctor",
        "kdns doctor --root testdata/nodes/cluster-loop --format json | head -n 30",
    ),
    (
        "diff",
        "kdns diff testdata/nodes/cluster-loop testdata/nodes/cluster-cgroup-v2 --format json | head -n 30",
    ),
    ("rule", "kdns rule --format json | head -n 8"),
    (
        "watch",
        "kdns watch --read testdata/watch/race/capture.pcap --file testdata/watch/race/resolv.conf --format json | head -n 40",
    ),
];

const START: &str = "# JSON formats

Made by `KDNS_BLESS=1 cargo test --test book` from `kdns schema NAME`, which prints the whole schema of a format; `schemas/NAME.json` beside this page is the same. The tests hold what kdns writes to it.

Only the keys at the top are listed here. `format`, or `version`, is the number of the format.
";

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test(
        "formats::the page is what the schemas say",
        || settle("docs/formats.md", &page()?),
    )]
}

fn page() -> Result<String, Failed> {
    let mut page = START.to_owned();
    for (name, about) in formats() {
        let schema = output(&format!("kdns schema {name}"))?;
        let schema: Value = serde_json::from_str(&schema)?;
        let (before, command) = about.split_at(about.find("kdns ").unwrap_or_default());
        write!(page, "\n## {name}\n\n{before}`{command}`\n\n")?;
        for (about, object) in objects(&schema, &schema) {
            write!(page, "{about}")?;
            keys(&mut page, &schema, object)?;
        }
        if let Some((_, command)) = EXAMPLES.iter().find(|it| it.0 == name) {
            write!(page, "\n```console\n$ {command}\n{}```\n", output(command)?)?;
        } else if root().join(format!("docs/commands/{name}.md")).is_file() {
            write!(
                page,
                "\nThere is one on the page of [{name}](commands/{name}.md).\n"
            )?;
        }
    }
    Ok(page)
}

/// The names of the formats, with what they are of.
fn formats() -> Vec<(String, String)> {
    let mut command = kdns::cli::command();
    command.build();
    let schema = command.find_subcommand("schema").unwrap();
    let argument = schema.get_positionals().next().unwrap();
    let values = argument.get_possible_values();
    let of = |it: &clap::builder::PossibleValue| {
        let help = it.get_help().map(ToString::to_string);
        (it.get_name().to_owned(), help.unwrap_or_default())
    };
    values.iter().map(of).collect()
}

/// The objects that a document can be, each with what is said before its keys.
fn objects<'s>(schema: &'s Value, form: &'s Value) -> Vec<(String, &'s Value)> {
    let form = target(schema, form);
    if let Some(forms) = form["anyOf"].as_array().or(form["oneOf"].as_array()) {
        let all = forms.iter().flat_map(|it| objects(schema, it));
        // A document and a list of such documents have the same keys.
        let mut found: Vec<(String, &Value)> = Vec::new();
        for (about, object) in all {
            if !found.iter().any(|it| it.1 == object) {
                let or = if found.is_empty() { "" } else { "\nOr:\n\n" };
                found.push((format!("{or}{about}"), object));
            }
        }
        return found;
    }
    if form["type"] == "array" {
        let items = objects(schema, &form["items"]).into_iter();
        let list = |(about, object)| (format!("A list of objects.\n\n{about}"), object);
        return items.map(list).collect();
    }
    vec![(String::new(), form)]
}

/// What a reference leads to.
fn target<'s>(schema: &'s Value, form: &'s Value) -> &'s Value {
    let name = form["$ref"].as_str().and_then(|it| it.rsplit('/').next());
    let found = name.and_then(|it| schema.pointer(&format!("/$defs/{it}")));
    found.unwrap_or(form)
}

/// A table of the keys at the top.
fn keys(page: &mut String, schema: &Value, object: &Value) -> Result<(), Failed> {
    let properties = object["properties"].as_object();
    let properties = properties.ok_or_else(|| format!("no keys in {object}"))?;
    page.push_str("| Key | Type | Is |\n| --- | --- | --- |\n");
    for (key, value) in properties {
        let about = value["description"].as_str().unwrap_or_default();
        let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
        let about = about.replace('|', "\\|");
        writeln!(page, "| `{key}` | {} | {about} |", kind(schema, value))?;
    }
    Ok(())
}

/// The type in words.
fn kind(schema: &Value, value: &Value) -> String {
    let value = target(schema, value);
    for key in ["anyOf", "oneOf"] {
        if let Some(forms) = value[key].as_array() {
            let mut kinds: Vec<String> = forms.iter().map(|it| kind(schema, it)).collect();
            kinds.dedup();
            return kinds.join(" or ");
        }
    }
    if let Some(words) = value["enum"].as_array() {
        let words = words.iter().filter_map(Value::as_str);
        return words
            .map(|it| format!("`{it}`"))
            .collect::<Vec<_>>()
            .join(", ");
    }
    match &value["type"] {
        Value::String(kind) if kind == "array" => {
            format!("list of {}", self::kind(schema, &value["items"]))
        }
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            let words = kinds.iter().filter_map(Value::as_str);
            words.collect::<Vec<_>>().join(" or ")
        }
        _ if value["const"].is_string() => format!("`{}`", value["const"].as_str().unwrap()),
        _ => "any".to_owned(),
    }
}
