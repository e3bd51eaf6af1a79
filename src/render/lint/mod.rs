//! The findings of `kdns lint`, one file for each format; `concise` and
//! `github` are those of every command.

pub mod json;
pub mod junit;
pub mod rule;
pub mod sarif;
pub mod settings;
pub mod statistics;
pub mod text;

use crate::finding::{Finding, Severity};
use crate::lint::Rule;
use crate::render::findings::{Log, Notice};

/// What a run has to say, for every format.
#[derive(Debug)]
pub struct Lint<'l> {
    /// What was found, in the order of its places.
    pub findings: &'l [Finding],
    /// What comments suppress, with the reasons. Those are not safe to print.
    pub suppressed: &'l [(Finding, String)],
    /// What could not be read, and other things about the run.
    pub notices: Vec<Notice>,
    /// How many files hold something that rules look at.
    pub files: usize,
    /// From which severity on a finding counts.
    pub fail_on: Severity,
    /// What was left out of it and by whom: `3 rules off by kdns.toml`.
    pub asides: Vec<String>,
}

impl Lint<'_> {
    /// A run that could not begin.
    pub fn failed(message: &str) -> Self {
        Self {
            findings: &[],
            suppressed: &[],
            notices: vec![Notice::new(Severity::Error, message)],
            files: 0,
            fail_on: Severity::Warning,
            asides: Vec::new(),
        }
    }

    /// For the formats that every command has.
    pub fn log(&self) -> Log<'_> {
        Log {
            command: "kdns lint",
            findings: self.findings,
            notices: self.notices.clone(),
        }
    }

    /// Whether everything was looked at.
    fn is_complete(&self) -> bool {
        !self.notices.iter().any(|it| it.severity == Severity::Error)
    }
}

/// Where the page of a rule is.
pub(super) fn page_uri(rule: &Rule) -> String {
    let repository = env!("CARGO_PKG_REPOSITORY");
    format!("{repository}/blob/main/docs/rules.md#{}", anchor(rule))
}

/// The heading of a rule's page as GitHub names it.
pub fn anchor(rule: &Rule) -> String {
    format!("{}-{}", rule.code.to_lowercase(), rule.name)
}
