//! The name as an argument of the program: what it is taken for.

use std::net::IpAddr;
use std::rc::Rc;

use hickory_proto::rr::RecordType;

use crate::address::Server;
use crate::dig::command_line::{Parser, Surroundings};
use crate::dig::lookup as dig;
use crate::dig::mnemonic::type_of;
use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::engine::message::Because;
use crate::name::reverse_name;
use crate::resolver::bind::Program;
use crate::resolver::glibc;
use crate::resolver::reading::{Reading, Setting};
use crate::scenario::{Family, Lookup, Scenario};

/// Source: bin/dig/dighost.c: `DIG_MAX_ADDRESSES` (9.18)
const MAX_ADDRESSES: usize = 20;

/// What the program makes of the scenario's name: its lookup, and why that
/// name is asked.
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
    reading: &mut Reading<'_>,
) -> Result<(dig::Lookup, Because), Outcome> {
    let name = scenario.name.as_str();
    let options = if program.reverse { "-" } else { "-+" };
    if name.starts_with(|first| options.contains(first)) {
        io.note(format!("{} takes the name for an option", program.name));
        return Err(Outcome::Failed("NODATA"));
    }
    let rdtype = match scenario.lookup {
        Lookup::Addresses(_) => RecordType::A,
        Lookup::Records(rdtype) => rdtype,
    };
    let mut lookup = dig::Lookup {
        // Cut to 1023 bytes in the original, which are too many for a name.
        text: name.as_bytes().to_vec(),
        rdtype: rdtype.into(),
        tcp: rdtype == RecordType::ANY,
        ..program.lookup()
    };
    if !program.reverse {
        let other = dig_parse_args(io, scenario, reading).await?;
        return Ok((other.unwrap_or(lookup), Because::AsIs));
    }
    if let Some(reverse) = get_reverse(name) {
        lookup.text = reverse.into_bytes();
        lookup.rdtype = RecordType::PTR.into();
        lookup.tcp = false;
        return Ok((lookup, Because::Reverse));
    }
    Ok((lookup, Because::AsIs))
}

/// What dig asks for where it does not take the name for one: with no name
/// left, for the name servers of the root.
///
/// Source: bin/dig/dig.c: `parse_args` (9.18)
async fn dig_parse_args(
    io: &Rc<Io>,
    scenario: &Scenario,
    reading: &mut Reading<'_>,
) -> Result<Option<dig::Lookup>, Outcome> {
    let name = scenario.name.as_bytes();
    let mut words: &[&[u8]] = &[name];
    if let Some(host) = scenario.name.strip_prefix('@') {
        io.note("dig takes the name for a server");
        reading.servers = getaddresses(io, scenario, host).await?;
        words = &[];
    }
    let mut parser = Parser::new(Surroundings::default());
    parser.globals.show_command = false;
    let lookups = parser.command_line(words).ok();
    let lookup = lookups.and_then(|mut it| it.pop());
    let lookup = lookup.ok_or(Outcome::Failed("NODATA"))?;
    if lookup.text != b"." || name == b"." {
        return Ok(None);
    }
    // Only a type leads to TCP.
    match words {
        [] => {}
        _ if lookup.tcp || type_of(name).is_some() => {
            io.note("dig takes the name for a record type");
        }
        _ => io.note("dig takes the name for something else"),
    }
    Ok(Some(lookup))
}

/// The addresses of a server that is given by name, found by the C library.
///
/// Source: bin/dig/dighost.c: `getaddresses`, lib/bind9/getaddresses.c:
/// `bind9_getaddresses` (9.18)
async fn getaddresses(
    io: &Rc<Io>,
    scenario: &Scenario,
    host: &str,
) -> Result<Vec<Setting<Server>>, Outcome> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![Setting::built_in(ip.into())]);
    }
    let question = Scenario {
        name: host.to_owned(),
        lookup: Lookup::Addresses(Family::Both),
        ..scenario.clone()
    };
    let call = glibc::Call::GetAddrInfo;
    match glibc::lookup(Rc::clone(io), &question, &glibc::V2_36, call).await {
        Outcome::Found(mut addresses) if !addresses.is_empty() => {
            // By RFC 6724 IPv4 is first where IPv6 has no source address of
            // the same kind, as in most pods.
            addresses.sort_by_key(|address| address.ip.is_ipv6());
            addresses.truncate(MAX_ADDRESSES);
            let servers = addresses.into_iter().map(Server::from);
            Ok(servers.map(Setting::built_in).collect())
        }
        Outcome::Crashed => Err(Outcome::Crashed),
        _ => Err(Outcome::Failed("NODATA")),
    }
}

/// The name below `in-addr.arpa` or `ip6.arpa` for an address, as text: the
/// first with a final dot, the second without.
///
/// Source: bin/dig/dighost.c: `get_reverse` (9.18), `strict`
fn get_reverse(value: &str) -> Option<String> {
    let ip = value.parse().ok()?;
    let dot = if IpAddr::is_ipv4(&ip) { "." } else { "" };
    Some(reverse_name(ip) + dot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dig_takes_types_for_options() {
        let dig = crate::resolver::find("dig").unwrap();
        for (text, taken) in [
            ("a", true),
            ("axfr", true),
            ("Mx", true),
            ("https", true),
            ("type65", true),
            ("type65536", false),
            ("type", false),
            ("ixfr", true),
            ("ixfr=3", true),
            ("web", false),
            ("a.", false),
            ("keydata", true),
        ] {
            let run = dig.predict(&Scenario::new("1", text));
            let is_taken = run.notes == ["dig takes the name for a record type"];
            assert_eq!(is_taken, taken, "{text}");
            let asked = run.sent[0].query.record_type().unwrap();
            let expected = if taken { RecordType::NS } else { RecordType::A };
            assert_eq!(asked, expected, "{text}");
        }
        let run = dig.predict(&Scenario::new("1", "ixfr=x"));
        assert_eq!(
            (run.sent.len(), run.outcome),
            (0, Outcome::Failed("NODATA"))
        );
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
