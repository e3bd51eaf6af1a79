//! The name as an argument of the program: what it is taken for.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;

use hickory_proto::rr::RecordType;

use crate::address::Server;
use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::engine::message::Because;
use crate::resolver::bind::Program;
use crate::resolver::bind::read::Configuration;
use crate::resolver::glibc;
use crate::resolver::reading::Setting;
use crate::scenario::{Family, Lookup, Scenario};

/// Source: bin/dig/dighost.c: `DIG_MAX_ADDRESSES` (9.18)
const MAX_ADDRESSES: usize = 20;

/// What the command line asks for.
#[derive(Debug)]
pub(super) struct Command {
    /// `textname`
    pub(super) textname: Vec<u8>,
    /// `rdtype`
    pub(super) rdtype: RecordType,
    /// `tcp_mode`
    pub(super) tcp_mode: bool,
    /// Types that are asked after a good answer.
    pub(super) follow_ups: &'static [RecordType],
    /// Why this name is asked, when it is asked as it is.
    pub(super) because: Because,
}

/// What dig makes of its argument.
enum Argument {
    /// The name.
    Name,
    /// Something else; `tcp_mode` where that is type ANY or IXFR.
    Other { tcp_mode: bool },
}

/// What the program makes of the scenario's name.
///
/// # Errors
///
/// The program ends at once, with this code.
///
/// Source: bin/dig/dig.c: `parse_args`, bin/dig/host.c: `parse_args`,
/// bin/dig/nslookup.c: `parse_args`, `addlookup` (9.18)
pub(super) async fn parse_args(
    io: &Rc<Io>,
    scenario: &Scenario,
    program: &Program,
    configuration: &mut Configuration<'_>,
) -> Result<Command, &'static str> {
    let name = scenario.name.as_str();
    let options = if program.reverse { "-" } else { "-+" };
    if name.starts_with(|first| options.contains(first)) {
        io.note(format!("{} takes the name for an option", program.name));
        return Err("NODATA");
    }
    let (rdtype, follow_ups): (_, &[_]) = match scenario.lookup {
        Lookup::Addresses(_) => (RecordType::A, program.follow_ups),
        Lookup::Records(rdtype) => (rdtype, &[]),
    };
    let mut command = Command {
        // Cut to 1023 bytes in the original, which are too many for a name.
        textname: name.as_bytes().to_vec(),
        rdtype,
        tcp_mode: rdtype == RecordType::ANY,
        follow_ups,
        because: Because::AsIs,
    };
    if program.reverse {
        if let Some(reverse) = get_reverse(name) {
            command.textname = reverse.into_bytes();
            command.rdtype = RecordType::PTR;
            command.tcp_mode = false;
            command.because = Because::Reverse;
        }
    } else if let Argument::Other { tcp_mode } = dig_parse_args(io, scenario, configuration).await?
    {
        // With no name left, dig asks for the name servers of the root.
        command.textname = b".".to_vec();
        command.rdtype = RecordType::NS;
        command.tcp_mode = tcp_mode;
    }
    Ok(command)
}

/// Source: bin/dig/dig.c: `parse_args` (9.18)
async fn dig_parse_args(
    io: &Rc<Io>,
    scenario: &Scenario,
    configuration: &mut Configuration<'_>,
) -> Result<Argument, &'static str> {
    let name = scenario.name.as_str();
    if let Some(host) = name.strip_prefix('@') {
        io.note("dig takes the name for a server");
        configuration.reading.servers = getaddresses(io, scenario, host).await?;
    } else if name.starts_with('%') || is_class(name) {
        io.note("dig takes the name for something else");
    } else if is_type(name) {
        io.note("dig takes the name for a record type");
        let any = name.eq_ignore_ascii_case("any") || type_number(name) == Some(255);
        let tcp_mode = any || name.contains('=');
        return Ok(Argument::Other { tcp_mode });
    } else {
        return Ok(Argument::Name);
    }
    Ok(Argument::Other { tcp_mode: false })
}

