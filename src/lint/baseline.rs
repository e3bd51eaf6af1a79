//! Findings that are known: `--write-baseline` keeps them, `--baseline` leaves
//! them out, so that only what is new counts.
//!
//! A finding is known again by its rule, file and text, wherever it moved in
//! the file. Of the same several as many are known as there were.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::finding::Finding;

/// The version of the form.
const FORMAT: u32 = 1;

/// What a baseline holds.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Form {
    format: u32,
    findings: Vec<Known>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Known {
    code: String,
    file: String,
    message: String,
    /// How many of them there are.
    count: usize,
}

/// The text of a baseline of these findings, in the order of their files.
pub fn written(findings: &[Finding]) -> String {
    let mut counts: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for finding in findings {
        *counts.entry(key(finding)).or_default() += 1;
    }
    let known = counts
        .into_iter()
        .map(|((file, code, message), count)| Known {
            code: code.to_owned(),
            file: file.to_owned(),
            message: message.to_owned(),
            count,
        });
    let form = Form {
        format: FORMAT,
        findings: known.collect(),
    };
    // Texts and numbers are always written.
    let text = serde_json::to_string_pretty(&form).unwrap_or_default();
    text + "\n"
}

/// Takes what a baseline knows away from the findings, and tells how many that
/// were.
///
/// # Errors
///
/// The text is no baseline: why, in words that are safe to print.
pub fn take_known(text: &[u8], findings: &mut Vec<Finding>) -> Result<usize, String> {
    let form: Form = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if form.format != FORMAT {
        return Err(format!("format {} is none of this kdns", form.format));
    }
    let known = form.findings.into_iter();
    let mut left: BTreeMap<(String, String, String), usize> = known
        .map(|it| ((it.file, it.code, it.message), it.count))
        .collect();
    let before = findings.len();
    findings.retain(|finding| {
        let (file, code, message) = key(finding);
        let key = (file.to_owned(), code.to_owned(), message.to_owned());
        let count = left.get_mut(&key).filter(|it| **it > 0);
        count.map(|it| *it -= 1).is_none()
    });
    Ok(before - findings.len())
}

fn key(finding: &Finding) -> (&str, &str, &str) {
    (&finding.primary.file, finding.code, &finding.message)
}
