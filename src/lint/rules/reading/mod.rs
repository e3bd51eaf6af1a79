//! What is found while files are read, outside the catalogue: `KS`.
//!
//! These have codes like any rule, so that they can be selected, ignored and
//! looked up; no check makes them.

use crate::finding::Severity;
use crate::lint::{Check, Rule};

/// The rules of this group, in the order of their codes.
pub const ALL: &[&Rule] = &[&UNUSED_SUPPRESSION, &UNPARSEABLE];

/// KS001: a suppression that suppresses nothing.
pub static UNUSED_SUPPRESSION: Rule = Rule {
    code: "KS001",
    name: "unused-suppression",
    severity: Severity::Warning,
    summary: "a suppression suppresses nothing",
    page: include_str!("unused_suppression.md"),
    check: Check::Reading,
};

/// KS002: a file that cannot be parsed.
pub static UNPARSEABLE: Rule = Rule {
    code: "KS002",
    name: "unparseable-file",
    severity: Severity::Error,
    summary: "a file or document cannot be parsed",
    page: include_str!("unparseable_file.md"),
    check: Check::Reading,
};
