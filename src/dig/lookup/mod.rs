//! One question of the command line with all that was said about it, and
//! what was said for all of them.

mod server;

use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

pub use self::server::{DEFAULT_PATH, Server, Wanted};
use crate::engine::secure::Tls;

/// One question, what to put into the query, and how to print the reply.
///
/// The fields are those of `dig_lookup_t`, so their names are dig's where
/// they are words at all.
///
/// Source: BIND bin/dig/dighost.h: `struct dig_lookup`,
/// bin/dig/dighost.c: `make_empty_lookup` (9.18)
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lookup {
    /// The name as it was written; `-x` has made a reverse name of it.
    pub text: Vec<u8>,
    /// What is printed before the first reply: version and arguments.
    pub greeting: Vec<u8>,
    /// The servers of this lookup; none: those of `resolv.conf`.
    pub servers: Vec<Server>,
    /// Record type.
    pub rdtype: u16,
    /// Whether the type was said.
    pub rdtype_set: bool,
    /// Class.
    pub rdclass: u16,
    /// Whether the class was said.
    pub rdclass_set: bool,
    /// The serial number of an IXFR query.
    pub ixfr_serial: u32,
    /// Opcode of the query, from 0 to 15.
    pub opcode: u8,
    /// The id of the query, where it was said.
    pub qid: Option<u16>,
    /// Flags of the query's header.
    pub flags: HeaderFlags,
    /// A query without its question.
    pub header_only: bool,
    /// What the OPT record of the query holds.
    pub edns: Edns,
    /// How often a query is sent; 1 is once.
    pub tries: u32,
    /// Whether TCP is used.
    pub tcp: bool,
    /// Whether the transport was said.
    pub tcp_set: bool,
    /// What stands before TCP.
    pub secure: Wanted,
    /// Whether truncated replies are taken as they are.
    pub ignore_truncation: bool,
    /// Whether SERVFAIL is an answer rather than a reason to ask the next server.
    pub servfail_stops: bool,
    /// Whether malformed replies are shown as far as they can be read.
    pub best_effort: bool,
    /// Whether BADCOOKIE is answered with the server's cookie.
    pub retry_badcookie: bool,
    /// Whether the BADCOOKIE reply is shown.
    pub show_badcookie: bool,
    /// Whether the query is printed.
    pub show_query: bool,
    /// Whether names in the user's script are converted (IDNA).
    pub idn_in: bool,
    /// Only the prefixes of DNS64 are wanted.
    pub dns64_prefix: bool,
    /// How replies are printed.
    pub print: Print,
}

/// Flags of the header that the command line may set.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct HeaderFlags {
    /// RD
    pub recurse: bool,
    /// AA
    pub authoritative: bool,
    /// AD
    pub authentic: bool,
    /// CD
    pub checking_disabled: bool,
    /// RA
    pub available: bool,
    /// TC
    pub truncated: bool,
    /// The reserved bit.
    pub zero: bool,
}

/// What the command line says about the OPT record.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Edns {
    /// EDNS version; `None`: no OPT record unless something else asks for it.
    pub version: Option<u8>,
    /// UDP payload size; `None`: 1232.
    pub size: Option<u16>,
    /// Further flag bits of the OPT record.
    pub flags: u16,
    /// DO
    pub dnssec: bool,
    /// CO, the compact answers' bit.
    pub compact: bool,
    /// NSID is asked for.
    pub nsid: bool,
    /// A cookie is sent.
    pub send_cookie: bool,
    /// The cookie in hexadecimal digits; `None`: one of the program's own.
    pub cookie: Option<Vec<u8>>,
    /// EXPIRE is asked for.
    pub expire: bool,
    /// A TCP keepalive is asked for.
    pub keepalive: bool,
    /// The client subnet.
    pub subnet: Option<Subnet>,
    /// Options by number, in the order of the command line.
    pub options: Vec<(u16, Vec<u8>)>,
    /// The block size that queries are padded to; 0: they are not.
    pub padding: u16,
    /// Whether BADVERS leads to the version that the server offers.
    pub negotiate: bool,
}

/// A client subnet (RFC 7871).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Subnet {
    /// The address; `None` for `+subnet=0`.
    pub address: Option<IpAddr>,
    /// The length of the prefix in bits.
    pub prefix: u8,
}

/// How replies to one lookup are printed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Print {
    /// The question section.
    pub question: bool,
    /// The answer section.
    pub answer: bool,
    /// The authority section.
    pub authority: bool,
    /// The additional section.
    pub additional: bool,
    /// The header and the names of the sections.
    pub comments: bool,
    /// Query time, server, time and size.
    pub stats: bool,
    /// Who answered, and in what time.
    pub identify: bool,
    /// Records over several lines.
    pub multiline: bool,
    /// Time to live.
    pub ttl: bool,
    /// Time to live as `1d2h`.
    pub ttl_units: bool,
    /// Class.
    pub class: bool,
    /// Keys and signatures.
    pub crypto: bool,
    /// Whether comments on records were asked for; `None`: nothing was said.
    pub record_comments: Option<bool>,
    /// Every record as RFC 3597 writes unknown ones.
    pub unknown_format: bool,
    /// AAAA records with all digits.
    pub expand_aaaa: bool,
    /// One SOA record of a zone transfer only.
    pub one_soa: bool,
    /// Times in microseconds.
    pub microseconds: bool,
    /// Names of IDNA in their own letters (RFC 5891).
    pub idn_out: bool,
}

