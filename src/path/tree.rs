//! What becomes of a packet.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use super::packet::Packet;
use super::what::What;
use crate::order::Order as _;
use crate::rules::rule::Side;
use crate::rules::{Family, Share};
use crate::text::Place;

/// All that can become of a packet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tree {
    /// The packet.
    pub packet: Packet,
    /// The answer.
    pub verdict: Verdict,
    /// Every end. Shares sum to 1 within each set of assumptions.
    pub outcomes: Vec<Outcome>,
    /// The Service that the rules know the destination by: `kube-system/kube-dns:dns`.
    pub service: Option<String>,
    /// Another proxy than kube-proxy that carries Services here.
    pub proxy: Option<Proxy>,
    /// What was not seen and what does not follow from it.
    pub gaps: Vec<Gap>,
}

/// A proxy that carries Services out of sight of the rules.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Proxy {
    /// Cilium, in eBPF.
    Cilium,
    /// Calico's eBPF data plane.
    CalicoBpf,
    /// OVN-Kubernetes, in Open vSwitch.
    Ovn,
    /// Antrea, in Open vSwitch.
    Antrea,
}

/// The answer in one word.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Verdict {
    /// Every share reaches an endpoint.
    Reaches,
    /// Some shares reach one, others nothing.
    Partly,
    /// No share reaches one.
    Nothing,
    /// No rule is about this Service.
    NoRule,
    /// The Service has no endpoints.
    NoEndpoints,
    /// A share goes back to the asker.
    Hairpin,
    /// Another proxy than kube-proxy carries Services here, out of sight of
    /// these rules.
    OtherProxy,
    /// It depends on what was not seen.
    Unknown,
}

/// One end of the way.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Outcome {
    /// What happens there.
    pub kind: Kind,
    /// The address that the packet has at its end.
    pub address: IpAddr,
    /// The port that it has there.
    pub port: u16,
    /// Its share, of all packets for which what it depends on holds.
    pub share: Share,
    /// Whether the endpoint sees another sender than the asker.
    pub masqueraded: bool,
    /// What comes back instead, in the words of iptables: `icmp-port-unreachable`.
    pub error: Option<Box<str>>,
    /// The pod at the address: `kube-system/coredns-5d78c9869d-abcde`.
    pub pod: Option<String>,
    /// The Service that a rule's comment names.
    pub service: Option<String>,
    /// What must hold for it; empty: nothing that is not known.
    pub depends_on: Vec<Assumption>,
    /// The rules that did something, in the packet's order.
    pub steps: Vec<Step>,
    /// What becomes of the answer; `None`: there is none to look at.
    pub reply: Option<Reply>,
    /// Whether a rule, or IPVS, has translated its destination.
    pub is_translated: bool,
    /// Whether the rule that refuses it says that the Service has no endpoints.
    pub has_no_endpoints: bool,
    /// Whether connection tracking has not looked at it.
    pub is_untracked: bool,
    /// Whether it ends in the sender's own network namespace, which is another one
    /// than the node's.
    pub is_own: bool,
    /// The link that it came in through, and the one that it leaves through,
    /// where they are known.
    pub links: (Option<Box<str>>, Option<Box<str>>),
}

/// What happens at an end.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// It goes to another host or pod.
    Endpoint,
    /// It is delivered on the node itself.
    Local,
    /// It vanishes.
    Drop,
    /// It is refused with an error.
    Reject,
    /// There is no route to the address.
    NoRoute,
    /// What becomes of it is not known.
    Unknown,
}

/// What becomes of the answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reply {
    /// It comes back as from the address that was asked.
    Returns,
    /// It comes back as from another address: the asker drops it.
    Untranslated,
    /// A rule drops or rejects it.
    Dropped(Vec<Step>),
    /// Only this share of answers comes back: a rule drops others by lot.
    Partly(Share, Vec<Step>),
    /// It is not known whether it comes back.
    Unknown(Vec<Assumption>),
}

/// Which of the two packets meets a rule.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Direction {
    /// The one that asks.
    Request,
    /// The one that answers.
    Reply,
}

/// What does something to a packet; its text is the word of the JSON form.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Stage {
    /// A table of rules: `nat`; nftables with family: `ip kube-proxy`.
    Table(Box<str>),
    /// A Service of IPVS.
    Ipvs,
    /// Routes and their rules.
    Route,
    /// The table of connections.
    Conntrack,
    /// The setting that makes a host a router.
    IpForward,
    /// The filter of senders.
    RpFilter,
    /// A device, which is down.
    Link,
    /// The table of neighbours.
    Neighbour,
    /// The rules of the pod to which the packet comes, in its own network namespace.
    Pod,
    /// The sockets of the one to whom the packet comes.
    Socket,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Table(name) => name,
            Self::Ipvs => "ipvs",
            Self::Route => "route",
            Self::Conntrack => "conntrack",
            Self::IpForward => "ip_forward",
            Self::RpFilter => "rp_filter",
            Self::Link => "link",
            Self::Neighbour => "neighbour",
            Self::Pod => "pod",
            Self::Socket => "socket",
        })
    }
}

/// Something that was done to the packet, by a rule or another part of the kernel.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Step {
    /// Which packet.
    pub direction: Direction,
    /// By what.
    pub stage: Stage,
    /// The chain; empty: it is no table's.
    pub chain: Box<str>,
    /// Where the rule is written; line 0: it is no line of a text.
    pub place: Place,
    /// What it is.
    pub what: What,
    /// How many packets have met it; `None`: not counted.
    pub packets: Option<u64>,
}

