//! dnsmasq: where it listens and forwards to, from its settings.
//!
//! Source: `dnsmasq(8)`; dnsmasq `src/option.c`, `src/network.c`,
//! `src/forward.c`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::DNS_PORT;
use crate::config::dnsmasq_conf::{self, long_name, unquoted};
use crate::config::ini;
use crate::config::resolv_conf::ResolvConf;
use crate::config::settings::{Setting, Settings};
use crate::loopback;
use crate::text::{Place, Source, escaped};
use crate::topology::{
    DnsServer, Doubt, Evidence, Listen, Network, Policy, Program, Surroundings, Target, add, zone,
};

/// The file that it takes its servers from unless told otherwise.
const RESOLV_FILE: &str = "/etc/resolv.conf";

/// Loopback addresses that files name. Without a socket for each address it
/// takes all packets of the interface `lo`, whatever their address.
const LOOPBACK: [Ipv4Addr; 3] = [
    Ipv4Addr::new(127, 0, 0, 53),
    Ipv4Addr::new(127, 0, 0, 54),
    Ipv4Addr::new(127, 0, 1, 1),
];

/// Where NetworkManager writes the servers that it tells its dnsmasq.
const NETWORK_MANAGER_SERVERS: &str = "/run/NetworkManager/no-stub-resolv.conf";

/// The server that these settings make; `None` if they switch DNS off.
pub fn server(settings: &Settings, around: &Surroundings<'_>) -> Option<DnsServer> {
    let words = words(settings);
    let port = match words.iter().rfind(|it| it.name == "port") {
        Some(word) => word.text().parse().unwrap_or(DNS_PORT),
        None => DNS_PORT,
    };
    if port == 0 {
        return None;
    }
    let has = |name: &str| words.iter().any(|it| it.name == name);
    let mut server = DnsServer::new(Program::Dnsmasq, around.instance.clone(), Network::Node);
    server.notices_loops = has("dns-loop-detect");
    listens(&words, port, around, &mut server);
    let policy = if has("strict-order") && !has("all-servers") {
        Policy::Sequential
    } else {
        Policy::Unknown
    };
    forwards(&words, policy, &mut server);
    if has("enable-dbus") {
        from_dbus(&words, policy, around, &mut server);
    }
    Some(server)
}

/// A setting that counts.
struct Word {
    name: &'static str,
    value: Vec<u8>,
    place: Place,
}

impl Word {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.value).unwrap_or_default()
    }

    /// The parts between commas.
    fn list(&self) -> impl Iterator<Item = &str> {
        self.text().split(',').map(str::trim)
    }
}

fn words(settings: &Settings) -> Vec<Word> {
    let places = settings.places();
    let word = |setting: &Setting| {
        Some(Word {
            name: long_name(settings.name(setting))?,
            value: unquoted(settings.value(setting)),
            place: places.place(setting),
        })
    };
    settings.settings.iter().filter_map(word).collect()
}

fn listens(words: &[Word], port: u16, around: &Surroundings<'_>, server: &mut DnsServer) {
    let of = |name: &'static str| words.iter().filter(move |it| it.name == name);
    let excepted: Vec<&str> = of("except-interface").flat_map(Word::list).collect();
    let is_excepted = |interface: &str| excepted.iter().any(|it| fits(it, interface));
    let mut listen = |address, evidence: &Evidence| {
        server
            .listens
            .push(Listen::new(address, port, evidence.clone()));
    };
    for word in of("listen-address") {
        let evidence = Evidence::Configuration(word.place.clone());
        let addresses = word.list().filter_map(|it| it.parse::<IpAddr>().ok());
        addresses.for_each(|it| listen(Some(it).filter(|it| !it.is_unspecified()), &evidence));
    }
    let has_interface = of("interface").next().is_some();
    if of("listen-address").next().is_some() && !has_interface {
        return;
    }
    if !has_interface && excepted.is_empty() {
        listen(None, &Evidence::Default);
        return;
    }
    // It always adds the loopback interface.
    if !is_excepted("lo") {
        listen(Some(Ipv4Addr::LOCALHOST.into()), &Evidence::Default);
        listen(Some(Ipv6Addr::LOCALHOST.into()), &Evidence::Default);
    }
    let is_bound = words
        .iter()
        .any(|it| matches!(it.name, "bind-interfaces" | "bind-dynamic"));
    if !is_excepted("lo") && !is_bound {
        for address in LOOPBACK {
            listen(Some(IpAddr::V4(address)), &Evidence::Default);
        }
    }
    if !has_interface {
        let others = around.interfaces.iter();
        for (address, _) in others.filter(|(_, name)| !is_excepted(name)) {
            listen(Some(*address), &Evidence::Default);
        }
        return;
    }
    let wanted: Vec<&Word> = of("interface").collect();
    on_interfaces(&wanted, &excepted, port, around, server);
}

