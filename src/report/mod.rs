//! The reports of many nodes in one: which nodes are alike, what differs, who
//! is the odd one out.
//!
//! Kept are the groups (at most [`MAX_GROUPS`]), a few names of each, and for
//! every node a few words: the hash of its name, of its machine's id and the number
//! of its group, so that its last report is the one that counts. A report itself is dropped as
//! soon as it was counted.

mod logs;
mod record;
mod stream;
mod summary;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, DefaultHasher, Hasher as _};

use crate::check_loop::{Setup, State, Verdict};

pub use logs::{Client, Logs};
pub use record::{MAX_RECORD, NodeReport};
pub use stream::{MAX_BARREN, Stream};
pub use summary::{Attribute, Difference, Entry, Summary};

/// More kinds of nodes are counted by their verdict alone.
pub const MAX_GROUPS: usize = 1000;

/// So many names of a group are kept.
pub const MAX_EXAMPLES: usize = 8;

/// Of more nodes than this it is not known any more who reports twice.
const MAX_NODES: usize = 1_000_000;

/// So many things that went wrong are kept; the others are counted.
pub const MAX_ERRORS: usize = 100;

/// Reports while they come in.
#[derive(Debug, Default)]
pub struct Merge {
    /// Which group has which number.
    numbers: BTreeMap<Kind, u32>,
    groups: Vec<Count>,
    /// By the hash of a name: what its last report said.
    nodes: HashMap<u64, Said, BuildHasherDefault<DefaultHasher>>,
    /// By the hash of a name: the hash of the first machine's id, if one was said.
    machines: HashMap<u64, Option<u64>, BuildHasherDefault<DefaultHasher>>,
    conflicts: BTreeSet<Conflict>,
    /// What `kdns why LOG` has written.
    logs: Logs,
    /// Reports of a node that reported before.
    repeated: u64,
    /// Lines that are no report, and where the first of them is.
    passed_over: u64,
    first_passed_over: Option<Where>,
    errors: Vec<Trouble>,
    /// All of them, with those that are not kept.
    error_count: u64,
}

/// What nodes of a group have in common.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Kind {
    /// The answer.
    pub verdict: Verdict,
    /// The running pods with the files they have.
    pub now: State,
    /// The pods after the next start.
    pub next_start: State,
    /// The query path that decides, without what only one node has. Empty: none is
    /// known.
    pub query_path: String,
    /// Why it is not known.
    pub why: Option<String>,
    /// What fixes it: the file, and what is to stand there.
    pub fix: Option<(String, String)>,
    /// How the node is set up; `None`: the report does not say.
    pub setup: Option<Setup>,
    /// Whether it stands for every further kind with this verdict.
    pub is_rest: bool,
}

/// Nodes that are alike.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Group {
    /// What they have in common.
    pub kind: Kind,
    /// How many they are.
    pub nodes: u64,
    /// The first of their names in the order of the alphabet, those of whom
    /// the report does not say it as `FILE:LINE`. At most [`MAX_EXAMPLES`].
    pub examples: Vec<String>,
    /// How many of them have remarks or log lines worth a look.
    pub remarked: u64,
    /// Whether they are far fewer than the largest group.
    pub is_odd: bool,
}

/// Reports under one name that cannot be of one node.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Conflict {
    /// The node's name, with its cluster's if that is known.
    pub name: String,
    /// Whether two machines have the name. Otherwise its reports contradict each
    /// other, and do not say of which machine they are.
    pub is_of_machines: bool,
}

/// A place in the input.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Where {
    /// The file, safe to print.
    pub file: String,
    /// From 1; `None`: the file itself.
    pub line: Option<u64>,
    /// From 1, in bytes, if it is known.
    pub column: Option<usize>,
}

/// Something that could not be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Trouble {
    /// Where.
    pub at: Where,
    /// What, safe to print, without a full stop.
    pub message: String,
}

#[derive(Clone, Debug, Default)]
struct Count {
    nodes: u64,
    remarked: u64,
    examples: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug)]
