//! What is wrong with servers that do answer.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use crate::address::DNS_PORT;
use crate::finding::Severity;
use crate::histogram::Histogram;
use crate::name::Name;
use crate::order::Order as _;
use crate::text::ordered;
use crate::watch::findings::{Finding, Known, Times, What, zones};
use crate::watch::keys::{A, AAAA};
use crate::watch::tally::{Count, QuestionTally, ServerTally};

const NXDOMAIN: u8 = 3;

/// A server whose median is above this is slow, in nanoseconds: a resolver next
/// door needs a millisecond, one at the other end of a continent 60.
const SLOW: u64 = 100_000_000;

/// An answer that took so long is late, whatever the median, in nanoseconds.
const LATE: u64 = 1_000_000_000;

/// Fewer answers say nothing about a median.
const FEW: u64 = 4;

/// A zone is slow where all others are so many times as fast.
const TIMES_FASTER: i64 = 4;

pub(super) fn add(known: &Known<'_>, found: &mut Vec<Finding>) {
    let tally = known.tally;
    let failing_aaaa = aaaa(known, found);
    for (server, of_server) in &tally.servers.all {
        slow(*server, of_server, found);
        fails(*server, of_server, &failing_aaaa, found);
    }
    let mut counted = |server: &IpAddr, what, severity, count: &Count| {
        found.push(Finding::from_count(what, severity, count).at(dns(*server)));
    };
    for (server, count) in &tally.no_tcp {
        counted(server, What::TruncatedNoTcp, Severity::Error, count);
    }
    for (server, (count, refused)) in &tally.no_connection {
        let what = What::TcpRefused { refused: *refused };
        counted(server, what, Severity::Error, count);
    }
    for (server, count) in &tally.closed {
        counted(server, What::TcpClosed, Severity::Error, count);
    }
    for ((server, from), count) in &tally.wrong_source {
        let what = What::WrongSource { from: *from };
        counted(server, what, Severity::Error, count);
    }
    for (server, count) in &tally.duplicates {
        counted(server, What::Duplicates, Severity::Warning, count);
    }
    for (server, count) in &tally.mismatched {
        counted(server, What::Mismatched, Severity::Warning, count);
    }
    disagree(known, found);
}

/// A server on its usual port.
fn dns(server: IpAddr) -> SocketAddr {
    SocketAddr::new(server, DNS_PORT)
}

/// A slow server, or a slow zone of one that is fast.
fn slow(server: SocketAddr, tally: &ServerTally, found: &mut Vec<Finding>) {
    let all = Times::from_histogram(&tally.times);
    if all.count < FEW {
        return;
    }
    let mut zones: Vec<&(Name, Histogram)> = tally.zones.values().collect();
    zones.order_by(|one, other| one.0.cmp(&other.0));
    let is_slow = |it: &Histogram| it.above(SLOW) * 2 > it.total();
    let of_zones: u64 = zones.iter().map(|it| it.1.total()).sum();
    let zones = zones.into_iter();
    let zones = zones.map(|(zone, it)| (zone, is_slow(it), Times::from_histogram(it)));
    let (slow, fast): (Vec<_>, Vec<_>) = zones.partition(|it| it.1 && it.2.count >= FEW);
    let others = fast.iter().map(|it| it.2.median).max().unwrap_or_default();
    let known: u64 = fast.iter().map(|it| it.2.count).sum();
    // Those for which there was no room can be as slow.
    let is_of_zones = of_zones == all.count
        && !slow.is_empty()
        && known >= FEW
        && slow.iter().all(|it| it.2.median >= others * TIMES_FASTER);
    if is_of_zones {
        for (zone, _, times) in slow {
            let what = What::SlowZone { times, others };
            let finding = Finding::new(what, Severity::Warning, times.count).at(server);
            found.push(finding.about(Some(zone)));
        }
        return;
    }
    let late = tally.times.above(LATE);
    if is_slow(&tally.times) || late >= FEW && late * 100 >= all.count {
        let count = tally.times.above(SLOW);
        let finding = Finding::new(What::SlowServer(all), Severity::Warning, count);
        found.push(finding.at(server));
    }
}

/// AAAA of names whose A is there, by the server that answers with an error and its
/// response code: how often, and the questions.
type FailingAaaa<'k> = BTreeMap<(IpAddr, u8), (u64, Vec<&'k QuestionTally>)>;