/// The addresses of a server that is given by name, found by the C library.
///
/// Source: bin/dig/dighost.c: `getaddresses`, lib/bind9/getaddresses.c:
/// `bind9_getaddresses` (9.18)
async fn getaddresses(
    io: &Rc<Io>,
    scenario: &Scenario,
    host: &str,
) -> Result<Vec<Setting<Server>>, &'static str> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![Setting::built_in(ip.into())]);
    }
    let question = Scenario {
        name: host.to_owned(),
        lookup: Lookup::Addresses(Family::Both),
        ..scenario.clone()
    };
    match glibc::lookup(Rc::clone(io), &question, glibc::Call::GetAddrInfo).await {
        Outcome::Found(mut addresses) if !addresses.is_empty() => {
            // By RFC 6724 IPv4 is first where IPv6 has no source address of
            // the same kind, as in most pods.
            addresses.sort_by_key(|address| address.ip.is_ipv6());
            addresses.truncate(MAX_ADDRESSES);
            let servers = addresses.into_iter().map(Server::from);
            Ok(servers.map(Setting::built_in).collect())
        }
        Outcome::Failed("CRASH") => Err("CRASH"),
        _ => Err("NODATA"),
    }
}

/// The name below `in-addr.arpa` or `ip6.arpa` for an address, as text: the
/// first with a final dot, the second without.
///
/// Source: bin/dig/dighost.c: `get_reverse` (9.18), `strict`
fn get_reverse(value: &str) -> Option<String> {
    if let Ok(ip) = value.parse::<Ipv6Addr>() {
        return Some(ip6_arpa(ip));
    }
    let [a, b, c, d] = value.parse::<Ipv4Addr>().ok()?.octets();
    Some(format!("{d}.{c}.{b}.{a}.in-addr.arpa."))
}

/// Source: lib/dns/byaddr.c: `dns_byaddr_createptrname` (9.18)
fn ip6_arpa(ip: Ipv6Addr) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(72);
    for byte in ip.octets().iter().rev() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{:x}.{:x}.", byte & 0xf, byte >> 4);
    }
    text.push_str("ip6.arpa");
    text
}

/// Whether dig takes `text` for a record type.
///
/// Source: lib/dns/rdata.c: `dns_rdatatype_fromtext` (9.18); `ixfr` is a type
/// with a warning, `ixfr=SERIAL` one without.
fn is_type(text: &str) -> bool {
    TYPES.iter().any(|name| name.eq_ignore_ascii_case(text))
        || type_number(text).is_some()
        || text
            .get(..5)
            .is_some_and(|start| start.eq_ignore_ascii_case("ixfr="))
}

/// Source: lib/dns/rdata.c: `dns_rdatatype_fromtext` (9.18), `TYPE65`
fn type_number(text: &str) -> Option<u16> {
    numbered(text, "type")
}

/// Source: lib/dns/rcode.c: `dns_rdataclass_fromtext` (9.18)
fn is_class(text: &str) -> bool {
    let names = ["ch", "chaos", "hs", "hesiod", "in", "none", "reserved0"];
    names.iter().any(|name| name.eq_ignore_ascii_case(text)) || numbered(text, "class").is_some()
}

fn numbered(text: &str, word: &str) -> Option<u16> {
    let (start, number) = text.split_at_checked(word.len())?;
    // At most five characters, which C's strtoul reads as a whole.
    let fits = start.eq_ignore_ascii_case(word) && (1..=5).contains(&number.len());
    fits.then(|| number.parse().ok()).flatten()
}

