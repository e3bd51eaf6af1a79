//! Zone transfers: many messages, until the SOA record that ends them.

use crate::dig::lookup::Lookup;
use crate::dig::message::{Message, Record};
use crate::dig::printed::Total;

/// Record types of transfers.
pub(super) const IXFR: u16 = 251;
pub(super) const AXFR: u16 = 252;
const SOA: u16 = 6;

/// What came so far.
///
/// Source: BIND bin/dig/dighost.h: `struct dig_query` (9.18)
#[derive(Clone, Debug, Default)]
pub(super) struct Transfer {
    records: u32,
    messages: u32,
    bytes: usize,
    /// The serial number of the first SOA record.
    first: Option<u32>,
    second_seen: bool,
    /// A reply to IXFR that holds the whole zone.
    whole_zone: bool,
    repeat_seen: bool,
}

/// What a message means for the transfer.
#[derive(Debug)]
pub(super) enum Progress {
    /// More messages follow.
    More,
    /// It was the last message: the transfer is whole.
    Whole(Total),
    /// This is no transfer: what dig prints.
    Failed(&'static str),
}

impl Transfer {
    /// Whether the first SOA record has come.
    pub(super) fn has_started(&self) -> bool {
        self.first.is_some()
    }

    /// Whether no message has come yet.
    pub(super) fn is_at_start(&self) -> bool {
        self.messages == 0
    }

    /// Takes a message.
    ///
    /// Source: BIND bin/dig/dighost.c: `check_for_more_data` (9.18)
    pub(super) fn take(&mut self, lookup: &Lookup, message: &Message) -> Progress {
        self.messages += 1;
        self.bytes += message.size;
        if message.answers.is_empty() {
            return Progress::Failed("; Transfer failed.");
        }
        let is_ixfr = lookup.rdtype == IXFR;
        for record in &message.answers {
            self.records += 1;
            if self.first.is_none() && record.rdtype != SOA {
                return Progress::Failed("; Transfer failed.  Didn't start with SOA answer.");
            }
            if record.rdtype != SOA {
                if !self.second_seen {
                    self.second_seen = true;
                    self.whole_zone = true;
                }
                continue;
            }
            if self.soa(is_ixfr, lookup.ixfr_serial, serial(record)) {
                return Progress::Whole(Total {
                    bytes: self.bytes,
                    transfer: Some((self.records, self.messages)),
                });
            }
        }
        Progress::More
    }

    /// Whether this SOA record ends the transfer.
    fn soa(&mut self, is_ixfr: bool, have: u32, serial: u32) -> bool {
        let Some(first) = self.first else {
            self.first = Some(serial);
            // Serial numbers go round (RFC 1982).
            return is_ixfr && have.wrapping_sub(serial) < 1 << 31;
        };
        if !is_ixfr || self.whole_zone {
            return true;
        }
        if !self.second_seen {
            self.second_seen = true;
            return first == serial;
        }
        first == serial && std::mem::replace(&mut self.repeat_seen, true)
    }
}

/// The serial number stands 20 bytes before the end.
fn serial(record: &Record) -> u32 {
    let numbers = record.data.len().checked_sub(20);
    let bytes = numbers.and_then(|at| record.data.get(at..)?.first_chunk::<4>());
    bytes.map_or(0, |&bytes| u32::from_be_bytes(bytes))
}
