//! Findings and advice in words.

use crate::dig::mnemonic::rcode_text;
use crate::name::Name;
use crate::packet::Unreachable;
use crate::render::watch::shown::Shown;
use crate::render::watch::time;
use crate::watch::advice::{Advice, Change};
use crate::watch::findings::{Evidence, Finding, What};

/// What a finding says: the sentence, what it is not, and what to do.
#[derive(Debug)]
pub(super) struct Words {
    /// What is wrong, one sentence without a full stop.
    pub(super) message: String,
    /// What it could be taken for, and is not, or is not known.
    pub(super) not: String,
    /// What to do.
    pub(super) fix: String,
}

/// `1 query`, `3 queries`.
pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn queries(number: u64) -> String {
    count(number, "query", "queries")
}

/// A finding in words.
pub(super) fn finding(finding: &Finding, shown: &Shown) -> Words {
    let server = finding
        .server
        .map_or_else(|| "the server".to_owned(), |it| shown.server(it));
    let name = finding
        .name
        .as_ref()
        .map_or_else(|| "a name".to_owned(), |it| shown.name(it));
    let of = Of {
        finding,
        shown,
        server: &server,
        name: &name,
        number: finding.count,
    };
    let (message, not, fix) = of.words();
    Words { message, not, fix }
}

struct Of<'f> {
    finding: &'f Finding,
    shown: &'f Shown,
    server: &'f str,
    name: &'f str,
    number: u64,
}

type Three = (String, String, String);

fn three(message: String, not: &str, fix: &str) -> Three {
    (message, not.to_owned(), fix.to_owned())
}

