//! The way of a packet through the hooks of the kernel.
//!
//! Every rule is met by all ways that have come so far (`branch`), which split
//! at lots and at what is not known, and are put together again where it made
//! no difference. So the work is that of one packet for each way that differs.

mod act;
mod answer;
mod branch;
mod chain;
mod compare;
mod hook;
mod ipvs;
mod missing;
mod outcome;
mod proxy;
mod reply;
mod route;
mod sender;
mod translate;
mod value;
mod verdict;
mod ways;

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::rc::Rc;

use super::tree::Gap;
use super::{Direction, Host, Kind, Packet, Start, Tree, own};
use crate::rules::nft;
use crate::rules::rule::{Rule, Side};
use crate::rules::table::Hook;
use crate::rules::{Backend, Share};
use branch::{Branch, Link, PacketNow, Steps, Tracking};
use chain::Chain;
use ways::Ends;

pub use proxy::other_proxy;

/// Sends the packet through the node.
pub fn evaluate(host: &Host, packet: &Packet) -> Tree {
    match packet.start {
        Start::Link { .. } if packet.destination.is_loopback() => {
            return own::loopback(packet.clone());
        }
        Start::Elsewhere => return own::elsewhere(packet.clone()),
        Start::Host | Start::Link { .. } => {}
    }
    let mut walk = Walk {
        host,
        packet,
        chains: HashMap::new(),
        sets: HashMap::new(),
        ends: Ends::default(),
        sent: Vec::new(),
        asked: None,
        gaps: BTreeSet::new(),
        left: MOST_RULES,
    };
    walk.send();
    outcome::tree(walk)
}

/// So many rules are met, over all ways: a text can have chains that call each
/// other again and again.
const MOST_RULES: u64 = 5_000_000;

/// Linux starts with this (`ip_default_ttl`).
const FIRST_TTL: u8 = 64;

/// A packet on its way.
#[expect(clippy::type_complexity, reason = "used once")]
struct Walk<'h> {
    host: &'h Host,
    packet: &'h Packet,
    /// Rules of chains; of long ones those for one address.
    chains: HashMap<(usize, Box<str>), (Option<IpAddr>, Option<Rc<[Rule]>>)>,
    sets: HashMap<(usize, Box<str>), Option<Rc<nft::Set>>>,
    ends: Ends,
    /// What IPVS took in and sent on, behind the last hook.
    sent: Vec<Branch>,
    /// While an answer is on its way: the packet that it answers, where it arrived.
    asked: Option<PacketNow>,
    gaps: BTreeSet<Gap>,
    left: u64,
}

/// Where a way ends.
struct End {
    branch: Branch,
    kind: Kind,
    error: Option<Box<str>>,
}