/// What holds for all lookups, as the last option said it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Globals {
    /// The port of all servers.
    pub port: Option<u16>,
    /// How long a query waits, in seconds; `None`: as `resolv.conf` says.
    pub timeout: Option<u32>,
    /// Names with so many dots are asked as they are first; `None`: as
    /// `resolv.conf` says.
    pub ndots: Option<u32>,
    /// Whether the search list is used.
    pub search: bool,
    /// Whether every step of the search is shown.
    pub show_search: bool,
    /// The resolver whose search is walked instead of dig's own.
    pub search_as: Option<String>,
    /// The only domain of the search list.
    pub domain: Option<Vec<u8>>,
    /// Records alone, without their names.
    pub short: bool,
    /// Whether the arguments are repeated.
    pub show_command: bool,
    /// YAML.
    pub yaml: bool,
    /// JSON (RFC 8427).
    pub json: bool,
    /// The length of the words of hexadecimal and base64 text; 0: one word;
    /// `None`: as the line allows.
    pub split: Option<u32>,
    /// IPv4 only.
    pub ipv4_only: bool,
    /// IPv6 only.
    pub ipv6_only: bool,
    /// Where queries are sent from.
    pub source: Option<SocketAddr>,
    /// Whether the TCP connection is kept for the next query.
    pub keep_open: bool,
    /// The file with further lines.
    pub batch: Option<Vec<u8>>,
    /// How many lines of that file are asked at once.
    pub in_flight: usize,
}

impl Default for Globals {
    fn default() -> Self {
        Self {
            port: None,
            timeout: None,
            ndots: None,
            search: false,
            show_search: false,
            search_as: None,
            domain: None,
            short: false,
            show_command: true,
            yaml: false,
            json: false,
            split: None,
            ipv4_only: false,
            ipv6_only: false,
            source: None,
            keep_open: false,
            batch: None,
            in_flight: 64,
        }
    }
}

impl Lookup {
    /// The servers that are asked, these if the lookup has none of its own.
    pub fn asked(&self, others: &Rc<[Server]>) -> Rc<[Server]> {
        let own = Some(self.servers.as_slice()).filter(|own| !own.is_empty());
        let servers = own.unwrap_or(others).iter().cloned();
        match (own, self.tcp) {
            (_, true) => servers.map(|it| it.behind(&self.secure)).collect(),
            (Some(_), false) => servers.collect(),
            (None, false) => Rc::clone(others),
        }
    }

    /// All TLS that can come before it, whoever is asked.
    pub fn tls(&self) -> Vec<Tls> {
        let nobody = Server::plain(IpAddr::from([0; 4]).into());
        let servers = self.servers.iter().chain([&nobody]).cloned();
        let secure = servers.filter_map(|it| it.behind(&self.secure).secure);
        secure.filter_map(|it| it.tls).collect()
    }
}

/// What dig begins with: `default_lookup`.
///
/// Source: BIND bin/dig/dig.c: `parse_args` (9.18)
impl Default for Lookup {
    fn default() -> Self {
        Self {
            text: Vec::new(),
            greeting: Vec::new(),
            servers: Vec::new(),
            rdtype: 1,
            rdtype_set: false,
            rdclass: 1,
            rdclass_set: false,
            ixfr_serial: 0,
            opcode: 0,
            qid: None,
            flags: HeaderFlags {
                recurse: true,
                authentic: true,
                ..HeaderFlags::default()
            },
            header_only: false,
            edns: Edns {
                version: Some(0),
                send_cookie: true,
                negotiate: true,
                ..Edns::default()
            },
            tries: 3,
            tcp: false,
            tcp_set: false,
            secure: Wanted::default(),
            ignore_truncation: false,
            servfail_stops: true,
            best_effort: true,
            retry_badcookie: true,
            show_badcookie: false,
            show_query: false,
            idn_in: false,
            dns64_prefix: false,
            print: Print::default(),
        }
    }
}

impl Default for Print {
    fn default() -> Self {
        Self {
            question: true,
            answer: true,
            authority: true,
            additional: true,
            comments: true,
            stats: true,
            identify: false,
            multiline: false,
            ttl: true,
            ttl_units: false,
            class: true,
            crypto: true,
            record_comments: None,
            unknown_format: false,
            expand_aaaa: false,
            one_soa: false,
            microseconds: false,
            idn_out: false,
        }
    }
}
