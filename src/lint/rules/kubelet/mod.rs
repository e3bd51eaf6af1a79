//! Rules about kubelets' settings: `KK`.

pub mod internal_key;
pub mod stub_by_default;

use crate::lint::Rule;

/// The rules of this group, in the order of their codes.
pub const ALL: &[&Rule] = &[&stub_by_default::RULE, &internal_key::RULE];
