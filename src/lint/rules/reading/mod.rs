//! What is found while files are read, outside the catalogue: `KS`.
//!
//! These have codes like any rule, so that they can be selected, ignored and
//! looked up; no check makes them.

use crate::lint::{Check, Rule};

/// The rules of this group, in the order of their codes.
pub const ALL: &[&Rule] = &[&UNUSED_SUPPRESSION, &UNPARSEABLE, &TEMPLATE];

/// KS001: a suppression that suppresses nothing.
pub static UNUSED_SUPPRESSION: Rule =
    Rule::new(include_str!("unused_suppression.md"), Check::Reading);

/// KS002: a file that cannot be parsed.
pub static UNPARSEABLE: Rule = Rule::new(include_str!("unparseable_file.md"), Check::Reading);

/// KS003: templates, which are no YAML before they are rendered; one finding a run.
pub static TEMPLATE: Rule = Rule::new(include_str!("template_not_read.md"), Check::Reading);
