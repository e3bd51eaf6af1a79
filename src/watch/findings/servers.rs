//! What is wrong with servers that do answer.

use std::net::{IpAddr, SocketAddr};

use crate::address::DNS_PORT;
use crate::finding::Severity;
use crate::watch::findings::{Finding, Known, Times, What};
use crate::watch::name::of_wire;
use crate::watch::tally::{Count, Histogram, ServerTally};

const AAAA: u16 = 28;
const A: u16 = 1;

/// A server whose median is above this is slow, in nanoseconds: a resolver next
/// door needs a millisecond, one at the other end of a continent 60.
const SLOW: i64 = 100_000_000;

/// An answer that took so long is late, whatever the median, in nanoseconds.
const LATE: i64 = 1_000_000_000;

/// Fewer answers say nothing about a median.
const FEW: u64 = 4;

/// So many names have a finding of their own.
const MAX_NAMES: usize = 20;

/// A zone is slow where all others are so many times as fast.
const TIMES_FASTER: i64 = 4;

pub(super) fn add(known: &Known<'_>, found: &mut Vec<Finding>) {
    let tally = known.tally;
    let failing_aaaa = aaaa(known, found);
    for (server, of_server) in &tally.servers.all {
        slow(*server, of_server, found);
        fails(*server, of_server, failing_aaaa, found);
    }
    let mut counted = |server: &IpAddr, what, severity, count: &Count| {
        let finding = Finding::new(what, severity, count.times).at(dns(*server));
        let finding = finding.about(count.name.as_ref());
        found.push(finding.shown_by(count.packets.iter().copied()));
    };
    for (server, count) in &tally.no_tcp {
        counted(server, What::TruncatedNoTcp, Severity::Error, count);
    }
    for (server, (count, refused)) in &tally.no_connection {
        let what = What::TcpRefused { refused: *refused };
        counted(server, what, Severity::Error, count);
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
    let all = &tally.times;
    if all.total() < FEW {
        return;
    }
    let is_slow = |it: &Histogram| it.median() >= SLOW && it.total() >= FEW;
    let (slow, fast): (Vec<_>, Vec<_>) = tally.zones.iter().partition(|it| is_slow(it.1));
    let others = fast
        .iter()
        .map(|it| it.1.median())
        .max()
        .unwrap_or_default();
    let known: u64 = fast.iter().map(|it| it.1.total()).sum();
    let is_of_zones = !slow.is_empty()
        && known >= FEW
        && slow.iter().all(|it| it.1.median() >= others * TIMES_FASTER);
    if is_of_zones {
        for (zone, histogram) in slow {
            let what = What::SlowZone {
                times: Times::from_histogram(histogram),
                others,
            };
            let finding = Finding::new(what, Severity::Warning, histogram.total()).at(server);
            found.push(finding.about(Some(&of_wire(zone))));
        }
        return;
    }
    let late = all.above(LATE);
    if all.median() >= SLOW || late >= FEW && late * 100 >= all.total() {
        let what = What::SlowServer(Times::from_histogram(all));
        let count = all.above(SLOW);
        found.push(Finding::new(what, Severity::Warning, count).at(server));
    }
}

/// Names whose A is there and whose AAAA is answered with an error. How many
/// failures of AAAA that explains, in all.
fn aaaa(known: &Known<'_>, found: &mut Vec<Finding>) -> [u64; 2] {
    let questions = &known.tally.questions;
    let mut names: Vec<_> = questions
        .all
        .values()
        .filter(|it| it.qtype == AAAA)
        .collect();
    names.sort_by(|one, other| one.name.cmp(&other.name));
    let (mut explained, mut listed) = ([0; 2], 0);
    for question in names {
        let [positive, negative, failed, _] = question.sum();
        let Some(of_a) = questions.get(&question.name, A) else {
            continue;
        };
        let [exists, _, a_failed, _] = of_a.sum();
        let denied = question.sample.is_some_and(|it| it.rcode == 3);
        let is_error = failed > 0 && positive + negative == 0;
        let is_denial = denied && negative > 0 && positive + failed == 0;
        if exists == 0 || a_failed > 0 || !(is_error || is_denial) {
            continue;
        }
        let rcode = question.sample.map(|it| it.rcode);
        let count = if is_error { failed } else { negative };
        if let Some(sum) = explained.get_mut(usize::from(is_denial)) {
            *sum += count;
        }
        listed += 1;
        if listed > MAX_NAMES {
            continue;
        }
        let server = question.servers.first().map(|it| dns(it.0));
        let mut finding = Finding::new(What::AaaaFails { rcode }, Severity::Warning, count);
        finding.server = server;
        let finding = finding.about(Some(&question.name));
        found.push(finding.shown_by(question.packets.iter().copied()));
    }
    explained
}

fn fails(server: SocketAddr, tally: &ServerTally, explained: [u64; 2], found: &mut Vec<Finding>) {
    let mut left = explained[0];
    for (rcode, count) in &tally.failures {
        let own = count.times.saturating_sub(left);
        left = left.saturating_sub(count.times);
        if own == 0 {
            continue;
        }
        let what = What::ServerFails {
            rcode: *rcode,
            of: tally.udp.1 + tally.tcp.1,
        };
        let finding = Finding::new(what, Severity::Error, own).at(server);
        let finding = finding.about(count.name.as_ref());
        found.push(finding.shown_by(count.packets.iter().copied()));
    }
}

/// Servers that say different things about the same name, each always.
fn disagree(known: &Known<'_>, found: &mut Vec<Finding>) {
    let questions = &known.tally.questions;
    let mut pairs = std::collections::BTreeMap::new();
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
