//! Why queries were not answered: each loss has one reason.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use crate::finding::Severity;
use crate::name::Name;
use crate::order::Order as _;
use crate::packet::Unreachable;
use crate::watch::fault::Pair;
use crate::watch::findings::{Evidence, Finding, Known, What, zones};
use crate::watch::keys::{A, AAAA};
use crate::watch::tally::{Loss, QuestionTally, ServerTally, Suspect};

/// Answers of this size travel without fragments everywhere, in bytes.
///
/// Source: <https://www.dnsflagday.net/2020/>.
const SAFE_SIZE: u16 = 1232;

/// Of losses in pairs so many in a hundred are of the second query, if it is the
/// connection table that loses them: the first one is confirmed first.
const SECOND: u64 = 85;

/// Finds a reason for every loss; the names that go round in a loop.
pub(super) fn add(known: &Known<'_>, found: &mut Vec<Finding>) -> BTreeSet<Vec<u8>> {
    let tally = known.tally;
    let looping = loops(known, found);
    let mut by_server: BTreeMap<SocketAddr, Vec<&Loss>> = BTreeMap::new();
    for loss in tally.losses.values() {
        if !looping.contains(&lower(&loss.name)) {
            by_server.entry(loss.server).or_default().push(loss);
        }
    }
    for (server, tally_of) in &tally.servers.all {
        closed(*server, tally_of, found);
        let Some(losses) = by_server.remove(server) else {
            continue;
        };
        if !whole_server(*server, tally_of, &losses, found) {
            some(known, *server, tally_of, losses, found);
        }
    }
    looping
}

/// The same question comes to a server that still owes its answer, at once and
/// from another socket: the server asks itself, over others or directly.
fn loops(known: &Known<'_>, found: &mut Vec<Finding>) -> BTreeSet<Vec<u8>> {
    let tally = known.tally;
    let mut looping: BTreeMap<Vec<u8>, Vec<&Suspect>> = BTreeMap::new();
    for suspect in &tally.suspects {
        let client = suspect.client.ip();
        let is_server = |it: &SocketAddr| it.ip() == client;
        let is_own = suspect.server.ip().is_loopback()
            || suspect.server.ip() == client
            || tally.servers.all.keys().any(is_server);
        let answered = tally.questions.get(&suspect.name, suspect.qtype);
        let is_answered = answered.is_some_and(|it| {
            let of_server = it.servers.iter().find(|it| it.0 == suspect.server.ip());
            of_server.is_some_and(|(_, [found, negative, ..])| found + negative > 0)
        });
        if is_own && !is_answered {
            looping
                .entry(lower(&suspect.name))
                .or_default()
                .push(suspect);
        }
    }
    for suspects in looping.values() {
        let Some(first) = suspects.iter().min_by_key(|it| it.packets) else {
            continue;
        };
        let packets = suspects.iter().flat_map(|it| it.packets);
        found.push(
            Finding::new(What::Loop, Severity::Error, suspects.len() as u64)
                .at(first.server)
                .about(Some(&first.name))
                .shown_by(packets.collect::<BTreeSet<u64>>()),
        );
    }
    looping.into_keys().collect()
}

/// What these losses of a server's show.
fn of_losses(what: What, server: SocketAddr, losses: &[&Loss], count: u64) -> Finding {
    Finding::new(what, Severity::Error, count)
        .at(server)
        .about(losses.first().map(|it| &it.name))
        .shown_by(losses.iter().map(|it| it.sent.packet))
}

fn sendings(losses: &[&Loss]) -> u64 {
    losses.iter().map(|it| u64::from(it.sendings)).sum()
}

/// A name in one case.
fn lower(name: &Name) -> Vec<u8> {
    name.as_wire().to_ascii_lowercase()
}

/// ICMP errors about queries to this server.
fn closed(server: SocketAddr, tally: &ServerTally, found: &mut Vec<Finding>) {
    for (kind, count) in &tally.errors {
        // What is too big is another matter.
        if matches!(kind, Unreachable::TooBig(_)) {
            continue;
        }
        let what = What::ServerClosed(*kind);
        found.push(Finding::from_count(what, Severity::Error, count).at(server));
    }
}

/// A server that answers nothing, or nothing over UDP.
fn whole_server(
    server: SocketAddr,
    tally: &ServerTally,
    losses: &[&Loss],
    found: &mut Vec<Finding>,
) -> bool {
    let (asked, answered) = tally.udp;
    let is_ignored = losses.iter().any(|it| it.is_ignored);
    if answered > 0 || asked < 2 || is_ignored {
        return false;
    }
    let what = match tally.tcp.1 {
        // The errors say it already.
        0 if !tally.errors.is_empty() => return true,
        0 => What::ServerSilent,
        tcp => What::UdpSilent { tcp },
    };
    let count = sendings(losses) + tally.only_counted;
    found.push(of_losses(what, server, losses, count));
    true
}

/// A server that answers some queries and not others.
fn some(
    known: &Known<'_>,
    server: SocketAddr,
    tally: &ServerTally,
    losses: Vec<&Loss>,
    found: &mut Vec<Finding>,
) {
    let losses = large(known, server, tally, losses, found);
    let losses = only_aaaa(known, server, losses, found);
    let losses = race(known, server, losses, found);
    if losses.is_empty() {
        return;
    }
    let count = |wanted: &dyn Fn(&Loss) -> bool| -> u64 {
        let its = losses.iter().filter(|it| wanted(it));
        its.map(|it| u64::from(it.sendings)).sum()
    };
    let what = What::Unanswered {
        of: tally.udp.0 + tally.tcp.0,
        types: [
            count(&|it| it.qtype == A),
            count(&|it| it.qtype == AAAA),
            count(&|it| !matches!(it.qtype, A | AAAA)),
        ],
        pair: [
            count(&|it| it.pair == Pair::First),
            count(&|it| it.pair == Pair::Second),
        ],
        ignored: count(&|it| it.is_ignored),
        slowest: losses
            .iter()
            .map(|it| it.lookup_took)
            .max()
            .unwrap_or_default(),
    };
    let count = sendings(&losses) + tally.only_counted;
    found.push(of_losses(what, server, &losses, count));
}

