//! What is wrong with the DNS of a node, from all that the other commands find
//! out about it: what each of them says, and what it comes from, the likeliest
//! first.
//!
//! Nothing is decided twice: a check is the answer of one command, a cause is
//! one of the things that these answers show.

mod asked;
mod causes;
mod checks;

use std::net::SocketAddr;

use crate::check_loop::facts::Trouble;
use crate::check_loop::{self};
use crate::finding::Finding;
use crate::lint::Findings;
use crate::node::Node;
use crate::text::Place;
use crate::upstream::{self, Health};

pub use asked::{Answer, Asked, Whom};

/// All that was found out.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'o> {
    /// The node, with its pods and servers.
    pub node: &'o Node,
    /// What `check-loop` says of it.
    pub loops: &'o check_loop::Report,
    /// What `upstream` says.
    pub upstream: &'o upstream::Report,
    /// How it is with these servers.
    pub health: Health,
    /// What `lint --node` says.
    pub findings: &'o Findings,
    /// Which servers were asked, and what they answered; empty: none was.
    pub asked: &'o [Asked],
}

/// The answer of `kdns doctor`.
#[derive(Clone, Debug)]
pub struct Report<'o> {
    /// The node's name, if it is known.
    pub node: Option<&'o str>,
    /// How it is, all in all.
    pub verdict: Verdict,
    /// What each command says, where queries go first.
    pub checks: Vec<Check<'o>>,
    /// What is wrong, the likeliest cause of trouble first.
    pub causes: Vec<Cause<'o>>,
}

/// How it is, all in all.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// Nothing that was seen is wrong.
    Ok,
    /// Something is wrong, or can go wrong.
    Wrong,
    /// Nothing wrong was seen, but where queries go could not be judged.
    Unknown,
}

/// How it is with one thing.
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
    /// Which it is: `loop`, `upstream`, `pods`, `lint`, `servers`.
    pub code: &'static str,
    /// How it is.
    pub state: State,
    /// What was found.
    pub fact: Fact<'o>,
    /// The files and lines that show it.
    pub places: Vec<Place>,
    /// What shows more of it.
    pub command: &'static str,
}

/// What one command found.
#[derive(Clone, Debug)]
pub enum Fact<'o> {
    /// Where queries go.
    Loop(&'o check_loop::Report),
    /// Who the node's servers are.
    Upstream {
        /// Servers outside the node where queries end.
        outside: Vec<SocketAddr>,
        /// The first server where they end without an answer.
        dead: Option<&'o upstream::Step>,
        /// Why that is not known.
        health: Health,
    },
    /// The pods.
    Pods {
        /// How many there are.
        count: usize,
        /// Pods whose programs have another file than the runtime keeps.
        drifting: Vec<String>,
        /// DNS pods that do not stay up.
        crashing: Vec<String>,
        /// What could not be read of them.
        unread: Vec<&'o str>,
    },
    /// The settings.
    Lint {
        /// The findings of the worst severity, which is the check's.
        worst: Vec<&'o Finding>,
        /// Findings that are no more than worth knowing.
        others: usize,
        /// How many files were looked at.
        files: usize,
    },
    /// Servers that were asked.
    Servers(&'o [Asked]),
}

/// Something that is wrong.
#[derive(Clone, Debug)]
pub struct Cause<'o> {
    /// What it is.
    pub kind: Kind<'o>,
    /// The checks that show it, as numbers in [`Report::checks`].
    pub evidence: Vec<usize>,
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
    Dead(&'o upstream::Step),
    /// Servers that do not answer.
    Silent(Vec<&'o Asked>),
    /// Servers that answer late.
    Slow(Vec<&'o Asked>),
    /// DNS pods that do not stay up.
    Crashing(Vec<String>),
    /// A pod whose files cannot be read.
    Unreadable(&'o str),
    /// A setting.
    Setting(&'o Finding),
}

/// Puts together what was found out.
pub fn report<'o>(observed: &Observed<'o>) -> Report<'o> {
    let checks = checks::all(observed);
    let causes = causes::all(&checks);
    let is_wrong = |it: &Check<'_>| matches!(it.state, State::Warning | State::Error);
    let is_open = |it: &Check<'_>| it.code == "loop" && it.state == State::Unknown;
    let verdict = if checks.iter().any(is_wrong) {
        Verdict::Wrong
    } else if checks.iter().any(is_open) {
        Verdict::Unknown
    } else {
        Verdict::Ok
    };
    Report {
        node: observed.node.name.as_deref(),
        verdict,
        checks,
        causes,
    }
}
