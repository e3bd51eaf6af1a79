//! Reads which sockets listen on port 53, and whose they are.

use std::net::SocketAddr;
use std::path::Path;

use procfs::net::{TcpNetEntries, TcpState, UdpNetEntries, UdpState};
use procfs::{ExplicitSystemInfo, FromReadSI as _, SystemInfo};

use super::processes::{Directory, ProcessSeen, find};
use crate::address::DNS_PORT;
use crate::host::ReadError;
use crate::host::root::Root;
use crate::node::{Listener, Process};
use crate::text::{WordList, utf8_lines};
use crate::topology::Network;

/// Starts of the names of programs that answer DNS queries: they are looked
/// at before others when the owner of a socket is searched.
const DNS_PROGRAMS: WordList = WordList(
    "systemd-resolve dnsmasq unbound named coredns node-cache pdns stubby dnscrypt kresd \
     tailscaled machined",
);

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

/// Whether the sockets of the node's own network namespace are known, as
/// [`read_listeners`] reads them: those of UDP, and those of TCP where their table is there.
pub fn are_known(root: &Root, processes: &[ProcessSeen]) -> bool {
    let first = find(processes, 1).and_then(|it| Directory::of_seen(root, it));
    // `None`: it is there, and cannot be read.
    let is_there = |name: &str| {
        let own = first.as_ref().map(|it| it.read(&format!("net/{name}")));
        let nodes = root.read(Path::new(&format!("/proc/net/{name}")));
        let tables: Vec<_> = own.into_iter().chain([nodes]).collect();
        let is_missing = |it: &Result<_, ReadError>| it.as_ref().is_err_and(ReadError::is_missing);
        let is_read = tables.iter().any(Result::is_ok);
        (is_read || tables.iter().all(is_missing)).then_some(is_read)
    };
    is_there("udp") == Some(true) && is_there("tcp").is_some()
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
    let found = open(text, is_udp, Some(DNS_PORT));
    let found = found.map(|it| {
        let (local, inode) = (it.local, it.inode);
        let listener = Listener {
            network: network.clone(),
            address: Some(local.ip()).filter(|ip| !ip.is_unspecified()),
            port: local.port(),
            is_udp,
            file: path.to_owned(),
            dropped: it.dropped,
            owner: None,
        };
        Socket { listener, inode }
    });
    found.collect()
}

/// A row of `/proc/net/udp`, `tcp`, `udp6` or `tcp6`.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Where the socket is bound; an IPv4 address is one also in the tables of IPv6.
    pub local: SocketAddr,
    /// Its peer; unspecified: it has none.
    pub remote: SocketAddr,
    is_listening: bool,
    /// The number by which processes hold it.
    pub inode: u64,
    dropped: u64,
}

/// Addresses and inodes of the sockets that listen on a port, or on any, from the
/// text of `/proc/net/udp`, `tcp`, `udp6` or `tcp6`.
pub(in crate::host) fn listening(
    text: &[u8],
    is_udp: bool,
    port: Option<u16>,
) -> Vec<(SocketAddr, u64)> {
    let rows = open(text, is_udp, port);
    rows.map(|it| (it.local, it.inode)).collect()
}

fn open(text: &[u8], is_udp: bool, port: Option<u16>) -> impl Iterator<Item = Row> {
    // The column of states, of which most sockets have another one.
    let state = if is_udp { " 07 " } else { " 0A " };
    let shown = port.map_or_else(|| state.to_owned(), in_table);
    let rows = rows(text, is_udp, &shown).into_iter();
    rows.filter(move |it| it.is_listening && port.is_none_or(|port| it.local.port() == port))
}

/// A port as the tables show it.
pub fn in_table(port: u16) -> String {
    format!(":{port:04X} ")
}

