//! What is found about the DNS of a node.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::{Cause, Caveat, Concern, Missing, Remark, Step, Unknown, Useless};
use super::log::SightingKind;
use super::seen::ProbeResult;
use crate::text::Place;
use crate::topology::{ServerName, Target};

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The node's name, if it is known.
    pub node: Option<String>,
    /// The cluster that it belongs to, as the caller calls it.
    pub cluster: Option<String>,
    /// `/etc/machine-id`, which no other machine has.
    pub machine_id: Option<String>,
    /// What the kernel calls this start of the machine.
    pub boot_id: Option<String>,
    /// What decides where its DNS leads, to compare nodes by.
    pub setup: Setup,
    /// The answer.
    pub verdict: Verdict,
    /// The running pods with the files they have.
    pub now: State,
    /// The pods after the next start, with the files the kubelet would write.
    pub next_start: State,
    /// What decides it; `None`: nothing that is known, or nothing is wrong.
    pub cause: Option<Cause>,
    /// What is wrong though it does not loop; only with [`Verdict::NoLoop`].
    pub concern: Option<Concern>,
    /// The proof: the chains that decide first, then others.
    pub chains: Vec<Chain>,
    /// The one change that ends the loop, if one was found.
    pub fix: Option<Fix>,
    /// Log lines that show it.
    pub evidence: Vec<Sighting>,
    /// What would be needed for an answer, if the verdict or that of the next
    /// start is unknown.
    pub missing: Vec<Missing>,
    /// Drift and other things worth knowing.
    pub remarks: Vec<Remark>,
    /// What could not be read.
    pub skipped: Vec<String>,
    /// What a probe saw, if there was one.
    pub probe: Option<ProbeResult>,
}

impl Report {
    /// The Services on the query paths of running pods, and whether a server on the node's
    /// network asks it; `None`: the one that NodeLocal DNSCache asks.
    pub fn services(&self) -> BTreeMap<Option<IpAddr>, bool> {
        let mut found = BTreeMap::new();
        for chain in self.chains.iter().filter(|it| it.when == When::Now) {
            let mut is_on_node = false;
            for hop in &chain.hops {
                match &hop.who {
                    Who::Service(ip) => *found.entry(*ip).or_default() |= is_on_node,
                    Who::Server { is_on_node: it, .. } => is_on_node = *it,
                }
            }
        }
        found
    }
}

/// The answer to `kdns check-loop`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Verdict {
    /// It loops now.
    Loop,
    /// It loops at the next start of the DNS pods.
    WillLoop,
    /// A DNS server sends to a loopback address where nobody listens.
    Refused,
    /// It loops or is refused for some of the queries.
    Mixed,
    /// It does not loop.
    NoLoop,
    /// Something is missing for an answer.
    Unknown,
}

/// What becomes of queries: now, or at the next start.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum State {
    /// It loops.
    Loop,
    /// It loops or is refused for some of the queries.
    Mixed,
    /// Queries are sent to where nobody listens.
    Refused,
    /// Every query path leads out.
    NoLoop,
    /// Not known.
    Unknown,
}

impl Verdict {
    /// Every verdict, the worst first.
    pub const ALL: [Self; 6] = [
        Self::Loop,
        Self::Mixed,
        Self::Refused,
        Self::WillLoop,
        Self::Unknown,
        Self::NoLoop,
    ];

    /// Its word in every format.
    pub fn word(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Mixed => "mixed",
            Self::Refused => "refused",
            Self::WillLoop => "will loop",
            Self::Unknown => "unknown",
            Self::NoLoop => "no loop",
        }
    }
}

impl State {
    /// Every state, the worst first.
    pub const ALL: [Self; 5] = [
        Self::Loop,
        Self::Mixed,
        Self::Refused,
        Self::Unknown,
        Self::NoLoop,
    ];

    /// Its place in [`Self::ALL`].
    pub(super) fn rank(self) -> usize {
        let mut all = Self::ALL.into_iter();
        all.position(|it| it == self).unwrap_or_default()
    }

    /// Its word in every format.
    pub fn word(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Mixed => "mixed",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
            Self::NoLoop => "no loop",
        }
    }
}

/// How the node is set up.
///
/// It is without what only this node has: two nodes that are set up alike give
/// equal values. Every string is safe to print; `on_node` and `forwards` have each
/// item once.
#[derive(
    Clone, Debug, Default, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(default)]