impl Step {
    /// The rule as it is written; empty: it is none.
    pub fn rule(&self) -> &str {
        match &self.what {
            What::Rule(rule) => rule,
            _ => "",
        }
    }
}

/// Something that is not known, taken one way.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Assumption {
    /// What.
    pub condition: Condition,
    /// Whether it is taken to hold.
    pub holds: bool,
}

/// What was not seen of a rule or of the node, so that both is possible.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Condition {
    /// A rule's match, in its own words: `-m u32 --u32 0x0`, with the rule's place.
    Match {
        /// The words, safe to print.
        words: Box<str>,
        /// Where they stand: `FILE:LINE`.
        place: Box<str>,
    },
    /// What a target does, in its own words.
    Target {
        /// The words, safe to print.
        words: Box<str>,
        /// Where they stand.
        place: Box<str>,
    },
    /// Whether the address of the asker, which is not known, is what a rule asks for.
    Asker {
        /// Where the rule stands.
        place: Box<str>,
    },
    /// The same of an address of the node.
    OwnAddress {
        /// Which end of the packet has it.
        side: Side,
        /// Where the rule stands.
        place: Box<str>,
    },
    /// Whether the port that the client draws is in one of these ranges.
    ClientPort {
        /// The first and the last port of each.
        ranges: Box<[(u16, u16)]>,
        /// Where the rule stands.
        place: Box<str>,
    },
    /// Whether IPVS picks this server.
    Picked {
        /// By which scheduler.
        scheduler: Box<str>,
        /// The server.
        server: SocketAddr,
        /// Whether it may be kept from an earlier connection.
        is_persistent: bool,
    },
    /// Whether the packet comes in through this link.
    InLink(Box<str>),
    /// Whether it leaves through this link.
    OutLink(Box<str>),
    /// Whether this is an address of the node.
    Local(IpAddr),
    /// Whether the set has the packet's addresses in it.
    Set(Box<str>),
    /// What stands in a chain that is not among the rules.
    Chain {
        /// Its table.
        table: Box<str>,
        /// Its name.
        chain: Box<str>,
    },
    /// Whether a table that translates runs before another one of the same
    /// priority: the order in which they were registered decides.
    Before {
        /// The one.
        first: Box<str>,
        /// The other one.
        second: Box<str>,
    },
    /// Whether `xt_recent`'s list has the asker in it.
    Recent(Box<str>),
    /// A program that decides (`NFQUEUE`): whether it lets the packet pass.
    Queue(Box<str>),
    /// There are more ways than kdns follows.
    TooMany,
}

/// What was not seen, with what is taken for it.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Gap {
    /// Who asks: taken for a pod whose own address no rule names.
    Asker,
    /// The node's addresses: what a rule translates to is taken for a pod.
    Addresses,
    /// Routes: every address is taken to have one.
    Routes,
    /// Neighbours and listeners: every endpoint is taken to be alive.
    Liveness,
    /// A table of iptables that was not given.
    Table(Box<str>),
    /// All rules of this family.
    Rules(Family),
    /// The IPVS services of kube-proxy in IPVS mode.
    Ipvs,
    /// How packets get into kube-proxy's chains: taken as kube-proxy writes it.
    Entry,
}

impl Tree {
    /// Whether a packet, or the answer to it, is lost for a reason that is seen.
    pub fn fails(&self) -> bool {
        match self.verdict {
            Verdict::Partly | Verdict::Nothing | Verdict::NoRule | Verdict::NoEndpoints => true,
            Verdict::Hairpin => self.outcomes.iter().any(|it| !it.arrives()),
            Verdict::Reaches | Verdict::OtherProxy | Verdict::Unknown => false,
        }
    }

    /// The first end without an answer.
    pub fn lost(&self) -> Option<&Outcome> {
        self.outcomes.iter().find(|it| !it.arrives())
    }
}

impl Outcome {
    /// The step that ends it, or keeps its answer back.
    pub fn last(&self) -> Option<&Step> {
        match &self.reply {
            Some(Reply::Dropped(steps) | Reply::Partly(_, steps)) => steps.last(),
            _ => self.steps.last(),
        }
    }

    /// Whether somebody gets the packet, and its answer comes back.
    pub fn arrives(&self) -> bool {
        matches!(self.kind, Kind::Endpoint | Kind::Local) && self.reply == Some(Reply::Returns)
    }
}

impl Verdict {
    /// Its word in every format.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reaches => "reaches",
            Self::Partly => "partly",
            Self::Nothing => "nothing",
            Self::NoRule => "no-rule",
            Self::NoEndpoints => "no-endpoints",
            Self::Hairpin => "hairpin",
            Self::OtherProxy => "other-proxy",
            Self::Unknown => "unknown",
        }
    }

    /// The answer for several packets: what is the same for all; else that
    /// only some arrive, or what is worst.
    pub fn of_all(all: impl Iterator<Item = Self>) -> Self {
        let mut all: Vec<Self> = all.collect();
        all.order();
        all.dedup();
        match all.as_slice() {
            [] => Self::Unknown,
            [one] => *one,
            many if many.contains(&Self::Unknown) => Self::Unknown,
            many if many.contains(&Self::Reaches) || many.contains(&Self::Hairpin) => match many {
                [Self::Reaches, Self::Hairpin] => Self::Hairpin,
                _ => Self::Partly,
            },
            [.., last] => *last,
        }
    }
}

impl Kind {
    /// Its word in every format.
    pub fn word(self) -> &'static str {
        match self {
            Self::Endpoint => "endpoint",
            Self::Local => "local",
            Self::Drop => "drop",
            Self::Reject => "reject",
            Self::NoRoute => "no-route",
            Self::Unknown => "unknown",
        }
    }
}
