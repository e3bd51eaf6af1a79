//! BIND's command-line tools: dig, host and nslookup, 9.18.
//!
//! The three programs share `bin/dig/dighost.c`, here `dighost`; what each
//! of them sets differently is a `Program`. They read `resolv.conf` with
//! BIND's own strict parser (`read`) and never through the C library.

mod arguments;
mod dighost;
mod file;
pub(crate) mod name;
mod print;
mod read;
mod search;
mod values;

use std::rc::Rc;

use hickory_proto::rr::RecordType;

use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::engine::message::Edns;
use crate::resolver::bind::arguments::parse_args;
use crate::resolver::bind::dighost::Dighost;
use crate::resolver::bind::read::setup_system;
use crate::resolver::reading::Reading;
use crate::scenario::Scenario;

/// Which tool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tool {
    /// `dig NAME`
    Dig,
    /// `dig +search NAME`
    DigSearch,
    /// `host NAME`
    Host,
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
    /// What SERVFAIL means.
    servfail: Servfail,
    /// `check_ra`: whether a response without RA is a reason to ask the next
    /// server.
    check_ra: bool,
    /// Whether the reply code of every message is printed, so that trouble
    /// before it does not count.
    status: bool,
    /// The OPT record of its queries.
    edns: Option<Edns>,
    /// `adflag`
    authentic_data: bool,
}

/// `servfail_stops` of the lookup, and where that is not set `comments`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Servfail {
    /// It is an answer.
    Stops,
    /// The next server is asked.
    GoesOn,
    /// The same, after "Got SERVFAIL reply" is printed.
    IsTold,
}

/// Source: dig.c: `parse_args` (`default_lookup`); the cookie is a client
/// cookie only, as the program has met no server before.
const DIG: Program = Program {
    name: "dig",
    search: false,
    tries: None,
    reverse: false,
    follow_ups: &[],
    servfail: Servfail::Stops,
    check_ra: false,
    status: true,
    edns: Some(Edns {
        size: 1232,
        dnssec_ok: false,
        options: &[10],
    }),
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
    servfail: Servfail::GoesOn,
    check_ra: true,
    status: false,
    edns: None,
    authentic_data: false,
};

/// Source: nslookup.c: `main`, `addlookup`.
const NSLOOKUP: Program = Program {
    name: "nslookup",
    tries: None,
    follow_ups: &[RecordType::AAAA],
    servfail: Servfail::IsTold,
    ..HOST
};

impl Tool {
    fn program(self) -> &'static Program {
        match self {
            Self::Dig => &DIG,
            Self::DigSearch => &DIG_SEARCH,
            Self::Host => &HOST,
            Self::Nslookup => &NSLOOKUP,
        }
    }
}

/// The lookup of `scenario`, from `main` to the exit of the program.
pub async fn lookup(io: Rc<Io>, scenario: &Scenario, tool: Tool) -> Outcome {
    let program = tool.program();
    let mut configuration = setup_system(scenario, program);
    if configuration.reading.refused.is_some() {
        return Outcome::Failed("CONFIG_ERROR");
    }
    match parse_args(&io, scenario, program, &mut configuration).await {
        Ok(command) => {
            let dighost = Dighost::new(&io, program, configuration, command);
            dighost.run().await
        }
        Err(code) => Outcome::Failed(code),
    }
}

/// What it takes from the configuration.
pub fn reading(scenario: &Scenario, tool: Tool) -> Reading<'_> {
    setup_system(scenario, tool.program()).reading
}