struct Said {
    group: u32,
    is_remarked: bool,
}

impl Merge {
    /// Counts a report. If its node reported before, that is forgotten.
    pub fn add(&mut self, report: NodeReport, at: &Where) {
        let group = self.number(report.kind);
        let said = Said {
            group,
            is_remarked: report.is_remarked,
        };
        let name = match (report.node, report.cluster) {
            (Some(name), cluster) => {
                let name = cluster.map_or_else(|| name.clone(), |it| format!("{it}/{name}"));
                self.remember(&name, report.machine.as_deref(), said);
                name
            }
            (None, _) => at.to_string(),
        };
        if let Some(count) = self.groups.get_mut(group as usize) {
            count.nodes += 1;
            count.remarked += u64::from(said.is_remarked);
            count.examples.insert(name);
            if count.examples.len() > MAX_EXAMPLES {
                count.examples.pop_last();
            }
        }
    }

    /// Notes that something could not be read.
    pub fn fail(&mut self, at: Where, message: String) {
        self.error_count += 1;
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(Trouble { at, message });
        }
    }

    /// Notes a line that is no report.
    fn pass_over(&mut self, at: &Where) {
        self.passed_over += 1;
        self.first_passed_over.get_or_insert_with(|| at.clone());
    }

    fn number(&mut self, kind: Kind) -> u32 {
        if let Some(&number) = self.numbers.get(&kind) {
            return number;
        }
        let kind = if self.groups.len() < MAX_GROUPS {
            kind
        } else {
            Kind::rest(kind.verdict)
        };
        let next = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(kind).or_insert(next);
        if number == next {
            self.groups.push(Count::default());
        }
        number
    }

    /// Keeps what the node said last, and forgets what it said before.
    ///
    /// Two machines of one name are two nodes, and a conflict.
    fn remember(&mut self, name: &str, machine: Option<&str>, said: Said) {
        let by_name = hash(&name);
        let own = machine.map(|it| hash(&it));
        let first = *self.machines.entry(by_name).or_insert(own);
        let is_of_machines = first.is_some() && own.is_some() && first != own;
        if is_of_machines {
            self.conflict(name, true);
        }
        let key = if is_of_machines {
            hash(&(name, machine))
        } else {
            by_name
        };
        let before = self.nodes.get(&key).copied();
        if let Some(before) = before {
            let is_known = first.is_some() && own.is_some();
            if !is_known && before.group != said.group {
                self.conflict(name, false);
            }
            self.repeated += 1;
            self.forget(before, name);
        }
        if before.is_some() || self.nodes.len() < MAX_NODES {
            self.nodes.insert(key, said);
        }
    }

    /// Keeps the names of the first ones.
    fn conflict(&mut self, name: &str, is_of_machines: bool) {
        let conflict = Conflict {
            name: name.to_owned(),
            is_of_machines,
        };
        if self.conflicts.len() < MAX_ERRORS {
            self.conflicts.insert(conflict);
        }
    }

    fn forget(&mut self, said: Said, name: &str) {
        if let Some(count) = self.groups.get_mut(said.group as usize) {
            count.nodes = count.nodes.saturating_sub(1);
            count.remarked = count.remarked.saturating_sub(u64::from(said.is_remarked));
            count.examples.remove(name);
        }
    }
}

fn hash(value: &impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Kind {
    /// Whatever else has this verdict.
    fn rest(verdict: Verdict) -> Self {
        Self {
            verdict,
            now: State::Unknown,
            next_start: State::Unknown,
            query_path: String::new(),
            why: None,
            fix: None,
            setup: None,
            is_rest: true,
        }
    }

    /// Whether something is wrong with these nodes.
    pub fn is_bad(&self) -> bool {
        !matches!(self.verdict, Verdict::NoLoop | Verdict::Unknown)
    }
}

/// `FILE`, `FILE:LINE`, `FILE:LINE:COLUMN`.
impl std::fmt::Display for Where {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        Ok(())
    }
}
