//! Servers behind TLS, which hand what they are asked to BIND's.

use std::future::Future;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use data_encoding::BASE64URL_NOPAD;
use h2::RecvStream;
use h2::server::SendResponse;
use http::{Request, Response};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

/// Longer than any client waits.
const PATIENCE: Duration = Duration::from_secs(20);
const BIND: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 53);

/// What a server of DNS over TLS does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Dot {
    Answers,
    /// Takes the connection, and that is all.
    Silent,
    /// Shakes hands, and that is all.
    Hangs,
    /// Shakes hands, reads, and ends.
    Ends,
    /// Takes the connection, and ends.
    Gone,
    Plain,
}

/// What a server of DNS over HTTPS does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Http {
    Answers,
    Hangs,
    Status(u16),
    /// HTML.
    Page,
    Junk,
    Empty,
    /// More than 65,535 bytes.
    Long,
    /// HTTP/1.1.
    Old,
    /// A record that says what was asked of HTTP.
    Echo,
    OtherId,
}

type Stream = tokio::net::TcpStream;

/// What a path asks for, wherever it is asked.
fn of_path(path: &str) -> Option<Http> {
    Some(match path {
        "/hangs" => Http::Hangs,
        "/404" => Http::Status(404),
        "/500" => Http::Status(500),
        "/302" => Http::Status(302),
        "/page" => Http::Page,
        "/junk" => Http::Junk,
        "/empty" => Http::Empty,
        "/echo" => Http::Echo,
        "/other-id" => Http::OtherId,
        _ => return None,
    })
}

/// Method, address and headers, in order.
fn head(request: &Request<RecvStream>) -> String {
    let headers = request.headers().iter();
    let mut headers: Vec<String> = headers
        .map(|(name, value)| format!("{name}={}", value.to_str().unwrap()))
        .collect();
    headers.sort();
    format!(
        "{} {} {}",
        request.method(),
        request.uri(),
        headers.join(" ")
    )
}

/// A reply whose TXT record is this text.
fn echo(query: &[u8], text: &str) -> Vec<u8> {
    let question = query[12..].iter().position(|&byte| byte == 0).unwrap() + 17;
    let mut reply = query[..question].to_vec();
    reply[2] |= 0x80;
    reply[4..12].copy_from_slice(&[0, 1, 0, 1, 0, 0, 0, 0]);
    let strings: Vec<u8> = text
        .as_bytes()
        .chunks(200)
        .flat_map(|part| [&[u8::try_from(part.len()).unwrap()], part].concat())
        .collect();
    reply.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60]);
    reply.extend(u16::try_from(strings.len()).unwrap().to_be_bytes());
    reply.extend(strings);
    reply
}

fn other_id(query: &[u8]) -> Vec<u8> {
    let mut reply = behind(query);
    reply[0] ^= 1;
    reply
}

/// Serves until this program ends.
pub(super) fn dot(place: (Ipv4Addr, u16), dot: Dot, config: &ServerConfig) {
    serve_dot(TcpListener::bind(place).unwrap(), dot, config);
}

/// The same on a socket that is bound already.
pub(super) fn serve_dot(listener: TcpListener, dot: Dot, config: &ServerConfig) {
    let mut config = config.clone();
    config.alpn_protocols = vec![b"dot".to_vec()];
    let config = Arc::new(config);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, config) = (stream.unwrap(), Arc::clone(&config));
            // A client that is gone is no matter.
            thread::spawn(move || drop(talk(stream, dot, config)));
        }
    });
}

fn talk(mut stream: TcpStream, dot: Dot, config: Arc<ServerConfig>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    match dot {
        Dot::Silent => {
            thread::sleep(PATIENCE);
            return Ok(());
        }
        // All that came is read: what is not, the kernel answers with a reset.
        Dot::Gone => return stream.read(&mut [0; 4096]).map(drop),
        Dot::Plain => return exchange(&mut stream, dot),
        _ => {}
    }
    let connection = ServerConnection::new(config).unwrap();
    exchange(&mut StreamOwned::new(connection, stream), dot)
}

fn exchange(stream: &mut (impl Read + Write), dot: Dot) -> std::io::Result<()> {
    if dot == Dot::Plain {
        stream.read_exact(&mut [0; 5])?;
        return stream.write_all(b"\x00\x0c\x00\x07\x81\x80\x00\x00\x00\x00\x00\x00\x00\x00");
    }
    // A transfer is more than one message: BIND's server is asked once for all.
    let mut behind = TcpStream::connect(BIND)?;
    behind.set_read_timeout(Some(Duration::from_millis(300)))?;
    loop {
        let query = framed(stream)?;
        match dot {
            Dot::Ends => return Ok(()),
            Dot::Hangs => {
                thread::sleep(PATIENCE);
                return Ok(());
            }
            _ => {}
        }
        behind.write_all(&query)?;
        while let Ok(reply) = framed(&mut behind) {
            stream.write_all(&reply)?;
            stream.flush()?;
        }
    }
}

