//! c-ares, in two generations that share little: what 1.18 does was rewritten
//! step by step until 1.24, and the reading of files until 1.28.
//!
//! Source: c-ares 1.18.1 with Debian's patches (1.18.1-3), 1.25.0, 1.27.0, 1.28.1, 1.31.0, 1.32.3, 1.33.1, 1.34.6, and 1.34.9 as in
//! pycares 5.2.1.

mod address;
mod config;
mod envoy;
mod name;
mod status;
mod v1_18;
mod v1_34;

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;

use hickory_proto::rr::RecordType;

pub use self::envoy::CONDITION as ENVOY;
pub use self::v1_34::Version as V1_34;

use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, QueryId};
use crate::resolver::c_ares::config::Config;
use crate::resolver::c_ares::name::{c_string, is_onion_domain};
use crate::resolver::c_ares::status::Status;
use crate::resolver::reading::{Reading, Setting};
use crate::scenario::{Family, Lookup, Scenario};

/// The versions whose control flow is modelled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Version {
    /// Up to 1.19: servers in the order of the file, no EDNS, `retrans` and `retry`.
    V1_18,
    /// From 1.24: servers by failures, EDNS, since 1.32 time-outs from latency, since 1.33
    /// cookies.
    V1_34(&'static V1_34),
}

impl Version {
    /// 1.24 to 1.26.
    pub const V1_25: Self = Self::V1_34(&V1_34::V1_25);
    /// 1.27.
    pub const V1_27: Self = Self::V1_34(&V1_34::V1_27);
    /// 1.28.
    pub const V1_28: Self = Self::V1_34(&V1_34::V1_28);
    /// 1.29 to 1.31.
    pub const V1_31: Self = Self::V1_34(&V1_34::V1_31);
    /// 1.32.
    pub const V1_32: Self = Self::V1_34(&V1_34::V1_32);
    /// 1.33.
    pub const V1_33: Self = Self::V1_34(&V1_34::V1_33);
    /// 1.34.3 to 1.34.6.
    pub const V1_34_3: Self = Self::V1_34(&V1_34::V1_34_3);
    /// From 1.34.9 on.
    pub const V1_34_9: Self = Self::V1_34(&V1_34::V1_34_9);
}

/// Which function is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call {
    /// `ares_getaddrinfo`
    GetAddrInfo,
    /// `ares_search`
    Search,
    /// `ares_query`: no search list.
    Query,
    /// `ares_query` in a channel as Node makes it.
    /// Source: Node `src/cares_wrap.cc: ChannelWrap::Setup`.
    Node,
    /// `ares_getaddrinfo` in a channel as Envoy makes it, for one family after the
    /// other.
    Envoy,
}

/// What a program asks for when it makes a channel.
#[derive(Clone, Copy, Debug)]
struct Flags {
    /// Whether queries have an OPT record: `ARES_FLAG_EDNS`, which a program
    /// that gives flags of its own leaves out.
    edns: bool,
    /// The size that it offers: `EDNSPACKETSZ` (`src/lib/ares_private.h`).
    edns_size: u16,
    /// Whether SERVFAIL, NOTIMP and REFUSED lead to the next server: not with
    /// `ARES_FLAG_NOCHECKRESP`.
    checks_responses: bool,
    /// Whether all queries go over TCP: `ARES_FLAG_USEVC` of a file or variable,
    /// which the usual flags overwrite.
    use_vc: bool,
    /// How often the program looks for time-outs; `None`: when one is due.
    tick: Option<Duration>,
}

/// How often Node lets a query be sent (`tries` of `dns.Resolver`).
const NODE_TRIES: u32 = 4;
/// Source: Node `src/cares_wrap.cc: ChannelWrap::StartTimer`.
const NODE_TICK: Duration = Duration::from_secs(1);

/// A name that is to be asked, as text.
#[derive(Clone, Debug)]
struct Candidate {
    name: Vec<u8>,
    because: Because,
}

impl Candidate {
    fn new(name: &[u8], because: Because) -> Self {
        Self {
            name: name.to_vec(),
            because,
        }
    }
}

/// The query that this one was sent for last: answers come to that.
fn last_sent(sent: &[(QueryId, usize)], id: QueryId) -> Option<usize> {
    let found = sent.iter().rev().find(|(sent, _)| *sent == id);
    found.map(|(_, query)| *query)
}

