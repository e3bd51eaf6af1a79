//! Findings as `JUnit`'s XML: each is a test.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::Lint;
use crate::finding::{Finding, Severity};
use crate::render::findings::junit::{self, Case, Ended};
use crate::render::findings::{Notice, concise, details};

/// Writes a suite: a test that passes if everything could be read, and one for
/// each finding, which fails if it counts and is skipped if it does not. Their
/// names have no lines in them, so that a test is the same one in the next run.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(lint: &Lint<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut cases = vec![reading(lint)];
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for finding in lint.findings {
        let count = counts
            .entry((&finding.primary.file, finding.code))
            .or_default();
        *count += 1;
        cases.push(case(finding, *count, lint.fail_on));
    }
    junit::write("kdns lint", &[], cases, out)
}

fn case(finding: &Finding, count: usize, fail_on: Severity) -> Case {
    let number = match count {
        1 => String::new(),
        count => format!(" ({count})"),
    };
    let lines = std::iter::once(concise::line(finding)).chain(details(finding));
    let ended = if finding.severity >= fail_on {
        Ended::Failed
    } else {
        Ended::Skipped
    };
    Case {
        class: finding.primary.file.clone(),
        name: format!("{}[{}]{number}", finding.code, finding.name),
        ended,
        kind: finding.severity.word().to_owned(),
        message: finding.message.clone(),
        details: lines.map(|it| it + "\n").collect(),
    }
}

fn reading(lint: &Lint<'_>) -> Case {
    let is_error = |it: &&Notice| it.severity == Severity::Error;
    let mut wrong = lint.notices.iter().filter(is_error);
    let first = wrong.next().map(|it| it.message.clone());
    let lines = lint.notices.iter().map(|it| it.message.clone() + "\n");
    Case {
        class: "kdns lint".to_owned(),
        name: "everything could be read".to_owned(),
        ended: if first.is_some() {
            Ended::Error
        } else {
            Ended::Passed
        },
        kind: if first.is_some() {
            "error".to_owned()
        } else {
            String::new()
        },
        message: first.unwrap_or_default(),
        details: lines.collect(),
    }
}
