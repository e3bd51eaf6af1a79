//! What is wrong with the state of the node: connection tracking, bridges, MTU.

use super::{Finding, Host, Tree};

/// What follows from the node's state.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NodeFinding {}

pub(super) fn find(_host: &Host, _trees: &[Tree]) -> Vec<Finding> {
    Vec::new()
}
