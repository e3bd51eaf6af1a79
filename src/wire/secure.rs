//! DNS over TLS (RFC 7858) and HTTPS (RFC 8484), by hickory.
//!
//! The runtime is one of this thread, made when it is needed: sockets are in
//! the network namespace that the thread has entered.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::poll_fn;
use futures_util::stream::Stream as _;
use hickory_proto::op::{DnsRequest, DnsRequestOptions, Message};
use hickory_resolver::config::{ConnectionConfig, ResolverOpts};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::xfer::{DnsExchange, DnsHandle as _};
use hickory_resolver::{ConnectionProvider as _, PoolContext, TlsConfig};
use rustls::CertificateError;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::failure;
use crate::dig::lookup::Server;
use crate::dig::machine::Failure;

/// A connection to one server.
pub(super) struct Connection {
    runtime: Runtime,
    exchange: DnsExchange<TokioRuntimeProvider>,
    /// What was sent and has no reply.
    message: Option<Message>,
}

impl Connection {
    /// Connects, and looks at the certificate: its roots are those of
    /// `webpki-roots`.
    pub(super) fn open(
        peer: SocketAddr,
        server: &Server,
        source: Option<SocketAddr>,
        limit: Duration,
    ) -> Result<Self, Failure> {
        let secure = server.secure.as_ref().ok_or(Failure::Failed)?;
        let host = secure.host.as_str().into();
        let mut config = match &secure.path {
            None => ConnectionConfig::tls(host),
            Some(path) => ConnectionConfig::https(host, Some(path.as_str().into())),
        };
        config.port = peer.port();
        config.bind_addr = source;
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| failure(&error))?;
        let mut options = ResolverOpts::default();
        options.timeout = limit;
        let exchange = runtime.block_on(async {
            let tls = TlsConfig::new()?;
            let context = PoolContext::new(options, tls);
            let provider = TokioRuntimeProvider::default();
            let connecting = provider.new_connection(peer.ip(), &config, &context)?;
            timeout(limit, connecting)
                .await
                .unwrap_or(Err(NetError::Timeout))
        });
        Ok(Self {
            exchange: exchange.map_err(|error| why(&error))?,
            runtime,
            message: None,
        })
    }

    /// Takes a message to be sent when its reply is waited for.
    pub(super) fn send(&mut self, message: &[u8]) -> Result<(), Failure> {
        self.message = Some(Message::from_vec(message).map_err(|_| Failure::Failed)?);
        Ok(())
    }

    /// Sends, and waits for the reply.
    pub(super) fn receive(&mut self, limit: Duration) -> Result<Vec<u8>, Failure> {
        let message = self.message.take().ok_or(Failure::EndOfFile)?;
        let id = message.metadata.id;
        let request = DnsRequest::new(message, DnsRequestOptions::default());
        let exchange = &self.exchange;
        let reply = self.runtime.block_on(async {
            let mut replies = Box::pin(exchange.send(request));
            let first = poll_fn(|context| replies.as_mut().poll_next(context));
            timeout(limit, first).await
        });
        let reply = reply
            .map_err(|_| Failure::TimedOut)?
            .ok_or(Failure::EndOfFile)?;
        let mut bytes = reply.map_err(|error| why(&error))?.into_buffer();
        // hickory draws ids of its own (RFC 8484 wants 0), and has compared them.
        if let Some(place) = bytes.first_chunk_mut::<2>() {
            *place = id.to_be_bytes();
        }
        Ok(bytes)
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

fn why(error: &NetError) -> Failure {
    match error {
        NetError::Timeout => Failure::TimedOut,
        NetError::Io(error) => {
            let below = error.get_ref();
            let tls = below.and_then(|it| it.downcast_ref::<rustls::Error>());
            tls.map_or_else(|| failure(error), certificate)
        }
        _ => Failure::NoHandshake,
    }
}

fn certificate(error: &rustls::Error) -> Failure {
    let rustls::Error::InvalidCertificate(error) = error else {
        return Failure::NoHandshake;
    };
    match error {
        CertificateError::UnknownIssuer => Failure::UnknownIssuer,
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => Failure::NotValidNow,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Failure::NotValidForName
        }
        _ => Failure::BadCertificate,
    }
}
