//! Many sockets at once, none of which ever blocks.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use super::kind::{Kind, begin, datagram};
use super::roots::Roots;
use super::secure::Conversation;
use super::spare::{Connected, Spare};
use super::{MAX_MESSAGE, errors};
use crate::engine::message::Transport;
use crate::engine::secure::Secure;

pub(super) use super::kind::Got;

/// Sockets by numbers of the caller's.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    all: BTreeMap<u32, Kind>,
    /// Those that may have something to tell, as epoll knows them.
    ready: VecDeque<u32>,
    spare: Spare,
    buffer: Vec<u8>,
    /// Made when it is needed; `None`: not yet, or not to be had.
    epoll: Option<Epoll>,
    /// Whether the other descriptor is waited for.
    has_other: bool,
}

/// So many events are taken at once.
const EVENTS: usize = 64;
/// What stands for the descriptor that is no socket.
const OTHER: u64 = u64::MAX;

impl Sockets {
    /// Whether nothing can ever come.
    pub(super) fn is_silent(&self) -> bool {
        self.all.values().all(|it| matches!(it, Kind::Over))
    }

    /// Begins to connect, from `source` if there is one; tells at once what
    /// can be told at once.
    pub(super) fn connect(
        &mut self,
        id: u32,
        peer: Option<SocketAddr>,
        source: Option<SocketAddr>,
        transport: Transport,
    ) -> Option<Got> {
        if let (Transport::Udp, Some(peer), None) = (transport, peer, source)
            && let Some(connected) = self.spare.take(id, peer)
        {
            self.all.insert(id, Kind::Connected(connected));
            return Some(Got::Connected);
        }
        let made = peer.ok_or_else(nowhere).and_then(|peer| {
            let socket = begin(peer, source, transport)?;
            let flags = match transport {
                Transport::Udp => EpollFlags::EPOLLIN,
                Transport::Tcp => EpollFlags::EPOLLOUT,
            };
            watch(&mut self.epoll, id, socket.as_fd(), flags);
            Ok(match transport {
                Transport::Udp => Kind::Connected(Connected {
                    socket: socket.into(),
                    peer,
                    key: id,
                    is_free: source.is_none(),
                }),
                Transport::Tcp => Kind::Connecting(socket.into(), peer),
            })
        });
        match made {
            Ok(kind) => {
                self.all.insert(id, kind);
                (transport == Transport::Udp).then_some(Got::Connected)
            }
            Err(error) => Some(Got::Failed(error)),
        }
    }

    /// Sends; what cannot be sent is lost, as on the way. A UDP socket that
    /// was never connected is made here.
    pub(super) fn send(
        &mut self,
        id: u32,
        peer: Option<SocketAddr>,
        transport: Transport,
        message: &[u8],
    ) -> Option<Got> {
        let fresh = || match transport {
            Transport::Udp => Kind::Free(Vec::new()),
            Transport::Tcp => Kind::Over,
        };
        let kind = self.all.entry(id).or_insert_with(fresh);
        match kind {
            Kind::Free(sockets) => {
                let Some(peer) = peer else {
                    return Some(Got::NotSent(nowhere()));
                };
                let of_family = |it: &UdpSocket| {
                    it.local_addr()
                        .is_ok_and(|own| own.is_ipv4() == peer.is_ipv4())
                };
                if !sockets.iter().any(of_family) {
                    let socket = match datagram(peer) {
                        Ok(socket) => socket,
                        Err(error) => return Some(Got::NotSent(error)),
                    };
                    errors::listen(&socket, peer.is_ipv4());
                    watch(&mut self.epoll, id, socket.as_fd(), EpollFlags::EPOLLIN);
                    sockets.push(socket);
                }
                let socket = sockets.iter().find(|it| of_family(it))?;
                // The first error can be that of an earlier datagram.
                let sent = socket.send_to(message, peer);
                let sent = sent.or_else(|_| socket.send_to(message, peer));
                sent.err().map(Got::NotSent)
            }
            Kind::Connected(Connected { socket, .. }) => {
                // An error of an earlier datagram is told here.
                let error = socket.send(message).err()?;
                let is_refused = error.kind() == ErrorKind::ConnectionRefused;
                let is_earlier = is_refused && socket.send(message).is_ok();
                Some(if is_earlier {
                    Got::Failed(error)
                } else {
                    Got::NotSent(error)
                })
            }
            Kind::Stream(stream) => {
                let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
                stream.outgoing.extend(length.to_be_bytes());
                stream.outgoing.extend(message);
                let result = stream.write();
                if let Some(epoll) = &self.epoll {
                    stream.wait_by(epoll, id);
                }
                let error = result.err()?;
                *kind = Kind::Over;
                Some(Got::Failed(error))
            }
            Kind::Secure(conversation) => {
                conversation.send(message);
                self.ready.push_back(id);
                None
            }
            Kind::Connecting(..) | Kind::Over => None,
        }
    }

