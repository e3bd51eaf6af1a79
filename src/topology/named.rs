//! BIND's named: where it listens and forwards to, from its configuration.
//!
//! Source: BIND 9 Administrator Reference Manual; `bin/named/server.c:
//! configure_forward, ns_listenlist_fromconfig`,
//! `lib/ns/interfacemgr.c: do_scan`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::{DNS_PORT, is_within};
use crate::config::statements::{Indexed, Statement, Statements};
use crate::text::Place;
use crate::topology::MAX_TARGETS;
use crate::topology::{
    DnsServer, Doubt, Evidence, Listen, Network, Policy, Program, Surroundings, Target, add, zone,
};

/// Deepest nesting of access lists in access lists.
const MAX_DEPTH: usize = 8;

/// What arguments say that no file does.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Flags {
    /// `-p`: the port.
    pub port: Option<u16>,
    /// `-4`: no IPv6.
    pub only_v4: bool,
    /// `-6`: no IPv4.
    pub only_v6: bool,
}

/// The server that this configuration makes.
pub fn server(conf: &Statements, flags: Flags, around: &Surroundings<'_>) -> DnsServer {
    let conf = &conf.indexed();
    let mut server = DnsServer::new(Program::Named, around.instance.clone(), Network::Node);
    let is_options = |it: &&Statement| conf.word(it, 0) == b"options";
    let options = conf.statements.iter().find(is_options);
    let options = options.and_then(|it| it.block.as_deref()).unwrap_or(&[]);
    listens(conf, around, options, flags, &mut server);
    let views: Vec<&[Statement]> = conf
        .statements
        .iter()
        .filter(|it| conf.word(it, 0) == b"view")
        .filter_map(|it| it.block.as_deref())
        .collect();
    if !views.is_empty() {
        server.doubt(Doubt::Views);
    }
    recursion(conf, options, &views, &mut server);
    let top = conf.statements.iter();
    for statement in top.chain(views.into_iter().flatten()) {
        forward_zone(conf, statement, &mut server);
    }
    server
}

/// What happens to names of no zone of its own.
fn recursion(
    conf: &Indexed<'_>,
    options: &[Statement],
    views: &[&[Statement]],
    server: &mut DnsServer,
) {
    let scopes: Vec<&[Statement]> = if views.is_empty() {
        vec![options]
    } else {
        views.to_vec()
    };
    for scope in scopes {
        let find = |name: &[u8]| {
            let has = |it: &&Statement| conf.word(it, 0) == name;
            // What a view does not set, the options do.
            scope
                .iter()
                .rfind(has)
                .or_else(|| options.iter().rfind(has))
        };
        if find(b"recursion").is_some_and(|it| conf.word(it, 1) == b"no") {
            continue;
        }
        let before = server.forwards.iter().any(|it| it.zone == ".");
        if let Some(forwarders) = find(b"forwarders") {
            servers(conf, forwarders, ".", server);
        }
        if !server.forwards.iter().any(|it| it.zone == ".") && !before {
            let place = Place::nowhere("the default of named");
            add(server, ".", Policy::Unknown, Target::Roots, place);
        }
    }
}

/// `zone "corp.example" { type forward; forwarders { … }; };` and stub zones.
fn forward_zone(conf: &Indexed<'_>, statement: &Statement, server: &mut DnsServer) {
    let Some(block) = &statement.block else {
        return;
    };
    if conf.word(statement, 0) != b"zone" {
        return;
    }
    let name = zone(&String::from_utf8_lossy(conf.word(statement, 1)));
    let find = |name: &[u8]| block.iter().rfind(|it| conf.word(it, 0) == name);
    let kind = find(b"type").map(|it| conf.word(it, 1));
    let list = match kind {
        Some(b"forward") => find(b"forwarders"),
        Some(b"static-stub") => find(b"server-addresses"),
        Some(b"stub") => find(b"primaries").or_else(|| find(b"masters")),
        _ => return,
    };
    // Forwarders of its own take the place of those of the options.
    if name == "." {
        server.forwards.retain(|it| it.zone != ".");
    }
    if let Some(list) = list {
        servers(conf, list, &name, server);
    }
    if !server.forwards.iter().any(|it| it.zone == name) {
        let place = conf.place(statement, 1);
        add(server, &name, Policy::Unknown, Target::Roots, place);
    }
}