/// A message with its length.
fn framed(stream: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut message = vec![0; 2];
    stream.read_exact(&mut message)?;
    let length = u16::from_be_bytes([message[0], message[1]]);
    message.resize(2 + usize::from(length), 0);
    stream.read_exact(&mut message[2..])?;
    Ok(message)
}

/// Serves until this program ends.
pub(super) fn http(place: (Ipv4Addr, u16), http: Http, config: &ServerConfig) {
    serve_http(TcpListener::bind(place).unwrap(), http, config);
}

/// The same without TLS.
pub(super) fn plain_http(place: (Ipv4Addr, u16)) {
    serve_all(TcpListener::bind(place).unwrap(), |stream| {
        requests(stream, Http::Answers)
    });
}

/// The same on a socket that is bound already.
pub(super) fn serve_http(listener: TcpListener, http: Http, config: &ServerConfig) {
    let mut config = config.clone();
    let protocol: &[u8] = if http == Http::Old {
        b"http/1.1"
    } else {
        b"h2"
    };
    config.alpn_protocols = vec![protocol.to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    serve_all(listener, move |stream| {
        let acceptor = acceptor.clone();
        async move {
            // A client that does not like the certificate is gone.
            if let Ok(tls) = acceptor.accept(stream).await {
                requests(tls, http).await;
            }
        }
    });
}

fn serve_all<F>(listener: TcpListener, each: impl Fn(Stream) -> F + Send + 'static)
where
    F: Future<Output = ()> + Send + 'static,
{
    listener.set_nonblocking(true).unwrap();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(each(stream));
            }
        });
    });
}

async fn requests(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, http: Http) {
    let Ok(mut connection) = h2::server::handshake(stream).await else {
        return;
    };
    let mut held = Vec::new();
    while let Some(Ok((request, respond))) = connection.accept().await {
        let http = of_path(request.uri().path()).unwrap_or(http);
        if http == Http::Hangs {
            held.push((request, respond));
        } else {
            tokio::spawn(answer(request, respond, http));
        }
    }
}

async fn answer(request: Request<RecvStream>, mut respond: SendResponse<Bytes>, http: Http) {
    let is_there =
        ["/dns-query", "/a%41/b"].contains(&request.uri().path()) || http != Http::Answers;
    let head = head(&request);
    let mut body = request.into_body();
    let mut query = Vec::new();
    while let Some(Ok(part)) = body.data().await {
        query.extend_from_slice(&part);
    }
    if query.is_empty() {
        let text = head.rsplit_once("dns=").map_or("", |(_, text)| text);
        let text = text.split(' ').next().unwrap_or_default();
        query = BASE64URL_NOPAD.decode(text.as_bytes()).unwrap_or_default();
    }
    let (status, kind, reply) = match http {
        Http::Echo => (200, "Application/DNS-message; x=y", echo(&query, &head)),
        Http::OtherId => (200, "application/dns-message", other_id(&query)),
        Http::Status(status) => (status, "text/plain", b"\x1b[31mno\n".to_vec()),
        _ if !is_there => (404, "text/plain", Vec::new()),
        Http::Page => (200, "text/html", b"<html>log in</html>".to_vec()),
        Http::Junk => (200, "application/dns-message", b"junk".to_vec()),
        Http::Empty => (200, "application/dns-message", Vec::new()),
        Http::Long => (200, "application/dns-message", vec![0; 70_000]),
        _ => (200, "application/dns-message", behind(&query)),
    };
    let response = Response::builder()
        .status(status)
        .header("content-type", kind)
        .header("content-length", reply.len())
        .body(())
        .unwrap();
    // A client that is gone is no matter.
    if let Ok(mut stream) = respond.send_response(response, false) {
        let _ = stream.send_data(reply.into(), true);
    }
}

/// What BIND's server says; HTTP has the length elsewhere.
fn behind(query: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(BIND).unwrap();
    let length = u16::try_from(query.len()).unwrap().to_be_bytes();
    stream.write_all(&[&length, query].concat()).unwrap();
    framed(&mut stream).unwrap().split_off(2)
}