fn on_interfaces(
    words: &[&Word],
    excepted: &[&str],
    port: u16,
    around: &Surroundings<'_>,
    server: &mut DnsServer,
) {
    for word in words {
        let is_excepted = |it: &&str| excepted.iter().any(|pattern| fits(pattern, it));
        for wanted in word.list().filter(|it| *it != "lo" && !is_excepted(it)) {
            let has = around.interfaces.iter().filter(|it| fits(wanted, &it.1));
            let before = server.listens.len();
            let evidence = || Evidence::Configuration(word.place.clone());
            let listens = has.map(|(ip, _)| Listen::new(Some(*ip), port, evidence()));
            server.listens.extend(listens);
            if server.listens.len() == before {
                let name = escaped(wanted.as_bytes());
                let place = word.place.clone();
                server.doubts.push(Doubt::Interface { name, place });
            }
        }
    }
}

/// Whether an interface is meant by a name that can end with an asterisk.
fn fits(pattern: &str, interface: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => interface.starts_with(start),
        None => pattern == interface,
    }
}

fn forwards(words: &[Word], policy: Policy, server: &mut DnsServer) {
    let mut as_usual: Vec<(String, Place)> = Vec::new();
    for word in words {
        match word.name {
            "server" | "local" => one_server(word, policy, &mut as_usual, server),
            "rev-server" => reverse(word, policy, server),
            _ => {}
        }
    }
    let files = words.iter().filter(|it| it.name == "resolv-file");
    let files: Vec<(String, Place)> = files
        .map(|it| (escaped(&it.value), it.place.clone()))
        .collect();
    let is_default = files.is_empty();
    if !words.iter().any(|it| it.name == "no-resolv") {
        if files.len() > 1 {
            server.doubts.push(Doubt::NewestFile);
        }
        for (file, place) in files {
            add(server, ".", policy, Target::File(file), place);
        }
        if is_default {
            let place = Place::nowhere("the default of dnsmasq");
            let target = Target::File(RESOLV_FILE.to_owned());
            add(server, ".", policy, target, place);
        }
    }
    let usual = server.targets(".");
    for (zone, place) in as_usual {
        for target in &usual {
            add(server, &zone, policy, target.clone(), place.clone());
        }
    }
}

/// `[/DOMAIN/…/]ADDRESS[#PORT][@INTERFACE]`; `#` in place of the address
/// means the usual servers, nothing means that the names stay local.
fn one_server(
    word: &Word,
    policy: Policy,
    as_usual: &mut Vec<(String, Place)>,
    server: &mut DnsServer,
) {
    let text = word.text();
    let (zones, target) = match text.strip_prefix('/').and_then(|it| it.rsplit_once('/')) {
        Some((zones, target)) => {
            // An empty one stands for names without a dot, which lead nowhere else.
            let zones = zones.split('/').filter(|it| !it.is_empty());
            (zones.map(zone).collect(), target)
        }
        None => (vec![".".to_owned()], text),
    };
    for zone in zones {
        if target == "#" {
            as_usual.push((zone, word.place.clone()));
        } else if !target.is_empty() {
            add(server, &zone, policy, to(target), word.place.clone());
        }
    }
}

/// `ADDRESS[/LENGTH],SERVER`.
fn reverse(word: &Word, policy: Policy, server: &mut DnsServer) {
    let Some((network, target)) = word.text().split_once(',') else {
        return;
    };
    let (address, length) = network.split_once('/').unwrap_or((network, ""));
    let zone = match address.parse() {
        Ok(IpAddr::V4(ip)) => {
            let length = length.parse().unwrap_or(32_usize).min(32);
            let parts = ip.octets().map(|it| it.to_string());
            reverse_zone(&parts, length.div_ceil(8), "in-addr.arpa.")
        }
        Ok(IpAddr::V6(ip)) => {
            let length = length.parse().unwrap_or(128_usize).min(128);
            let digits = format!("{:032x}", u128::from(ip));
            let parts: Vec<String> = digits.chars().map(|it| it.to_string()).collect();
            reverse_zone(&parts, length.div_ceil(4), "ip6.arpa.")
        }
        Err(_) => return,
    };
    add(server, &zone, policy, to(target), word.place.clone());
}

