//! What is wrong with the DNS of a node, from all that the other commands find
//! out about it: what each of them says, and what it comes from, the likeliest
//! first.
//!
//! Nothing is decided twice: a check is the answer of one command, a cause is
//! one of the things that these answers show.

mod asked;
mod causes;
pub mod checks;
mod joined;
mod logs;
mod lookup;
mod network;

use std::net::SocketAddr;

use crate::check_loop::facts::Trouble;
use crate::check_loop::{self};
use crate::finding::Finding;
use crate::lint::Unread;
use crate::node::kernel::Room;
use crate::path;
use crate::text::Place;
use crate::upstream::{self, Health};
use crate::why::log::Advice;

pub use asked::{Answer, Asked, Unasked, Whom};
pub use logs::Logs;
pub use lookup::Lookup;
pub use network::{Counted, Route, Twice};

/// The answer of `kdns doctor`.
#[derive(Clone, Debug)]
pub struct Report<'o> {
    /// The node's name, if it is known.
    pub node: Option<&'o str>,
    /// The answer over all checks.
    pub verdict: Verdict,
    /// What each command says, where queries go first.
    pub checks: Vec<Check<'o>>,
    /// What is wrong, the likeliest cause of trouble first.
    pub causes: Vec<Cause<'o>>,
}

/// The answer over all checks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// Nothing that was seen is wrong.
    Ok,
    /// Something is wrong, or can go wrong.
    Wrong,
    /// Nothing wrong was seen, but where queries go could not be judged.
    Unknown,
}

/// The state of one check.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum State {
    /// It is as it should be.
    Ok,
    /// It could not be seen.
    Unknown,
    /// It can go wrong, or goes wrong now and then.
    Warning,
    /// It is wrong.
    Error,
}

/// The answer of one command.
#[derive(Clone, Debug)]
pub struct Check<'o> {
    /// Which it is: `here`, `loop`, `upstream`, `pods`, `lint`, `logs`, `path`,
    /// `kernel`, `servers`, `lookup`.
    pub code: &'static str,
    /// What the command found.
    pub state: State,
    /// What was found.
    pub fact: Fact<'o>,
    /// The files and lines that show it.
    pub places: Vec<Place>,
}

impl<'o> Check<'o> {
    const fn new(code: &'static str, state: State, fact: Fact<'o>, places: Vec<Place>) -> Self {
        Self {
            code,
            state,
            fact,
            places,
        }
    }

    /// Whether where queries go could not be judged for want of what it asks for.
    pub fn leaves_open(&self) -> bool {
        let decides = matches!(self.fact, Fact::Loop(_) | Fact::Here(Here::Pod, _));
        decides && self.state == State::Unknown
    }
}

/// Where kdns looks from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Here {
    /// A node, which is this machine.
    Node,
    /// Files of a node, below this directory or in this snapshot.
    Below(String),
    /// A node, seen from a pod that has its files below this directory.
    Debug(String),
    /// A pod, of whose node nothing is to be seen.
    Pod,
    /// A machine on which no kubelet is.
    Elsewhere,
    /// A machine whose processes could not be seen, and so perhaps a node; the reason.
    Unseen(String),
}

