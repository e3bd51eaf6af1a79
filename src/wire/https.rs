//! DNS over HTTPS (RFC 8484), and over HTTP that nothing hides.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use bytes::Bytes;
use data_encoding::BASE64URL_NOPAD;
use h2::client::{Builder, SendRequest};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use http::{Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Runtime;

use super::MAX_MESSAGE;
use super::roots::Roots;
use super::tls::{adopt, runtime, shake_hands, why, within};
use crate::dig::lookup::{Http, Secure};
use crate::dig::machine::Failure;

const MEDIA_TYPE: &str = "application/dns-message";
const PROTOCOL: &[u8] = b"h2";
/// A header of DNS has so many bytes.
const LEAST: usize = 12;

/// A connection to one server.
pub(super) struct Connection {
    runtime: Runtime,
    sender: SendRequest<Bytes>,
    /// `https://10.0.0.1:443/dns-query`
    address: String,
    get: bool,
    local: Option<SocketAddr>,
    /// What was sent and has no reply.
    message: Option<Bytes>,
}

impl Connection {
    /// Begins HTTP/2, behind TLS or without it.
    pub(super) fn open(
        socket: TcpStream,
        (secure, http): (&Secure, &Http),
        deadline: Instant,
        roots: &Roots,
    ) -> Result<Self, Failure> {
        let peer = socket.peer_addr().ok();
        let local = socket.local_addr().ok();
        let runtime = runtime()?;
        let sender = within(&runtime, deadline, async {
            let Some(tls) = &secure.tls else {
                return begin(adopt(socket)?).await;
            };
            let stream = shake_hands(socket, tls, PROTOCOL, roots).await?;
            if stream.get_ref().1.alpn_protocol() != Some(PROTOCOL) {
                return Err(Failure::NoHttp2);
            }
            begin(stream).await
        })?;
        let scheme = secure.tls.as_ref().map_or("http", |_| "https");
        let port = peer.map_or(0, |it| it.port());
        let host = authority(&http.host, peer);
        Ok(Self {
            runtime,
            sender,
            address: format!("{scheme}://{host}:{port}{}", http.path),
            get: http.get,
            local,
            message: None,
        })
    }

    /// The address of this side.
    pub(super) fn local(&self) -> Option<SocketAddr> {
        self.local
    }

    /// Takes a message to be sent when its reply is waited for.
    pub(super) fn send(&mut self, message: &[u8]) {
        self.message = Some(Bytes::copy_from_slice(message));
    }

    /// Sends, and waits for the reply.
    pub(super) fn receive(&mut self, deadline: Instant) -> Result<Vec<u8>, Failure> {
        let message = self.message.take().ok_or(Failure::EndOfFile)?;
        let (request, body) = self.request(message)?;
        let sender = self.sender.clone();
        within(&self.runtime, deadline, async {
            let mut sender = sender.ready().await.map_err(|error| lost(&error))?;
            let sent = sender.send_request(request, body.is_none());
            let (response, mut stream) = sent.map_err(|error| lost(&error))?;
            if let Some(body) = body {
                let sent = stream.send_data(body, true);
                sent.map_err(|error| lost(&error))?;
            }
            whole(response.await.map_err(|error| lost(&error))?).await
        })
    }

    /// The request, and what follows its head.
    ///
    /// Source: BIND lib/isc/netmgr/http.c: `client_submit_request` (9.18)
    fn request(&self, message: Bytes) -> Result<(Request<()>, Option<Bytes>), Failure> {
        let request = Request::builder()
            .header(ACCEPT, MEDIA_TYPE)
            .header(CACHE_CONTROL, "no-cache, no-store, must-revalidate");
        let (request, body) = if self.get {
            let text = BASE64URL_NOPAD.encode(&message);
            let address = format!("{}?dns={text}", self.address);
            (request.method("GET").uri(address), None)
        } else {
            let request = request
                .method("POST")
                .uri(&self.address)
                .header(CONTENT_TYPE, MEDIA_TYPE)
                .header(CONTENT_LENGTH, message.len());
            (request, Some(message))
        };
        let request = request.body(()).map_err(|_| Failure::Failed)?;
        Ok((request, body))
    }
}

/// Begins HTTP/2. What drives it ends with the runtime.
async fn begin<S>(stream: S) -> Result<SendRequest<Bytes>, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let begun = Builder::new().enable_push(false).handshake(stream).await;
    let (sender, connection) = begun.map_err(|error| lost(&error))?;
    tokio::spawn(connection);
    Ok(sender)
}

/// The message of a response.
async fn whole(response: Response<h2::RecvStream>) -> Result<Vec<u8>, Failure> {
    let (head, mut body) = response.into_parts();
    if !head.status.is_success() {
        return Err(Failure::Http(head.status.as_u16()));
    }
    let is_message = |kind: &[u8]| {
        let start = kind.get(..MEDIA_TYPE.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(MEDIA_TYPE.as_bytes()))
    };
    let kind = head.headers.get(CONTENT_TYPE);
    if kind.is_some_and(|kind| !is_message(kind.as_bytes())) {
        return Err(Failure::NoMessage);
    }
    let mut message = Vec::new();
    while let Some(part) = body.data().await {
        let part = part.map_err(|error| lost(&error))?;
        message.extend(&part);
        if message.len() > MAX_MESSAGE {
            return Err(Failure::NoMessage);
        }
        let _ = body.flow_control().release_capacity(part.len());
    }
    if message.len() < LEAST {
        return Err(Failure::NoMessage);
    }
    Ok(message)
}

/// The host of an address: what was written, unless it cannot stand there.
fn authority(host: &str, peer: Option<SocketAddr>) -> String {
    let is_fit = |host: &&str| host.parse::<http::uri::Authority>().is_ok();
    if host.parse::<std::net::Ipv6Addr>().is_ok() {
        return format!("[{host}]");
    }
    match (Some(host).filter(is_fit), peer) {
        (Some(host), _) => host.to_owned(),
        (None, Some(SocketAddr::V6(peer))) => format!("[{}]", peer.ip()),
        (None, peer) => peer.map(|it| it.ip().to_string()).unwrap_or_default(),
    }
}

/// Why there is no reply.
fn lost(error: &h2::Error) -> Failure {
    if let Some(error) = error.get_io() {
        // h2 calls it a broken pipe if there is nothing more to read.
        let is_end = error.kind() == ErrorKind::BrokenPipe && error.raw_os_error().is_none();
        return if is_end {
            Failure::EndOfFile
        } else {
            why(error)
        };
    }
    match (error.is_remote(), error.is_go_away()) {
        (true, true) => Failure::EndOfFile,
        (true, false) => Failure::Failed,
        (false, _) => Failure::Unexpected,
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}
