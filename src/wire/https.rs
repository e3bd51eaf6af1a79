//! DNS over HTTPS (RFC 8484), and over HTTP that nothing hides.

use std::convert::Infallible;
use std::future::pending;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;

use bytes::Bytes;
use data_encoding::BASE64URL_NOPAD;
use futures_util::future::{Either, select};
use h2::client::{Builder, SendRequest};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use http::{Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};

use super::MAX_MESSAGE;
use super::secure::{Letters, Socket};
use super::tls::{Layer, shake_hands, why};
use crate::engine::failure::Failure;
use crate::engine::secure::Http;

const MEDIA_TYPE: &str = "application/dns-message";
pub(super) const PROTOCOL: &[u8] = b"h2";
/// A header of DNS has so many bytes.
const LEAST: usize = 12;

/// Begins HTTP/2, behind TLS or without it, then asks until that is no longer
/// possible.
pub(super) async fn converse(
    socket: Socket,
    layer: Option<Layer>,
    http: Http,
    peer: SocketAddr,
    letters: &Letters,
) -> Result<Infallible, Failure> {
    let scheme = layer.as_ref().map_or("http", |_| "https");
    let host = authority(&http.host, peer);
    let endpoint = Endpoint {
        address: format!("{scheme}://{host}:{}{}", peer.port(), http.path),
        get: http.get,
    };
    let Some(layer) = layer else {
        return exchange(socket, &endpoint, letters).await;
    };
    let stream = shake_hands(socket, layer).await?;
    if stream.get_ref().1.alpn_protocol() != Some(PROTOCOL) {
        return Err(Failure::NoHttp2);
    }
    exchange(stream, &endpoint, letters).await
}

/// Where requests go, and how.
struct Endpoint {
    /// `https://10.0.0.1:443/dns-query`
    address: String,
    get: bool,
}

async fn exchange<S>(
    stream: S,
    endpoint: &Endpoint,
    letters: &Letters,
) -> Result<Infallible, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let begun = Builder::new().enable_push(false).handshake(stream).await;
    let (sender, connection) = begun.map_err(|error| lost(&error))?;
    letters.open();
    let ask = async {
        loop {
            let message = letters.next().await;
            letters.put(reply(sender.clone(), endpoint, message.into()).await?);
            // There is no second reply to one request.
            if letters.is_empty() {
                return Err(Failure::EndOfFile);
            }
        }
    };
    // What is wrong with the connection shows in the reply.
    let drive = async {
        let _ = connection.await;
        pending().await
    };
    match select(pin!(ask), pin!(drive)).await {
        Either::Left((end, _)) | Either::Right((end, _)) => end,
    }
}

async fn reply(
    sender: SendRequest<Bytes>,
    endpoint: &Endpoint,
    message: Bytes,
) -> Result<Vec<u8>, Failure> {
    let (request, body) = endpoint.request(message)?;
    let mut sender = sender.ready().await.map_err(|error| lost(&error))?;
    let sent = sender.send_request(request, body.is_none());
    let (response, mut stream) = sent.map_err(|error| lost(&error))?;
    if let Some(body) = body {
        let sent = stream.send_data(body, true);
        sent.map_err(|error| lost(&error))?;
    }
    whole(response.await.map_err(|error| lost(&error))?).await
}

impl Endpoint {
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
fn authority(host: &str, peer: SocketAddr) -> String {
    let is_fit = |host: &&str| host.parse::<http::uri::Authority>().is_ok();
    if host.parse::<std::net::Ipv6Addr>().is_ok() {
        return format!("[{host}]");
    }
    match peer {
        _ if is_fit(&host) => host.to_owned(),
        SocketAddr::V6(peer) => format!("[{}]", peer.ip()),
        SocketAddr::V4(peer) => peer.ip().to_string(),
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
