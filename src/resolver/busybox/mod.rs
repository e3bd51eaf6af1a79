//! busybox's nslookup, 1.35 and 1.29, the large variant (`FEATURE_NSLOOKUP_BIG`), as
//! Debian builds it with glibc.
//!
//! It reads `resolv.conf` itself and sends its own queries. The C library
//! has a part only where a name server is not an address.

mod read;
mod res_mkquery;
mod send_queries;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;

use hickory_proto::rr::RecordType;

use crate::address::{Address, Server};
use crate::engine::io::{Io, Wrong};
use crate::engine::machine::Outcome;
use crate::engine::message::Because;
use crate::name::reverse_name;
use crate::resolver::busybox::read::{Configuration, NameServer, parse_resolvconf};
use crate::resolver::busybox::send_queries::{Nslookup, Sent};
use crate::resolver::glibc;
use crate::resolver::reading::Reading;
use crate::scenario::{Family, Lookup, Scenario};
use crate::simulation::MAX_QUERIES;

/// Which one it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Version {
    /// It has no search list, and reads a word behind `nameserver`.
    V1_29,
    /// From 1.30 on.
    V1_35,
}

/// The lookup of `scenario`.
///
/// Source: busybox networking/nslookup.c: `nslookup_main` (1.35)
pub async fn lookup(io: Rc<Io>, scenario: &Scenario, version: Version) -> Outcome {
    // send_queries looks at the id of a reply alone.
    io.takes(&[Wrong::Question]);
    let (Ok(outcome) | Err(outcome)) = nslookup_main(&io, scenario, version).await;
    outcome
}

async fn nslookup_main(
    io: &Rc<Io>,
    scenario: &Scenario,
    version: Version,
) -> Result<Outcome, Outcome> {
    if scenario.name.starts_with('-') {
        io.note("nslookup takes the name for an option");
        return Err(Outcome::Failed("NODATA"));
    }
    let configuration = parse_resolvconf(scenario, version);
    // The original does this while it reads the file.
    let servers = add_servers(io, scenario, &configuration).await?;
    resolv_context_get(io, scenario).await?;
    let mut nslookup = Nslookup::new(io, configuration.trust_ad());
    if !add_queries(&mut nslookup, scenario, &configuration) {
        io.note("nslookup does not know this record type");
        return Err(Outcome::Failed("NODATA"));
    }
    for server in &servers {
        match nslookup.send_queries(server).await {
            Sent::Replies => return Ok(nslookup.outcome()),
            Sent::TryNextServer => {}
            Sent::Exit => break,
        }
    }
    Err(Outcome::Failed("NO_SERVERS"))
}

/// What it takes from the configuration.
pub fn reading(scenario: &Scenario, version: Version) -> Reading<'_> {
    parse_resolvconf(scenario, version).reading
}

/// The addresses of the servers. One without ends the program.
///
/// Source: busybox networking/nslookup.c: `add_ns`, libbb/xconnect.c:
/// `xhost2sockaddr` (1.35)
async fn add_servers(
    io: &Rc<Io>,
    scenario: &Scenario,
    configuration: &Configuration<'_>,
) -> Result<Vec<Server>, Outcome> {
    let mut servers = Vec::with_capacity(configuration.servers.len());
    for server in &configuration.servers {
        servers.push(match server {
            NameServer::Address(server) => server.clone(),
            NameServer::Host(host, port) => Server {
                address: getaddrinfo(io, scenario, host).await?,
                port: *port,
            },
            NameServer::BadAddress => return Err(Outcome::Failed("CONFIG_ERROR")),
            NameServer::BadPort => {
                io.note("nslookup ends at a bad port");
                return Err(Outcome::Failed("NODATA"));
            }
        });
    }
    if servers.is_empty() {
        servers.push(IpAddr::from(Ipv4Addr::LOCALHOST).into());
    }
    Ok(servers)
}