/// The rows of a table that contain `shown`.
pub fn rows(text: &[u8], is_udp: bool, shown: &str) -> Vec<Row> {
    // The kernel writes the words of addresses in its own byte order. A root
    // below a directory is taken for one of the same kind.
    let system = ExplicitSystemInfo {
        boot_time_secs: 0,
        ticks_per_second: 0,
        page_size: 0,
        is_little_endian: cfg!(target_endian = "little"),
    };
    // The parser gives up at the first odd line, so it gets one at a time.
    utf8_lines(text)
        .filter(|it| it.contains(shown))
        .filter_map(|line| row(line, is_udp, &system))
        .collect()
}

/// The row of a line.
fn row(line: &str, is_udp: bool, system: &SystemInfo) -> Option<Row> {
    let table = format!("header\n{line}\n");
    let table = table.as_bytes();
    // Source: linux `net/ipv4/udp.c: udp4_format_sock`: the last column.
    let dropped = line.split_whitespace().nth(12).filter(|_| is_udp);
    let (local, remote, is_listening, inode) = if is_udp {
        let it = UdpNetEntries::from_read(table, system).ok()?.0.pop()?;
        // A connected socket takes packets of its peer alone.
        let is_open = it.state == UdpState::Close;
        (it.local_address, it.remote_address, is_open, it.inode)
    } else {
        let it = TcpNetEntries::from_read(table, system).ok()?.0.pop()?;
        let is_open = it.state == TcpState::Listen;
        (it.local_address, it.remote_address, is_open, it.inode)
    };
    let canonical = |it: SocketAddr| SocketAddr::new(it.ip().to_canonical(), it.port());
    Some(Row {
        local: canonical(local),
        remote: canonical(remote),
        is_listening,
        inode,
        dropped: dropped.and_then(|it| it.parse().ok()).unwrap_or(0),
    })
}

/// Looks through the descriptors of the processes, those that look like DNS
/// servers first, until every socket has its owner.
fn find_owners(root: &Root, processes: &[ProcessSeen], sockets: &mut [Socket]) {
    let is_dns = |it: &&ProcessSeen| DNS_PROGRAMS.iter().any(|name| it.comm.starts_with(name));
    let first = processes.iter().filter(is_dns);
    let others = processes.iter().filter(|it| !is_dns(it));
    // A server has one socket for each address; its arguments are read once.
    let mut owner: Option<Process> = None;
    each_socket(root, first.chain(others), |process, directory, inode| {
        let is_its = |it: &&mut Socket| it.inode == inode && it.listener.owner.is_none();
        for socket in sockets.iter_mut().filter(is_its) {
            let known = owner.take().filter(|it| it.pid == process.pid);
            let known = known.unwrap_or_else(|| Process {
                pid: process.pid,
                comm: process.comm.clone(),
                arguments: directory.arguments(),
            });
            socket.listener.owner = Some(owner.insert(known).clone());
        }
        sockets.iter().any(|it| it.listener.owner.is_none())
    });
}

/// Gives the inode of every socket that the processes hold, one process after the
/// other, until `take` wants no more.
pub fn each_socket<'p>(
    root: &Root,
    processes: impl IntoIterator<Item = &'p ProcessSeen>,
    mut take: impl FnMut(&'p ProcessSeen, &Directory, u64) -> bool,
) {
    let mut budget = MAX_DESCRIPTORS;
    for process in processes {
        let Some(directory) = Directory::of_seen(root, process) else {
            continue;
        };
        for name in directory.list("fd").unwrap_or_default() {
            let target = directory.link(&format!("fd/{}", name.to_string_lossy()));
            let inode = target.as_deref().and_then(inode_of);
            let is_enough = inode.is_some_and(|it| !take(process, &directory, it));
            budget = budget.saturating_sub(1);
            if is_enough || budget == 0 {
                return;
            }
        }
    }
}

/// The number in `socket:[NUMBER]`.
fn inode_of(target: &Path) -> Option<u64> {
    let number = target.to_str()?.strip_prefix("socket:[")?;
    number.strip_suffix(']')?.parse().ok()
}
