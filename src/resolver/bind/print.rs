//! What the programs print, as far as it decides how a lookup is judged.

use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::Address;
use crate::dig::message::Message;
use crate::dig::printed::{Printed, Screen, Unprintable};
use crate::dig::translation;
use crate::engine::machine::Outcome;
use crate::engine::message::Rcode;

const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;

/// What a run has printed so far.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    addresses: Vec<Address>,
    /// A record that is neither an address nor an alias.
    other_record: bool,
    /// The last reply code that was named.
    rcode: Option<Rcode>,
    /// The worst error that was printed.
    trouble: Option<Trouble>,
}

/// What a program says when it has no answer to show.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Trouble {
    /// "no servers could be reached"
    NoServers,
    /// "No acceptable nameservers"
    NoAcceptable,
    /// "is not a legal name", "is not in legal name syntax"
    BadName,
}

/// A program's standard output.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) transcript: RefCell<Transcript>,
    /// Whether the reply code of every message is printed, so that trouble
    /// before it does not count.
    pub(super) status: bool,
}

impl Screen for Output {
    fn print(&self, printed: Printed) -> Result<(), Unprintable> {
        let mut transcript = self.transcript.borrow_mut();
        let trouble = match printed {
            Printed::Reply(_, message, _) => {
                transcript.printmessage(&message, self.status);
                return Ok(());
            }
            Printed::Servfail(..) => {
                transcript.rcode = Some(Rcode::ServFail);
                return Ok(());
            }
            Printed::NoServers => Trouble::NoServers,
            Printed::NoAcceptable => Trouble::NoAcceptable,
            Printed::BadName(_) => Trouble::BadName,
            _ => return Ok(()),
        };
        transcript.trouble = transcript.trouble.max(Some(trouble));
        Ok(())
    }
}

impl Transcript {
    /// Source: bin/dig/dig.c, host.c, nslookup.c: `printmessage` (9.18)
    fn printmessage(&mut self, message: &Message, status: bool) {
        if status {
            self.trouble = None;
        }
        if message.rcode != 0 {
            self.rcode = Some(translation::rcode(message.rcode));
            return;
        }
        for record in &message.answers {
            let v4 = <[u8; 4]>::try_from(record.data.as_slice()).map(Ipv4Addr::from);
            let v6 = <[u8; 16]>::try_from(record.data.as_slice()).map(Ipv6Addr::from);
            let ip: IpAddr = match (record.rdtype, v4, v6) {
                (A, Ok(ip), _) => ip.into(),
                (AAAA, _, Ok(ip)) => ip.into(),
                (CNAME, ..) => continue,
                _ => {
                    self.other_record = true;
                    continue;
                }
            };
            self.addresses.push(Address::from(ip).in_c_text());
        }
    }

    /// How a reader of the output sees the lookup: addresses if any were
    /// shown, else what ended the program, else the last reply code, else
    /// that no server answered.
    pub(super) fn outcome(self) -> Outcome {
        if !self.addresses.is_empty() || self.other_record && self.rcode.is_none() {
            return Outcome::Found(self.addresses);
        }
        Outcome::Failed(match (self.trouble, self.rcode) {
            (Some(Trouble::BadName), _) => "BAD_NAME",
            (Some(Trouble::NoAcceptable), _) => "CONFIG_ERROR",
            (_, Some(rcode)) => rcode.as_str(),
            (Some(Trouble::NoServers), None) => "NO_SERVERS",
            (None, None) => "NODATA",
        })
    }
}