    /// Begins TLS or HTTP on a connection that is made; it is told to be
    /// connected again when messages can be sent.
    pub(super) fn secure(&mut self, id: u32, secure: Secure, roots: &Roots) {
        let Some(Kind::Stream(stream)) = self.all.remove(&id) else {
            return;
        };
        let begun = Conversation::begin(stream.socket, stream.peer, secure, roots);
        if let Some(epoll) = &self.epoll {
            let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
            let mut event = EpollEvent::new(flags, id.into());
            let _ = epoll.modify(begun.socket.0.as_fd(), &mut event);
        }
        self.all.insert(id, Kind::Secure(begun));
        self.ready.push_back(id);
    }

    /// The address and port of this side.
    pub(super) fn local(&self, id: u32) -> Option<SocketAddr> {
        match self.all.get(&id)? {
            Kind::Connected(connected) => connected.socket.local_addr().ok(),
            Kind::Stream(stream) => stream.socket.local_addr().ok(),
            Kind::Secure(conversation) => conversation.socket.0.local_addr().ok(),
            Kind::Free(_) | Kind::Connecting(..) | Kind::Over => None,
        }
    }

    /// Closes a socket; what still comes is lost.
    pub(super) fn close(&mut self, id: u32) {
        if let Some(Kind::Connected(connected)) = self.all.remove(&id)
            && self.epoll.is_some()
        {
            self.spare.put(connected);
        }
    }

    /// The next thing that a socket tells within this time; `None`: none does, or
    /// `other` can be read, a further descriptor that is waited for.
    pub(super) fn wait(
        &mut self,
        timeout: Duration,
        other: Option<BorrowedFd<'_>>,
    ) -> Option<(u32, Got)> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(got) = self.told() {
                return Some(got);
            }
            // A part of a millisecond is one: the time must be over.
            let left = deadline.saturating_duration_since(Instant::now());
            let milliseconds = i32::try_from(left.as_micros().div_ceil(1000));
            let is_other = self.poll(milliseconds.unwrap_or(i32::MAX), other);
            if self.ready.is_empty() && (is_other || left.is_zero()) {
                return None;
            }
        }
    }

    /// Notes which sockets are ready; whether the other one is.
    fn poll(&mut self, milliseconds: i32, other: Option<BorrowedFd<'_>>) -> bool {
        let mut timeout = EpollTimeout::try_from(milliseconds).unwrap_or(EpollTimeout::ZERO);
        let Some(epoll) = existing(&mut self.epoll) else {
            // There are too many descriptors: look at all after a while.
            std::thread::sleep(Duration::from_millis(u64::from(milliseconds > 0)));
            self.ready.extend(self.all.keys());
            return other.is_some();
        };
        let mut is_other = false;
        if let Some(fd) = other.filter(|_| !self.has_other) {
            let event = EpollEvent::new(EpollFlags::EPOLLIN, OTHER);
            self.has_other = epoll.add(fd, event).is_ok();
            // A file is always ready, and none that epoll takes.
            if !self.has_other {
                is_other = true;
                timeout = EpollTimeout::ZERO;
            }
        }
        let mut events = [EpollEvent::empty(); EVENTS];
        let count = epoll.wait(&mut events, timeout).unwrap_or(0);
        for event in events.iter().take(count) {
            match u32::try_from(event.data()) {
                Ok(id) => self.ready.push_back(id),
                Err(_) => is_other = true,
            }
        }
        is_other
    }

    /// Stops waiting for the other descriptor.
    pub(super) fn forget(&mut self, other: BorrowedFd<'_>) {
        if std::mem::take(&mut self.has_other)
            && let Some(epoll) = &self.epoll
        {
            let _ = epoll.delete(other);
        }
    }

    /// What the sockets that were found ready still have to tell.
    pub(super) fn told(&mut self) -> Option<(u32, Got)> {
        while let Some(key) = self.ready.pop_front() {
            let id = self.spare.owner(key);
            let Some(kind) = self.all.get_mut(&id) else {
                continue;
            };
            if self.buffer.is_empty() {
                self.buffer = vec![0; MAX_MESSAGE];
            }
            let got = kind.read(&mut self.buffer);
            if let (Some(epoll), Kind::Stream(stream)) = (&self.epoll, &kind) {
                stream.wait_by(epoll, id);
            }
            if let Some(got) = got {
                // There may be more behind a message of a connection.
                if matches!((&got, &kind), (Got::Message(..), Kind::Stream(_)))
                    || matches!(kind, Kind::Secure(_))
                {
                    self.ready.push_front(id);
                }
                return Some((id, got));
            }
        }
        None
    }
}

/// Where there is no such interface, there is no such address.
fn nowhere() -> io::Error {
    ErrorKind::AddrNotAvailable.into()
}

/// Whether there is something to read.
pub(super) fn is_readable(descriptor: Option<BorrowedFd<'_>>) -> bool {
    descriptor.is_some_and(|it| {
        let mut wanted = [PollFd::new(it, PollFlags::POLLIN)];
        poll(&mut wanted, PollTimeout::ZERO).is_ok_and(|count| count > 0)
    })
}

fn existing(epoll: &mut Option<Epoll>) -> Option<&Epoll> {
    if epoll.is_none() {
        *epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).ok();
    }
    epoll.as_ref()
}

fn watch(epoll: &mut Option<Epoll>, id: u32, fd: BorrowedFd<'_>, flags: EpollFlags) {
    if let Some(epoll) = existing(epoll) {
        let _ = epoll.add(fd, EpollEvent::new(flags, id.into()));
    }
}
