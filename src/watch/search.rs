//! The search list backwards: from a query to the name that a program gave.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use crate::engine::message::{Because, Transport};
use crate::explain::plan::candidates;
use crate::explain::transition::run_when;
use crate::name::{Name, labels};
use crate::resolver::{self, Resolver};
use crate::scenario::Scenario;
use crate::watch::map::Map;
use crate::watch::name::{before, hash};
use crate::world::{Effect, Rule};

/// More entries of a list are not taken back.
const MAX_ENTRIES: usize = 32;

/// More readings of one query are not followed.
const MAX_READINGS: usize = 8;

/// A query that is older is not waited for, whatever the file says: glibc's
/// longest is 60 s, with `timeout:30` and three servers.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Timers are late on a busy machine.
pub(super) const SPARE: Duration = Duration::from_millis(1500);

/// Names with more dots are asked for as they are, whatever the file says.
const MAX_DOTS: usize = 16;

/// What a resolver makes of names.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Search {
    /// The entries of the search list, in the order in which they are tried.
    pub entries: Vec<Name>,
    /// Names with at least so many dots are asked for as they are first.
    pub ndots: usize,
}

/// How many names speak for a search list that was inferred, and what its `ndots` can be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Evidence {
    /// Names whose lookups speak for it.
    pub names: usize,
    /// Names whose lookups speak against it: a program that tries names on its own.
    pub against: usize,
    /// The least `ndots` that it can have, and the greatest; `None`: any greater one.
    pub ndots: (usize, Option<usize>),
}

/// How long resolvers wait at most before they ask again, in nanoseconds, where
/// no server answers: `resolver`, or any if it is not known.
pub(super) fn patience(resolver: Option<&Resolver>, scenario: Option<&Scenario>) -> i64 {
    let plain = Scenario::new("watch", "x.");
    let scenario = scenario.map_or(plain, |it| Scenario {
        name: "x.".to_owned(),
        ..it.without_answers()
    });
    let silence = Rule {
        effect: Effect::Timeout,
        ..Rule::default()
    };
    let error = Rule {
        effect: Effect::Icmp,
        up_to: Some(1),
        ..Rule::default()
    };
    let truncated = Rule {
        effect: Effect::Truncated,
        transport: Some(Transport::Udp),
        ..Rule::default()
    };
    let longest_after = |resolver: &Resolver, rules: &[Rule]| {
        let run = run_when(
            &scenario,
            resolver,
            &[rules, std::slice::from_ref(&silence)].concat(),
        );
        let times = run.sent.iter().map(|it| it.at);
        let next = times.clone().skip(1).chain([run.elapsed]);
        let gaps = times
            .zip(next)
            .map(|(one, other)| other.saturating_sub(one));
        gaps.max().unwrap_or_default()
    };
    // After an error, or over TCP, some wait longer.
    let before = [vec![], vec![error], vec![truncated]];
    let longest = |resolver: &Resolver| {
        let waits = before.iter().map(|it| longest_after(resolver, it));
        waits.max().unwrap_or_default()
    };
    let longest = match resolver {
        Some(resolver) => longest(resolver),
        None => resolver::usual().map(longest).max().unwrap_or_default(),
    };
    let longest = longest.min(LONGEST_WAIT) + SPARE;
    i64::try_from(longest.as_nanos()).unwrap_or(i64::MAX)
}

/// What a query can come from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Base<'q> {
    /// The labels of the name that the program gave, the first ones of the query's.
    pub(super) name: &'q [u8],
    /// Their hash.
    pub(super) hash: u64,
    /// Whether this can be the first query of its lookup.
    pub(super) is_first: bool,
    /// Whether nothing was added.
    pub(super) is_as_is: bool,
}

/// The search lists of all clients.
#[derive(Debug, Default)]
pub(super) struct Lists {
    known: Map<IpAddr, Search>,
    others: Search,
    /// Of those that were found out: by client, and of the others.
    evidence: (BTreeMap<IpAddr, Evidence>, Option<Evidence>),
}

impl Lists {
    /// All clients have this one.
    pub(super) fn of_all(search: Search) -> Self {
        Self {
            others: search,
            ..Self::default()
        }
    }

    /// Clients whose lists were found out: one of which nothing is known has the
    /// list that most names of another one speak for.
    pub(super) fn inferred(known: BTreeMap<IpAddr, (Search, Evidence)>) -> Self {
        let best = known.values().max_by_key(|it| it.1.names).cloned();
        let (others, of_others) = best.unzip();
        Self {
            others: others.unwrap_or_default(),
            evidence: (known.iter().map(|it| (*it.0, it.1.1)).collect(), of_others),
            known: known.into_iter().map(|it| (it.0, it.1.0)).collect(),
        }
    }

