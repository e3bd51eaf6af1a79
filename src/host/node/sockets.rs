//! Reads which sockets listen on port 53, and whose they are.

use std::net::SocketAddr;
use std::path::Path;

use procfs::net::{TcpNetEntries, TcpState, UdpNetEntries, UdpState};
use procfs::{ExplicitSystemInfo, FromReadSI as _, SystemInfo};

use super::processes::{Directory, ProcessSeen, find};
use crate::address::DNS_PORT;
use crate::host::root::Root;
use crate::node::{Listener, Process};
use crate::topology::Network;

/// Starts of the names of programs that answer DNS queries: they are looked
/// at before others when the owner of a socket is searched.
const DNS_PROGRAMS: &[&str] = &[
    "systemd-resolve",
    "dnsmasq",
    "unbound",
    "named",
    "coredns",
    "node-cache",
    "pdns",
    "stubby",
    "dnscrypt",
    "kresd",
    "tailscaled",
    "machined",
];

/// Most descriptors that are looked at altogether.
const MAX_DESCRIPTORS: usize = 200_000;

/// A listener whose owner is not known yet.
struct Socket {
    listener: Listener,
    inode: u64,
}

/// The sockets on port 53 of each network namespace, which is given with a
/// process in it, and their owners among `processes`. In the order of
/// `networks`, UDP before TCP, IPv4 before IPv6. With what could not be read.
pub fn read_listeners(
    root: &Root,
    processes: &[ProcessSeen],
    networks: &[(Network, u32)],
) -> (Vec<Listener>, Vec<String>) {
    let mut sockets = Vec::new();
    let mut skipped = Vec::new();
    for (network, pid) in networks {
        let process = find(processes, *pid).and_then(|it| Directory::of_seen(root, it));
        for name in ["udp", "udp6", "tcp", "tcp6"] {
            sockets.extend(table(root, network, process.as_ref(), name, &mut skipped));
        }
    }
    if !sockets.is_empty() {
        find_owners(root, processes, &mut sockets);
    }
    let listeners = sockets.into_iter().map(|it| it.listener).collect();
    (listeners, skipped)
}

/// The sockets on port 53 in the network namespace of a process, and their
/// owners among `processes`, of which it is one. `None`: they cannot be read.
pub fn of_process(
    root: &Root,
    processes: &[ProcessSeen],
    network: &Network,
    pid: u32,
) -> Option<Vec<Listener>> {
    Directory::of_seen(root, find(processes, pid)?)?
        .read("net/udp")
        .ok()?;
    Some(read_listeners(root, processes, &[(network.clone(), pid)]).0)
}

/// Whether the table of sockets of the network namespace of `pid`, a process
/// of the node itself, is there.
pub fn are_known(root: &Root, pid: u32) -> bool {
    let there = |path: &str| matches!(root.read_if_there(Path::new(path)), Ok(Some(_)));
    there(&format!("/proc/{pid}/net/udp")) || there("/proc/net/udp")
}