/// What a call asks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Wanted {
    /// `ares_getaddrinfo` for these addresses.
    Addresses(Family),
    /// `ares_search` for this type.
    Records(RecordType),
    /// `ares_query` for this type.
    AsIs(RecordType),
}

/// What every run of a lookup begins with.
#[derive(Debug)]
pub struct Setup<'a> {
    scenario: &'a Scenario,
    version: Version,
    call: Call,
    config: Config<'a>,
}

impl<'a> Setup<'a> {
    /// Reads the configuration of `scenario`.
    pub fn from_scenario(scenario: &'a Scenario, version: Version, call: Call) -> Self {
        let mut config = match version {
            Version::V1_18 => v1_18::config(scenario),
            Version::V1_34(version) => v1_34::config(scenario, version),
        };
        if call == Call::Node {
            config.reading.attempts = Setting::built_in(NODE_TRIES);
            config.flags.edns = false;
            config.flags.checks_responses = false;
            config.flags.tick = Some(NODE_TICK);
        } else if call == Call::Envoy {
            envoy::apply(&mut config, scenario);
        } else {
            config.flags.use_vc = false;
        }
        Self {
            scenario,
            version,
            call,
            config,
        }
    }

    /// What it takes from the configuration.
    pub fn reading(self) -> Reading<'a> {
        self.config.reading
    }
}

/// The lookup.
pub async fn lookup(io: Rc<Io>, setup: Rc<Setup<'_>>) -> Outcome {
    let Setup {
        scenario, config, ..
    } = &*setup;
    if let Some(note) = config.note {
        io.note(note);
    }
    let ascii = (setup.call == Call::Node).then(|| to_ascii(&scenario.name));
    let name = c_string(ascii.as_deref().unwrap_or(&scenario.name));
    let wanted = wanted(scenario.lookup, setup.call);
    if !matches!(wanted, Wanted::AsIs(_)) && is_onion_domain(name) {
        return Status::NotFound.outcome();
    }
    match setup.version {
        Version::V1_18 => {
            let channel = v1_18::Channel::new(io, config);
            match wanted {
                Wanted::Addresses(family) => {
                    v1_18::ares_getaddrinfo(channel, scenario, config, name, family).await
                }
                Wanted::Records(it) => {
                    v1_18::ares_search(channel, scenario, config, name, it).await
                }
                Wanted::AsIs(it) => v1_18::ares_query(channel, name, it).await,
            }
        }
        Version::V1_34(version) => {
            let mut channel = v1_34::Channel::new(Rc::clone(&io), config, version);
            match wanted {
                Wanted::Addresses(_) if setup.call == Call::Envoy => {
                    envoy::lookup(channel, &io, scenario, config, name).await
                }
                Wanted::Addresses(family) => {
                    v1_34::ares_getaddrinfo(&mut channel, scenario, config, name, family).await
                }
                Wanted::Records(it) => {
                    v1_34::ares_search(channel, scenario, config, name, it).await
                }
                Wanted::AsIs(it) => v1_34::ares_query(channel, name, it).await,
            }
        }
    }
}

/// The name as Node hands it over: in small letters, and in ASCII.
///
/// Source: Node `lib/internal/dns/callback_resolver.js`, `toASCII`.
fn to_ascii(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return Cow::Owned(name.to_ascii_lowercase());
    }
    ::idna::domain_to_ascii(name).map_or(Cow::Borrowed(name), Cow::Owned)
}

fn wanted(lookup: Lookup, call: Call) -> Wanted {
    match (lookup, call) {
        (Lookup::Records(record_type), Call::Query | Call::Node) => Wanted::AsIs(record_type),
        (Lookup::Addresses(Family::Inet6), Call::Query | Call::Node) => {
            Wanted::AsIs(RecordType::AAAA)
        }
        (Lookup::Addresses(_), Call::Query | Call::Node) => Wanted::AsIs(RecordType::A),
        (Lookup::Records(record_type), _) => Wanted::Records(record_type),
        (Lookup::Addresses(family), Call::GetAddrInfo | Call::Envoy) => Wanted::Addresses(family),
        (Lookup::Addresses(_), Call::Search) => Wanted::Records(RecordType::A),
    }
}
