//! The recording DNS server: UDP and TCP, port 53 of every address.

use std::io::{Read, Write};
use std::net::{
    IpAddr, Ipv6Addr, Shutdown, SocketAddr, SocketAddrV6, TcpListener, TcpStream, UdpSocket,
};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::libc::{in6_pktinfo, linger};
use nix::sys::socket::{MsgFlags, recv, setsockopt, sockopt};

use super::datagrams::{receive, send, udp_socket};
use super::observation::Query;
use super::rules::{Asked, Reply, Rule, Rules, Wrong};
use super::{icmp, message, rules};

pub(super) const PORT: u16 = 53;
/// The index of the sandbox's link.
const ETH0: u32 = 3;

/// Where TCP is listened.
#[derive(Clone, Debug)]
pub(crate) enum TcpAt {
    /// At every address.
    Everywhere,
    /// At these; a connection to another address is refused.
    Only(Vec<IpAddr>),
}

/// The running server; its threads end with the process.
#[derive(Clone, Debug)]
pub(crate) struct Server(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    rules: Rules,
    queries: Vec<(Query, Instant)>,
    /// Sources in order of first use: for TCP with the connection's number.
    sources: Vec<(SocketAddr, Option<u32>)>,
    connections: u32,
    /// When late answers are due: two of one time go in the order of their queries.
    due: Vec<Instant>,
    trouble: Vec<String>,
}

/// What to send, after how long.
struct Answer {
    bytes: Option<Vec<u8>>,
    reply: Reply,
    delay: Duration,
    dup: bool,
    wrong: Option<Wrong>,
}

impl State {
    /// So long is waited for an answer from `now` on: a little longer if another one is due then.
    fn delay(&mut self, delay: Duration, now: Instant) -> Duration {
        const APART: Duration = Duration::from_millis(2);
        if delay.is_zero() {
            return delay;
        }
        let mut due = now + delay;
        while self
            .due
            .iter()
            .any(|it| due < *it + APART && *it < due + APART)
        {
            due += APART;
        }
        self.due.push(due);
        due - now
    }
}

impl Server {
    /// Opens the sockets and starts to answer.
    pub(crate) fn start(rules: &[Rule], tcp: &TcpAt) -> Result<Self, String> {
        let state = State {
            rules: Rules::new(rules),
            queries: Vec::new(),
            sources: Vec::new(),
            connections: 0,
            due: Vec::new(),
            trouble: Vec::new(),
        };
        let server = Self(Arc::new(Mutex::new(state)));
        let udp = Arc::new(udp_socket().map_err(|e| format!("UDP port 53: {e}"))?);
        let (it, of_thread) = (server.clone(), Arc::clone(&udp));
        thread::spawn(move || it.serve_udp(&of_thread));
        let addresses = match tcp {
            TcpAt::Everywhere => vec![IpAddr::V6(Ipv6Addr::UNSPECIFIED)],
            TcpAt::Only(list) => list.clone(),
        };
        for address in addresses {
            let listener = TcpListener::bind(of_link(address))
                .map_err(|e| format!("TCP port 53 of {address}: {e}"))?;
            let (it, udp) = (server.clone(), Arc::clone(&udp));
            thread::spawn(move || it.serve_tcp(&listener, &udp));
        }
        Ok(server)
    }

