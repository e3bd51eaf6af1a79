//! Findings read back from what was written.

use std::collections::BTreeSet;

use quick_junit::{Report, TestCase, TestCaseStatus, XmlString};

use super::formats::json;

/// Code, file and line of every finding.
pub(super) type Found = BTreeSet<(String, String, usize)>;

/// A format, and how its findings are read back.
pub(super) type Reader = (&'static str, fn(&str) -> Found);

pub(super) const READERS: [Reader; 5] = [
    ("text", of_lines),
    ("concise", of_lines),
    ("sarif", of_sarif),
    ("github", of_github),
    ("junit", of_junit),
];

pub(super) fn of_json(text: &str) -> Found {
    let document = json(text);
    let findings = document["findings"].as_array().unwrap().iter();
    findings
        .map(|it| {
            let line = it["line"].as_u64().unwrap();
            let word = |key: &str| it[key].as_str().unwrap().to_owned();
            (word("code"), word("file"), usize::try_from(line).unwrap())
        })
        .collect()
}

/// `FILE:LINE:COLUMN: CODE[NAME] …`, where a file can have colons, and in text a word
/// stands before the code.
fn of_lines(text: &str) -> Found {
    text.lines().filter_map(of_line).collect()
}

fn of_line(line: &str) -> Option<(String, String, usize)> {
    let (before, _) = line.split_once('[')?;
    let (place, code) = before.rsplit_once(": ")?;
    let words = [": error", ": warning", ": remark"];
    let bare = words.iter().find_map(|it| place.strip_suffix(it));
    let mut parts = bare.unwrap_or(place).rsplitn(3, ':');
    let (_, line, file) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
    (code.len() == 5 && code.starts_with('K')).then(|| (code.to_owned(), file.to_owned(), line))
}

fn of_sarif(text: &str) -> Found {
    let log = json(text);
    let results = log["runs"][0]["results"].as_array().unwrap().iter();
    let counts = results.filter(|it| it["suppressions"].as_array().unwrap().is_empty());
    counts
        .map(|it| {
            let place = &it["locations"][0]["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
            let uri = place["artifactLocation"]["uri"].as_str().unwrap();
            let line = place["region"]["startLine"].as_u64().unwrap();
            let code = it["ruleId"].as_str().unwrap().to_owned();
            (code, decoded(uri), usize::try_from(line).unwrap())
        })
        .collect()
}

fn of_github(text: &str) -> Found {
    let mut found = Found::new();
    for line in text.lines() {
        let (properties, _) = line.split_once(' ').unwrap().1.split_once("::").unwrap();
        let value = |key: &str| {
            let mut all = properties.split(',').filter_map(|it| it.split_once('='));
            all.find(|it| it.0 == key).map(|it| decoded(it.1)).unwrap()
        };
        let title = value("title");
        let code = title.split('[').next().unwrap().to_owned();
        found.insert((code, value("file"), value("line").parse().unwrap()));
    }
    found
}

fn of_junit(text: &str) -> Found {
    let report = Report::deserialize_from_str(text).unwrap();
    let cases = report.test_suites[0].test_cases.iter();
    cases
        .filter_map(|case| {
            let found = of_line(described(case)?.lines().next()?)?;
            assert_eq!(case.classname.as_ref().unwrap().as_str(), found.1);
            assert!(case.name.as_str().starts_with(&found.0));
            Some(found)
        })
        .collect()
}

fn described(case: &TestCase) -> Option<&str> {
    match &case.status {
        TestCaseStatus::NonSuccess { description, .. }
        | TestCaseStatus::Skipped { description, .. } => {
            description.as_ref().map(XmlString::as_str)
        }
        TestCaseStatus::Success { .. } => None,
    }
}

/// What percent signs stand for.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut parts = text.split('%');
    bytes.extend(parts.next().unwrap().bytes());
    for part in parts {
        let (code, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(code, 16).unwrap());
        bytes.extend(rest.bytes());
    }
    String::from_utf8(bytes).unwrap()
}