fn table(
    root: &Root,
    network: &Network,
    process: Option<&Directory>,
    name: &str,
    skipped: &mut Vec<String>,
) -> Vec<Socket> {
    let own = process.map(|it| it.read(&format!("net/{name}")));
    // Captured roots have this one alone.
    let path = format!("/proc/net/{name}");
    let nodes = || (*network == Network::Node).then(|| root.read(Path::new(&path)));
    let read = match own {
        Some(Ok(file)) => Some(Ok(file)),
        own => nodes().filter(|it| it.is_ok() || own.is_none()).or(own),
    };
    match read {
        Some(Ok(file)) => {
            skipped.extend(file.cut());
            sockets(&file.source.bytes, network, name, &file.source.name)
        }
        Some(Err(error)) if !error.is_missing() => {
            skipped.push(error.to_string());
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// The listening sockets on port 53 in the text of a table.
fn sockets(text: &[u8], network: &Network, name: &str, path: &str) -> Vec<Socket> {
    let is_udp = name.starts_with("udp");
    let found = listening(text, is_udp, Some(DNS_PORT)).into_iter();
    let found = found.map(|(local, inode)| {
        let listener = Listener {
            network: network.clone(),
            address: Some(local.ip()).filter(|ip| !ip.is_unspecified()),
            port: local.port(),
            is_udp,
            file: path.to_owned(),
            owner: None,
        };
        Socket { listener, inode }
    });
    found.collect()
}

/// Addresses and inodes of the sockets that listen on a port, or on any, from the
/// text of `/proc/net/udp`, `tcp`, `udp6` or `tcp6`.
pub(in crate::host) fn listening(
    text: &[u8],
    is_udp: bool,
    port: Option<u16>,
) -> Vec<(SocketAddr, u64)> {
    // The kernel writes the words of addresses in its own byte order. A root
    // below a directory is taken for one of the same kind.
    let system = ExplicitSystemInfo {
        boot_time_secs: 0,
        ticks_per_second: 0,
        page_size: 0,
        is_little_endian: cfg!(target_endian = "little"),
    };
    let mut found = Vec::new();
    // The column of states, of which most sockets have another one.
    let state = if is_udp { " 07 " } else { " 0A " };
    let shown = port.map_or_else(|| state.to_owned(), |port| format!(":{port:04X}"));
    for line in text.split(|&byte| byte == b'\n') {
        let Some(line) = std::str::from_utf8(line)
            .ok()
            .filter(|it| it.contains(&shown))
        else {
            continue;
        };
        // The parser gives up at the first odd line, so it gets one at a time.
        let table = format!("header\n{line}\n");
        let all = entries(table.as_bytes(), is_udp, &system);
        let is_wanted = |it: &(SocketAddr, u64)| port.is_none_or(|port| it.0.port() == port);
        found.extend(all.into_iter().filter(is_wanted));
    }
    for (local, _) in &mut found {
        local.set_ip(local.ip().to_canonical());
    }
    found
}

/// The local addresses and inodes of listening sockets.
fn entries(table: &[u8], is_udp: bool, system: &SystemInfo) -> Vec<(SocketAddr, u64)> {
    if is_udp {
        let table = UdpNetEntries::from_read(table, system);
        let entries = table.map(|it| it.0).unwrap_or_default();
        // A connected socket takes packets of its peer alone.
        let open = entries.into_iter().filter(|it| it.state == UdpState::Close);
        return open.map(|it| (it.local_address, it.inode)).collect();
    }
    let table = TcpNetEntries::from_read(table, system);
    let entries = table.map(|it| it.0).unwrap_or_default();
    let open = entries
        .into_iter()
        .filter(|it| it.state == TcpState::Listen);
    open.map(|it| (it.local_address, it.inode)).collect()
}

/// Looks through the descriptors of the processes, those that look like DNS
/// servers first, until every socket has its owner.
fn find_owners(root: &Root, processes: &[ProcessSeen], sockets: &mut [Socket]) {
    let is_dns = |it: &&ProcessSeen| DNS_PROGRAMS.iter().any(|name| it.comm.starts_with(name));
    let first = processes.iter().filter(is_dns);
    let others = processes.iter().filter(|it| !is_dns(it));
    let mut budget = MAX_DESCRIPTORS;
    for process in first.chain(others) {
        if budget == 0 || sockets.iter().all(|it| it.listener.owner.is_some()) {
            return;
        }
        let Some(directory) = Directory::of_seen(root, process) else {
            continue;
        };
        let names = directory.list("fd").unwrap_or_default();
        budget = budget.saturating_sub(names.len());
        // A server has one socket for each address; its arguments are read once.
        let mut owner = None;
        for name in names {
            let target = directory.link(&format!("fd/{}", name.to_string_lossy()));
            let Some(inode) = target.as_deref().and_then(inode_of) else {
                continue;
            };
            let mut its: Vec<&mut Socket> = sockets.iter_mut().collect();
            its.retain(|it| it.inode == inode && it.listener.owner.is_none());
            for socket in its {
                let owner = owner.get_or_insert_with(|| Process {
                    pid: process.pid,
                    comm: process.comm.clone(),
                    arguments: directory.arguments(),
                });
                socket.listener.owner = Some(owner.clone());
            }
        }
    }
}

/// The number in `socket:[NUMBER]`.
fn inode_of(target: &Path) -> Option<u64> {
    let number = target.to_str()?.strip_prefix("socket:[")?;
    number.strip_suffix(']')?.parse().ok()
}
