//! What the programs print, as far as it decides how a lookup is judged.

use std::net::IpAddr;

use crate::address::Address;
use crate::engine::machine::Outcome;
use crate::engine::message::{Data, Rcode, Reply};
use crate::name::Name;

/// What a run has printed so far.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    addresses: Vec<Address>,
    /// A record that is neither an address nor an alias.
    other_record: bool,
    /// The last reply code that was named.
    rcode: Option<Rcode>,
    /// The worst trouble that was told.
    trouble: Option<Trouble>,
}

/// What a program says when it has no answer to show.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Trouble {
    /// "no servers could be reached"
    NoServers,
    /// "No acceptable nameservers"
    NoAcceptable,
    /// "is not a legal name", "is not in legal name syntax"
    BadName,
}

impl Transcript {
    /// Prints `reply`; with `status`, its reply code too where all is well.
    ///
    /// Source: bin/dig/dig.c, host.c, nslookup.c: `printmessage` (9.18)
    pub(super) fn printmessage(&mut self, reply: &Reply, status: bool) {
        if status {
            self.trouble = None;
        }
        if reply.rcode != Rcode::NoError {
            self.rcode = Some(reply.rcode);
            return;
        }
        for record in &reply.answers {
            let address: IpAddr = match record.data {
                Data::A(ip) => ip.into(),
                Data::Aaaa(ip) => ip.into(),
                Data::Cname(_) => continue,
                Data::Other(_) => {
                    self.other_record = true;
                    continue;
                }
            };
            self.addresses.push(Address::from(address).in_c_text());
        }
    }

    /// Names a reply code beside an answer.
    pub(super) fn print_rcode(&mut self, rcode: Rcode) {
        self.rcode = Some(rcode);
    }

    /// Tells of `trouble`.
    pub(super) fn print_trouble(&mut self, trouble: Trouble) {
        self.trouble = self.trouble.max(Some(trouble));
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

/// The name at the end of the aliases that begin at `name`.
///
/// Source: bin/dig/host.c, nslookup.c: `chase_cnamechain` (9.18)
pub(super) fn chase_cnamechain(reply: &Reply, name: &Name) -> Name {
    let mut name = name;
    for _ in &reply.answers {
        let alias = reply.answers.iter().find_map(|record| match &record.data {
            Data::Cname(target) if record.name.eq_ignore_case(name) => Some(target),
            _ => None,
        });
        match alias {
            Some(target) => name = target,
            None => break,
        }
    }
    name.clone()
}
