//! A TCP connection that never blocks, message by message.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd as _;

use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};

/// A connection that is made.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) socket: TcpStream,
    pub(super) peer: SocketAddr,
    incoming: Vec<u8>,
    /// So many bytes of it were given away.
    taken: usize,
    pub(super) outgoing: Vec<u8>,
}

impl Stream {
    pub(super) fn new(socket: TcpStream, peer: SocketAddr) -> Self {
        Self {
            socket,
            peer,
            incoming: Vec::new(),
            taken: 0,
            outgoing: Vec::new(),
        }
    }

    pub(super) fn write(&mut self) -> io::Result<()> {
        while !self.outgoing.is_empty() {
            match self.socket.write(&self.outgoing) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => drop(self.outgoing.drain(..count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_passing(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// To be woken when there is something to read, or room to write.
    pub(super) fn wait_by(&self, epoll: &Epoll, id: u32) {
        let mut flags = EpollFlags::EPOLLIN;
        flags.set(EpollFlags::EPOLLOUT, !self.outgoing.is_empty());
        let _ = epoll.modify(self.socket.as_fd(), &mut EpollEvent::new(flags, id.into()));
    }

    /// Writes and reads as far as that goes without waiting: the first whole
    /// message, if there is one.
    pub(super) fn exchange(&mut self, buffer: &mut [u8]) -> io::Result<Option<Vec<u8>>> {
        self.write()?;
        loop {
            if let Some(message) = self.whole() {
                return Ok(Some(message));
            }
            // Once for all messages of a reading: they can be two bytes each.
            drop(self.incoming.drain(..self.taken));
            self.taken = 0;
            match self.socket.read(buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.incoming.extend(buffer.iter().take(count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_passing(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// A message behind its length (RFC 1035, section 4.2.2).
    fn whole(&mut self) -> Option<Vec<u8>> {
        let (length, rest) = self.incoming.get(self.taken..)?.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_be_bytes(*length));
        let message = rest.get(..length)?.to_vec();
        self.taken += length + 2;
        Some(message)
    }
}

/// Whether it is no error, but nothing to do now.
pub(super) fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn many_empty_messages_hide_none() {
        let there = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = there.local_addr().unwrap();
        let socket = TcpStream::connect(peer).unwrap();
        let (mut other, _) = there.accept().unwrap();
        socket.set_nonblocking(true).unwrap();
        let mut stream = Stream::new(socket, peer);
        let sent = [vec![0; 40_001], vec![3], b"end".to_vec(), vec![0]].concat();
        let writer = std::thread::spawn(move || {
            other.write_all(&sent).unwrap();
            other
        });
        let mut buffer = [0; 1000];
        let mut count = 0;
        let last = loop {
            match stream.exchange(&mut buffer).unwrap() {
                Some(message) if message.is_empty() => count += 1,
                Some(message) => break message,
                None => std::thread::yield_now(),
            }
        };
        assert_eq!((count, last), (20_000, b"end".to_vec()));
        drop(writer.join().unwrap());
        let end = loop {
            match stream.exchange(&mut buffer) {
                Ok(None) => std::thread::yield_now(),
                end => break end,
            }
        };
        assert_eq!(end.map_err(|it| it.kind()), Err(ErrorKind::UnexpectedEof));
    }
}
