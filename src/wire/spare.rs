//! Datagram sockets that are used again, each time with another port.
//!
//! To make, watch and close a socket takes the kernel longer than to send a
//! query. A socket that loses its peer loses its port too, if the kernel chose
//! it, and gets a new one, again by chance, when it is connected: for everyone
//! outside, it is a new socket. What had come for the old port is thrown away.
//! Source: Linux net/ipv4/udp.c: `__udp_disconnect`

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};

/// More are not kept.
const MOST: usize = 512;
/// So much is thrown away at most; a socket with more is closed.
const MOST_LATE: usize = 64;

/// A connected socket, and what it is watched under.
#[derive(Debug)]
pub(super) struct Connected {
    pub(super) socket: UdpSocket,
    pub(super) peer: SocketAddr,
    /// The number under which epoll knows it: that of its first query.
    pub(super) key: u32,
    /// Whether the kernel chose its port.
    pub(super) is_free: bool,
}

/// Sockets that wait for their next query.
#[derive(Debug, Default)]
pub(super) struct Spare {
    idle: Vec<Connected>,
    /// The numbers that sockets have now, by those under which they are watched.
    owners: BTreeMap<u32, u32>,
    /// Whether ports are given back; `None`: nobody has looked.
    works: Option<bool>,
}

impl Spare {
    /// The number of the socket that is watched under this one.
    pub(super) fn owner(&self, key: u32) -> u32 {
        self.owners.get(&key).copied().unwrap_or(key)
    }

    /// A socket for another peer of the same family, connected; `None`: there
    /// is none, or it cannot be connected.
    pub(super) fn take(&mut self, id: u32, peer: SocketAddr) -> Option<Connected> {
        let is_fit = |it: &Connected| it.peer.is_ipv4() == peer.is_ipv4();
        let at = self.idle.iter().rposition(is_fit)?;
        let mut connected = self.idle.swap_remove(at);
        self.owners.insert(connected.key, id);
        if connected.socket.connect(peer).is_err() {
            self.owners.remove(&connected.key);
            return None;
        }
        connected.peer = peer;
        Some(connected)
    }

    /// Keeps a socket for later, or closes it.
    pub(super) fn put(&mut self, connected: Connected) {
        let is_kept = connected.is_free
            && self.idle.len() < MOST
            && self.works != Some(false)
            && rustix::net::connect_unspec(&connected.socket).is_ok()
            && self.has_no_port(&connected.socket)
            && is_empty(&connected.socket);
        if is_kept {
            self.idle.push(connected);
        } else {
            self.owners.remove(&connected.key);
        }
    }

    /// One look is enough to know the kernel.
    fn has_no_port(&mut self, socket: &UdpSocket) -> bool {
        let look = || socket.local_addr().is_ok_and(|own| own.port() == 0);
        *self.works.get_or_insert_with(look)
    }
}

/// Throws away what has come, errors too; whether that is all.
fn is_empty(socket: &UdpSocket) -> bool {
    for _ in 0..MOST_LATE {
        match socket.recv(&mut [0; 1]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn fresh(peer: SocketAddr) -> Connected {
        let socket = socket2::Socket::new(
            socket2::Domain::IPV4,
            socket2::Type::DGRAM.nonblocking(),
            None,
        );
        let socket = socket.unwrap();
        socket.connect(&peer.into()).unwrap();
        Connected {
            socket: socket.into(),
            peer,
            key: 7,
            is_free: true,
        }
    }

    #[test]
    fn every_query_has_a_port_and_no_late_reply() {
        let there = UdpSocket::bind("127.0.0.1:0").unwrap();
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        let peer = there.local_addr().unwrap();
        let mut spare = Spare::default();
        let mut ports = BTreeSet::new();
        let mut connected = fresh(peer);
        for id in 8..40 {
            ports.insert(connected.socket.local_addr().unwrap().port());
            connected.socket.send(b"ask").unwrap();
            let mut buffer = [0; 9];
            let (_, from) = there.recv_from(&mut buffer).unwrap();
            there.send_to(b"one", from).unwrap();
            there.send_to(b"late", from).unwrap();
            assert_eq!(connected.socket.recv(&mut buffer).unwrap(), 3);
            spare.put(connected);
            // The old port is nobody's, and who is no peer is not heard.
            there.send_to(b"later", from).unwrap();
            connected = spare.take(id, peer).unwrap();
            assert_eq!(spare.owner(7), id);
            let own = connected.socket.local_addr().unwrap();
            other.send_to(b"spoof", own).unwrap();
            let silent = connected.socket.recv(&mut buffer).unwrap_err();
            assert_eq!(silent.kind(), ErrorKind::WouldBlock);
        }
        assert!(ports.len() > 24, "{ports:?}");
    }

    #[test]
    fn some_sockets_are_closed() {
        let there = UdpSocket::bind("127.0.0.1:0").unwrap();
        let peer = there.local_addr().unwrap();
        let mut spare = Spare::default();
        spare.put(Connected {
            is_free: false,
            ..fresh(peer)
        });
        assert!(spare.take(1, peer).is_none());
        spare.put(fresh(peer));
        assert!(spare.take(1, "[::1]:53".parse().unwrap()).is_none());
        assert!(spare.take(1, peer).is_some());
    }
}
