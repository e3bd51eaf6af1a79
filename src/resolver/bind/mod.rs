//! BIND's command-line tools: dig, host and nslookup, 9.11 to 9.20.
//!
//! The three programs share `bin/dig/dighost.c`, here [`crate::dig::dighost`],
//! which asks real servers too; what each of them sets differently is a
//! `Program`. They read `resolv.conf` with BIND's own strict parser (`read`)
//! and never through the C library.

mod arguments;
mod file;
mod print;
mod read;
mod settings;
mod values;

use std::rc::Rc;

use hickory_proto::rr::RecordType;

pub use self::settings::settings;
use crate::dig::dighost::Dighost;
use crate::dig::lookup::{self as dig, Globals, Lookup};
use crate::dig::request;
use crate::dig::settings::Settings;
use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::bind::arguments::parse_args;
use crate::resolver::bind::print::Output;
use crate::resolver::bind::read::setup_system;
use crate::resolver::reading::Reading;
use crate::scenario::{self, Scenario};

/// A tool of one version: what it sets before it hands its lookup to dighost.c.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// What messages call it.
    name: &'static str,
    /// `usesearch`: whether the search list is used.
    search: bool,
    /// `tries`, where the program sets it before `resolv.conf` is read, which
    /// then cannot change it (host.c: `main`).
    tries: Option<u32>,
    /// Whether an address literal becomes a PTR query (host.c: `parse_args`,
    /// nslookup.c: `addlookup`).
    reverse: bool,
    /// Types that are asked after a good answer to an A query (host.c and
    /// nslookup.c: `printmessage`).
    follow_ups: &'static [RecordType],
    /// `servfail_stops`: whether SERVFAIL is an answer.
    servfail_stops: bool,
    /// `comments`: whether it is told else.
    comments: bool,
    /// `check_ra`: whether a response without RA is a reason to ask the next
    /// server.
    check_ra: bool,
    /// Whether the reply code of every message is printed, so that trouble
    /// before it does not count.
    status: bool,
    /// The UDP size in its queries, which then have a cookie, too.
    edns: Option<u16>,
    /// `adflag`
    authentic_data: bool,
    /// Whether it is 9.16, from which 9.18 differs in how servers take turns
    /// ([`Settings::rounds`]), and in how `resolv.conf` is read. Observed.
    is_9_16: bool,
    /// Whether it is 9.11, which is as 9.16 but reads `resolv.conf` by liblwres: no address is a
    /// reason to refuse it, time-out and attempts count. Source: lib/lwres/lwconfig.c,
    /// bin/dig/dighost.c: `setup_system` (9.11.36).
    is_9_11: bool,
}

/// `dig NAME`. Source: dig.c: `parse_args` (`default_lookup`).
pub const DIG: Program = Program {
    name: "dig",
    search: false,
    tries: None,
    reverse: false,
    follow_ups: &[],
    servfail_stops: true,
    comments: true,
    check_ra: false,
    status: true,
    edns: Some(request::DEFAULT_SIZE),
    authentic_data: true,
    is_9_16: false,
    is_9_11: false,
};

/// `dig +search NAME`
pub const DIG_SEARCH: Program = Program {
    search: true,
    ..DIG
};

/// `dig NAME` of 9.16.
pub const DIG_9_16: Program = Program {
    edns: Some(4096),
    is_9_16: true,
    ..DIG
};

/// `dig NAME` of 9.11.
pub const DIG_9_11: Program = Program {
    is_9_11: true,
    ..DIG_9_16
};

/// `dig +search NAME` of 9.11.
pub const DIG_SEARCH_9_11: Program = Program {
    is_9_11: true,
    ..DIG_SEARCH_9_16
};

/// `dig +search NAME` of 9.16.
pub const DIG_SEARCH_9_16: Program = Program {
    search: true,
    ..DIG_9_16
};

/// `host NAME`. Source: host.c: `main`, `parse_args`.
pub const HOST: Program = Program {
    name: "host",
    search: true,
    tries: Some(2),
    reverse: true,
    follow_ups: &[RecordType::AAAA, RecordType::MX],
    servfail_stops: false,
    comments: false,
    check_ra: true,
    status: false,
    edns: None,
    authentic_data: false,
    is_9_16: false,
    is_9_11: false,
};

/// `host NAME` of 9.16.
pub const HOST_9_16: Program = Program {
    is_9_16: true,
    ..HOST
};

/// `host NAME` of 9.11.
pub const HOST_9_11: Program = Program {
    is_9_11: true,
    ..HOST_9_16
};

/// `host NAME` of 9.20 asks for HTTPS, too. Source: host.c: `printmessage` (9.20).
pub const HOST_9_20: Program = Program {
    follow_ups: &[RecordType::AAAA, RecordType::MX, RecordType::HTTPS],
    ..HOST
};

/// `nslookup NAME`. Source: nslookup.c: `main`, `addlookup`.
pub const NSLOOKUP: Program = Program {
    name: "nslookup",
    tries: None,
    follow_ups: &[RecordType::AAAA],
    comments: true,
    ..HOST
};

/// `nslookup NAME` of 9.16.
pub const NSLOOKUP_9_16: Program = Program {
    is_9_16: true,
    ..NSLOOKUP
};

/// `nslookup NAME` of 9.11.
pub const NSLOOKUP_9_11: Program = Program {
    is_9_11: true,
    ..NSLOOKUP_9_16
};

impl Program {
    /// The lookup before the name is put into it.
    fn lookup(&self) -> Lookup {
        let mut lookup = Lookup {
            servfail_stops: self.servfail_stops,
            ..Lookup::default()
        };
        lookup.print.comments = self.comments;
        lookup.flags.authentic = self.authentic_data;
        match self.edns {
            Some(_) => lookup.edns.size = self.edns,
            None => lookup.edns = dig::Edns::default(),
        }
        lookup
    }
}

/// The lookup of `scenario`, from `main` to the exit of the program.
pub async fn lookup(io: Rc<Io>, scenario: &Scenario, program: &Program) -> Outcome {
    let mut reading = setup_system(scenario, program);
    if reading.refused.is_some() {
        return Outcome::Failed("CONFIG_ERROR");
    }
    let asked = parse_args(&io, scenario, program, &mut reading).await;
    let (mut lookup, because) = match asked {
        Ok(asked) => asked,
        Err(outcome) => return outcome,
    };
    let globals = Globals {
        search: program.search,
        ..Globals::default()
    };
    lookup.tries = reading.attempts.value;
    let is_for_addresses = matches!(scenario.lookup, scenario::Lookup::Addresses(_));
    let settings = Settings {
        check_ra: program.check_ra,
        follow_ups: if is_for_addresses {
            program.follow_ups
        } else {
            &[]
        },
        tries: lookup.tries,
        rounds: program.is_9_16,
        ..settings(&globals, &reading)
    };
    let output = Rc::new(Output {
        status: program.status,
        ..Output::default()
    });
    let screen = Rc::clone(&output);
    let dighost = Dighost::new(io, settings, screen, Rc::default());
    dighost.run([(lookup, because)]).await;
    output.transcript.take().outcome()
}

/// What it takes from the configuration.
pub fn reading<'a>(scenario: &'a Scenario, program: &Program) -> Reading<'a> {
    setup_system(scenario, program)
}

#[cfg(test)]
super::mutation::neighbours!(
    Program: search reverse servfail_stops comments check_ra status authentic_data is_9_16 is_9_11;
    name: "x",
    tries: Some(1),
    follow_ups: &[RecordType::MX],
    edns: Some(600)
);
