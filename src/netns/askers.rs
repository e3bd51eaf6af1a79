//! Which programs hold the sockets that ask, while they are still open.
//!
//! Whose a socket is stands among the descriptors of processes, which only a
//! privileged process may list. Who reads packets has no privilege: so kdns itself,
//! once more, looks in its place. It is given addresses and ports, never a packet, and
//! ends when nobody asks any more.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitCode};
use std::thread;
use std::time::Instant;

use caps::Capability;
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socketpair,
};
use nix::sys::stat::fstat;

use super::{Namespace, give_up_capabilities};
use crate::host::clock;
use crate::host::node::processes::{ProcessSeen, scan};
use crate::host::node::sockets::{each_socket, in_table, rows};
use crate::host::root::{Resolution, Root};
use crate::host::worker::{close_all_but_standard_ones, is_available};
use crate::node::asker::Asker;
use crate::node::{Process, addresses};

/// A query that a socket sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Asking {
    /// The address of the socket.
    pub client: SocketAddr,
    /// Whom it asks.
    pub server: SocketAddr,
    /// Whether it is one of TCP.
    pub is_tcp: bool,
    /// When, in nanoseconds since the epoch.
    pub time: i64,
}

/// So many sockets are looked for at once; more are let go.
const MAX_AT_ONCE: usize = 64;

/// One that waits for longer, in nanoseconds, is let go: its port may be another
/// one's by now.
const MAX_WAIT: i64 = 100_000_000;

/// Queries of one socket that are closer are asked about once, in nanoseconds.
const PAIR: i64 = 10_000_000;

/// After each look so many times its duration nothing is done: it never takes more
/// than a twentieth of a processor.
const REST: u32 = 19;

/// What it takes to list the descriptors of others.
const KEPT: [Capability; 2] = [Capability::CAP_SYS_PTRACE, Capability::CAP_DAC_READ_SEARCH];

/// More of a table is not read: that is more than 25,000 sockets.
const MAX_TABLE: u64 = 4 << 20;

/// A question or an answer is shorter.
const MAX_MESSAGE: usize = 256;

/// Its first argument: nobody types it, and it tells what runs there.
const NAME: &str = "kdns: looks for programs that ask";

/// The tables of a network namespace: of UDP and TCP, each for IPv4 and IPv6.
#[derive(Debug)]
struct Tables([Vec<File>; 2]);

/// The addresses of the network namespace of this thread, loopback ones left out.
pub fn own_addresses() -> Vec<IpAddr> {
    let read = |name| std::fs::read(own(name)).unwrap_or_default();
    addresses::parse(&read("fib_trie"), &read("if_inet6"))
}

fn own(name: &str) -> String {
    format!("/proc/thread-self/net/{name}")
}

impl Tables {
    /// Those of the network namespace of this thread, wherever it goes.
    fn own() -> Self {
        let open = |name: &&str| File::open(own(name)).ok();
        let open = |names: [&str; 2]| names.iter().filter_map(open).collect();
        Self([["udp", "udp6"], ["tcp", "tcp6"]].map(open))
    }

    /// The inode of a socket that is still open; `None` also where there are several.
    /// One of UDP may have sent to an address that was translated meanwhile.
    fn inode(texts: &[Vec<u8>], asking: &Asking) -> Option<u64> {
        let shown = in_table(asking.client.port());
        let rows = texts.iter().flat_map(|it| rows(it, !asking.is_tcp, &shown));
        let mut inodes = rows
            .filter(|it| it.inode != 0 && it.local.port() == asking.client.port())
            .filter(|it| it.local.ip().is_unspecified() || it.local == asking.client)
            .filter(|it| !asking.is_tcp || it.remote == asking.server)
            .map(|it| it.inode);
        inodes.next().filter(|_| inodes.next().is_none())
    }

    /// What stands in the tables of UDP or TCP now.
    fn texts(&mut self, is_tcp: bool) -> Vec<Vec<u8>> {
        let [udp, tcp] = &mut self.0;
        let files = if is_tcp { tcp } else { udp };
        let texts = files.iter_mut().map(|file| {
            let mut text = Vec::new();
            file.rewind().ok()?;
            (&mut *file).take(MAX_TABLE).read_to_end(&mut text).ok()?;
            Some(text)
        });
        texts.flatten().collect()
    }
}

/// Who is asked which program a socket belongs to.
#[derive(Debug)]
pub struct Askers {
    child: Child,
    socket: OwnedFd,
    addresses: Vec<IpAddr>,
    last: Option<Asking>,
}

impl Askers {
    /// Begins to look for the holders of sockets in a network namespace, of which these
    /// are the addresses, among its processes below `root` (`None`: `/`).
    ///
    /// # Errors
    ///
    /// There can be no such process, or this program does not call [`run_if_asked`].
    pub fn begin(
        namespace: &Namespace,
        addresses: Vec<IpAddr>,
        root: Option<&Path>,
    ) -> io::Result<Self> {
        if !is_available() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let flags = SockFlag::SOCK_CLOEXEC;
        let (socket, its) = socketpair(
            AddressFamily::Unix,
            SockType::SeqPacket,
            None::<SockProtocol>,
            flags,
        )?;
        // No descriptor of the caller's: who reads what kdns writes does not wait for it.
        let child = Command::new("/proc/self/exe")
            .arg0(NAME)
            .args(root)
            .stdin(namespace.descriptor().try_clone_to_owned()?)
            .stdout(its.try_clone()?)
            .stderr(its)
            .spawn()?;
        Ok(Self {
            child,
            socket,
            addresses,
            last: None,
        })
    }

