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
    pub(super) incoming: Vec<u8>,
    pub(super) outgoing: Vec<u8>,
}

impl Stream {
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
        let (length, rest) = self.incoming.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_be_bytes(*length));
        let message = rest.get(..length)?.to_vec();
        self.incoming.drain(..length + 2);
        Some(message)
    }
}

/// Whether it is no error, but nothing to do now.
pub(super) fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
