#![doc = include_str!("too_many_addresses.md")]

use std::collections::BTreeMap;

use crate::config::statements::Statement;
use crate::lint::rules::haproxy::servers::servers;
use crate::lint::rules::nginx::names::MAX_FINDINGS;
use crate::lint::rules::prelude::*;

/// What `HAProxy` takes where `accepted_payload_size` does not say.
///
/// Source: HAProxy `doc/configuration.txt` (2.6), 5.3.2
const USUAL_SIZE: u32 = 512;
/// A message around its records: header, type and class of the question, length bytes of its
/// name, OPT record (RFC 1035, RFC 6891).
const AROUND: u32 = 12 + 4 + 2 + 11;
/// An A record whose name points to the question.
const RECORD: u32 = 16;

pub(super) fn check(file: &DaemonText<'_>, _: &Context<'_>, report: &mut Report) {
    let sections = file.statements.iter();
    let sections = sections.filter(|it| file.word(it, 0) == "resolvers");
    let sizes = sections.filter_map(|it| Some((file.word(it, 1), payload(file, it)?)));
    let sizes: BTreeMap<&str, u32> = sizes.collect();
    let servers = servers(file);
    let sized = servers.iter().filter(|it| it.is_service());
    let sized = sized.filter_map(|it| Some((it, *sizes.get(it.resolvers?)?)));
    let counted = sized.map(|(server, size)| {
        let length = u32::try_from(server.host.len()).unwrap_or(u32::MAX);
        let room = size.saturating_sub(AROUND.saturating_add(length)) / RECORD;
        (server, size, room)
    });
    let found = counted.filter(|(server, _, room)| server.count > *room);
    for (server, size, room) in found.take(MAX_FINDINGS) {
        let said = format!(
            "of {} servers none gets an address once the Service has more than {room}: the answer is cut at {size} bytes",
            server.count
        );
        report
            .add(file.at(server.span), said)
            .help("add accepted_payload_size 8192 to the resolvers section")
            .note("HAProxy takes nothing from a truncated answer, and does not ask over TCP for the rest");
    }
}

/// The largest answer over UDP; `None`: a server is asked over TCP, or the number is none.
fn payload(file: &DaemonText<'_>, section: &Statement) -> Option<u32> {
    let mut size = USUAL_SIZE;
    for line in section.block.iter().flatten() {
        match file.word(line, 0) {
            "nameserver" if file.word(line, 2).starts_with("tcp") => return None,
            "accepted_payload_size" => size = file.word(line, 1).parse().ok()?,
            _ => {}
        }
    }
    Some(size)
}