impl Walk<'_> {
    fn send(&mut self) {
        let packet = self.packet;
        let is_host = packet.start == Start::Host;
        let in_link = match &packet.start {
            Start::Host => Link::None,
            Start::Link { name: Some(name) } => Link::Named(name.clone()),
            Start::Link { name: None } | Start::Elsewhere => self.link_towards(packet.source),
        };
        let branch = Branch {
            share: Share::ALL,
            assumed: std::collections::BTreeMap::new(),
            seen: PacketNow {
                source: packet.source,
                source_port: packet.source_port,
                destination: packet.destination,
                port: Some(packet.port),
                veiled: packet.is_of_some_pod().then_some(Side::Source),
                mark: 0,
                connection_mark: 0,
                in_link,
                out_link: Link::None,
                tracking: Tracking::Ahead,
                direction: Direction::Request,
                is_dnat: false,
                is_snat: false,
                is_taken: false,
                ttl: FIRST_TTL,
            },
            steps: Steps::default(),
            service: None,
            is_empty: false,
            is_of_ipvs: false,
        };
        if packet.is_of_some_pod() {
            self.gaps.insert(Gap::Asker);
        }
        let branches = if is_host {
            self.from_host(vec![branch])
        } else {
            self.from_link(vec![branch])
        };
        let sent = std::mem::take(&mut self.sent);
        for branch in branches.into_iter().chain(sent) {
            self.arrive(branch);
        }
    }

    /// Through the hooks of a packet that a process of the node sends.
    #[expect(
        clippy::wrong_self_convention,
        reason = "it says where the packet comes from"
    )]
    fn from_host(&mut self, branches: Vec<Branch>) -> Vec<Branch> {
        let branches = self.unsure(branches);
        let branches = self.routed_out(branches);
        let branches = self.hook(Hook::Output, branches);
        let branches = self.unsure(branches);
        // What was translated gets another route.
        let branches = self.routed_out(branches);
        let branches = self.hook(Hook::Postrouting, branches);
        let (here, away): (Vec<_>, Vec<_>) = branches.into_iter().partition(|it| self.stays(it));
        let mut back = Vec::new();
        for mut branch in here {
            branch.seen.in_link = Link::Named("lo".into());
            branch.seen.out_link = Link::None;
            back.push(branch);
        }
        let back = self.hook(Hook::Prerouting, back);
        let mut arrived = self.hook(Hook::Input, back);
        arrived.extend(away);
        arrived
    }

    /// Through the hooks of a packet that comes in through a link.
    #[expect(
        clippy::wrong_self_convention,
        reason = "it says where the packet comes from"
    )]
    fn from_link(&mut self, branches: Vec<Branch>) -> Vec<Branch> {
        let branches = self.hook(Hook::Prerouting, branches);
        let branches = self.with_way_back(branches);
        let mut here = Vec::new();
        let mut through = Vec::new();
        for branch in self.unsure(branches) {
            if self.stays(&branch) {
                here.push(branch);
            } else if let Some(branch) = self.forwarded(branch) {
                through.push(branch);
            }
        }
        let mut arrived = self.hook(Hook::Input, here);
        let through = self.hook(Hook::Forward, through);
        arrived.extend(self.hook(Hook::Postrouting, through));
        arrived
    }

    /// The rules of a chain, for packets to this address; `None`: to any.
    fn rules(&mut self, table: usize, chain: &str, ip: Option<IpAddr>) -> Option<Rc<[Rule]>> {
        let key = (table, chain.into());
        if let Some((of, rules)) = self.chains.get(&key)
            && of.is_none_or(|it| Some(it) == ip)
        {
            return rules.clone();
        }
        let found = self.host.rules.rules_towards(table, chain, ip);
        let (rules, is_long) = found.map_or((None, false), |it| (Some(Rc::from(it.0)), it.1));
        let of = ip.filter(|_| is_long);
        self.chains.insert(key, (of, rules.clone()));
        rules
    }

    fn nft_set(&mut self, table: usize, name: &str) -> Option<Rc<nft::Set>> {
        let rules = &self.host.rules;
        let entry = self.sets.entry((table, name.into()));
        let found = entry.or_insert_with(|| rules.nft_set(table, name).map(Rc::new));
        found.clone()
    }

    /// Whether so many rules more may be met.
    fn spend(&mut self, count: usize) -> bool {
        self.left = self.left.saturating_sub(count as u64);
        self.left > 0
    }

    fn is_cut_in(&self, at: &Chain<'_>) -> bool {
        let table = self.host.rules.tables.get(at.table);
        table.is_some_and(|it| it.cut_in.as_deref() == Some(at.name))
    }

    /// The name of a table as steps have it.
    fn table_name(&self, table: usize) -> Box<str> {
        use crate::rules::Family;
        let Some(table) = self.host.rules.tables.get(table) else {
            return "".into();
        };
        let name = crate::text::escaped(table.name.as_bytes());
        if table.backend != Backend::Nftables {
            return name.into();
        }
        let family = match table.family {
            Some(Family::V4) => "ip",
            Some(Family::V6) => "ip6",
            None => "inet",
        };
        format!("{family} {name}").into()
    }

    /// `FILE:LINE` of a rule.
    fn place(&self, rule: &Rule) -> Box<str> {
        let place = self.host.rules.place(rule.view);
        format!("{}:{}", place.file, place.line).into()
    }
}