/// Source: lib/dns/rdata/*/*.c, whose file names are the types, and
/// lib/dns/gen.c: `main` (9.18).
const TYPES: &[&str] = &[
    "A",
    "A6",
    "AAAA",
    "AFSDB",
    "AMTRELAY",
    "ANY",
    "APL",
    "ATMA",
    "AVC",
    "AXFR",
    "BRID",
    "CAA",
    "CDNSKEY",
    "CDS",
    "CERT",
    "CNAME",
    "CSYNC",
    "DHCID",
    "DLV",
    "DNAME",
    "DNSKEY",
    "DOA",
    "DS",
    "DSYNC",
    "EID",
    "EUI48",
    "EUI64",
    "GID",
    "GPOS",
    "HHIT",
    "HINFO",
    "HIP",
    "HTTPS",
    "IPSECKEY",
    "ISDN",
    "IXFR",
    "KEY",
    "KEYDATA",
    "KX",
    "L32",
    "L64",
    "LOC",
    "LP",
    "MAILA",
    "MAILB",
    "MB",
    "MD",
    "MF",
    "MG",
    "MINFO",
    "MR",
    "MX",
    "NAPTR",
    "NID",
    "NIMLOC",
    "NINFO",
    "NS",
    "NSAP",
    "NSAP-PTR",
    "NSEC",
    "NSEC3",
    "NSEC3PARAM",
    "NULL",
    "NXT",
    "OPENPGPKEY",
    "OPT",
    "PTR",
    "PX",
    "RESERVED0",
    "RESINFO",
    "RKEY",
    "RP",
    "RRSIG",
    "RT",
    "SIG",
    "SINK",
    "SMIMEA",
    "SOA",
    "SPF",
    "SRV",
    "SSHFP",
    "SVCB",
    "TA",
    "TALINK",
    "TKEY",
    "TLSA",
    "TSIG",
    "TXT",
    "UID",
    "UINFO",
    "UNSPEC",
    "URI",
    "WALLET",
    "WKS",
    "X25",
    "ZONEMD",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dig_takes_types_and_classes_for_options() {
        for (text, taken) in [
            ("a", true),
            ("axfr", true),
            ("Mx", true),
            ("https", true),
            ("type65", true),
            ("type65536", false),
            ("type", false),
            ("ixfr=3", true),
            ("web", false),
            ("a.", false),
        ] {
            assert_eq!(is_type(text), taken, "{text}");
        }
        for (text, taken) in [
            ("in", true),
            ("CLASS7", true),
            ("class", false),
            ("c", false),
        ] {
            assert_eq!(is_class(text), taken, "{text}");
        }
    }

    #[test]
    fn the_program_that_takes_an_option_is_named() {
        for (id, expected) in [
            ("dig", "dig takes the name for an option"),
            ("host", "host takes the name for an option"),
            ("nslookup", "nslookup takes the name for an option"),
        ] {
            let run = crate::resolver::find(id)
                .unwrap()
                .predict(&Scenario::new("1", "-x"));
            assert_eq!(run.notes, [expected]);
        }
    }

    #[test]
    fn a_server_by_name_has_twenty_addresses_at_most() {
        let text = |count: u32| {
            let addresses: Vec<String> = (1..=count).map(|it| format!("\"10.7.0.{it}\"")).collect();
            format!(
                r#"{{"name": "@ns.test", "resolv_conf": "nameserver 10.96.0.10\n",
                "answers": [{{"name": "ns.test", "reply": "ANSWER", "a": [{}]}},
                {{"reply": "ICMP"}}]}}"#,
                addresses.join(","),
            )
        };
        let servers = |count| {
            let scenario = crate::scenario::json::parse(text(count).as_bytes(), "1").unwrap();
            let run = crate::resolver::find("dig").unwrap().predict(&scenario);
            let asked = run.sent.iter().map(|sent| sent.query.server.to_string());
            asked.collect::<std::collections::BTreeSet<_>>().len() - 1
        };
        assert_eq!(servers(19), 19);
        assert_eq!(servers(21), 20);
    }

    #[test]
    fn addresses_become_names() {
        assert_eq!(
            get_reverse("10.1.2.3").as_deref(),
            Some("3.2.1.10.in-addr.arpa.")
        );
        assert_eq!(get_reverse("10.1.2"), None);
        assert_eq!(
            get_reverse("fd00::12").as_deref(),
            Some("2.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa")
        );
    }
}