    /// Asks whose socket this is. The client of a packet that only passes through
    /// has none here.
    pub fn ask(&mut self, asking: Asking) {
        let is_of_pair =
            |it: &Asking| it.client == asking.client && asking.time.saturating_sub(it.time) < PAIR;
        let ip = asking.client.ip();
        let is_own = ip.is_loopback() || self.addresses.contains(&ip);
        if is_own && !self.last.as_ref().is_some_and(is_of_pair) {
            self.last = Some(asking);
            // Where there is no room, or nobody looks, nothing is found.
            let _ = send_to(self.socket.as_fd(), &asking.to_text());
        }
    }

    /// What was found since the last call.
    pub fn found(&self) -> impl Iterator<Item = Asker> {
        std::iter::from_fn(|| receive(self.socket.as_fd(), MsgFlags::MSG_DONTWAIT))
            .filter_map(|text| Asker::of_text(&text))
    }
}

impl Drop for Askers {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Asking {
    fn to_text(self) -> String {
        let (time, client, server) = (self.time, self.client, self.server);
        format!("{time} {client} {server} {}", self.is_tcp)
    }

    fn of_text(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        Some(Self {
            time: words.next()?.parse().ok()?,
            client: words.next()?.parse().ok()?,
            server: words.next()?.parse().ok()?,
            is_tcp: words.next()?.parse().ok()?,
        })
    }
}

fn send_to(socket: BorrowedFd<'_>, text: &str) -> nix::Result<usize> {
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    send(socket.as_raw_fd(), text.as_bytes(), flags)
}

/// The next message; `None`: there is none now, or never again.
fn receive(socket: BorrowedFd<'_>, flags: MsgFlags) -> Option<String> {
    let mut bytes = [0; MAX_MESSAGE];
    let length = recv(socket.as_raw_fd(), &mut bytes, flags).ok()?;
    let bytes = bytes.get(..length).filter(|it| !it.is_empty())?;
    String::from_utf8(bytes.to_vec()).ok()
}

/// What a program does first that may be the one that looks: with its arguments it
/// looks until nobody asks any more, and then shall end.
pub fn run_if_asked(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter();
    (arguments.next()? == NAME).then(|| {
        // Whoever asked sees the end; nobody else listens.
        let _ = serve(arguments.next());
        ExitCode::SUCCESS
    })
}

/// `None`: it ended before it looked.
fn serve(root: Option<OsString>) -> Option<()> {
    close_all_but_standard_ones().ok()?;
    let namespace = io::stdin();
    let number = fstat(&namespace).ok()?.st_ino;
    let own = Namespace::of_path(Path::new("/proc/thread-self/ns/net"));
    if own.is_ok_and(|own| own.number() != number) {
        setns(&namespace, CloneFlags::CLONE_NEWNET).ok()?;
    }
    let mut tables = Tables::own();
    let below = |it: OsString| Root::below(Path::new(&it), Resolution::default());
    let root = root.map_or_else(Root::live, below).ok()?;
    std::env::set_current_dir("/").ok()?;
    give_up_capabilities(&KEPT).ok()?;
    let out = io::stdout();
    look(out.as_fd(), &root, number, &mut tables);
    Some(())
}

/// Looks for sockets as long as somebody asks.
fn look(socket: BorrowedFd<'_>, root: &Root, network: u64, tables: &mut Tables) {
    let mut processes: Vec<ProcessSeen> = Vec::new();
    while let Some(first) = receive(socket, MsgFlags::empty()) {
        let begun = Instant::now();
        let more = std::iter::from_fn(|| receive(socket, MsgFlags::MSG_DONTWAIT));
        let all = std::iter::once(first).chain(more);
        let oldest = clock::now().unwrap_or_default().saturating_sub(MAX_WAIT);
        let fresh = all.filter_map(|it| Asking::of_text(&it).filter(|it| it.time >= oldest));
        let (tcp, udp): (Vec<Asking>, Vec<Asking>) = fresh.partition(|it| it.is_tcp);
        let mut inodes: BTreeMap<u64, Asking> = BTreeMap::new();
        for (is_tcp, all) in [(false, udp), (true, tcp)] {
            if !all.is_empty() {
                let texts = tables.texts(is_tcp);
                let inode = |it: Asking| Some((Tables::inode(&texts, &it)?, it));
                inodes.extend(all.into_iter().take(MAX_AT_ONCE).filter_map(inode));
            }
        }
        // Those who asked before are looked at first, the others if need be.
        for is_again in [false, true] {
            if inodes.is_empty() {
                break;
            }
            if is_again {
                processes = scan(root).0;
                processes.retain(|it| it.netns == Some(network));
            }
            each_socket(root, &processes, |process, _, inode| {
                if let Some(asking) = inodes.remove(&inode) {
                    let found = Asker {
                        client: asking.client,
                        time: asking.time,
                        process: Process {
                            pid: process.pid,
                            comm: process.comm.clone(),
                            arguments: Vec::new(),
                        },
                    };
                    let _ = send_to(socket, &found.to_text());
                }
                !inodes.is_empty()
            });
        }
        thread::sleep(begun.elapsed() * REST);
    }
}