/// What one command found.
#[derive(Clone, Debug)]
pub enum Fact<'o> {
    /// Where kdns looks from.
    Here(&'o Here, Option<&'o str>),
    /// Where queries go.
    Loop(&'o check_loop::Report),
    /// Who the node's servers are.
    Upstream {
        /// Servers outside the node where queries end.
        outside: Vec<SocketAddr>,
        /// The first server where they end without an answer, and whose file names it.
        dead: Option<(&'o upstream::Step, upstream::Role)>,
        /// The files that name no server at all.
        broken: Vec<&'o upstream::FileReport>,
        /// Why that is not known.
        health: Health,
        /// Whether they are those of a pod, whose node is not seen.
        is_pod: bool,
    },
    /// The pods.
    Pods {
        /// How many pods the node has.
        count: usize,
        /// Of how many of them the file was not seen that their programs read.
        unseen: usize,
        /// Pods whose programs have another file than the runtime keeps.
        drifting: Vec<String>,
        /// DNS pods that do not stay up.
        crashing: Vec<String>,
        /// DNS pods of which no container was ever made.
        waiting: Vec<String>,
        /// Pods that ask their own loopback addresses, where nobody listens.
        unheard: Vec<String>,
        /// What could not be read of them.
        unread: Vec<&'o str>,
        /// What could not be read that tells of pods, where nothing else is to be said.
        doubt: Option<&'o str>,
    },
    /// The settings.
    Lint {
        /// The findings of the worst severity, which is the check's.
        worst: Vec<&'o Finding>,
        /// Findings that are no more than worth knowing.
        others: usize,
        /// How many files were looked at.
        files: usize,
        /// The first of those that could not be.
        unread: Option<&'o Unread>,
    },
    /// What the DNS pods log; `None`: no log of one is there.
    Logs(Option<&'o Logs>),
    /// Where packets to the cluster's DNS go; an error says why that is not known,
    /// as a sentence without a full stop.
    Path(Result<&'o Route, &'o str>),
    /// What the kernel keeps about connections.
    Kernel {
        /// What lint finds there.
        findings: Vec<&'o Finding>,
        /// Its counters.
        counted: &'o Counted,
    },
    /// No server was asked; why.
    NotAsked(Unasked),
    /// Servers that were asked.
    Servers(&'o [Asked]),
    /// A name that was looked up; an error says why it was not, as a sentence
    /// without a full stop.
    Lookup(Result<&'o Lookup, &'o str>),
}

/// Something that is wrong.
#[derive(Clone, Debug)]
pub struct Cause<'o> {
    /// What it is.
    pub kind: Kind<'o>,
    /// The checks that show it, as numbers in [`Report::checks`].
    pub evidence: Vec<usize>,
    /// The files and lines that show it.
    pub places: Vec<Place>,
    /// Whether it is wrong, or can go wrong.
    pub state: State,
}

/// What is wrong.
#[derive(Clone, Debug)]
pub enum Kind<'o> {
    /// DNS loops, or will.
    Loop(&'o check_loop::Report),
    /// Something that `check-loop` sees beside it.
    Trouble(&'o Trouble, &'o check_loop::Report),
    /// A server where queries end without an answer.
    Dead(&'o upstream::Step, upstream::Role),
    /// A file that names no server.
    NoServer(&'o upstream::FileReport),
    /// Servers that do not answer.
    Silent(Vec<&'o Asked>),
    /// Servers that answer over UDP alone.
    WithoutTcp(Vec<&'o Asked>),
    /// Servers that answer late.
    Slow(Vec<&'o Asked>),
    /// DNS pods that do not stay up.
    Crashing(Vec<String>),
    /// Pods whose programs have another resolv.conf than the runtime keeps.
    Drifting(Vec<String>),
    /// A pod whose files cannot be read.
    Unreadable(&'o str),
    /// Packets to the cluster's DNS are lost.
    Lost(&'o path::Tree),
    /// Something is wrong on the way of these packets.
    Way(&'o path::findings::Finding),
    /// The kubelet's file system has little room left, or none.
    ShortOfDisk(Room),
    /// The kernel drops packets while it is looked at.
    Dropping(&'o Counted),
    /// What the DNS pods log shows it.
    Logged(&'o Advice),
    /// A lookup fails, or is slow.
    Failing(&'o Lookup),
    /// A setting.
    Setting(&'o Finding),
}

/// Puts together what was found out about a node of this name.
pub fn report<'o>(node: Option<&'o str>, checks: Vec<Check<'o>>) -> Report<'o> {
    let causes = causes::all(&checks);
    let is_wrong = |it: &Check<'_>| matches!(it.state, State::Warning | State::Error);
    let verdict = if checks.iter().any(is_wrong) {
        Verdict::Wrong
    } else if checks.iter().any(Check::leaves_open) {
        Verdict::Unknown
    } else {
        Verdict::Ok
    };
    Report {
        node,
        verdict,
        checks,
        causes,
    }
}
