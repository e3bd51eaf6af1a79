//! Reads what decides about the way of packets in a network namespace: rules,
//! links, routes, connections, settings.
//!
//! A live namespace is that of the calling thread: whoever wants another one's
//! enters it before. Nothing is written, and nothing is loaded into the kernel.

mod files;
mod recent;
pub mod saved;
mod settings;
mod tools;

use std::collections::BTreeMap;
use std::fs::File;
use std::net::IpAddr;

use super::netlink::conntrack::{ConntrackSocket, Entries, MAX_ENTRIES};
use super::netlink::link::Peer;
use super::netlink::route::RouteSocket;
use super::node::sockets::listening;
use super::root::Root;
use super::{modules, read_whole};
use crate::node::kernel::{self, ConntrackCounters};
use crate::path::{Conntrack, Host, Protocol, RulesKnown};
use crate::rules::conntrack::Entry;
use crate::rules::{Rules, Text, Unreadable};
use crate::text::Source;

pub use files::read_files;

/// What was read of a network namespace.
#[derive(Debug, Default)]
pub struct NetworkSeen {
    /// All but the rules, which are in `texts`.
    pub host: Host,
    /// The rules, each text named after the tool or file that it is from.
    pub texts: Vec<Source>,
    /// The other ends of links, by the links' own numbers.
    pub peers: BTreeMap<u32, Peer>,
    /// Counters of connections as they were before all else was read.
    pub before: Option<ConntrackCounters>,
    /// What is there and could not be read, and why: sentences without a full
    /// stop.
    pub skipped: Vec<String>,
}

/// No table of `/proc/net` is read beyond so many bytes.
const MAX_TABLE: usize = 256 << 20;

/// The directory of this thread's network namespace.
const NET: &str = "/proc/thread-self/net";

/// Reads this thread's network namespace. Of connections those count whose server
/// has one of these ports.
pub fn read_live(ports: &[u16]) -> NetworkSeen {
    let mut seen = NetworkSeen::default();
    match Root::live() {
        Ok(root) => seen.read_network(&root, ports),
        Err(error) => {
            seen.host.known = RulesKnown::Part;
            seen.skipped.push(error.to_string());
        }
    }
    seen
}

impl NetworkSeen {
    /// The namespace with its rules, and with the connections that are among
    /// the texts.
    ///
    /// # Errors
    ///
    /// A tool of the node wrote something else than rules.
    pub fn into_host(self) -> Result<Host, Unreadable> {
        let boxed = |it| Box::new(it) as Box<dyn Text + Send>;
        let mut host = self.host;
        host.rules = Rules::parse(self.texts.into_iter().map(boxed).collect())?;
        let listed = std::mem::take(&mut host.rules.conntrack);
        if !listed.is_empty() {
            host.conntrack
                .get_or_insert_default()
                .entries
                .extend(listed);
        }
        Ok(host)
    }

    fn read_network(&mut self, root: &Root, ports: &[u16]) {
        self.before = read_counters(root);
        let printed = tools::ask(root);
        self.texts = printed.texts;
        self.skipped.extend(printed.skipped);
        self.host.known = if printed.is_partial {
            RulesKnown::Part
        } else {
            RulesKnown::All
        };
        self.texts.extend(table("ip_vs"));
        self.read_links();
        let names = self.host.links.iter().flatten().map(|it| it.name.as_ref());
        self.host.sysctls = settings::read(root, names);
        self.read_connections(root, ports);
        self.host.listeners = listeners(table);
        self.host.recent = recent::lists();
    }

    fn read_links(&mut self) {
        let (socket, links) = match RouteSocket::open() {
            Ok(opened) => opened,
            Err(error) => return self.skipped.push(error.to_string()),
        };
        self.peers.clone_from(socket.peers());
        self.host.links = Some(links);
        self.host.addresses = self.noted(socket.addresses());
        self.host.routes = self.noted(socket.routes());
        self.host.policies = self.noted(socket.policies());
        self.host.neighbours = self.noted(socket.neighbours());
    }

    /// What was read; an error is noted.
    fn noted<T, E: ToString>(&mut self, read: Result<T, E>) -> Option<T> {
        read.map_err(|error| self.skipped.push(error.to_string()))
            .ok()
    }

