//! DNS over HTTPS (RFC 8484), by hickory.
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
use hickory_resolver::{ConnectionProvider as _, PoolContext};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::failure;
use super::roots::{Roots, certificate};
use crate::dig::lookup::Secure;
use crate::dig::machine::Failure;

/// A connection to one server.
pub(super) struct Connection {
    runtime: Runtime,
    /// The tasks behind the connection end with it.
    _provider: TokioRuntimeProvider,
    exchange: DnsExchange<TokioRuntimeProvider>,
    /// What was sent and has no reply.
    message: Option<Message>,
}

impl Connection {
    /// Connects, and looks at the certificate.
    pub(super) fn open(
        peer: SocketAddr,
        (secure, path): (&Secure, &str),
        source: Option<SocketAddr>,
        limit: Duration,
        roots: &Roots,
    ) -> Result<Self, Failure> {
        let mut config = ConnectionConfig::https(secure.host.as_str().into(), Some(path.into()));
        config.port = peer.port();
        config.bind_addr = source;
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| failure(&error))?;
        let mut options = ResolverOpts::default();
        // Ours ends first: hickory does not tell its own from a connection's end.
        options.timeout = limit.saturating_mul(2);
        let provider = TokioRuntimeProvider::default();
        let exchange = runtime.block_on(async {
            let tls = roots.hickory()?;
            let context = PoolContext::new(options, tls);
            let connecting = provider.new_connection(peer.ip(), &config, &context)?;
            timeout(limit, connecting)
                .await
                .unwrap_or(Err(NetError::Timeout))
        });
        Ok(Self {
            exchange: exchange.map_err(|error| why(&error, Failure::NoHandshake))?,
            runtime,
            _provider: provider,
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
        let mut bytes = reply.map_err(|error| unanswered(&error))?.into_buffer();
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

/// What the kernel, the certificate or hickory said; else `other`.
fn why(error: &NetError, other: Failure) -> Failure {
    match error {
        NetError::Timeout => Failure::TimedOut,
        NetError::Io(error) => {
            let below = error.get_ref();
            let tls = below.and_then(|it| it.downcast_ref::<rustls::Error>());
            tls.map_or_else(|| failure(error), certificate)
        }
        _ => other,
    }
}

/// Why there is no reply. Of HTTP hickory has sentences only.
///
/// Source: hickory-net src/h2.rs: `send` (0.26)
fn unanswered(error: &NetError) -> Failure {
    const STATUS: &str = "http unsuccessful code: ";
    match error {
        NetError::Proto(_) => Failure::NoMessage,
        NetError::Msg(said) if said.starts_with("ContentType ") => Failure::NoMessage,
        NetError::Msg(said) => {
            let status = said
                .strip_prefix(STATUS)
                .and_then(|it| it.get(..3)?.parse().ok());
            status.map_or(Failure::EndOfFile, Failure::Http)
        }
        error => why(error, Failure::EndOfFile),
    }
}
