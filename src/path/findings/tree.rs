//! What is wrong with the rules that a packet meets.

use super::{Finding, Host, Tree};

/// What follows from the way of the packet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TreeFinding {}

pub(super) fn find(_host: &Host, _trees: &[Tree]) -> Vec<Finding> {
    Vec::new()
}
