//! What is wrong on the way of a packet, with evidence.

mod node;
mod tree;

pub use node::NodeFinding;
pub use tree::TreeFinding;

use super::{Host, Tree};
use crate::finding::Severity;

/// Something that is wrong, or worth knowing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// How bad it is, here.
    pub severity: Severity,
    /// What it is.
    pub fact: Fact,
}

/// What a finding is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Fact {
    /// It follows from the way of the packet through the rules.
    Tree(TreeFinding),
    /// It follows from the state of the node.
    Node(NodeFinding),
}

/// All that is wrong, the worst first.
pub fn find(host: &Host, trees: &[Tree]) -> Vec<Finding> {
    let mut found = tree::find(host, trees);
    found.extend(node::find(host, trees));
    found.sort_by_key(|it| std::cmp::Reverse(it.severity));
    found
}
