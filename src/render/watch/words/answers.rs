//! Answers that are slow, wrong or too many, and names that should not be asked
//! for.

use super::{Of, Words, more, queries, words};
use crate::dig::mnemonic::rcode_text;
use crate::name::Name;
use crate::render::watch::time;
use crate::text::{counted, some_of};
use crate::watch::findings::What;

/// So many zones are listed.
const LISTED: usize = 5;

impl Of<'_> {
    pub(super) fn answers(&self) -> Words {
        let (server, name, first, number) = (self.server, self.name, self.first, self.number);
        match &self.finding.what {
            What::SlowServer(it) => words(
                format!(
                    "{server} is slow: half of {} took about {} or longer, one of 100 about {} or longer",
                    counted(it.count, "answer", "answers"),
                    time(it.median),
                    time(it.most)
                ),
                "not one slow zone: it takes as long for all that it was asked",
                "look at its CPU limit and its upstream servers (CoreDNS: coredns_forward_request_duration_seconds); a cache nearer to the pod",
            ),
            What::SlowZone { times, others } => words(
                format!(
                    "{server} takes {} for {name} ({} in the slowest of 100), and {} for all else",
                    time(times.median),
                    time(times.most),
                    time(*others)
                ),
                "not a slow server: who answers for this zone is slow",
                "look at the servers of that zone, or at the forward line that leads to them",
            ),
            What::ServerFails { rcode, of } => words(
                format!(
                    "{server} answered {} times of {of} with {}, first for {first}",
                    number,
                    rcode_text(u16::from(*rcode))
                ),
                "not a lost packet, and not a name that does not exist: the server could not or would not answer",
                match rcode {
                    5 => {
                        "let the client's address in (acl, allow-query), or ask the server that is responsible for the name"
                    }
                    1 | 4 => {
                        "the server does not understand the query: look whether EDNS is the reason, and update it"
                    }
                    _ => {
                        "look at the server's log and its upstream servers; kdns check-loop tells whether it asks itself"
                    }
                },
            ),
            _ => self.contradicted(),
        }
    }

    fn contradicted(&self) -> Words {
        let (server, name, number) = (self.server, self.name, self.number);
        match &self.finding.what {
            What::ServersDisagree { denies, answers } => words(
                format!(
                    "{} says that {name} does not exist, {} knows it{}",
                    self.shown.ip(*denies),
                    self.shown.ip(*answers),
                    more(number)
                ),
                "not a name that comes and goes: each said the same all the time",
                "give all servers of resolv.conf the same zones: resolvers ask the next one only when one fails, not when it denies",
            ),
            What::AaaaFails { rcode, zones } => words(
                self.aaaa(*rcode, zones),
                "not a server that fails: A is answered",
                "the zone's server has to say NOERROR without records where there is no AAAA (RFC 4074); until then glibc 2.36 and later: options no-aaaa",
            ),
            What::WrongSource { from } => words(
                format!(
                    "answers to queries for {server} come from {}: {}; programs do not take them",
                    self.shown.ip(*from),
                    counted(number, "time", "times")
                ),
                "not a lost answer: it came, and its address was not translated back",
                "net.bridge.bridge-nf-call-iptables=1 (module br_netfilter) on the node, or a CNI plugin that does without; also look for a second route back",
            ),
            _ => Words::default(),
        }
    }

    fn aaaa(&self, rcode: Option<u8>, zones: &[(Name, u64)]) -> String {
        let (server, name, queries) = (self.server, self.name, queries(self.number));
        let came = match rcode {
            Some(rcode) => format!("answered with {} by {server}", rcode_text(u16::from(rcode))),
            None => format!("not answered by {server}"),
        };
        let names: u64 = zones.iter().map(|it| it.1).sum();
        if names == 1 {
            return format!("{name} has an A record, and its AAAA is {came} ({queries})");
        }
        let listed = self.counts(zones, LISTED);
        format!(
            "{names} names have A records, and their AAAA are {came} ({queries}), first {}; by zone {listed}",
            self.first
        )
    }

    /// The first `most` of names, with a count each.
    fn counts(&self, all: &[(Name, u64)], most: usize) -> String {
        let all = all.iter();
        let each = all.map(|(name, count)| format!("{} {count}", self.shown.name(name)));
        some_of(each, most)
    }

    pub(super) fn names(&self) -> Words {
        let (name, number) = (self.name, self.number);
        match &self.finding.what {
            What::Wildcard {
                address,
                names,
                is_inferred,
            } => {
                let address =
                    address.map_or_else(String::new, |it| format!(" with {}", self.shown.ip(it)));
                words(
                    format!(
                        "the search domain {name} answers for everything{address}: {}",
                        self.listed(names)
                    ),
                    match is_inferred {
                        false => "not the address of the names that were asked for",
                        true => {
                            "not certain: no file was given, and that the domain is in the search list is read off the queries; if it is, this is not the address of the names that were asked for"
                        }
                    },
                    "take the domain out of the search list, or its wildcard record out of the zone; a final dot after full names",
                )
            }
            What::SearchWaste { of, entries, names } => words(
                format!(
                    "{number} of {} were for names that the search list made and nobody has: by entry {}; by name {}",
                    queries(*of),
                    self.counts(entries, usize::MAX),
                    self.counts(names, usize::MAX)
                ),
                "not an error: it costs time and load",
                "a final dot after full names (api.example.com.), or dnsConfig options ndots:1 or 2 in the pod",
            ),
            What::NoCache {
                lookups,
                saved,
                ttl,
                span,
            } => words(
                format!(
                    "{name} was asked for {lookups} times in {}; a cache that keeps it for its {ttl} s would have answered {saved} of them",
                    time(*span)
                ),
                "not an error: the program has no cache, as most have none",
                "a cache in the program or on the node (NodeLocal DNSCache), or connections that are kept",
            ),
            _ => Words::default(),
        }
    }

    /// Names that no DNS server has.
    pub(super) fn leak(&self) -> Words {
        let (name, queries) = (self.name, queries(self.number));
        let labels = self.finding.name.as_ref().map(|it| it.labels().count());
        if labels == Some(1) {
            return words(
                format!(
                    "{name} goes to a DNS server as it is ({queries}), and no server has names without a dot"
                ),
                "not the end of a search: no entry of the search list was tried",
                "the full name; or a resolver that takes the search list (dig +search)",
            );
        }
        words(
            format!(
                "{name} goes to a DNS server ({queries}), and .local is for multicast DNS: nobody has it"
            ),
            "not a name of the cluster",
            "another name, or mdns4_minimal in nsswitch.conf before dns",
        )
    }

    pub(super) fn packets(&self) -> Words {
        let (server, name, first, number) = (self.server, self.name, self.first, self.number);
        match &self.finding.what {
            What::Duplicates => words(
                format!(
                    "{} to or from {server} came twice, first for {first}",
                    counted(number, "packet", "packets")
                ),
                "not a resolver that asks again: both came at once, or one query got two answers",
                "look for a mirror, a bridge with a loop, or two networks on one cable",
            ),
            What::Mismatched => words(
                format!(
                    "{} of {server} to another question or port than was asked from, first for {first}",
                    counted(number, "answer", "answers")
                ),
                "programs drop them; somebody may be trying to forge answers, or a server mixes them up",
                "look at the packets; DNS cookies or TCP between client and server",
            ),
            What::Loop => words(
                format!(
                    "a query for {name} comes back to {server} while that still owes the answer{}",
                    more(number)
                ),
                "not a client that asks again: it came at once, from another socket",
                "kdns check-loop on the node names the hop and the line",
            ),
            _ => Words::default(),
        }
    }
}