    /// What the list of a client was read off; `None`: it was given, or there is none.
    pub(super) fn evidence(&self, client: IpAddr) -> Option<Evidence> {
        let (known, others) = &self.evidence;
        known.get(&client).copied().or(*others)
    }

    /// The list of a client.
    pub(super) fn for_client(&self, client: IpAddr) -> &Search {
        self.known.get(&client).unwrap_or(&self.others)
    }
}

impl Search {
    /// What `resolver` does in this scenario, read off its plans.
    pub fn from_plans(resolver: &Resolver, scenario: &Scenario) -> Self {
        let planned = |name: &str| {
            let scenario = Scenario {
                name: name.to_owned(),
                ..scenario.without_answers()
            };
            candidates(&run_when(&scenario, resolver, &[]))
        };
        let mut entries = Vec::new();
        for candidate in planned("x") {
            let (Because::Search(_), Some(name)) = (&candidate.because, &candidate.name) else {
                continue;
            };
            let suffix = Name::from_labels(name.labels().skip(1)).unwrap_or_default();
            if suffix != Name::root() && entries.len() < MAX_ENTRIES {
                entries.push(suffix);
            }
        }
        let is_as_is = |dots: &usize| {
            let name = vec!["x"; dots + 1].join(".");
            let first = planned(&name).into_iter().next();
            first.is_none_or(|it| it.because == Because::AsIs)
        };
        let ndots = if entries.is_empty() {
            0
        } else {
            (0..MAX_DOTS).find(is_as_is).unwrap_or(MAX_DOTS)
        };
        Self { entries, ndots }
    }

    /// All that a query for a name can come from, the most likely first; the name's hash
    /// is known.
    pub(super) fn bases<'q>(&self, query: &'q [u8], of_query: u64) -> Bases<'q> {
        let mut bases = Bases::default();
        for (number, entry) in self.entries.iter().enumerate() {
            if let Some(name) = before(query, entry) {
                bases.push(Base {
                    name,
                    hash: hash(name),
                    is_first: number == 0 && !self.is_as_is_first(name),
                    is_as_is: false,
                });
            }
        }
        bases.push(Base {
            name: query,
            hash: of_query,
            is_first: true,
            is_as_is: true,
        });
        bases
    }

    /// Whether a name with these labels is asked for as it is first.
    pub(super) fn is_as_is_first(&self, name: &[u8]) -> bool {
        self.entries.is_empty() || labels(name).count() > self.ndots
    }
}

/// A few [`Base`]s.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bases<'q> {
    all: [Option<Base<'q>>; MAX_READINGS],
}

impl<'q> Bases<'q> {
    fn push(&mut self, base: Base<'q>) {
        // The name as it is comes last, and is never without room.
        let last = MAX_READINGS - 1;
        let free = self.all.iter().position(Option::is_none).unwrap_or(last);
        if let Some(place) = self.all.get_mut(free) {
            *place = Some(base);
        }
    }

    /// The bases, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Base<'q>> {
        self.all.iter().map_while(|it| *it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;
    use crate::watch::name::of_wire;

    fn search(id: &str, file: &str) -> Search {
        let mut scenario = Scenario::new("test", "x");
        scenario.resolv_conf = Some(scenario::file("/etc/resolv.conf", file));
        Search::from_plans(resolver::find(id).unwrap(), &scenario)
    }

    const POD: &str = "nameserver 10.96.0.10\nsearch default.svc.cluster.local svc.cluster.local\noptions ndots:5\n";

    #[test]
    fn lists_are_read_off_plans() {
        for id in ["glibc", "musl", "go", "c-ares"] {
            let search = search(id, POD);
            assert_eq!(search.ndots, 5, "{id}");
            let names: Vec<String> = search.entries.iter().map(ToString::to_string).collect();
            assert_eq!(names, ["default.svc.cluster.local", "svc.cluster.local"]);
        }
        assert_eq!(search("dig", POD), Search::default());
        assert_eq!(
            search("glibc", "nameserver 10.0.0.1\nsearch a.t\n").ndots,
            1
        );
    }

    #[test]
    fn readings_of_a_query() {
        let search = search("glibc", POD);
        let read = |name: &str| {
            let name = Name::from_plain(name.as_bytes()).unwrap();
            let bases = search.bases(name.as_wire(), 0);
            bases
                .iter()
                .map(|it| (of_wire(it.name).to_string(), it.is_first))
                .collect::<Vec<_>>()
        };
        let of = |name: &str, is_first| (name.to_owned(), is_first);
        assert_eq!(
            read("db.default.svc.cluster.local"),
            [
                of("db", true),
                of("db.default", false),
                of("db.default.svc.cluster.local", true)
            ]
        );
        assert_eq!(read("example.com"), [of("example.com", true)]);
    }
}