fn reverse_zone(parts: &[String], count: usize, end: &str) -> String {
    let labels = parts.iter().take(count).rev();
    let labels = labels.map(|it| format!("{it}."));
    labels.chain([end.to_owned()]).collect()
}

/// `ADDRESS[#PORT][@…]`.
fn to(text: &str) -> Target {
    let (server, _source) = text.split_once('@').unwrap_or((text, ""));
    let (address, port) = server.split_once('#').unwrap_or((server, "53"));
    Target::server(address, port.parse().ok(), text)
}

/// What NetworkManager and others tell it over D-Bus.
fn from_dbus(words: &[Word], policy: Policy, around: &Surroundings<'_>, server: &mut DnsServer) {
    let dbus = words.iter().find(|it| it.name == "enable-dbus");
    let Some(dbus) = dbus else { return };
    let is_network_managers = dbus.text().contains("NetworkManager");
    let has_file = around.files.contains(&NETWORK_MANAGER_SERVERS.to_owned());
    if is_network_managers && has_file {
        let target = Target::File(NETWORK_MANAGER_SERVERS.to_owned());
        add(server, ".", policy, target, dbus.place.clone());
        return;
    }
    server.doubt(Doubt::OverDbus {
        is_network_managers,
    });
}

/// Whose dnsmasq it is by its arguments, as the beginning of its name:
/// `NetworkManager's `, `libvirt's `, nothing for anyone's.
pub fn whose(arguments: &[String]) -> &'static str {
    let has = |part: &str| arguments.iter().any(|it| it.contains(part));
    if has("NetworkManager") {
        "NetworkManager's "
    } else if has("/libvirt/") {
        "libvirt's "
    } else if has("/lxd/") || has("lxdbr0") {
        "LXD's "
    } else if has("/incus/") || has("incusbr0") {
        "Incus's "
    } else if has("lxcbr0") {
        "LXC's "
    } else if has("/podman/") || has("/cni/") {
        "Podman's "
    } else {
        ""
    }
}

/// Where NetworkManager's configuration says that it runs a dnsmasq.
///
/// Source: NetworkManager.conf(5), `dns=dnsmasq`.
pub fn network_manager_uses_it(files: &[Source]) -> Option<Place> {
    let mut found = None;
    for source in files {
        for entry in ini::entries(&source.bytes) {
            if entry.is(source, "main", "dns") {
                let is_it = entry.first(source) == b"dnsmasq";
                found = is_it.then(|| source.place_of(entry.start()));
            }
        }
    }
    found
}

/// The loopback address in a file that NetworkManager wrote.
pub fn network_managers(file: &ResolvConf) -> Option<IpAddr> {
    let mut servers = loopback::name_servers(file).map(|(address, _)| address);
    servers.find(IpAddr::is_loopback)
}

/// The dnsmasq that NetworkManager runs on that address.
pub fn of_network_manager(
    address: IpAddr,
    place: &Place,
    around: &Surroundings<'_>,
) -> Option<DnsServer> {
    let mut settings = Settings::default();
    let words = [
        "--no-resolv",
        "--bind-interfaces",
        &format!("--listen-address={address}"),
        "--enable-dbus=org.freedesktop.NetworkManager.dnsmasq",
    ];
    let words = words.map(str::to_owned);
    let (source, found) = dnsmasq_conf::arguments("NetworkManager", &words, 0);
    settings.files.push(source);
    settings.settings = found;
    let mut server = server(&settings, around)?;
    server.whose = "NetworkManager's ";
    for listen in &mut server.listens {
        listen.evidence = Evidence::Configuration(place.clone());
    }
    let targets = server.forwards.iter_mut().flat_map(|it| &mut it.to);
    targets.for_each(|it| it.place = place.clone());
    Some(server)
}
