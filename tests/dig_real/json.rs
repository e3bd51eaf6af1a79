//! `+json`, which BIND 9.18 does not have: as RFC 8427 says, and the same
//! records as the text.

use std::collections::BTreeMap;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::compare;

const LINES: &[&str] = &[
    "@127.0.0.1 www.example.test",
    "@127.0.0.1 example.test MX",
    "@127.0.0.1 txt.example.test TXT",
    "@127.0.0.1 nosuch.example.test +dnssec",
    "@127.0.0.1 example.test AXFR",
    "@127.0.0.1 naptr.example.test NAPTR +nsid",
    "@127.0.0.2 www.example.test ANY",
    "@127.0.0.3 alias.lan",
    "@127.0.0.1 version.bind TXT CH",
    "@127.0.0.1 https.example.test HTTPS",
];

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |line: &&'static str| {
        let line = *line;
        Trial::test(format!("json {line}"), move || check(line))
    };
    let mut trials: Vec<Trial> = LINES.iter().map(trial).collect();
    trials.push(Trial::test("json without a reply", no_reply));
    trials
}

/// Standard output has documents, and nothing else.
fn no_reply() -> Result<(), Failed> {
    let words = [
        "+json",
        "+tries=2",
        "-p",
        "9",
        "@127.0.0.1",
        "www.example.test",
    ];
    let ended = compare::ours(&words, &[])?;
    let (out, err) = (&ended.stdout, String::from_utf8_lossy(&ended.stderr));
    let expected = "127.0.0.1#9: connection refused";
    let is_told = err.contains(expected) && err.contains(";; no servers could be reached");
    if ended.status.code() == Some(9) && out.is_empty() && is_told {
        return Ok(());
    }
    Err(format!("{:?} {}{err}", ended.status, String::from_utf8_lossy(out)).into())
}

fn check(line: &str) -> Result<(), Failed> {
    let words: Vec<&str> = line.split(' ').collect();
    let json = compare::ours(&[&words[..], &["+json"]].concat(), &[])?;
    let text = compare::ours(
        &[
            &words[..],
            &[
                "+noall",
                "+answer",
                "+authority",
                "+additional",
                "+nomultiline",
            ],
        ]
        .concat(),
        &[],
    )?;
    assert!(json.status.success() && text.status.success(), "{line}");
    let mut expected: BTreeMap<String, usize> = BTreeMap::new();
    for record in String::from_utf8_lossy(&text.stdout).lines() {
        if !record.starts_with(';') && !record.is_empty() {
            *expected.entry(words_of(record)).or_default() += 1;
        }
    }
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for message in serde_json::Deserializer::from_slice(&json.stdout).into_iter::<Value>() {
        for record in records(&message?)? {
            *found.entry(record).or_default() += 1;
        }
    }
    if found == expected {
        return Ok(());
    }
    Err(format!("text: {expected:#?}\njson: {found:#?}").into())
}

/// The records of a message, after a look at its head.
fn records(message: &Value) -> Result<Vec<String>, Failed> {
    for flag in ["QR", "AA", "TC", "RD", "RA", "AD", "CD"] {
        if !message[flag].is_boolean() {
            return Err(format!("{flag}: {}", message[flag]).into());
        }
    }
    for number in [
        "ID", "Opcode", "RCODE", "QDCOUNT", "ANCOUNT", "NSCOUNT", "ARCOUNT",
    ] {
        if !message[number].is_u64() {
            return Err(format!("{number}: {}", message[number]).into());
        }
    }
    let mut records = Vec::new();
    for (section, count) in [
        ("answerRRs", "ANCOUNT"),
        ("authorityRRs", "NSCOUNT"),
        ("additionalRRs", "ARCOUNT"),
    ] {
        let list = message[section].as_array().ok_or(section)?;
        let opt = usize::from(section == "additionalRRs" && message["EDNS"].is_object());
        if message[count] != list.len() + opt {
            return Err(format!("{count} is not the length of {section}").into());
        }
        for record in list {
            let hex = record["RDATAHEX"].as_str().ok_or("RDATAHEX")?;
            if record["RDLENGTH"] != hex.len() / 2 {
                return Err(format!("RDLENGTH of {record}").into());
            }
            let word = |key: &str| match &record[key] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let parts = ["NAME", "TTL", "CLASSname", "TYPEname", "rdata"].map(word);
            records.push(words_of(&parts.join(" ")));
        }
    }
    Ok(records)
}

/// With single spaces.
fn words_of(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