fn aaaa<'k>(known: &Known<'k>, found: &mut Vec<Finding>) -> FailingAaaa<'k> {
    let questions = &known.tally.questions;
    let mut failing = FailingAaaa::new();
    let all: Vec<_> = questions.all.values().collect();
    for question in all.into_iter().filter(|it| it.qtype == AAAA) {
        let of_a = questions.get(&question.name, A).map(QuestionTally::sum);
        let is_there = of_a.is_some_and(|[found, _, failed, _]| found > 0 && failed == 0);
        let [found, denied, failed, _] = question.sum();
        if !is_there || found > 0 || denied > 0 && failed > 0 {
            continue;
        }
        for ((server, rcode), count) in &question.errors {
            // NXDOMAIN denies the name, A and all; not where there was nothing but no
            // AAAA before or since.
            let is_always = |it: &(IpAddr, [u64; 4])| it.0 == *server && it.1[1] == *count;
            if *rcode != NXDOMAIN || question.servers.iter().any(is_always) {
                let of_server = failing.entry((*server, *rcode)).or_default();
                of_server.0 += count;
                of_server.1.push(question);
            }
        }
    }
    for ((server, rcode), (count, questions)) in &mut failing {
        questions.order_by(|one, other| one.packets.cmp(&other.packets));
        let packets = questions.iter().flat_map(|it| it.packets.iter().copied());
        let packets: BTreeSet<u64> = ordered(packets);
        let what = What::AaaaFails {
            rcode: Some(*rcode),
            zones: zones(questions.iter().map(|it| &it.name)),
        };
        let finding = Finding::new(what, Severity::Warning, *count).at(dns(*server));
        let finding = finding.about(questions.first().map(|it| &it.name));
        found.push(finding.shown_by(packets));
    }
    failing
}

fn fails(
    server: SocketAddr,
    tally: &ServerTally,
    failing_aaaa: &FailingAaaa<'_>,
    found: &mut Vec<Finding>,
) {
    for (rcode, count) in &tally.failures {
        let explained = failing_aaaa.get(&(server.ip(), *rcode));
        let own = count.times.saturating_sub(explained.map_or(0, |it| it.0));
        if own == 0 {
            continue;
        }
        let what = What::ServerFails {
            rcode: *rcode,
            of: tally.udp.1 + tally.tcp.1,
        };
        let finding = Finding::from_count(what, Severity::Error, count).at(server);
        found.push(Finding {
            count: own,
            ..finding
        });
    }
}

/// Servers that say different things about the same name, each always.
fn disagree(known: &Known<'_>, found: &mut Vec<Finding>) {
    let questions = &known.tally.questions;
    let mut pairs = BTreeMap::new();
    let all: Vec<_> = questions.all.values().collect();
    for question in all {
        let is = |wanted: fn(&[u64; 4]) -> bool| {
            let mut servers = question.servers.iter().filter(move |it| wanted(&it.1));
            servers.next().map(|it| it.0)
        };
        let denies = is(|[found, negative, ..]| *found == 0 && *negative > 0);
        let answers = is(|[found, negative, ..]| *found > 0 && *negative == 0);
        let (Some(denies), Some(answers)) = (denies, answers) else {
            continue;
        };
        let (count, name, packets) = pairs
            .entry((denies, answers))
            .or_insert_with(|| (0_u64, question.name.clone(), Vec::new()));
        *count += 1;
        if question.packets < *packets || packets.is_empty() {
            name.clone_from(&question.name);
            packets.clone_from(&question.packets);
        }
    }
    for ((denies, answers), (count, name, packets)) in pairs {
        let what = What::ServersDisagree { denies, answers };
        let finding = Finding::new(what, Severity::Error, count).at(dns(denies));
        found.push(finding.about(Some(&name)).shown_by(packets));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(times: u64, milliseconds: u64) -> Histogram {
        let mut histogram = Histogram::default();
        histogram.add_many(milliseconds * 1_000_000, times);
        histogram
    }

    fn found(tally: &ServerTally) -> Vec<What> {
        let mut found = Vec::new();
        slow(SocketAddr::from(([10, 0, 0, 53], 53)), tally, &mut found);
        found.into_iter().map(|it| it.what).collect()
    }

    #[test]
    fn what_takes_less_is_not_slow() {
        for (milliseconds, count) in [(93, 0), (100, 0), (101, 1)] {
            let tally = ServerTally {
                times: histogram(8, milliseconds),
                ..ServerTally::default()
            };
            assert_eq!(found(&tally).len(), count, "{milliseconds}");
        }
    }

    #[test]
    fn a_zone_is_slow_only_if_all_are_known() {
        for unknown in [0, 8] {
            let mut tally = ServerTally::default();
            for (zone, milliseconds) in [(1, 400), (2, 3)] {
                let times = histogram(8, milliseconds);
                tally.times.merge(&times);
                tally.zones.insert(zone, (Name::root(), times));
            }
            tally.times.merge(&histogram(unknown, 400));
            let of_zone = |it: &What| matches!(it, What::SlowZone { .. });
            assert_eq!(found(&tally).iter().any(of_zone), unknown == 0);
        }
    }
}
