//! Findings in the formats that CI systems read, for every command that has
//! some.

pub mod concise;
pub mod fingerprint;
pub mod github;
pub mod junit;
pub mod sarif;

use crate::finding::{Finding, Label, Severity};
use crate::text::escaped;

/// What a command found, and what there is to say about the run itself.
#[derive(Debug)]
pub struct Log<'l> {
    /// The command: `kdns lint`.
    pub command: &'static str,
    /// What was found, in order.
    pub findings: &'l [Finding],
    /// What could not be done or is worth knowing about the run.
    pub notices: Vec<Notice>,
}

/// A sentence about the run, which has no place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Notice {
    /// How bad it is: an error means that something was not looked at.
    pub severity: Severity,
    /// One line, safe to print.
    pub message: String,
    /// What it is called, if programs are to tell it from others.
    pub code: Option<&'static str>,
}

impl Notice {
    /// A sentence from anywhere.
    pub fn new(severity: Severity, message: &str) -> Self {
        Self {
            severity,
            message: escaped(message.as_bytes()),
            code: None,
        }
    }
}

/// What is said about a finding beside its message, one line each: its other
/// places, notes, what to write.
pub(super) fn details(finding: &Finding) -> Vec<String> {
    let places = finding.secondary.iter().map(|label| {
        let text = if label.text.is_empty() {
            "see here"
        } else {
            &label.text
        };
        format!("{}: {text}", place(label))
    });
    places.chain(remarks(finding)).collect()
}

/// The notes and what to write.
pub(super) fn remarks(finding: &Finding) -> impl Iterator<Item = String> + '_ {
    let help = finding.help.iter().map(|it| format!("help: {it}"));
    finding.notes.iter().cloned().chain(help)
}

/// The word that compilers and SARIF have for it.
fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "note",
        other => other.word(),
    }
}

/// `FILE:LINE:COLUMN`, or what stands for a file alone.
pub(super) fn place(label: &Label) -> String {
    let Label { file, start, .. } = label;
    if start.line == 0 {
        return file.clone();
    }
    format!("{file}:{}:{}", start.line, start.column)
}
