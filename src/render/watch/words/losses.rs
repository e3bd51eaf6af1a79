//! Queries that got no answer, or none that could be used.

use std::fmt::Write as _;

use super::{Of, Words, queries, times, unreachable, words};
use crate::render::watch::time;
use crate::text::counted;
use crate::watch::findings::{Evidence, What};

impl Of<'_> {
    pub(super) fn lost(&self) -> Words {
        let (server, number) = (self.server, self.number);
        match &self.finding.what {
            What::Unanswered {
                of,
                types: [a, aaaa, other],
                pair: [first, second],
                ignored,
                slowest,
            } => {
                let types = [(a, "A"), (aaaa, "AAAA"), (other, "other")];
                let types = types.into_iter().filter(|it| *it.0 > 0);
                let types: Vec<String> =
                    types.map(|(some, what)| format!("{some} {what}")).collect();
                let mut message = format!(
                    "{server} left {} of {of} unanswered: {}; the slowest lookup took {}",
                    queries(number),
                    types.join(", "),
                    time(*slowest)
                );
                if first + second > 0 {
                    let _ = write!(
                        message,
                        "; of pairs with an answer to the other half the first was lost {}, the second {}",
                        times(*first),
                        times(*second)
                    );
                }
                if *ignored > 0 {
                    let _ = write!(
                        message,
                        "; {ignored} of them were answered, but the program asked again as if not"
                    );
                }
                let fix = if *ignored > 0 {
                    "the answers were lost between where the packets were seen and the program: look at filters in the pod's network namespace (nft list ruleset) and at its socket buffers (nstat UdpRcvbufErrors)"
                } else {
                    "watch on the server's side as well: what does not arrive there was lost on the way there, what does was lost on the way back"
                };
                let not = "from the client a lost query, a lost answer and a server that says nothing look alike";
                words(message, not, fix)
            }
            What::ConntrackRace {
                second,
                evidence,
                slowest,
            } => self.race(*second, *evidence, *slowest),
            _ => Words::default(),
        }
    }

    fn race(&self, second: u64, evidence: Evidence, slowest: i64) -> Words {
        let pairs = counted(self.number, "pair", "pairs");
        let message = format!(
            "{pairs} of A and AAAA to {} lost one of the two, {} the second, while the other was answered: the conntrack race; the slowest lookup took {}",
            self.server,
            times(second),
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
        words(message, &not, fix)
    }

    pub(super) fn unreached(&self) -> Words {
        let (server, first, number) = (self.server, self.first, self.number);
        match &self.finding.what {
            What::ServerSilent => words(
                format!(
                    "{server} answers nothing: {} and no answer",
                    queries(number)
                ),
                "from here a server that is gone, a filter and a route that loses packets look alike, and so does a closed port where ICMP was not captured; nobody asked it over TCP successfully either",
                "kdns dig @SERVER over UDP and TCP from the node and from the pod; kdns check-loop on the node",
            ),
            What::ServerClosed(kind) => words(
                format!(
                    "{server} cannot be reached: {} by ICMP, {}",
                    counted(number, "error", "errors"),
                    unreachable(*kind)
                ),
                "not a lost packet: somebody refused it and said so",
                "start the server, or take it out of resolv.conf; for a Service address: kubectl get endpointslices",
            ),
            What::UdpSilent { tcp } => words(
                format!(
                    "{server} answers over TCP ({}) and never over UDP ({} without an answer)",
                    times(*tcp),
                    queries(number)
                ),
                "not a dead server",
                "open UDP port 53 to it (NetworkPolicy, security group); until then: options use-vc, with glibc and Go",
            ),
            What::LargeRepliesLost { .. } => self.large(),
            What::TruncatedNoTcp => words(
                format!(
                    "{} of {server} truncated, first for {first}, and nobody asked again over TCP",
                    counted(number, "answer is", "answers are")
                ),
                "not a lost packet: the program works with a part of the answer, or none",
                "fewer records for the name, or a resolver that knows TCP (musl from 1.2.4 on; BusyBox does not)",
            ),
            What::TcpRefused { refused } => words(
                format!(
                    "{server} truncates answers, first for {first}, and takes no connection: {refused} of {} refused",
                    counted(number, "was", "were")
                ),
                "not a program that forgot to ask over TCP",
                "open TCP port 53: in the server, its Service (protocol TCP) and every NetworkPolicy",
            ),
            What::TcpClosed => words(
                format!(
                    "{server} ended connections with {} under way, first for {first}",
                    queries(number)
                ),
                "not a closed port: the connection was there; servers do so when they are overloaded, stop, or refuse; so does a proxy in between",
                "look into the server's log at that time; kdns dig +tcp @SERVER from the pod",
            ),
            _ => Words::default(),
        }
    }

    fn large(&self) -> Words {
        let (server, first, number) = (self.server, self.first, self.number);
        let What::LargeRepliesLost {
            largest,
            edns,
            incomplete,
            over_tcp,
        } = &self.finding.what
        else {
            return Words::default();
        };

        let mut message = format!(
            "large answers of {server} do not arrive: {} unanswered, first for {first}; the largest answer that came has {largest} bytes",
            queries(number)
        );
        if let Some(size) = edns {
            let _ = write!(message, ", the queries allow {size}");
        }
        if *incomplete > 0 {
            let _ = write!(
                message,
                "; of {} fragments are missing",
                counted(*incomplete, "answer", "answers")
            );
        }
        if let Some(size) = over_tcp {
            let _ = write!(message, "; over TCP the answer has {size} bytes");
        }
        words(
            message,
            "not a silent server: small answers do arrive",
            "a UDP payload size of 1232 on servers and forwarders (CoreDNS: bufsize 1232), and let fragments and TCP port 53 pass",
        )
    }
}
