//! What the reports say together.

use std::collections::BTreeMap;

use super::{Conflict, Group, Kind, Logs, Merge, Trouble, Where};
use crate::check_loop::Setup;
use crate::check_loop::Verdict;
use crate::order::Order as _;

/// An odd group is at most this part of all nodes: a tenth, or one node.
const ODD_PART: u64 = 10;

/// And the largest group is at least so many times as large.
const ODD_TIMES: u64 = 3;

/// All reports together.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Summary {
    /// How many nodes reported.
    pub nodes: u64,
    /// The groups, the worst verdict first, then the largest.
    pub groups: Vec<Group>,
    /// What groups that say how they are set up do not have in common.
    pub differences: Vec<Difference>,
    /// Names under which not one node has reported; the first [`super::MAX_ERRORS`].
    pub conflicts: Vec<Conflict>,
    /// What `kdns why LOG` has written of logs, together.
    pub logs: Logs,
    /// Reports of nodes that reported again later, which do not count.
    pub repeated: u64,
    /// Lines that are no report of kdns.
    pub passed_over: u64,
    /// Where the first of them is.
    pub first_passed_over: Option<Where>,
    /// What could not be read, at most [`super::MAX_ERRORS`], in order.
    pub errors: Vec<Trouble>,
    /// How many there are, with those that were not kept.
    pub error_count: u64,
}

/// Something in which groups differ.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Difference {
    /// What.
    pub attribute: Attribute,
    /// Every value, that of the most nodes first.
    pub values: Vec<Entry>,
}

/// A value and who has it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// The value.
    pub value: String,
    /// How many nodes have it.
    pub nodes: u64,
    /// Which of [`Summary::groups`] they are in, from 0.
    pub groups: Vec<usize>,
}

/// What a node's setup consists of.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Attribute {
    /// The kubelet's `resolvConf`.
    ResolvConf,
    /// Where that was set.
    ResolvConfFrom,
    /// The file to which its links lead.
    LeadsTo,
    /// The name servers of that file.
    NameServers,
    /// The DNS servers on the node itself.
    OnNode,
    /// To whom the cluster's DNS forwards.
    Forwards,
}

impl Attribute {
    /// All, in the order in which an engineer looks.
    pub const ALL: [Self; 6] = [
        Self::ResolvConf,
        Self::ResolvConfFrom,
        Self::LeadsTo,
        Self::NameServers,
        Self::OnNode,
        Self::Forwards,
    ];

    /// What it is in this setup, as words.
    pub fn value_in(self, setup: &Setup) -> String {
        let word = |it: &Option<String>, none: &str| match it.as_deref() {
            None => none.to_owned(),
            Some("") => "empty".to_owned(),
            Some(it) => it.to_owned(),
        };
        let list = |it: &[String], between: &str, none: &str| match it {
            [] => none.to_owned(),
            it => it.join(between),
        };
        match self {
            Self::ResolvConf => word(&setup.resolv_conf, "no kubelet was found"),
            Self::ResolvConfFrom => word(&setup.resolv_conf_from, "no kubelet was found"),
            Self::LeadsTo => word(&setup.leads_to, "it was not read"),
            Self::NameServers => list(&setup.name_servers, " ", "none"),
            Self::OnNode => list(&setup.on_node, ", ", "none"),
            Self::Forwards => list(&setup.forwards, "; ", "none was found"),
        }
    }
}

impl Summary {
    /// How many nodes have this verdict.
    pub fn with(&self, verdict: Verdict) -> u64 {
        let groups = self.groups.iter().filter(|it| it.kind.verdict == verdict);
        groups.map(|it| it.nodes).sum()
    }

    /// In what `group` differs from the largest one, which has them as well.
    pub fn from_the_usual(&self, group: &Group) -> Vec<(Attribute, String)> {
        let usual = self.largest().and_then(|it| it.kind.setup.as_ref());
        let (Some(usual), Some(own)) = (usual, &group.kind.setup) else {
            return Vec::new();
        };
        let differs = |it: &Attribute| it.value_in(own) != it.value_in(usual);
        let attributes = Attribute::ALL.into_iter().filter(differs);
        attributes.map(|it| (it, it.value_in(own))).collect()
    }

    /// The group with the most nodes.
    pub fn largest(&self) -> Option<&Group> {
        // The first of several: the order is settled.
        self.groups.iter().rev().max_by_key(|it| it.nodes)
    }

    fn find_odd(&mut self) {
        let largest = self.largest().map_or(0, |it| it.nodes);
        let few = (self.nodes / ODD_PART).max(1);
        for group in &mut self.groups {
            group.is_odd = group.nodes <= few && group.nodes.saturating_mul(ODD_TIMES) <= largest;
        }
    }

    fn compare(&mut self) {
        for attribute in Attribute::ALL {
            let mut values: BTreeMap<String, Entry> = BTreeMap::new();
            for (index, group) in self.groups.iter().enumerate() {
                let Some(setup) = &group.kind.setup else {
                    continue;
                };
                let value = attribute.value_in(setup);
                let entry = values.entry(value.clone()).or_insert(Entry {
                    value,
                    nodes: 0,
                    groups: Vec::new(),
                });
                entry.nodes += group.nodes;
                entry.groups.push(index);
            }
            if values.len() > 1 {
                let mut values: Vec<Entry> = values.into_values().collect();
                values.order_by_key(|it| std::cmp::Reverse(it.nodes));
                self.differences.push(Difference { attribute, values });
            }
        }
    }
}

impl Merge {
    /// What came in so far.
    pub fn finish(self) -> Summary {
        let Self {
            numbers, groups, ..
        } = self;
        let mut found: Vec<Group> = Vec::new();
        for (kind, number) in numbers {
            let count = groups.get(number as usize).filter(|it| it.nodes > 0);
            found.extend(count.map(|count| Group {
                kind,
                nodes: count.nodes,
                examples: count.examples.iter().cloned().collect(),
                remarked: count.remarked,
                is_odd: false,
            }));
        }
        // Equal ones stay in the order of their kinds.
        found.order_by_key(|it| (rank(&it.kind), std::cmp::Reverse(it.nodes)));
        let mut summary = Summary {
            nodes: found.iter().map(|it| it.nodes).sum(),
            groups: found,
            differences: Vec::new(),
            conflicts: self.conflicts.into_iter().collect(),
            logs: self.logs,
            repeated: self.repeated,
            passed_over: self.passed_over,
            first_passed_over: self.first_passed_over,
            errors: self.errors,
            error_count: self.error_count,
        };
        summary.find_odd();
        summary.compare();
        summary
    }
}

/// How bad a verdict is, the worst first.
fn rank(kind: &Kind) -> usize {
    let position = Verdict::ALL.iter().position(|it| *it == kind.verdict);
    position.unwrap_or(Verdict::ALL.len())
}
