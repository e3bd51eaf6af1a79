//! The conntrack table of a line: as it is written, and back.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::node::kernel::ConntrackCounters;
use crate::path::Conntrack;
use crate::rules::conntrack::{Entry, Tuple};

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct ConntrackLine {
    count: Option<u64>,
    max: Option<u64>,
    /// `insert_failed`, `drop`, `early_drop`.
    counters: Option<(u64, u64, u64)>,
    entries: Vec<EntryLine>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct EntryLine {
    protocol: u8,
    timeout: Option<u32>,
    state: Option<String>,
    /// Source and destination with their ports.
    original: (IpAddr, u16, IpAddr, u16),
    reply: (IpAddr, u16, IpAddr, u16),
    is_unreplied: bool,
    is_assured: bool,
    mark: u32,
    zone: u16,
}

pub(super) fn conntrack_line(conntrack: &Conntrack) -> ConntrackLine {
    let counters = conntrack.counters;
    let side = |it: &Tuple| {
        (
            it.source,
            it.source_port,
            it.destination,
            it.destination_port,
        )
    };
    let entry = |it: &Entry| EntryLine {
        protocol: it.protocol,
        timeout: it.timeout,
        state: it.state.as_ref().map(ToString::to_string),
        original: side(&it.original),
        reply: side(&it.reply),
        is_unreplied: it.is_unreplied,
        is_assured: it.is_assured,
        mark: it.mark,
        zone: it.zone,
    };
    ConntrackLine {
        count: conntrack.count,
        max: conntrack.max,
        counters: counters.map(|it| (it.insert_failed, it.drop, it.early_drop)),
        entries: conntrack.entries.iter().map(entry).collect(),
    }
}

pub(super) fn conntrack(line: ConntrackLine) -> Conntrack {
    let side = |(source, source_port, destination, destination_port)| Tuple {
        source,
        destination,
        source_port,
        destination_port,
    };
    let entry = |it: EntryLine| Entry {
        protocol: it.protocol,
        timeout: it.timeout,
        state: it.state.map(Into::into),
        original: side(it.original),
        reply: side(it.reply),
        is_unreplied: it.is_unreplied,
        is_assured: it.is_assured,
        mark: it.mark,
        zone: it.zone,
        line: 0,
    };
    Conntrack {
        count: line.count,
        max: line.max,
        counters: line
            .counters
            .map(|(insert_failed, drop, early_drop)| ConntrackCounters {
                insert_failed,
                drop,
                early_drop,
                ..ConntrackCounters::default()
            }),
        entries: line.entries.into_iter().map(entry).collect(),
    }
}
