//! One way of a packet, as far as it has come.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use crate::path::{Condition, Direction, Stage, What};
use crate::rules::rule::Side;
use crate::rules::{Share, View};

/// A packet where it is now.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct PacketNow {
    pub(super) source: IpAddr,
    /// `None`: one that a client drew.
    pub(super) source_port: Option<u16>,
    pub(super) destination: IpAddr,
    pub(super) port: Option<u16>,
    /// The side whose address is one of the node's, and not known which: that of
    /// a masqueraded packet.
    pub(super) veiled: Option<Side>,
    pub(super) mark: u32,
    pub(super) connection_mark: u32,
    pub(super) in_link: Link,
    pub(super) out_link: Link,
    pub(super) tracking: Tracking,
    pub(super) direction: Direction,
    pub(super) is_dnat: bool,
    /// Whether the endpoint sees another sender.
    pub(super) is_snat: bool,
    /// Whether a rule hands it to a socket of the node.
    pub(super) is_taken: bool,
    pub(super) ttl: u8,
}

impl PacketNow {
    /// An address of the packet as it is now; `None`: one of the node's.
    pub(super) fn address(&self, side: Side) -> Option<IpAddr> {
        let ip = match side {
            Side::Source => self.source,
            Side::Destination => self.destination,
        };
        (self.veiled != Some(side)).then_some(ip)
    }
}

/// A link, as a rule asks for it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Link {
    /// There is none at this point.
    None,
    /// This one.
    Named(Box<str>),
    /// Not known which; no loopback device.
    Unknown,
}

/// What connection tracking knows of a packet.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Tracking {
    /// It has not looked yet.
    Ahead,
    /// It is told not to look.
    Not,
    /// The first of a flow.
    New,
    /// An answer.
    Established,
    /// None that could be: TCP's answer to a question that was not tracked.
    Invalid,
}

/// One way.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) share: Share,
    pub(super) assumed: BTreeMap<Condition, bool>,
    pub(super) seen: PacketNow,
    pub(super) steps: Steps,
    pub(super) service: Option<Rc<str>>,
    /// Whether it is about a Service without endpoints.
    pub(super) is_empty: bool,
    /// Whether IPVS has sent it on.
    pub(super) is_of_ipvs: bool,
}

/// The rules that did something, the last one first.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    last: Option<Rc<(StepAt, Self)>>,
    count: usize,
}

/// A rule that did something.
#[derive(Clone, Debug)]
pub(super) struct StepAt {
    pub(super) direction: Direction,
    pub(super) chain: Rc<str>,
    pub(super) packets: Option<u64>,
    pub(super) what: StepKind,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum StepKind {
    /// A rule of a table.
    Rule(usize, View),
    /// The policy of a base chain: accepts or not.
    Policy(usize, View, bool),
    /// Something else, what it did, and where it is written.
    Other(Stage, What, Option<View>),
}

impl Steps {
    pub(super) fn push(&mut self, step: StepAt) {
        let before = std::mem::take(self);
        self.count = before.count + 1;
        self.last = Some(Rc::new((step, before)));
    }

    /// The last step.
    pub(super) fn last(&self) -> Option<&StepAt> {
        self.last.as_ref().map(|it| &it.0)
    }

    /// The steps in their order.
    pub(super) fn all(&self) -> Vec<&StepAt> {
        let mut all = Vec::new();
        let mut at = self;
        while let Some(node) = &at.last {
            all.push(&node.0);
            at = &node.1;
        }
        all.reverse();
        all
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }
}

/// A long list is taken apart piece by piece: each is a call deep otherwise.
impl Drop for Steps {
    fn drop(&mut self) {
        let mut next = self.last.take();
        while let Some(node) = next {
            let Ok(mut node) = Rc::try_unwrap(node) else {
                break;
            };
            next = node.1.last.take();
        }
    }
}

impl Branch {
    /// What is assumed of a condition; some follow from others.
    #[expect(clippy::manual_let_else, reason = "both cases are of one kind")]
    pub(super) fn assumes(&self, condition: &Condition) -> Option<bool> {
        if let Some(holds) = self.assumed.get(condition) {
            return Some(*holds);
        }
        let name = match condition {
            Condition::InLink(name) | Condition::OutLink(name) => name,
            _ => return None,
        };
        let is_in = matches!(condition, Condition::InLink(_));
        self.assumed.iter().find_map(|(other, holds)| match other {
            Condition::InLink(it) if is_in => link_follows(name, it, *holds),
            Condition::OutLink(it) if !is_in => link_follows(name, it, *holds),
            _ => None,
        })
    }

    /// The same if the condition holds, or does not.
    pub(super) fn assuming(&self, condition: &Condition, holds: bool) -> Self {
        let mut branch = self.clone();
        branch.assumed.insert(condition.clone(), holds);
        branch
    }

    /// The way where the condition holds, and the one where it does not; only one
    /// of them where it has been assumed before.
    pub(super) fn both(self, condition: &Condition) -> (Option<Self>, Option<Self>) {
        match self.assumes(condition) {
            Some(true) => (Some(self), None),
            Some(false) => (None, Some(self)),
            None => {
                let other = self.assuming(condition, false);
                (Some(self.assuming(condition, true)), Some(other))
            }
        }
    }

    /// What two ways have in common that differ only in their shares, in what is
    /// assumed, and in what was done.
    pub(super) fn likeness(&self) -> (&PacketNow, &Option<Rc<str>>, bool) {
        (&self.seen, &self.service, self.is_empty)
    }

    /// Whether they have that in common.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.likeness() == other.likeness()
    }

    /// A part of it.
    pub(super) fn part(&self, share: Share) -> Self {
        let mut branch = self.clone();
        branch.share = branch.share.times(share);
        branch
    }
}

/// Whether a link can have the name (or begin so: `cali+`) if it has, or has
/// not, another one.
fn link_follows(asked: &str, known: &str, holds: bool) -> Option<bool> {
    let (asked_start, known_start) = (asked.strip_suffix('+'), known.strip_suffix('+'));
    let known_is_within = match (asked_start, known_start) {
        (Some(asked), Some(known)) => known.starts_with(asked),
        (Some(asked), None) => known.starts_with(asked),
        _ => false,
    };
    let asked_is_within =
        known_start.is_some_and(|known| asked_start.unwrap_or(asked).starts_with(known));
    match holds {
        true if known_is_within => Some(true),
        true if !asked_is_within => Some(false),
        false if asked_is_within => Some(false),
        _ => None,
    }
}
