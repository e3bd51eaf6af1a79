//! The search list of a client, from the names that it tried one after the
//! other.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::name::Name;
use crate::packet::dns::Header;
use crate::packet::{Content, SeenMessage};
use crate::watch::choose::SET_BY_CLIENTS;
use crate::watch::judge::MAX_SERVERS;
use crate::watch::name::of_wire;
use crate::watch::reply::edns_size;
use crate::watch::search::{Evidence, Search};

/// The next name of a lookup comes so soon after the answer to the one before,
/// in nanoseconds.
const SOON: i64 = 300_000_000;

/// More names are not one lookup.
const MAX_CHAIN: usize = 16;

/// So many names are followed at once.
const MAX_CHAINS: usize = 256;

const NXDOMAIN: u8 = 3;

/// What the kubelet writes for pods, where the queries do not tell.
///
/// Source: Kubernetes 1.34, `pkg/kubelet/network/dns/dns.go`, `defaultDNSOptions`.
const NDOTS_OF_PODS: usize = 5;

/// A Service has at most a label for itself and one for an endpoint; what stands
/// before the namespace with more of them was made by the search list.
///
/// Source: Kubernetes, DNS for Services and Pods.
const LABELS_OF_SERVICE: usize = 2;

/// What a capture says about the files of its clients.
#[derive(Clone, Debug, Default)]
pub(super) struct Inferred {
    /// By client.
    pub(super) search: BTreeMap<IpAddr, (Search, Evidence)>,
    /// The servers of each client, in the order in which they were asked.
    pub(super) servers: BTreeMap<IpAddr, Vec<IpAddr>>,
}

/// Names that a client tried, one after the other.
#[derive(Debug)]
struct Chain {
    names: Vec<Name>,
    made: Made,
    /// When the last one was answered with NXDOMAIN.
    denied: Option<i64>,
}

/// What tells programs apart: the bits that a client sets in the header, and EDNS.
type Made = (u16, Option<u16>);

/// What a program asked for, and what was added to it, in order.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Tried {
    name: Name,
    dots: usize,
    list: Vec<Name>,
    /// When the name was asked for as it is, if it was.
    as_is: Option<AsIs>,
    /// Whether it is sure where the name ends.
    is_sure: bool,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum AsIs {
    First,
    Last,
}

/// Reads messages one by one.
#[derive(Debug, Default)]
pub(super) struct Infer {
    chains: BTreeMap<IpAddr, Vec<Chain>>,
    tried: BTreeMap<IpAddr, BTreeSet<Tried>>,
    servers: BTreeMap<IpAddr, Vec<IpAddr>>,
}

impl Infer {
    /// Looks at what was seen.
    pub(super) fn push(&mut self, seen: &SeenMessage<'_>) {
        let Some(header) = Header::parse(seen.bytes) else {
            return;
        };
        let is_whole = matches!(seen.content, Content::Message);
        let question = header
            .question
            .filter(|it| is_whole && matches!(it.qtype, 1 | 28));
        let Some(question) = question else {
            return;
        };
        // Some programs mix the case of letters.
        let lower = question.name.to_ascii_lowercase();
        let name = of_wire(&lower);
        if header.is_response() {
            if header.rcode() == NXDOMAIN {
                self.denied(seen.to.ip(), &name, seen.time);
            }
            return;
        }
        let servers = self.servers.entry(seen.from.ip()).or_default();
        if servers.len() < MAX_SERVERS && !servers.contains(&seen.to.ip()) {
            servers.push(seen.to.ip());
        }
        let made = (
            header.flags & SET_BY_CLIENTS,
            edns_size(&header, seen.bytes),
        );
        self.asked(seen.from.ip(), name, made, seen.time);
    }

    fn denied(&mut self, client: IpAddr, name: &Name, time: i64) {
        let chains = self.chains.entry(client).or_default();
        let is_its = |it: &&mut Chain| it.names.last() == Some(name);
        if let Some(chain) = chains.iter_mut().rev().find(is_its) {
            chain.denied = Some(time);
        }
    }

    fn asked(&mut self, client: IpAddr, name: Name, made: Made, time: i64) {
        let chains = self.chains.entry(client).or_default();
        let goes_on = |it: &&mut Chain| it.made == made && it.goes_on(&name, time);
        if let Some(chain) = chains.iter_mut().rev().find(goes_on) {
            chain.names.push(name);
            chain.denied = None;
            return;
        }
        let is_known = |it: &Chain| it.made == made && it.names.last() == Some(&name);
        if chains.iter().any(is_known) {
            return;
        }
        let is_old = |it: &mut Chain| it.denied.is_some_and(|at| time.saturating_sub(at) > SOON);
        let mut old: Vec<Chain> = chains.extract_if(.., is_old).collect();
        if chains.len() >= MAX_CHAINS {
            old.push(chains.remove(0));
        }
        chains.push(Chain {
            names: vec![name],
            made,
            denied: None,
        });
        let tried = self.tried.entry(client).or_default();
        tried.extend(old.iter().filter_map(Chain::tried));
    }

    /// What all say together.
    pub(super) fn end(mut self) -> Inferred {
        for (client, chains) in &self.chains {
            let tried = self.tried.entry(*client).or_default();
            tried.extend(chains.iter().filter_map(Chain::tried));
        }
        let lists = self.tried.iter().filter_map(|(client, tried)| {
            let tried: Vec<&Tried> = tried.iter().collect();
            Some((*client, agreed(&tried)?))
        });
        Inferred {
            search: lists.collect(),
            servers: self.servers,
        }
    }
}