/// Both together, the first one first.
fn in_order<'l>(mut some: Vec<&'l Loss>, others: Vec<&'l Loss>) -> Vec<&'l Loss> {
    some.extend(others);
    some.order_by_key(|it| it.sent.packet);
    some
}

/// Questions whose answers are too large for a path on which fragments are lost.
fn large<'l>(
    known: &Known<'_>,
    server: SocketAddr,
    tally: &ServerTally,
    losses: Vec<&'l Loss>,
    found: &mut Vec<Finding>,
) -> Vec<&'l Loss> {
    let size_of = |it: &Loss| {
        let question = known.tally.questions.get(&it.name, it.qtype);
        question.map_or(0, |it| it.largest)
    };
    let answered_small = |it: &Loss| (1..=u32::from(SAFE_SIZE)).contains(&size_of(it));
    let allows_large = |it: &Loss| it.edns.is_some_and(|it| it > SAFE_SIZE);
    let is_large = |it: &&Loss| {
        let is_known = it.incomplete.is_some() || size_of(it) > u32::from(SAFE_SIZE);
        !it.is_tcp && (is_known || allows_large(it) && it.sendings > 1 && !answered_small(it))
    };
    let (large, rest): (Vec<&Loss>, Vec<&Loss>) = losses.into_iter().partition(is_large);
    // Where small ones are lost as well it is not the size.
    let is_seen = large.iter().any(|it| it.incomplete.is_some());
    let is_alone = rest.is_empty() && tally.largest <= u32::from(SAFE_SIZE);
    if large.is_empty() || !is_seen && !is_alone {
        return in_order(large, rest);
    }
    let incomplete = large.iter().filter(|it| it.incomplete.is_some()).count() as u64;
    let over_tcp = large
        .iter()
        .map(|it| size_of(it))
        .max()
        .filter(|it| *it > 0);
    let what = What::LargeRepliesLost {
        largest: tally.largest,
        edns: large.iter().filter_map(|it| it.edns).max(),
        incomplete,
        over_tcp,
    };
    found.push(of_losses(what, server, &large, sendings(&large)));
    rest
}

/// Names whose A is answered, and whose AAAA never is.
fn only_aaaa<'l>(
    known: &Known<'_>,
    server: SocketAddr,
    losses: Vec<&'l Loss>,
    found: &mut Vec<Finding>,
) -> Vec<&'l Loss> {
    let never = |it: &&Loss| {
        let sums = |qtype| {
            known
                .tally
                .questions
                .get(&it.name, qtype)
                .map(QuestionTally::sum)
        };
        let asked = sums(AAAA).unwrap_or_default();
        let exists = sums(A).is_some_and(|[found, ..]| found > 0);
        let [positive, negative, failed, _] = asked;
        let lost: u64 = known
            .tally
            .losses
            .values()
            .filter(|other| other.qtype == AAAA && other.name.eq_ignore_case(&it.name))
            .map(|it| u64::from(it.sendings))
            .sum();
        it.qtype == AAAA
            && exists
            && positive + negative + failed == 0
            && lost > 1
            && !it.is_ignored
    };
    let (aaaa, rest): (Vec<&Loss>, Vec<&Loss>) = losses.into_iter().partition(never);
    // Where others are lost as well it is not the type.
    if !rest.is_empty() {
        return in_order(aaaa, rest);
    }
    if !aaaa.is_empty() {
        let zones = zones(aaaa.iter().map(|it| &it.name));
        let what = What::AaaaFails { rcode: None, zones };
        found.push(of_losses(what, server, &aaaa, sendings(&aaaa)));
    }
    rest
}

/// Pairs of which one query was lost and the other answered, as the connection
/// table of the kernel loses them.
fn race<'l>(
    known: &Known<'_>,
    server: SocketAddr,
    losses: Vec<&'l Loss>,
    found: &mut Vec<Finding>,
) -> Vec<&'l Loss> {
    let is_half = |it: &&Loss| matches!(it.pair, Pair::First | Pair::Second);
    let (half, rest): (Vec<&Loss>, Vec<&Loss>) = losses.into_iter().partition(is_half);
    let second = half.iter().filter(|it| it.pair == Pair::Second).count() as u64;
    let all = half.len() as u64;
    let late = half
        .iter()
        .any(|it| it.late_from.is_some_and(|from| from != it.server));
    let evidence = match known.conntrack {
        Some(it) if it.lost() > 0 => Some(Evidence::Seen(it)),
        Some(it) if it.clash_resolve > 0 && late => Some(Evidence::Seen(it)),
        // Other losses hit single queries and first ones, too.
        None if second * 100 >= all * SECOND && rest.is_empty() => Some(Evidence::Likely),
        _ => None,
    };
    let Some(evidence) = evidence.filter(|_| all > 0) else {
        return in_order(half, rest);
    };
    let slowest = half
        .iter()
        .map(|it| it.lookup_took)
        .max()
        .unwrap_or_default();
    let what = What::ConntrackRace {
        second,
        evidence,
        slowest,
    };
    found.push(of_losses(what, server, &half, all));
    rest
}
