//! Sends the questions, and writes down what comes.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::ErrorKind;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::time::{Duration, Instant};

use hickory_proto::rr::RecordType;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{LinkAddr, recvfrom};

use crate::check_loop::seen::{Barrier, Packet, Question, RECORD_TYPES, Record, Reply, Target};
use crate::probe::namespace::{Asker, Sockets};
use crate::probe::{PACE, frame, message};
use crate::topology::Network;

/// Packets that are still on their way when all is answered.
const LINGER: Duration = Duration::from_millis(300);

/// So many packets or replies are read before it is time to send again.
const MOST_AT_ONCE: usize = 4096;

// Source: linux/if_packet.h.
const PACKET_OUTGOING: u8 = 4;

/// What is still to be asked: whose socket, which name, which type.
#[derive(Debug)]
struct Planned {
    asker: usize,
    name: String,
    record_type: RecordType,
}

/// Asks every target about each of its zones. Half of `limit` is for sending,
/// so that the last answer may take the other half.
pub(super) fn ask(
    targets: &[Target],
    sockets: &mut Sockets,
    mut record: Record,
    limit: Duration,
) -> Record {
    let begun = Instant::now();
    let mut planned = plan(targets, sockets).into_iter().peekable();
    let mut next = Duration::ZERO;
    let mut quiet_since: Option<Duration> = None;
    while begun.elapsed() < limit {
        let now = begun.elapsed();
        let may_send = now < limit / 2;
        if may_send && planned.peek().is_some() && now >= next {
            let question = planned.find(|it| !is_loop(it, targets, sockets, &record));
            if let Some(question) = question {
                send(&question, sockets, &mut record, now);
                next = now + PACE;
            }
        }
        let is_sent = planned.peek().is_none() || !may_send;
        let is_quiet = is_sent && is_settled(targets, &record);
        quiet_since = is_quiet.then(|| quiet_since.unwrap_or(now));
        let is_over = is_sent && now >= last_sent(&record) + limit / 2;
        if is_over || quiet_since.is_some_and(|since| now >= since + LINGER) {
            break;
        }
        wait(sockets, PACE);
        read_packets(sockets, &mut record, begun.elapsed());
        read_replies(sockets, &mut record);
    }
    record
}

/// The first zone of every target, then the second ones.
fn plan(targets: &[Target], sockets: &Sockets) -> Vec<Planned> {
    let zones_of = |asker: &Asker| {
        let target = targets.get(asker.target);
        target.map_or(&[][..], |it| it.zones.as_slice())
    };
    let most = sockets.askers.iter().map(|it| zones_of(it).len()).max();
    let mut planned = Vec::new();
    for number in 0..most.unwrap_or_default() {
        for (asker, it) in sockets.askers.iter().enumerate() {
            let Some(zone) = zones_of(it).get(number) else {
                continue;
            };
            planned.extend(RECORD_TYPES.map(|record_type| Planned {
                asker,
                name: random_name(zone),
                record_type,
            }));
        }
    }
    planned
}

/// A name below `zone` that nobody has asked before. Below the root it has
/// two labels: servers treat a name of one label as a host's nickname.
fn random_name(zone: &str) -> String {
    let label = || format!("kdns-{:016x}", random());
    match zone {
        "." => format!("{}.{}.", label(), label()),
        zone => format!("{}.{zone}", label()),
    }
}

/// The standard library draws the keys of its hashes from the system.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

fn is_loop(planned: &Planned, targets: &[Target], sockets: &Sockets, record: &Record) -> bool {
    let number = sockets.askers.get(planned.asker).map(|it| it.target);
    let target = number.and_then(|number| Some((number, targets.get(number)?)));
    target.is_some_and(|(number, target)| record.is_loop(number, target))
}

fn send(planned: &Planned, sockets: &Sockets, record: &mut Record, now: Duration) {
    let id = u16::try_from(random() & 0xffff).unwrap_or_default();
    let Some(asker) = sockets.askers.get(planned.asker) else {
        return;
    };
    let Some(bytes) = message::query(id, &planned.name, planned.record_type) else {
        let trouble = format!("{} is too long a name", planned.name);
        return record.troubles.push((asker.target, trouble));
    };
    let mut question = Question {
        target: asker.target,
        name: planned.name.clone(),
        record_type: planned.record_type,
        id,
        from: asker.from,
        sent: now,
        reply: None,
        packets: Vec::new(),
    };
    // The refusal of an earlier query is reported here.
    if let Err(error) = asker.socket.send(&bytes) {
        question.reply = Some(refusal(error.kind()));
    }
    record.questions.push(question);
}

/// Whether nothing more is to come: each question is answered, or its target
/// loops.
fn is_settled(targets: &[Target], record: &Record) -> bool {
    let is_loop = |number: usize| {
        let target = targets.get(number);
        target.is_some_and(|target| record.is_loop(number, target))
    };
    let open = record.questions.iter().filter(|it| it.reply.is_none());
    open.into_iter().all(|question| is_loop(question.target))
}