    fn read_connections(&mut self, root: &Root, ports: &[u16]) {
        let setting = |name: &str| self.host.sysctls.get(name)?.parse().ok();
        let count = setting("net.netfilter.nf_conntrack_count");
        let max = setting("net.netfilter.nf_conntrack_max");
        if max.is_none() {
            // Nothing tracks connections here.
            return;
        }
        let mut conntrack = Conntrack {
            count,
            max,
            ..Conntrack::default()
        };
        match asked(root, ports) {
            Ok((found, counters)) => {
                if found.is_cut {
                    self.skipped.push(format!(
                        "more than {MAX_ENTRIES} connections: the rest was not read"
                    ));
                }
                conntrack.entries = found.entries;
                conntrack.counters = Some(counters);
            }
            Err(reason) => {
                conntrack.counters = counters(table("stat/nf_conntrack").as_ref());
                match table("nf_conntrack") {
                    Some(text) => self.texts.extend(Some(text).filter(has_lines)),
                    // How full the table is says enough for some findings.
                    None => self.skipped.push(reason),
                }
            }
        }
        self.host.conntrack = Some(conntrack);
    }
}

/// The counters of connections of this thread's network namespace: over netlink,
/// or from `/proc/net/stat/nf_conntrack`. `None`: neither tells.
pub fn read_counters(root: &Root) -> Option<ConntrackCounters> {
    let socket = has_netlink(root).then(ConntrackSocket::open);
    let asked = socket.and_then(|it| it.ok()?.counters().ok());
    asked.or_else(|| counters(table("stat/nf_conntrack").as_ref()))
}

/// Whether the kernel can be asked for connections over netlink, and nothing is
/// loaded for it.
fn has_netlink(root: &Root) -> bool {
    modules::is_there(root, "nf_conntrack_netlink")
}

/// What the kernel says over netlink.
fn asked(root: &Root, ports: &[u16]) -> Result<(Entries, ConntrackCounters), String> {
    if !has_netlink(root) {
        return Err("the connections were not read: there is no /proc/net/nf_conntrack, and the module nf_conntrack_netlink is not loaded".to_owned());
    }
    let is_wanted = |it: &Entry| {
        ports.contains(&it.original.destination_port) || ports.contains(&it.reply.source_port)
    };
    let open = || ConntrackSocket::open().map_err(|it| it.to_string());
    let counters = open()?.counters().map_err(|it| it.to_string())?;
    let found = open()?.entries(is_wanted).map_err(|it| it.to_string())?;
    Ok((found, counters))
}

/// The counters in `/proc/net/stat/nf_conntrack`.
fn counters(text: Option<&Source>) -> Option<ConntrackCounters> {
    Some(kernel::statistics(&text?.name, &text?.bytes)?.counters)
}

/// A table of this thread's network namespace; `None`: there is none, or it may
/// not be read.
fn table(name: &str) -> Option<Source> {
    let file = File::open(format!("{NET}/{name}")).ok()?;
    read_whole(&format!("/proc/net/{name}"), file, MAX_TABLE).ok()
}

/// Whether a table has entries; one without any is no text of rules.
fn has_lines(table: &Source) -> bool {
    !table.bytes.is_empty()
}

/// The sockets that listen, on whatever port, by the tables of that name.
fn listeners(table: impl Fn(&str) -> Option<Source>) -> Option<Vec<(IpAddr, u16, Protocol)>> {
    let mut found = Vec::new();
    for (name, protocol) in TABLES {
        // A kernel without IPv6 has no tables of it.
        match table(name) {
            Some(text) => found.extend(listeners_in(&text.bytes, protocol)),
            None if name.ends_with('6') => {}
            None => return None,
        }
    }
    Some(found)
}

/// Tables of sockets.
const TABLES: [(&str, Protocol); 4] = [
    ("udp", Protocol::Udp),
    ("udp6", Protocol::Udp),
    ("tcp", Protocol::Tcp),
    ("tcp6", Protocol::Tcp),
];

fn listeners_in(
    text: &[u8],
    protocol: Protocol,
) -> impl Iterator<Item = (IpAddr, u16, Protocol)> + use<> {
    let sockets = listening(text, protocol == Protocol::Udp, None);
    sockets
        .into_iter()
        .map(move |(local, _)| (local.ip(), local.port(), protocol))
}