#[schemars(!default, rename = "SetupForm", description = "How the node is set up.")]
pub struct Setup {
    /// The kubelet's `resolvConf`.
    pub resolv_conf: Option<String>,
    /// Where it was set: a file, an argument, `the built-in default`.
    pub resolv_conf_from: Option<String>,
    /// The file to which its links lead, if it was read.
    pub leads_to: Option<String>,
    /// The name servers in that file, in order.
    pub name_servers: Vec<String>,
    /// The DNS servers on the node itself, by name.
    pub on_node: Vec<String>,
    /// To whom the cluster's DNS forwards: zone and servers or file.
    pub forwards: Vec<String>,
}

/// A query path.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Whether pods take it now, or after their next start.
    pub when: When,
    /// The zone whose names take it: `.`, `cluster.local.`.
    pub zone: String,
    /// The servers in order, each with what it sends to.
    pub hops: Vec<Hop>,
    /// How it ends.
    pub end: End,
    /// Of how many equal choices this query path is one: 1 of 2 is `(1, 2)`.
    pub share: (u32, u32),
}

/// Which files a chain is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum When {
    /// Those that the running pods have.
    Now,
    /// Those that the kubelet would write.
    NextStart,
}

/// One server on the query path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hop {
    /// The server, or the service that stands for several.
    pub who: Who,
    /// To whom it sends.
    pub sends_to: SendsTo,
    /// Files and places that say so, in the order in which they are followed:
    /// the Corefile's `forward`, then the `nameserver` line.
    pub proof: Vec<Proof>,
}

impl Hop {
    /// Whether it sends to a loopback address, as packets see it.
    pub fn is_to_loopback(&self) -> bool {
        let to = self.sends_to.address();
        to.is_some_and(|to| super::graph::reached(to).ip().is_loopback())
    }
}

/// To whom a hop sends.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum SendsTo {
    /// What its configuration names, or a server of the file that it names.
    Target(Target),
    /// One of the DNS pods, behind a Service.
    DnsPods,
    /// Servers beyond those that are looked at.
    Further,
}

impl SendsTo {
    /// The address and port, where it is one.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Target(Target::Address(to)) => Some(*to),
            _ => None,
        }
    }
}

/// Who is at a hop.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Who {
    /// A DNS server.
    Server {
        /// Which one.
        name: ServerName,
        /// Whether it is on the node's network, not in a pod's.
        is_on_node: bool,
    },
    /// The service of the cluster's DNS; `None`: the one that NodeLocal
    /// DNSCache asks, at an address that no file names.
    Service(Option<IpAddr>),
}

/// A place and what stands there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Proof {
    /// The place.
    pub place: Place,
    /// The words there, safe to print: `forward . /etc/resolv.conf`.
    pub text: String,
}

/// How a query path ends.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum End {
    /// At the hop with this number, from 0, for the second time.
    Cycle(usize),
    /// Nobody listens on the last address.
    Refused,
    /// The last server has noticed that it would ask itself, and asks nobody.
    Stopped,
    /// At a server outside the node, or at one that answers itself.
    Outside,
    /// It cannot be followed.
    Unknown(Unknown),
}

/// What ends the loop.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fix {
    /// The one change; of what is right already both texts are the same.
    pub edit: Edit,
    /// Whether the kubelet has to be restarted for what stands there already.
    pub is_restart: bool,
    /// What to do with it, in order: restart this, recreate those pods.
    pub then: Vec<Step>,
    /// What would undo it, such as a flag that overrides the file.
    pub but: Vec<Caveat>,
    /// What people try that does not fix it.
    pub not: Vec<Useless>,
}

impl Fix {
    /// A change, and what to do with it.
    pub(super) fn new(edit: Edit, then: Vec<Step>) -> Self {
        Self {
            edit,
            is_restart: false,
            then,
            but: Vec::new(),
            not: Vec::new(),
        }
    }
}

/// One change of one file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Edit {
    /// Where: at the old text, or where the new line belongs.
    pub place: Place,
    /// What stands there; `None`: nothing, it is to be added.
    pub old: Option<String>,
    /// The words that are to stand there; empty: the old ones go.
    pub new: String,
}

/// Lines of a log that show a loop or a dead upstream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sighting {
    /// What they show.
    pub kind: SightingKind,
    /// Where the first line stands.
    pub place: Place,
    /// That line, safe to print.
    pub text: String,
    /// How many lines there are.
    pub count: usize,
    /// The time of the first, as the log has it.
    pub first: Option<String>,
    /// The time of the last.
    pub last: Option<String>,
    /// The pod whose log it is, `NAMESPACE/NAME`; `None`: a log that the caller
    /// named.
    pub pod: Option<String>,
    /// The servers that the lines name as asked, each once, the first eight.
    pub servers: Vec<SocketAddr>,
}

impl Sighting {
    /// Whether a loop shows like this; not each of them is one.
    pub fn shows_loop(&self) -> bool {
        self.kind < SightingKind::OwnAddress
    }
}