    /// The queries so far with their times, and what went wrong.
    pub(crate) fn recorded(&self) -> (Vec<(Query, Instant)>, Vec<String>) {
        let state = self.state();
        (state.queries.clone(), state.trouble.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trouble(&self, text: String) {
        self.state().trouble.push(text);
    }

    /// Records a query and chooses its answer.
    fn asked(
        &self,
        bytes: &[u8],
        proto: &str,
        server: IpAddr,
        client: SocketAddr,
        connection: Option<u32>,
    ) -> Answer {
        let now = Instant::now();
        let mut state = self.state();
        let source = (client, connection);
        let known = state.sources.iter().position(|s| *s == source);
        let at = known.unwrap_or(state.sources.len());
        if known.is_none() {
            state.sources.push(source);
        }
        let sock = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let (mut query, parsed) = message::read(bytes, proto, &server.to_string(), sock);
        let mut answer = Answer {
            bytes: None,
            reply: Reply::Timeout,
            delay: Duration::ZERO,
            dup: false,
            wrong: None,
        };
        if let (Some(parsed), Some(qname), Some(qtype)) = (&parsed, &query.qname, &query.qtype) {
            let edns = query.edns.is_some();
            let rule = state.rules.pick(Asked {
                qname,
                qtype,
                server: &query.server,
                proto,
                edns,
            });
            answer.bytes = message::reply(parsed, &rule, proto);
            answer.reply = rule.reply();
            answer.dup = rule.dup.unwrap_or(false);
            answer.wrong = rule.wrong.filter(|_| proto == "udp");
            answer.delay = state.delay(Duration::from_millis(rule.delay_ms.unwrap_or(0)), now);
            query.reply = Some(rule.reply().word().to_owned());
        }
        state.queries.push((query, now));
        answer
    }

    fn serve_udp(&self, socket: &UdpSocket) {
        let mut buffer = vec![0; 65536];
        loop {
            match receive(socket.as_raw_fd(), &mut buffer) {
                Ok((length, client, info)) => {
                    let bytes = buffer.get(..length).unwrap_or_default();
                    self.answer_udp(socket, bytes, client, info);
                }
                Err(e) => {
                    // An error of an earlier sending, such as an ICMP message from the client's side.
                    if e != nix::errno::Errno::ECONNREFUSED {
                        self.trouble(format!("receiving: {e}"));
                    }
                }
            }
        }
    }

    fn answer_udp(
        &self,
        socket: &UdpSocket,
        bytes: &[u8],
        client: SocketAddrV6,
        info: in6_pktinfo,
    ) {
        let server = plain(IpAddr::V6(Ipv6Addr::from(info.ipi6_addr.s6_addr)));
        let source = SocketAddr::new(plain(IpAddr::V6(*client.ip())), client.port());
        let answer = self.asked(bytes, "udp", server, source, None);
        if answer.reply == Reply::Icmp {
            if let Err(e) = icmp::port_unreachable(source, SocketAddr::new(server, PORT), bytes) {
                self.trouble(e);
            }
        } else if let Some(bytes) = answer.bytes {
            let Ok(socket) = socket.try_clone() else {
                return;
            };
            let (it, times) = (self.clone(), if answer.dup { 2 } else { 1 });
            let mut info = info;
            if answer.wrong == Some(Wrong::Source) {
                info.ipi6_addr.s6_addr = rules::elsewhere(server).octets();
            }
            later(answer.delay, move || {
                for _ in 0..times {
                    if let Err(e) = send(socket.as_raw_fd(), &bytes, client, info) {
                        it.trouble(format!("answering {client}: {e}"));
                    }
                }
            });
        }
    }

    /// Waits until the packets that came before are recorded: the client sent them before it connected.
    fn after_udp(&self, udp: &UdpSocket) {
        let end = Instant::now() + Duration::from_millis(50);
        let mut one = [0; 1];
        let peek = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
        while recv(udp.as_raw_fd(), &mut one, peek).is_ok() && Instant::now() < end {
            thread::sleep(Duration::from_micros(200));
        }
        thread::sleep(Duration::from_millis(1));
        drop(self.state());
    }

    /// Waits a little until the connection before this one has asked, as its client did before.
    fn after_connection(&self, number: u32) {
        let end = Instant::now() + Duration::from_millis(10);
        let asked = || number == 0 || self.state().sources.iter().any(|s| s.1 == Some(number));
        while !asked() && Instant::now() < end {
            thread::sleep(Duration::from_micros(200));
        }
    }

    fn serve_tcp(&self, listener: &TcpListener, udp: &Arc<UdpSocket>) {
        for stream in listener.incoming().flatten() {
            let (it, udp) = (self.clone(), Arc::clone(udp));
            let number = {
                let mut state = self.state();
                state.connections += 1;
                state.connections
            };
            thread::spawn(move || it.serve_connection(stream, number, &udp));
        }
    }

    /// Answers until the client closes, or a rule says so.
    fn serve_connection(&self, mut stream: TcpStream, number: u32, udp: &UdpSocket) -> Option<()> {
        let server = plain(stream.local_addr().ok()?.ip());
        let peer = stream.peer_addr().ok()?;
        let client = SocketAddr::new(plain(peer.ip()), peer.port());
        loop {
            let mut messages = vec![message_of(&mut stream)?];
            self.after_udp(udp);
            self.after_connection(number - 1);
            // What the client has sent meanwhile it sent before it got an answer.
            while has_more(&stream) {
                messages.push(message_of(&mut stream)?);
            }
            let mut answers = Vec::with_capacity(messages.len());
            for message in &messages {
                let answer = self.asked(message, "tcp", server, client, Some(number));
                let is_last = matches!(answer.reply, Reply::Icmp | Reply::Fin | Reply::Rst);
                answers.push(answer);
                if is_last {
                    break;
                }
            }
            for answer in answers {
                Self::answer_tcp(&mut stream, answer)?;
            }
        }
    }

    /// Answers one query of a connection; `None`: the connection is over.
    fn answer_tcp(stream: &mut TcpStream, answer: Answer) -> Option<()> {
        match answer.reply {
            Reply::Icmp => return None,
            // What the client sent after this is read, so that the kernel does not reset the connection.
            Reply::Fin => {
                stream.shutdown(Shutdown::Write).ok()?;
                std::io::copy(stream, &mut std::io::sink()).ok()?;
                return None;
            }
            Reply::Rst => {
                let (l_onoff, l_linger) = (1, 0);
                setsockopt(&*stream, sockopt::Linger, &linger { l_onoff, l_linger }).ok()?;
                return None;
            }
            _ => {}
        }
        if let Some(bytes) = answer.bytes {
            let mut stream = stream.try_clone().ok()?;
            let mut framed = u16::try_from(bytes.len()).ok()?.to_be_bytes().to_vec();
            framed.extend(bytes);
            later(answer.delay, move || {
                let _ = stream.write_all(&framed);
            });
        }
        Some(())
    }
}

/// The next message of a connection.
fn message_of(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut length = [0; 2];
    stream.read_exact(&mut length).ok()?;
    let mut bytes = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

/// Whether the client has sent more.
fn has_more(stream: &TcpStream) -> bool {
    let peek = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
    recv(stream.as_raw_fd(), &mut [0; 1], peek).is_ok_and(|read| read > 0)
}

/// Does it now, or on a thread when its time has come.
fn later(delay: Duration, what: impl FnOnce() + Send + 'static) {
    if delay.is_zero() {
        what();
    } else {
        thread::spawn(move || {
            thread::sleep(delay);
            what();
        });
    }
}

/// An IPv4-mapped address as IPv4.
fn plain(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

/// Port 53 of an address: a link-local one is that of the sandbox's link.
fn of_link(address: IpAddr) -> SocketAddr {
    match address {
        IpAddr::V6(six) if six.is_unicast_link_local() => {
            SocketAddrV6::new(six, PORT, 0, ETH0).into()
        }
        other => SocketAddr::new(other, PORT),
    }
}
