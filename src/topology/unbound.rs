//! unbound: where it listens and forwards to, from its settings.
//!
//! Source: `unbound.conf(5)`; unbound `util/config_file.c: config_create`,
//! `iterator/iter_fwd.c`, `iterator/iter_donotq.c`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::DNS_PORT;
use crate::config::settings::{Places, Setting, Settings};
use crate::config::unbound_conf::is_clause;
use crate::text::{Place, escaped};
use crate::topology::{
    DnsServer, Doubt, Evidence, Listen, Network, Policy, Program, Surroundings, Target, add, zone,
};

/// The port of DNS over TLS (RFC 7858).
const TLS_PORT: u16 = 853;

/// The server that these settings make.
pub fn server(settings: &Settings, around: &Surroundings<'_>) -> DnsServer {
    let mut reading = Reading::default();
    let places = settings.places();
    for setting in &settings.settings {
        reading.take(settings, &places, setting);
    }
    let mut server = DnsServer::new(Program::Unbound, around.instance.clone(), Network::Node);
    server.listens = reading.listens(around);
    server.doubts = std::mem::take(&mut reading.doubts);
    for zone in &reading.zones {
        reading.forward(zone, &mut server);
    }
    if !reading.zones.iter().any(|zone| zone.name == ".") {
        let place = Place::nowhere("the default of unbound");
        add(&mut server, ".", Policy::Random, Target::Roots, place);
    }
    server
}

#[derive(Default)]
struct Reading {
    clause: Vec<u8>,
    port: Option<u16>,
    interfaces: Vec<(String, Place)>,
    is_automatic: bool,
    no_ip4: bool,
    no_ip6: bool,
    queries_localhost: bool,
    uses_tls: bool,
    zones: Vec<Zone>,
    doubts: Vec<Doubt>,
}

/// A forward-zone or stub-zone.
#[derive(Default)]
struct Zone {
    name: String,
    servers: Vec<(String, Place)>,
    hosts: Vec<(String, Place)>,
    uses_tls: bool,
}

impl Reading {
    fn take(&mut self, settings: &Settings, places: &Places<'_>, setting: &Setting) {
        let name = settings.name(setting);
        let value = || String::from_utf8_lossy(settings.value(setting)).into_owned();
        let is_yes = || settings.value(setting) == b"yes";
        let with_place = || (value(), places.place(setting));
        if is_clause(name) {
            self.clause = name.to_vec();
            if matches!(name, b"forward-zone" | b"stub-zone") {
                self.zones.push(Zone::default());
            }
            return;
        }
        let last = self.zones.last_mut();
        match (self.clause.as_slice(), name, last) {
            (b"server", b"interface" | b"ip-address", _) => self.interfaces.push(with_place()),
            (b"server", b"port", _) => self.port = value().parse().ok(),
            (b"server", b"interface-automatic", _) => self.is_automatic = is_yes(),
            (b"server", b"do-ip4", _) => self.no_ip4 = !is_yes(),
            (b"server", b"do-ip6", _) => self.no_ip6 = !is_yes(),
            (b"server", b"do-not-query-localhost", _) => self.queries_localhost = !is_yes(),
            (b"server", b"tls-upstream" | b"ssl-upstream", _) => self.uses_tls = is_yes(),
            (b"forward-zone" | b"stub-zone", b"name", Some(last)) => last.name = zone(&value()),
            (b"forward-zone", b"forward-addr", Some(last))
            | (b"stub-zone", b"stub-addr", Some(last)) => last.servers.push(with_place()),
            (b"forward-zone", b"forward-host", Some(last))
            | (b"stub-zone", b"stub-host", Some(last)) => last.hosts.push(with_place()),
            (b"forward-zone", b"forward-tls-upstream" | b"forward-ssl-upstream", Some(last))
            | (b"stub-zone", b"stub-tls-upstream" | b"stub-ssl-upstream", Some(last)) => {
                last.uses_tls = is_yes();
            }
            _ => {}
        }
    }

    fn listens(&mut self, around: &Surroundings<'_>) -> Vec<Listen> {
        let port = self.port.unwrap_or(DNS_PORT);
        let is_on = |ip: &IpAddr| match ip {
            IpAddr::V4(_) => !self.no_ip4,
            IpAddr::V6(_) => !self.no_ip6,
        };
        let mut listens = Vec::new();
        let mut listen = |ip: IpAddr, port, evidence| {
            let address = Some(ip).filter(|ip| !ip.is_unspecified());
            listens.push(Listen::new(address, port, evidence));
        };
        let any: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
        let own: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        if self.is_automatic || self.interfaces.is_empty() {
            let default = if self.is_automatic { any } else { own };
            for ip in default.into_iter().filter(|ip| is_on(ip)) {
                listen(ip, port, Evidence::Default);
            }
            return listens;
        }
        for (text, place) in &self.interfaces {
            let (name, given) = text.split_once('@').unwrap_or((text, ""));
            let port = given.parse().unwrap_or(port);
            let (plain, _scope) = name.split_once('%').unwrap_or((name, ""));
            let evidence = Evidence::Configuration(place.clone());
            if let Ok(ip) = plain.parse::<IpAddr>() {
                if is_on(&ip) {
                    listen(ip, port, evidence);
                }
                continue;
            }
            let has = around.interfaces.iter().filter(|(_, it)| it == name);
            let mut addresses: Vec<IpAddr> = has.map(|(ip, _)| *ip).collect();
            if name == "lo" {
                addresses.extend(own);
            }
            if addresses.is_empty() {
                let name = escaped(name.as_bytes());
                let place = place.clone();
                self.doubts.push(Doubt::Interface { name, place });
            }
            for ip in addresses.into_iter().filter(|ip| is_on(ip)) {
                listen(ip, port, evidence.clone());
            }
        }
        listens
    }

    fn forward(&self, zone: &Zone, server: &mut DnsServer) {
        let default_port = if zone.uses_tls || self.uses_tls {
            TLS_PORT
        } else {
            DNS_PORT
        };
        for (text, place) in &zone.servers {
            let target = to(text, default_port);
            let is_local = matches!(&target, Target::Address(to) if to.ip().is_loopback());
            if !is_local || self.queries_localhost {
                add(server, &zone.name, Policy::Random, target, place.clone());
            }
        }
        for (text, place) in &zone.hosts {
            let target = Target::Other(escaped(text.as_bytes()));
            add(server, &zone.name, Policy::Random, target, place.clone());
        }
    }
}

/// `ADDRESS[@PORT][#NAME]`; a name is one for TLS and changes the port.
///
/// Source: unbound `util/net_help.c: authextstrtoaddr`.
fn to(text: &str, default_port: u16) -> Target {
    let (server, default_port) = match text.split_once('#') {
        Some((server, _name)) => (server, TLS_PORT),
        None => (text, default_port),
    };
    let (address, port) = match server.split_once('@') {
        Some((address, port)) => (address, port.parse().ok()),
        None => (server, Some(default_port)),
    };
    Target::server(address, port, text)
}
