//! A page over plain HTTP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A longer page is an error.
const MAX_PAGE: u64 = 32 << 20;

/// What a server says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page {
    /// The status, as 200.
    pub status: u16,
    /// The body; what is not UTF-8 is replaced.
    pub body: String,
}

/// Asks for a page, in HTTP/1.0, so that its end is the end of the connection.
///
/// # Errors
///
/// A sentence without a full stop: nobody listens there, or what comes is no
/// page, or it takes longer than `limit`.
pub fn get(server: SocketAddr, path: &str, limit: Duration) -> Result<Page, String> {
    let end = Instant::now() + limit;
    let failed = |error: std::io::Error| {
        let reason = match error.kind() {
            // Both mean that it took too long.
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => {
                format!("no answer within {} s", limit.as_secs())
            }
            _ => crate::host::io_reason(&error),
        };
        format!("cannot get http://{server}{path}: {reason}")
    };
    let mut stream = TcpStream::connect_timeout(&server, limit).map_err(failed)?;
    stream.set_write_timeout(Some(limit)).map_err(failed)?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {server}\r\nAccept: text/plain\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let mut bytes = Vec::new();
    let mut chunk = [0; 1 << 14];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(failed(std::io::ErrorKind::TimedOut.into()));
        }
        stream.set_read_timeout(Some(left)).map_err(failed)?;
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => bytes.extend_from_slice(chunk.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
        if bytes.len() as u64 > MAX_PAGE {
            return Err(format!(
                "http://{server}{path} is longer than {} MiB",
                MAX_PAGE >> 20
            ));
        }
    }
    parse(&bytes).ok_or_else(|| format!("what http://{server}{path} says is no HTTP"))
}

fn parse(bytes: &[u8]) -> Option<Page> {
    let end = memchr::memmem::find(bytes, b"\r\n\r\n")?;
    let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let status = head.strip_prefix("HTTP/1.")?.split(' ').nth(1)?;
    let body = bytes.get(end + 4..)?;
    Some(Page {
        status: status.get(..3)?.parse().ok()?,
        body: String::from_utf8_lossy(body).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// What comes of a server that says this, and then closes or keeps quiet.
    fn check(says: &'static [u8], closes: bool) -> Result<Page, String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 512];
            let length = stream.read(&mut request).unwrap();
            assert!(request[..length].starts_with(b"GET /metrics HTTP/1.0\r\n"));
            stream.write_all(says).unwrap();
            if !closes {
                std::thread::sleep(Duration::from_secs(2));
            }
        });
        let page = get(server, "/metrics", Duration::from_secs(1));
        thread.join().unwrap();
        page
    }

    #[test]
    fn pages_come_whole_or_not_at_all() {
        let page = check(b"HTTP/1.0 200 OK\r\nX: y\r\n\r\na 1\n", true).unwrap();
        assert_eq!((page.status, page.body.as_str()), (200, "a 1\n"));
        let page = check(b"HTTP/1.1 503 Service Unavailable\r\n\r\nplugins", true).unwrap();
        assert_eq!(page.status, 503);
        assert!(
            check(b"SSH-2.0-x\r\n\r\n", true)
                .unwrap_err()
                .contains("no HTTP")
        );
        let error = check(b"HTTP/1.0 200 OK\r\n\r\na", false).unwrap_err();
        assert!(error.contains("no answer within 1 s"), "{error}");
    }

    #[test]
    fn nobody_listens() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        drop(listener);
        let error = get(server, "/metrics", Duration::from_secs(1)).unwrap_err();
        assert!(error.contains("refused"), "{error}");
    }
}