impl Chain {
    /// Whether `name` is the next one of the same lookup.
    fn goes_on(&self, name: &Name, time: i64) -> bool {
        let (Some(first), Some(last)) = (self.names.first(), self.names.last()) else {
            return false;
        };
        let is_soon = self.denied.is_some_and(|at| time.saturating_sub(at) < SOON);
        // The name as it is comes first or last.
        let is_through = self.names.len() > 1 && common(first, last) == last.labels().count();
        is_soon
            && !is_through
            && self.names.len() < MAX_CHAIN
            && common(last, name) > 0
            && !self.names.contains(name)
    }

    /// What it says: all its names begin with what was asked for.
    fn tried(&self) -> Option<Tried> {
        let [first, rest @ ..] = self.names.as_slice() else {
            return None;
        };
        let labels = match rest {
            [] => made_of(first)?,
            rest => rest.iter().map(|it| common(first, it)).min()?,
        };
        let name = Name::from_labels(first.labels().take(labels)).ok()?;
        let as_is = match self.names.iter().position(|it| *it == name) {
            Some(0) => Some(AsIs::First),
            Some(_) => Some(AsIs::Last),
            None => None,
        };
        let entries = self.names.iter().filter(|it| **it != name);
        let list = entries.map(|it| Name::from_labels(it.labels().skip(labels)));
        let list: Vec<Name> = list.collect::<Result<_, _>>().ok()?;
        let has_services = list.iter().any(is_services);
        Some(Tried {
            is_sure: as_is.is_some() || labels == 1 || has_services || rest.is_empty(),
            dots: labels.saturating_sub(1),
            list,
            name,
            as_is,
        })
    }
}

/// Whether it is the entry of a pod's list for the Services of all namespaces.
fn is_services(entry: &Name) -> bool {
    entry.labels().next() == Some(b"svc")
}

/// How many labels a program asked for, if the others are a namespace of a cluster
/// below which no Service has such a name: the first entry of the search list made
/// it, also where that has an answer.
fn made_of(name: &Name) -> Option<usize> {
    let all: Vec<&[u8]> = name.labels().collect();
    let svc = all.iter().rposition(|it| *it == b"svc")?;
    let labels = svc.checked_sub(1)?;
    let is_port = all.first().is_some_and(|it| it.starts_with(b"_"));
    (labels > LABELS_OF_SERVICE && svc + 1 < all.len() && !is_port).then_some(labels)
}

/// The list that most names speak for, entry by entry; `None`: too few do.
fn agreed(tried: &[&Tried]) -> Option<(Search, Evidence)> {
    let mut agreeing = tried.to_vec();
    let mut entries: Vec<Name> = Vec::new();
    loop {
        let at = entries.len();
        // What comes next, by those that went on, and nothing, by those that ended. Of
        // names whose end is guessed those that end alike are one voice.
        let mut votes: BTreeMap<Option<&Name>, BTreeSet<(bool, &[u8])>> = BTreeMap::new();
        for it in &agreeing {
            let next = it.list.get(at);
            if next.is_some() || it.as_is == Some(AsIs::Last) {
                let last = it.name.labels().last().unwrap_or_default();
                let voice = if it.is_sure { it.name.as_wire() } else { last };
                votes.entry(next).or_default().insert((it.is_sure, voice));
            }
        }
        let weight = |voices: &BTreeSet<(bool, &[u8])>| -> usize {
            voices.iter().map(|it| 1 + usize::from(it.0)).sum()
        };
        let all: usize = votes.values().map(weight).sum();
        let best = votes.iter().map(|it| (weight(it.1), *it.0)).max();
        let Some((most, Some(entry))) = best else {
            break;
        };
        if most < 2 || most <= 2 * (all - most) {
            break;
        }
        let is_it = |it: &&Tried| it.list.get(at).is_none_or(|it| it == entry);
        entries.push(entry.clone());
        agreeing.retain(is_it);
    }
    if entries.is_empty() {
        return None;
    }
    let names = |all: &[&Tried]| all.iter().map(|it| &it.name).collect::<BTreeSet<_>>().len();
    let ndots = ndots(&agreeing);
    let is_pod = entries.iter().any(is_services);
    let usual = if is_pod { NDOTS_OF_PODS } else { 1 };
    let evidence = Evidence {
        names: names(&agreeing),
        against: names(tried).saturating_sub(names(&agreeing)),
        ndots,
    };
    let ndots = usual.clamp(ndots.0, ndots.1.unwrap_or(usize::MAX));
    Some((Search { entries, ndots }, evidence))
}

/// The least and the greatest `ndots` that explain most names.
fn ndots(tried: &[&Tried]) -> (usize, Option<usize>) {
    let most = tried.iter().map(|it| it.dots).max().unwrap_or_default();
    // With more than the most dots, all are searched for first.
    let wrong = |ndots: usize| {
        let is_wrong = |it: &&&Tried| (it.dots < ndots) == (it.as_is == Some(AsIs::First));
        tried.iter().filter(is_wrong).count()
    };
    let all = 0..=most + 1;
    let fewest = all.clone().map(wrong).min().unwrap_or_default();
    let least = all
        .clone()
        .find(|it| wrong(*it) == fewest)
        .unwrap_or_default();
    let greatest = all
        .rev()
        .find(|it| wrong(*it) == fewest)
        .unwrap_or_default();
    (least, (greatest <= most).then_some(greatest))
}

/// How many labels both begin with.
fn common(one: &Name, other: &Name) -> usize {
    let pairs = one.labels().zip(other.labels());
    pairs.take_while(|(one, other)| one == other).count()
}
