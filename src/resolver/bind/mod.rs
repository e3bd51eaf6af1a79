//! BIND's command-line tools: dig, host and nslookup, 9.18 and 9.20.
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
use crate::dig::settings::Settings;
use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::bind::arguments::parse_args;
use crate::resolver::bind::print::Output;
use crate::resolver::bind::read::setup_system;
use crate::resolver::reading::Reading;
use crate::scenario::{self, Scenario};

/// Which tool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tool {
    /// `dig NAME`
    Dig,
    /// `dig +search NAME`
    DigSearch,
    /// `host NAME`
    Host,
    /// `host NAME` since 9.20
    Host9_20,
    /// `nslookup NAME`
    Nslookup,
}

/// What a program sets before it hands its lookup to dighost.c.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are the programs' own")]
struct Program {
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
    /// Whether its queries have an OPT record with a cookie.
    edns: bool,
    /// `adflag`
    authentic_data: bool,
}

/// Source: dig.c: `parse_args` (`default_lookup`).
const DIG: Program = Program {
    name: "dig",
    search: false,
    tries: None,
    reverse: false,
    follow_ups: &[],
    servfail_stops: true,
    comments: true,
    check_ra: false,
    status: true,
    edns: true,
    authentic_data: true,
};

const DIG_SEARCH: Program = Program {
    search: true,
    ..DIG
};

/// Source: host.c: `main`, `parse_args`.
const HOST: Program = Program {
    name: "host",
    search: true,
    tries: Some(2),
    reverse: true,
    follow_ups: &[RecordType::AAAA, RecordType::MX],
    servfail_stops: false,
    comments: false,
    check_ra: true,
    status: false,
    edns: false,
    authentic_data: false,
};

/// It asks for HTTPS, too. Source: host.c: `printmessage` (9.20).
const HOST_9_20: Program = Program {
    follow_ups: &[RecordType::AAAA, RecordType::MX, RecordType::HTTPS],
    ..HOST
};

/// Source: nslookup.c: `main`, `addlookup`.
const NSLOOKUP: Program = Program {
    name: "nslookup",
    tries: None,
    follow_ups: &[RecordType::AAAA],
    comments: true,
    ..HOST
};

impl Tool {
    fn program(self) -> &'static Program {
        match self {
            Self::Dig => &DIG,
            Self::DigSearch => &DIG_SEARCH,
            Self::Host => &HOST,
            Self::Host9_20 => &HOST_9_20,
            Self::Nslookup => &NSLOOKUP,
        }
    }
}

impl Program {
    /// The lookup before the name is put into it.
    fn lookup(&self) -> Lookup {
        let mut lookup = Lookup {
            servfail_stops: self.servfail_stops,
            ..Lookup::default()
        };
        lookup.print.comments = self.comments;
        lookup.flags.authentic = self.authentic_data;
        if !self.edns {
            lookup.edns = dig::Edns::default();
        }
        lookup
    }
}

/// The lookup of `scenario`, from `main` to the exit of the program.
pub async fn lookup(io: Rc<Io>, scenario: &Scenario, tool: Tool) -> Outcome {
    let program = tool.program();
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
pub fn reading(scenario: &Scenario, tool: Tool) -> Reading<'_> {
    setup_system(scenario, tool.program())
}
