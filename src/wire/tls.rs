//! DNS over TLS (RFC 7858), by rustls.
//!
//! The runtime is one of this thread, made when it is needed: sockets are in
//! the network namespace that the thread has entered.

use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Instant;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout_at;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::roots::Roots;
use super::{failure, verifier};
use crate::dig::lookup::{Tls, Trust};
use crate::dig::machine::{Certificate, Failure};

/// What a server says that it speaks.
pub(super) const PROTOCOL: &[u8] = b"dot";

/// A connection to one server.
#[derive(Debug)]
pub(super) struct Connection {
    runtime: Runtime,
    stream: TlsStream<net::TcpStream>,
}

impl Connection {
    /// Shakes hands, and looks at the certificate.
    pub(super) fn open(
        socket: TcpStream,
        tls: &Tls,
        deadline: Instant,
        roots: &Roots,
    ) -> Result<Self, Failure> {
        let runtime = runtime()?;
        let stream = within(
            &runtime,
            deadline,
            shake_hands(socket, tls, PROTOCOL, roots),
        )?;
        if tls.must_agree && stream.get_ref().1.alpn_protocol() != Some(PROTOCOL) {
            return Err(Failure::NoDot);
        }
        Ok(Self { runtime, stream })
    }

    /// The address of this side.
    pub(super) fn local(&self) -> Option<SocketAddr> {
        self.stream.get_ref().0.local_addr().ok()
    }

    /// Sends bytes.
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let stream = &mut self.stream;
        self.runtime.block_on(async {
            stream.write_all(bytes).await.map_err(|error| why(&error))?;
            stream.flush().await.map_err(|error| why(&error))
        })
    }

    /// Waits until the buffer is full.
    pub(super) fn fill(&mut self, buffer: &mut [u8], deadline: Instant) -> Result<(), Failure> {
        let stream = &mut self.stream;
        within(&self.runtime, deadline, async {
            let read = stream.read_exact(buffer).await;
            read.map(|_| ()).map_err(|error| why(&error))
        })
    }
}

/// A runtime of this thread.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| failure(&error))
}

/// Does something until the deadline.
pub(super) fn within<T>(
    runtime: &Runtime,
    deadline: Instant,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    runtime.block_on(async {
        let worked = timeout_at(deadline.into(), work).await;
        worked.unwrap_or(Err(Failure::TimedOut))
    })
}

/// The socket on the runtime that runs.
pub(super) fn adopt(socket: TcpStream) -> Result<net::TcpStream, Failure> {
    let adopted = socket
        .set_nonblocking(true)
        .and_then(|()| net::TcpStream::from_std(socket));
    adopted.map_err(|error| failure(&error))
}

/// TLS over a socket, for one protocol.
pub(super) async fn shake_hands(
    socket: TcpStream,
    tls: &Tls,
    protocol: &[u8],
    roots: &Roots,
) -> Result<TlsStream<net::TcpStream>, Failure> {
    let config = roots.config(tls, protocol)?;
    let socket = adopt(socket)?;
    // Certificates know no zones of addresses.
    let host = tls.host.split('%').next().unwrap_or_default().to_owned();
    let peer = socket.peer_addr().map_err(|error| failure(&error))?;
    // What is no name is nobody's; whoever answers has none.
    let name = ServerName::try_from(host).or_else(|_| match tls.trust {
        Trust::Anyone => Ok(peer.ip().into()),
        _ => Err(Failure::Certificate(Certificate::OtherName)),
    })?;
    let connecting = TlsConnector::from(Arc::new(config)).connect(name, socket);
    connecting.await.map_err(|error| why_not(&error))
}

/// Why hands were not shaken.
fn why_not(error: &io::Error) -> Failure {
    let tls = error.get_ref().and_then(|it| it.downcast_ref());
    tls.map_or_else(|| failure(error), verifier::failure)
}

/// Why nothing more comes behind the handshake: the server can end it for the
/// certificate that it misses.
pub(super) fn why(error: &io::Error) -> Failure {
    use rustls::AlertDescription::CertificateRequired;
    match error.get_ref().and_then(|it| it.downcast_ref()) {
        Some(rustls::Error::AlertReceived(CertificateRequired)) => Failure::WantsCertificate,
        Some(rustls::Error::AlertReceived(_)) => Failure::EndOfFile,
        Some(_) => Failure::NoTls,
        None => failure(error),
    }
}
