//! What is found while files are read, outside the catalogue: `KS`.
//!
//! These have codes like any rule, so that they can be selected, ignored and
//! looked up; no check makes them.

use crate::lint::{Check, Rule};

/// The rules of this group, in the order of their codes.
pub const ALL: &[&Rule] = &[&UNUSED_SUPPRESSION, &UNPARSEABLE];

/// KS001: a suppression that suppresses nothing.
pub static UNUSED_SUPPRESSION: Rule =
    Rule::new(include_str!("unused_suppression.md"), Check::Reading);

/// KS002: a file that cannot be parsed.
pub static UNPARSEABLE: Rule = Rule::new(include_str!("unparseable_file.md"), Check::Reading);