impl Of<'_> {
    fn words(&self) -> Three {
        match &self.finding.what {
            What::Unanswered { .. } | What::ConntrackRace { .. } => self.lost(),
            What::ServerSilent { .. }
            | What::ServerClosed(_)
            | What::UdpSilent { .. }
            | What::LargeRepliesLost { .. }
            | What::TruncatedNoTcp
            | What::TcpRefused { .. } => self.unreached(),
            What::SlowServer(_)
            | What::SlowZone { .. }
            | What::ServerFails { .. }
            | What::ServersDisagree { .. }
            | What::AaaaFails { .. }
            | What::WrongSource { .. } => self.answers(),
            What::Wildcard { .. }
            | What::SearchWaste { .. }
            | What::NoCache { .. }
            | What::MdnsLeak => self.names(),
            What::Duplicates | What::Mismatched | What::Loop => self.packets(),
        }
    }

    fn lost(&self) -> Three {
        let (server, number) = (self.server, self.number);
        match &self.finding.what {
            What::Unanswered {
                of,
                types: [a, aaaa, other],
                pair: [first, second],
                ignored,
                slowest,
            } => {
                let mut message = format!(
                    "{server} left {} of {of} unanswered: {a} A, {aaaa} AAAA, {other} other; the slowest lookup took {}",
                    queries(number),
                    time(*slowest)
                );
                if first + second > 0 {
                    message += &format!(
                        "; of pairs with an answer to the other half the first was lost {first} times, the second {second} times"
                    );
                }
                if *ignored > 0 {
                    message += &format!(
                        "; {ignored} of them were answered, but the program asked again as if not"
                    );
                }
                let fix = if *ignored > 0 {
                    "the answers were lost between where the packets were seen and the program: look at filters in the pod's network namespace (nft list ruleset) and at its socket buffers (nstat UdpRcvbufErrors)"
                } else {
                    "watch on the server's side as well: what does not arrive there was lost on the way there, what does was lost on the way back"
                };
                let not = "from the client a lost query, a lost answer and a server that says nothing look alike";
                (message, not.to_owned(), fix.to_owned())
            }
            What::ConntrackRace {
                second,
                evidence,
                slowest,
            } => self.race(*second, *evidence, *slowest),
            _ => Three::default(),
        }
    }

    fn race(&self, second: u64, evidence: Evidence, slowest: i64) -> Three {
        let pairs = count(self.number, "pair", "pairs");
        let message = format!(
            "{pairs} of A and AAAA to {} lost one of the two, {second} times the second, while the other was answered: the conntrack race; the slowest lookup took {}",
            self.server,
            time(slowest)
        );
        let not = match evidence {
            Evidence::Seen(it) => format!(
                "seen, not guessed: insert_failed rose by {}, drop by {}, clash_resolve by {} meanwhile",
                it.insert_failed, it.drop, it.clash_resolve
            ),
            Evidence::Likely => "likely, not proven: the packets do not carry the node's counters (conntrack -S: insert_failed, drop); a filter that drops every second query looks the same".to_owned(),
        };
        let fix = "glibc: options single-request-reopen, or use-vc; every resolver: a cache on the node whose traffic is not tracked (NodeLocal DNSCache)";
        (message, not, fix.to_owned())
    }

    fn unreached(&self) -> Three {
        let (server, name, number) = (self.server, self.name, self.number);
        match &self.finding.what {
            What::ServerSilent { .. } => three(
                format!(
                    "{server} answers nothing: {} and no answer",
                    queries(number)
                ),
                "from here a server that is gone, a filter and a route that loses packets look alike; nobody asked it over TCP successfully either",
                "kdns dig @SERVER over UDP and TCP from the node and from the pod; kdns check-loop on the node",
            ),
            What::ServerClosed(kind) => three(
                format!(
                    "{server} cannot be reached: {} by ICMP, {}",
                    count(number, "error", "errors"),
                    unreachable(*kind)
                ),
                "not a lost packet: somebody refused it and said so",
                "start the server, or take it out of resolv.conf; for a Service address: kubectl get endpointslices",
            ),
            What::UdpSilent { tcp } => three(
                format!(
                    "{server} answers over TCP ({tcp} times) and never over UDP ({} without an answer)",
                    queries(number)
                ),
                "not a dead server",
                "open UDP port 53 to it (NetworkPolicy, security group); until then: options use-vc, with glibc and Go",
            ),
            What::LargeRepliesLost {
                largest,
                edns,
                incomplete,
                over_tcp,
            } => {
                let mut message = format!(
                    "large answers of {server} do not arrive: {} unanswered, first for {name}; the largest answer that came has {largest} bytes",
                    queries(number)
                );
                if let Some(size) = edns {
                    message += &format!(", the queries allow {size}");
                }
                if *incomplete > 0 {
                    message += &format!(
                        "; of {} fragments are missing",
                        count(*incomplete, "answer", "answers")
                    );
                }
                if let Some(size) = over_tcp {
                    message += &format!("; over TCP the answer has {size} bytes");
                }
                three(
                    message,
                    "not a silent server: small answers do arrive",
                    "a UDP payload size of 1232 on servers and forwarders (CoreDNS: bufsize 1232), and let fragments and TCP port 53 pass",
                )
            }
            What::TruncatedNoTcp => three(
                format!(
                    "{} of {server} truncated, first for {name}, and nobody asked again over TCP",
                    count(number, "answer is", "answers are")
                ),
                "not a lost packet: the program works with a part of the answer, or none",
                "fewer records for the name, or a resolver that knows TCP (musl from 1.2.4 on; BusyBox does not)",
            ),
            What::TcpRefused { refused } => three(
                format!(
                    "{server} truncates answers, first for {name}, and takes no connection: {refused} of {} refused",
                    count(number, "was", "were")
                ),
                "not a program that forgot to ask over TCP",
                "open TCP port 53: in the server, its Service (protocol TCP) and every NetworkPolicy",
            ),
            _ => Three::default(),
        }
    }

    fn answers(&self) -> Three {
        let (server, name, number) = (self.server, self.name, self.number);
        match &self.finding.what {
            What::SlowServer(it) => three(
                format!(
                    "{server} is slow: half of {} took longer than {}, one of 100 longer than {}",
                    count(it.count, "answer", "answers"),
                    time(it.median),
                    time(it.most)
                ),
                "not one slow zone: it takes as long for all that it was asked",
                "look at its CPU limit and its upstream servers (CoreDNS: coredns_forward_request_duration_seconds); a cache nearer to the pod",
            ),
            What::SlowZone { times, others } => three(
                format!(
                    "{server} takes {} for {name} ({} in the slowest of 100), and {} for all else",
                    time(times.median),
                    time(times.most),
                    time(*others)
                ),
                "not a slow server: who answers for this zone is slow",
                "look at the servers of that zone, or at the forward line that leads to them",
            ),
            What::ServerFails { rcode, of } => three(
                format!(
                    "{server} answered {} times of {of} with {}, first for {name}",
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
            What::ServersDisagree { denies, answers } => three(
                format!(
                    "{} says that {name} does not exist, {} knows it{}",
                    self.shown.ip(*denies),
                    self.shown.ip(*answers),
                    more(number)
                ),
                "not a name that comes and goes: each said the same all the time",
                "give all servers of resolv.conf the same zones: resolvers ask the next one only when one fails, not when it denies",
            ),
            What::AaaaFails { rcode } => three(
                match rcode {
                    Some(rcode) => format!(
                        "{name} has an A record, and its AAAA is answered with {} by {server}",
                        rcode_text(u16::from(*rcode))
                    ),
                    None => format!(
                        "{name} has an A record, and {} for its AAAA got no answer from {server}",
                        queries(number)
                    ),
                },
                "not a server that fails: A is answered",
                "the zone's server has to say NOERROR without records where there is no AAAA (RFC 4074); until then glibc 2.36 and later: options no-aaaa",
            ),
            What::WrongSource { from } => three(
                format!(
                    "answers to queries for {server} come from {}: {}; programs do not take them",
                    self.shown.ip(*from),
                    count(number, "time", "times")
                ),
                "not a lost answer: it came, and its address was not translated back",
                "net.bridge.bridge-nf-call-iptables=1 (module br_netfilter) on the node, or a CNI plugin that does without; also look for a second route back",
            ),
            _ => Three::default(),
        }
    }

    fn names(&self) -> Three {
        let (name, number) = (self.name, self.number);
        match &self.finding.what {
            What::Wildcard { address, names } => {
                let address =
                    address.map_or_else(String::new, |it| format!(" with {}", self.shown.ip(it)));
                three(
                    format!(
                        "the search domain {name} answers for everything{address}: {}",
                        self.listed(names)
                    ),
                    "not the address of the names that were asked for",
                    "take the domain out of the search list, or its wildcard record out of the zone; a final dot after full names",
                )
            }
            What::SearchWaste { of, entries, names } => {
                let by = |list: &[(Name, u64)]| {
                    let each = list
                        .iter()
                        .map(|(name, count)| format!("{} {count}", self.shown.name(name)));
                    each.collect::<Vec<_>>().join(", ")
                };
                three(
                    format!(
                        "{number} of {} were for names that the search list made and nobody has: by entry {}; by name {}",
                        queries(*of),
                        by(entries),
                        by(names)
                    ),
                    "not an error: it costs time and load",
                    "a final dot after full names (api.example.com.), or dnsConfig options ndots:1 or 2 in the pod",
                )
            }
            What::NoCache {
                lookups,
                saved,
                ttl,
                span,
            } => three(
                format!(
                    "{name} was asked for {lookups} times in {}; a cache that keeps it for its {ttl} s would have answered {saved} of them",
                    time(*span)
                ),
                "not an error: the program has no cache, as most have none",
                "a cache in the program or on the node (NodeLocal DNSCache), or connections that are kept",
            ),
            What::MdnsLeak => three(
                format!(
                    "{name} goes to a DNS server ({}), and .local is for multicast DNS: nobody has it",
                    queries(number)
                ),
                "not a name of the cluster",
                "another name, or mdns4_minimal in nsswitch.conf before dns",
            ),
            _ => Three::default(),
        }
    }

    fn packets(&self) -> Three {
        let (server, name, number) = (self.server, self.name, self.number);
        match &self.finding.what {
            What::Duplicates => three(
                format!(
                    "{} to or from {server} came twice, first for {name}",
                    count(number, "packet", "packets")
                ),
                "not a resolver that asks again: both came at once, or one query got two answers",
                "look for a mirror, a bridge with a loop, or two networks on one cable",
            ),
            What::Mismatched => three(
                format!(
                    "{} of {server} to another question or port than was asked from, first for {name}",
                    count(number, "answer", "answers")
                ),
                "programs drop them; somebody may be trying to forge answers, or a server mixes them up",
                "look at the packets; DNS cookies or TCP between client and server",
            ),
            What::Loop => three(
                format!(
                    "a query for {name} comes back to {server} while that still owes the answer{}",
                    more(number)
                ),
                "not a client that asks again: it came at once, from another socket",
                "kdns check-loop on the node names the hop and the line",
            ),
            _ => Three::default(),
        }
    }

    fn listed(&self, names: &[Name]) -> String {
        let names: Vec<String> = names.iter().map(|it| self.shown.name(it)).collect();
        names.join(", ")
    }
}

fn more(number: u64) -> String {
    match number {
        0 | 1 => String::new(),
        _ => format!(" ({number} times)"),
    }
}

/// What an ICMP error says.
pub(super) fn unreachable(kind: Unreachable) -> String {
    match kind {
        Unreachable::Port => "port unreachable: nobody listens there".to_owned(),
        Unreachable::Host => "host or network unreachable".to_owned(),
        Unreachable::Prohibited => "prohibited by a filter".to_owned(),
        Unreachable::TooBig(Some(mtu)) => format!("too big for a link of {mtu} bytes"),
        Unreachable::TooBig(None) => "too big for a link".to_owned(),
        Unreachable::HopsExceeded => "it went through too many hops".to_owned(),
        Unreachable::ReassemblyExceeded => "its fragments did not all arrive".to_owned(),
        Unreachable::Other(kind, code) => format!("type {kind}, code {code}"),
    }
}

/// A change in words, with what it would have saved.
pub(super) fn advice(advice: &Advice, shown: &Shown) -> (String, String) {
    let listed = |names: &[Name]| {
        let names: Vec<String> = names.iter().map(|it| shown.name(it)).collect();
        names.join(", ")
    };
    let change = match &advice.change {
        Change::Ndots(ndots) => format!("options ndots:{ndots}"),
        Change::FinalDot(names) => {
            let more = match names.len() {
                0..=3 => String::new(),
                all => format!(" and {} more", all - 3),
            };
            let names = names
                .iter()
                .take(3)
                .map(|it| format!("{}.", shown.name(it)));
            let names: Vec<String> = names.collect();
            format!("a final dot: {}{more}", names.join(", "))
        }
        Change::WithoutEntries(names) => format!("the search list without {}", listed(names)),
        Change::SingleRequestReopen => "options single-request-reopen".to_owned(),
        Change::UseVc => "options use-vc".to_owned(),
        Change::NodeCache => "a cache on the node".to_owned(),
    };
    let mut effect = match advice.queries_saved {
        0 => format!("saves {}", time(nanoseconds(advice))),
        saved => format!("saves {} and {}", queries(saved), time(nanoseconds(advice))),
    };
    if !advice.breaks.is_empty() {
        effect += &format!("; breaks {}", listed(&advice.breaks));
    }
    if !advice.unknown.is_empty() {
        effect += &format!("; not known for {}", listed(&advice.unknown));
    }
    (change, effect)
}

fn nanoseconds(advice: &Advice) -> i64 {
    i64::try_from(advice.time_saved.as_nanos()).unwrap_or(i64::MAX)
}
