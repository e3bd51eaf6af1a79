//! DNS over TLS (RFC 7858), by rustls.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use rustls::ClientConnection;
use rustls::pki_types::ServerName;

use super::roots::{Roots, certificate};
use super::{anyone, failure, left};
use crate::dig::lookup::Secure;
use crate::dig::machine::Failure;

/// A connection to one server.
#[derive(Debug)]
pub(super) struct Connection {
    socket: TcpStream,
    tls: ClientConnection,
}

impl Connection {
    /// Shakes hands, and looks at the certificate, which must be for the host.
    pub(super) fn open(
        socket: TcpStream,
        secure: &Secure,
        deadline: Instant,
        roots: &Roots,
    ) -> Result<Self, Failure> {
        // Certificates know no zones of addresses.
        let host = secure.host.as_str();
        let host = host.split_once('%').map_or(host, |(host, _)| host);
        let name = ServerName::try_from(host.to_owned()).map_err(|_| Failure::NotValidForName)?;
        let config = if secure.verified {
            roots.config()?
        } else {
            anyone::config()?
        };
        let tls = ClientConnection::new(config, name);
        let mut connection = Self {
            socket,
            tls: tls.map_err(|error| certificate(&error))?,
        };
        while connection.tls.is_handshaking() {
            connection.exchange(deadline)?;
        }
        Ok(connection)
    }

    /// The address of this side.
    pub(super) fn local(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()
    }

    /// Sends bytes.
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = self.tls.writer().write_all(bytes);
        written
            .and_then(|()| self.write())
            .map_err(|error| failure(&error))
    }

    /// Waits until the buffer is full.
    pub(super) fn fill(&mut self, buffer: &mut [u8], deadline: Instant) -> Result<(), Failure> {
        let mut rest = buffer;
        while !rest.is_empty() {
            match self.tls.reader().read(rest) {
                Ok(0) => return Err(Failure::EndOfFile),
                Ok(count) => rest = rest.get_mut(count..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.exchange(deadline)?,
                Err(error) => return Err(failure(&error)),
            }
        }
        Ok(())
    }

    /// Writes what TLS has to write, else reads what is there.
    fn exchange(&mut self, deadline: Instant) -> Result<(), Failure> {
        if self.tls.wants_write() {
            return self.write().map_err(|error| failure(&error));
        }
        let read = left(deadline).and_then(|left| {
            self.socket.set_read_timeout(Some(left))?;
            self.tls.read_tls(&mut self.socket)
        });
        match read {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(failure(&error)),
            Ok(0) if self.tls.is_handshaking() => return Err(Failure::EndOfFile),
            Ok(_) => {}
        }
        self.tls.process_new_packets().map_err(|error| {
            // The server learns why; whether it listens is no matter.
            let _ = self.write();
            certificate(&error)
        })?;
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.socket)?;
        }
        Ok(())
    }
}