/// `forwarders port 5353 { 192.0.2.1; 192.0.2.2 port 53 tls name; };`.
fn servers(conf: &Indexed<'_>, list: &Statement, zone: &str, server: &mut DnsServer) {
    let default = after(conf, list, b"port").unwrap_or(DNS_PORT);
    for element in list.block.iter().flatten().take(MAX_TARGETS) {
        let text = String::from_utf8_lossy(conf.word(element, 0)).into_owned();
        let port = after(conf, element, b"port").unwrap_or(default);
        let target = Target::server(&text, Some(port), &text);
        let place = conf.place(element, 0);
        add(server, zone, Policy::Unknown, target, place);
    }
}

/// The number behind the word `name`.
fn after(conf: &Indexed<'_>, statement: &Statement, name: &[u8]) -> Option<u16> {
    let at = (0..statement.words.len()).find(|&at| conf.word(statement, at) == name)?;
    std::str::from_utf8(conf.word(statement, at + 1))
        .ok()?
        .parse()
        .ok()
}

/// It opens a socket for each address of the machine that a list takes, and for
/// no other.
fn listens(
    conf: &Indexed<'_>,
    around: &Surroundings<'_>,
    options: &[Statement],
    flags: Flags,
    server: &mut DnsServer,
) {
    let find = |name: &[u8]| -> Vec<&Statement> {
        let all = options.iter();
        all.filter(|it| conf.word(it, 0) == name).collect()
    };
    let set = find(b"port").last().and_then(|it| after(conf, it, b"port"));
    let port = flags.port.or(set).unwrap_or(DNS_PORT);
    let own: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    for (name, is_v4) in [(&b"listen-on"[..], true), (b"listen-on-v6", false)] {
        if (is_v4 && flags.only_v6) || (!is_v4 && flags.only_v4) {
            continue;
        }
        let all = own.iter().chain(around.addresses);
        let all = all.copied().filter(|ip| ip.is_ipv4() == is_v4);
        let statements = find(name);
        if statements.is_empty() {
            let default = |ip| Listen::new(Some(ip), port, Evidence::Default);
            server.listens.extend(all.clone().map(default));
        }
        for statement in statements {
            let port = after(conf, statement, b"port").unwrap_or(port);
            let evidence = Evidence::Configuration(conf.place(statement, 0));
            let taken = all.clone();
            let taken = taken.filter(|ip| takes(conf, statement, *ip, 0) == Some(true));
            let listen = |ip| Listen::new(Some(ip), port, evidence.clone());
            server.listens.extend(taken.map(listen));
        }
    }
}

/// Whether an address match list takes an address; `None`: it does not
/// mention it.
fn takes(conf: &Indexed<'_>, list: &Statement, ip: IpAddr, depth: usize) -> Option<bool> {
    if depth > MAX_DEPTH {
        return None;
    }
    list.block.iter().flatten().find_map(|element| {
        let word = conf.word(element, 0);
        let (word, is_not) = match word.strip_prefix(b"!") {
            // The exclamation mark can stand alone.
            Some(b"") => (conf.word(element, 1), true),
            Some(rest) => (rest, true),
            None => (word, false),
        };
        let matches = if word.is_empty() {
            takes(conf, element, ip, depth + 1)?
        } else {
            fits(conf, word, ip, depth)?
        };
        Some(matches != is_not)
    })
}

fn fits(conf: &Indexed<'_>, word: &[u8], ip: IpAddr, depth: usize) -> Option<bool> {
    let text = std::str::from_utf8(word).ok()?;
    match text {
        "any" | "localhost" => return Some(true),
        "none" => return Some(false),
        _ => {}
    }
    if let Ok(own) = text.parse::<IpAddr>() {
        return (own == ip).then_some(true);
    }
    if let Some((network, length)) = text.split_once('/') {
        return is_inside(network, length.parse().ok()?, ip).then_some(true);
    }
    let is_acl = |it: &&Statement| conf.word(it, 0) == b"acl" && conf.word(it, 1) == word;
    let list = conf.statements.iter().find(is_acl)?;
    takes(conf, list, ip, depth + 1)
}

/// Whether `ip` is in `network`, whose last zero octets can be left out.
fn is_inside(network: &str, length: u32, ip: IpAddr) -> bool {
    let missing = 3_usize.saturating_sub(network.matches('.').count());
    let full = match ip {
        IpAddr::V4(_) => format!("{network}{}", ".0".repeat(missing)),
        IpAddr::V6(_) => network.to_owned(),
    };
    full.parse().is_ok_and(|it| is_within(ip, it, length))
}
