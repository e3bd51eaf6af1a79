//! Rules about a node as it is, with `--root` or `--node`: `KN`.

pub mod stub_switched_off;

use crate::lint::Rule;

/// The rules of this group, in the order of their codes.
pub const ALL: &[&Rule] = &[&stub_switched_off::RULE];