/// The address that the C library puts first for a host name.
async fn getaddrinfo(io: &Rc<Io>, scenario: &Scenario, host: &str) -> Result<Address, Outcome> {
    let question = with_name(scenario, host);
    let call = glibc::Call::GetAddrInfo;
    let addresses = match glibc::lookup(Rc::clone(io), &question, &glibc::V2_36, call).await {
        Outcome::Found(addresses) => addresses,
        Outcome::Crashed => return Err(Outcome::Crashed),
        _ => return Err(Outcome::Failed("CONFIG_ERROR")),
    };
    // By RFC 6724 an IPv4 address is first where IPv6 has no source address
    // of the same kind, as in most pods; of the loopback kind there is one.
    let first = addresses
        .iter()
        .find(|address| address.ip == IpAddr::V6(Ipv6Addr::LOCALHOST))
        .or_else(|| addresses.iter().find(|address| address.ip.is_ipv4()));
    let first = first.or(addresses.first()).cloned();
    let mut address = first.ok_or(Outcome::Failed("CONFIG_ERROR"))?;
    if let Some((_, scope)) = host.split_once('%') {
        address.scope = Some(scope.into());
    }
    address.written = None;
    Ok(address)
}

/// What the first `res_mkquery` does before it makes a query: the C library
/// reads the file too, and there are files that it does not survive.
///
/// Source: glibc `resolv/res_mkquery.c`: `res_mkquery`,
/// `resolv/resolv_context.c`: `__resolv_context_get` (2.36)
async fn resolv_context_get(io: &Rc<Io>, scenario: &Scenario) -> Result<(), Outcome> {
    // No query can be made for such a name, so none is sent.
    let question = with_name(scenario, "..");
    let call = glibc::Call::ResQuery;
    match glibc::lookup(Rc::clone(io), &question, &glibc::V2_36, call).await {
        Outcome::Crashed => Err(Outcome::Crashed),
        _ => Ok(()),
    }
}

fn with_name(scenario: &Scenario, name: &str) -> Scenario {
    Scenario {
        name: name.to_owned(),
        lookup: Lookup::Addresses(Family::Both),
        ..scenario.without_answers()
    }
}

/// Makes the queries; `false` if it has no word for the type.
///
/// Source: busybox networking/nslookup.c: `nslookup_main` (1.35)
fn add_queries(
    nslookup: &mut Nslookup<'_>,
    scenario: &Scenario,
    configuration: &Configuration<'_>,
) -> bool {
    let name = scenario.name.as_bytes();
    match scenario.lookup {
        Lookup::Addresses(_) => match make_ptr(&scenario.name) {
            Some(reverse) => {
                nslookup.add_query(RecordType::PTR, reverse.as_bytes(), Because::Reverse);
            }
            None => {
                for record_type in [RecordType::A, RecordType::AAAA] {
                    add_query_with_search(nslookup, record_type, name, configuration);
                }
            }
        },
        Lookup::Records(record_type) if QTYPES.contains(&record_type) => {
            add_query_with_search(nslookup, record_type, name, configuration);
        }
        Lookup::Records(_) => return false,
    }
    true
}

/// Source: busybox networking/nslookup.c: `qtypes` (1.35)
const QTYPES: [RecordType; 10] = [
    RecordType::SOA,
    RecordType::NS,
    RecordType::A,
    RecordType::AAAA,
    RecordType::CNAME,
    RecordType::MX,
    RecordType::TXT,
    RecordType::SRV,
    RecordType::PTR,
    RecordType::ANY,
];

/// A name without a dot is asked below every search domain, and only there;
/// one with a dot only as it is.
///
/// Source: busybox networking/nslookup.c: `add_query_with_search` (1.35)
fn add_query_with_search(
    nslookup: &mut Nslookup<'_>,
    record_type: RecordType,
    name: &[u8],
    configuration: &Configuration<'_>,
) {
    let search = &configuration.reading.search;
    if record_type == RecordType::PTR || search.is_empty() || name.contains(&b'.') {
        nslookup.add_query(record_type, name, Because::AsIs);
        return;
    }
    // All of them are sent at once, and of a run only so many count.
    for (index, domain) in search.iter().enumerate().take(MAX_QUERIES) {
        let full_name = [name, b".", &domain.value].concat();
        nslookup.add_query(record_type, &full_name, Because::Search(index));
    }
}

/// The name of an address below `in-addr.arpa` or `ip6.arpa`; a mapped IPv4
/// address counts as IPv4.
///
/// Source: busybox networking/nslookup.c: `make_ptr` (1.35)
fn make_ptr(text: &str) -> Option<String> {
    let ip: IpAddr = text.parse().ok()?;
    Some(reverse_name(ip.to_canonical()))
}
