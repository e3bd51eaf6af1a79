//! Packets that are sent, and what is seen of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

use crate::lab::QUESTION;
use crate::network::{Server, connections, within};

/// So many packets go to each destination.
pub(crate) const PACKETS: u16 = 80;
/// Nothing comes any more after so long a silence.
const SILENCE: Duration = Duration::from_millis(12);
/// What `connect` says while it goes on.
const IN_PROGRESS: i32 = 115;

const ANSWER: &[u8] = b"the answer";

/// What came of packets to one destination.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) sent: usize,
    /// By endpoint, and whether its sender was another than the asker.
    pub(crate) arrived: BTreeMap<(SocketAddr, bool), usize>,
    pub(crate) answered: usize,
    /// Errors by number, when they were sent or later.
    pub(crate) errors: BTreeMap<i32, usize>,
}

impl Observed {
    fn fail(&mut self, error: &std::io::Error) {
        *self
            .errors
            .entry(error.raw_os_error().unwrap())
            .or_default() += 1;
    }

    fn arrive(&mut self, at: SocketAddr, is_other: bool) {
        *self.arrived.entry((at, is_other)).or_default() += 1;
    }
}

/// Who sends: from where, and from which port on.
#[derive(Clone, Copy)]
pub(crate) struct Asker {
    pub(crate) source: IpAddr,
    pub(crate) first_port: u16,
    pub(crate) is_host: bool,
}

impl Asker {
    fn open<T: Send>(self, one: impl Fn(SocketAddr) -> T + Send) -> Vec<T> {
        let ports = self.first_port..self.first_port + PACKETS;
        let all = move || ports.map(|it| one((self.source, it).into())).collect();
        if self.is_host {
            all()
        } else {
            within("pod", all)
        }
    }
}

/// Asks over UDP, each time from a port of its own.
pub(crate) fn udp(servers: &[Server], asker: Asker, to: SocketAddr) -> Observed {
    let clients = asker.open(|from| {
        let socket = UdpSocket::bind(from).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket
    });
    drain(servers, asker.source, &mut Observed::default());
    let mut observed = Observed::default();
    let mut open: Vec<&UdpSocket> = Vec::new();
    for client in &clients {
        observed.sent += 1;
        match client.connect(to).and_then(|()| client.send(QUESTION)) {
            Ok(_) => open.push(client),
            Err(error) => observed.fail(&error),
        }
    }
    let mut quiet = Instant::now();
    let mut buffer = [0; 64];
    while quiet.elapsed() < SILENCE {
        if drain(servers, asker.source, &mut observed) {
            quiet = Instant::now();
        }
        open.retain(|client| match client.recv(&mut buffer) {
            Ok(_) => {
                observed.answered += 1;
                quiet = Instant::now();
                false
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => true,
            Err(error) => {
                observed.fail(&error);
                false
            }
        });
        std::thread::sleep(Duration::from_micros(300));
    }
    observed
}

/// Takes what has arrived, and answers it.
fn drain(servers: &[Server], source: IpAddr, observed: &mut Observed) -> bool {
    let mut buffer = [0; 64];
    let mut is_any = false;
    for server in servers {
        while let Ok((length, from)) = server.udp.recv_from(&mut buffer) {
            is_any = true;
            // An answer can be led to another server.
            if &buffer[..length] != QUESTION {
                continue;
            }
            observed.arrive(server.address, from.ip() != source);
            // A rule may forbid it.
            let _ = server.udp.send_to(ANSWER, from);
        }
    }
    is_any
}

/// The connections of all servers when no more come: a busy machine is late.
fn settled() -> BTreeSet<(SocketAddr, SocketAddr)> {
    let mut found = connections();
    loop {
        std::thread::sleep(SILENCE);
        let again = connections();
        if again.len() == found.len() {
            return again;
        }
        found = again;
    }
}

/// Opens connections: the first packet and the one that answers it are what
/// counts. They end with a reset.
pub(crate) fn tcp(servers: &[Server], asker: Asker, to: SocketAddr) -> Observed {
    let clients = asker.open(|from| {
        let socket = Socket::new(Domain::for_address(from), Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket.set_linger(Some(Duration::ZERO)).unwrap();
        socket.bind(&from.into()).unwrap();
        socket
    });
    let before = connections();
    let mut observed = Observed::default();
    let mut open: Vec<&Socket> = Vec::new();
    for client in &clients {
        observed.sent += 1;
        match client.connect(&to.into()) {
            Ok(()) => open.push(client),
            Err(error) if error.raw_os_error() == Some(IN_PROGRESS) => open.push(client),
            Err(error) => observed.fail(&error),
        }
    }
    let mut quiet = Instant::now();
    while quiet.elapsed() < SILENCE {
        open.retain(|client| {
            let error = client.take_error().unwrap();
            let is_done = error.is_some() || client.peer_addr().is_ok();
            match error {
                Some(error) => observed.fail(&error),
                None if is_done => observed.answered += 1,
                None => {}
            }
            if is_done {
                quiet = Instant::now();
            }
            !is_done
        });
        std::thread::sleep(Duration::from_micros(300));
    }
    for (at, from) in settled().difference(&before) {
        observed.arrive(*at, from.ip() != asker.source);
    }
    for server in servers {
        while let Ok((stream, _)) = server.tcp.accept() {
            let stream = Socket::from(stream);
            stream.set_linger(Some(Duration::ZERO)).unwrap();
        }
    }
    observed
}
