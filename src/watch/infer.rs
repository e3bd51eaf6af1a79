//! The search list of a client, from the names that it tried one after the
//! other.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::name::Name;
use crate::packet::dns::Header;
use crate::packet::{Content, Seen};
use crate::watch::name::{Shape, of_wire};
use crate::watch::search::Search;

/// The next name of a lookup comes so soon after the answer to the one before,
/// in nanoseconds.
const SOON: i64 = 300_000_000;

/// More names are not one lookup.
const MAX_CHAIN: usize = 16;

const NXDOMAIN: u8 = 3;

/// What a capture says about the files of its clients.
#[derive(Clone, Debug, Default)]
pub(super) struct Inferred {
    /// By client.
    pub(super) search: BTreeMap<IpAddr, Search>,
    /// The servers of each client, in the order in which they were asked.
    pub(super) servers: BTreeMap<IpAddr, Vec<IpAddr>>,
}

/// Names that a client tried, one after the other.
#[derive(Debug)]
struct Chain {
    names: Vec<Name>,
    /// When the last one was answered with NXDOMAIN.
    denied: Option<i64>,
}

/// Reads messages one by one.
#[derive(Debug, Default)]
pub(super) struct Infer {
    chains: BTreeMap<IpAddr, Vec<Chain>>,
    votes: BTreeMap<IpAddr, BTreeMap<Vec<Name>, usize>>,
    /// The most dots of a name that was searched for first, and the fewest of one
    /// that was asked for as it is and then searched for.
    dots: BTreeMap<IpAddr, (usize, Option<usize>)>,
    servers: BTreeMap<IpAddr, Vec<IpAddr>>,
}

impl Infer {
    /// Looks at what was seen.
    pub(super) fn push(&mut self, seen: &Seen<'_>) {
        let Content::Message(bytes) = seen.content else {
            return;
        };
        let Some(header) = Header::parse(bytes) else {
            return;
        };
        let Some(question) = header.question.filter(|it| matches!(it.qtype, 1 | 28)) else {
            return;
        };
        let shape = Shape::of(question.name);
        if header.is_response() {
            if header.rcode() == NXDOMAIN {
                self.denied(seen.to.ip(), &shape, seen.time);
            }
            return;
        }
        let servers = self.servers.entry(seen.from.ip()).or_default();
        if servers.len() < 3 && !servers.contains(&seen.to.ip()) {
            servers.push(seen.to.ip());
        }
        self.asked(seen.from.ip(), &shape, seen.time);
    }

    fn denied(&mut self, client: IpAddr, shape: &Shape<'_>, time: i64) {
        let chains = self.chains.entry(client).or_default();
        let is_its = |it: &&mut Chain| {
            let last = it.names.last();
            last.is_some_and(|last| last.as_wire().eq_ignore_ascii_case(shape.wire))
        };
        if let Some(chain) = chains.iter_mut().rev().find(is_its) {
            chain.denied = Some(time);
        }
    }

    fn asked(&mut self, client: IpAddr, shape: &Shape<'_>, time: i64) {
        let chains = self.chains.entry(client).or_default();
        let name = of_wire(shape.wire);
        let follows = |it: &&mut Chain| {
            let is_soon = it.denied.is_some_and(|at| time.saturating_sub(at) < SOON);
            let last = it.names.last();
            is_soon && last.is_some_and(|last| common(last, &name) > 0) && !it.names.contains(&name)
        };
        if let Some(chain) = chains.iter_mut().rev().find(follows) {
            chain.names.push(name);
            chain.denied = None;
            if chain.names.len() < MAX_CHAIN {
                return;
            }
        } else if !chains.iter().any(|it| it.names.last() == Some(&name)) {
            chains.push(Chain {
                names: vec![name],
                denied: None,
            });
        }
        let is_old = |it: &mut Chain| {
            it.names.len() >= MAX_CHAIN
                || it.denied.is_some_and(|at| time.saturating_sub(at) > SOON)
        };
        let old: Vec<Chain> = chains.extract_if(.., is_old).collect();
        if chains.len() > 256 {
            chains.remove(0);
        }
        for chain in old {
            self.vote(client, &chain.names);
        }
    }

    /// What a chain says: all its names begin alike, with what was asked for.
    fn vote(&mut self, client: IpAddr, names: &[Name]) {
        let [first, rest @ ..] = names else {
            return;
        };
        if rest.is_empty() {
            return;
        }
        let labels = rest
            .iter()
            .map(|it| common(first, it))
            .min()
            .unwrap_or_default();
        let shape = Shape::of(first.as_wire());
        let base = of_wire(shape.prefix(labels));
        let is_base = |it: &Name| it.eq_ignore_case(&base);
        let suffixes = names.iter().filter(|it| !is_base(it)).map(|it| {
            let shape = Shape::of(it.as_wire());
            of_wire(
                shape
                    .wire
                    .get(shape.prefix(labels).len()..)
                    .unwrap_or_default(),
            )
        });
        let list: Vec<Name> = suffixes.collect();
        let dots = labels.saturating_sub(1);
        let (most, fewest) = self.dots.entry(client).or_default();
        if is_base(first) {
            *fewest = Some(fewest.map_or(dots, |it| it.min(dots)));
        } else if names.iter().any(is_base) || labels == 1 {
            *most = (*most).max(dots);
        } else {
            // Without the name itself a longer beginning could be chance.
            return;
        }
        *self
            .votes
            .entry(client)
            .or_default()
            .entry(list)
            .or_default() += 1;
    }

    /// What all say together.
    pub(super) fn end(mut self) -> Inferred {
        for (client, chains) in std::mem::take(&mut self.chains) {
            for chain in chains {
                self.vote(client, &chain.names);
            }
        }
        let mut search = BTreeMap::new();
        for (client, votes) in &self.votes {
            let Some(entries) = longest(votes) else {
                continue;
            };
            let (most, fewest) = self.dots.get(client).copied().unwrap_or_default();
            let is_pod = entries.iter().any(|it| it.labels().next() == Some(b"svc"));
            let guess = if is_pod { 5.max(most + 1) } else { most + 1 };
            let ndots = fewest.map_or(guess, |fewest| guess.min(fewest).max(1));
            search.insert(*client, Search { entries, ndots });
        }
        Inferred {
            search,
            servers: self.servers,
        }
    }
}

/// The longest list that all others are beginnings of; `None`: they contradict
/// each other.
fn longest(votes: &BTreeMap<Vec<Name>, usize>) -> Option<Vec<Name>> {
    let longest = votes.keys().max_by_key(|it| it.len())?;
    let total: usize = votes.values().sum();
    let agrees = |list: &Vec<Name>| {
        let pairs = list.iter().zip(longest);
        pairs
            .into_iter()
            .all(|(one, other)| one.eq_ignore_case(other))
    };
    let agreeing: usize = votes.iter().filter(|it| agrees(it.0)).map(|it| it.1).sum();
    // A program can try names on its own.
    (agreeing * 10 >= total * 8).then(|| longest.clone())
}

/// How many labels both begin with.
fn common(one: &Name, other: &Name) -> usize {
    let pairs = one.labels().zip(other.labels());
    pairs
        .take_while(|(one, other)| one.eq_ignore_ascii_case(other))
        .count()
}