fn last_sent(record: &Record) -> Duration {
    record.questions.last().map_or(Duration::ZERO, |it| it.sent)
}

fn wait(sockets: &Sockets, longest: Duration) {
    let watches = sockets.watches.iter().map(|(_, watch)| watch.as_fd());
    let askers = sockets.askers.iter().map(|it| it.socket.as_fd());
    let mut all: Vec<PollFd<'_>> = watches
        .chain(askers)
        .map(|it| PollFd::new(it, PollFlags::POLLIN))
        .collect();
    let timeout = PollTimeout::try_from(longest).unwrap_or(PollTimeout::ZERO);
    // Whatever it says, each socket is looked at.
    let _ = poll(&mut all, timeout);
}

/// Reads what the watches have seen.
fn read_packets(sockets: &Sockets, record: &mut Record, now: Duration) {
    for (network, watch) in &sockets.watches {
        let packets = std::iter::from_fn(|| next_packet(watch)).take(MOST_AT_ONCE);
        for (is_outgoing, query) in packets.filter_map(|it| Some((it.0, it.1?))) {
            let asked = record.questions.iter_mut().find(|question| {
                question.name == query.name && question.record_type == query.record_type
            });
            if let Some(question) = asked {
                question.saw(packet(network, is_outgoing, &query, now));
            }
        }
    }
}

fn packet(network: &Network, is_outgoing: bool, query: &frame::FrameQuery, at: Duration) -> Packet {
    Packet {
        at,
        network: network.clone(),
        is_outgoing,
        from: query.from,
        to: query.to,
        id: query.id,
    }
}

/// The next packet, and whether it leaves; `None`: there is none now.
fn next_packet(watch: &OwnedFd) -> Option<(bool, Option<frame::FrameQuery>)> {
    let mut buffer = [0; 2048];
    let (length, link) = recvfrom::<LinkAddr>(watch.as_raw_fd(), &mut buffer).ok()?;
    let link = link?;
    let is_outgoing = link.pkttype() == PACKET_OUTGOING;
    let bytes = buffer.get(..length).unwrap_or_default();
    Some((is_outgoing, frame::query_of(bytes)))
}

fn read_replies(sockets: &mut Sockets, record: &mut Record) {
    for asker in &mut sockets.askers {
        let mut buffer = [0; 2048];
        // One who sends without end does not keep the probe from ending.
        for _ in 0..MOST_AT_ONCE {
            match asker.socket.recv(&mut buffer) {
                Ok(length) => {
                    let bytes = buffer.get(..length).unwrap_or_default();
                    if let Some(found) = message::response(bytes) {
                        let is_answer = |it: &Question| {
                            it.id == found.id && found.fits(&it.name, it.record_type)
                        };
                        note(record, asker.target, is_answer, Reply::Response(found.code));
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => note(record, asker.target, |_| true, refusal(error.kind())),
            }
        }
    }
}

/// What an error of a connected socket says.
///
/// Source: linux `net/ipv4/icmp.c` `icmp_err_convert`, `net/ipv6/icmp.c`
/// `tab_unreach`; EPERM is netfilter's own.
fn refusal(kind: ErrorKind) -> Reply {
    match kind {
        ErrorKind::ConnectionRefused => Reply::NobodyListens,
        ErrorKind::PermissionDenied => Reply::NotReached(Barrier::Filter),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
            Reply::NotReached(Barrier::Unreachable)
        }
        _ => Reply::NotReached(Barrier::Other),
    }
}

/// Notes a reply to those of a target's open questions that it answers.
fn note(record: &mut Record, target: usize, answers: impl Fn(&Question) -> bool, reply: Reply) {
    let open = record
        .questions
        .iter_mut()
        .filter(|it| it.target == target && it.reply.is_none());
    for question in open.filter(|it| answers(it)) {
        question.reply = Some(reply);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_reports_is_no_closed_port_but_for_one() {
        use nix::errno::Errno;
        let of = |errno| refusal(std::io::Error::from(errno).kind());
        assert_eq!(of(Errno::ECONNREFUSED), Reply::NobodyListens);
        for errno in [Errno::EPERM, Errno::EACCES] {
            assert_eq!(of(errno), Reply::NotReached(Barrier::Filter), "{errno}");
        }
        for errno in [Errno::EHOSTUNREACH, Errno::ENETUNREACH] {
            assert_eq!(
                of(errno),
                Reply::NotReached(Barrier::Unreachable),
                "{errno}"
            );
        }
        for errno in [Errno::ENOPROTOOPT, Errno::EMSGSIZE, Errno::ENOBUFS] {
            assert_eq!(of(errno), Reply::NotReached(Barrier::Other), "{errno}");
        }
    }
}
