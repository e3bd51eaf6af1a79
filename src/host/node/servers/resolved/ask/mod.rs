//! Asks a systemd-resolved that runs what its servers are, on its Varlink
//! socket: since systemd 259 it tells all. What older ones do is in their
//! files, as its D-Bus interface says it.
//!
//! It may be stuck: kdns waits for it no longer than [`PATIENCE`].

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use socket2::{Domain, SockAddr, Socket, Type};

use crate::host::{MAX_BYTES, io_reason, shown};
use crate::topology::resolved::reported::{self, Refusal, Reported};

/// How long kdns waits for an answer.
pub const PATIENCE: Duration = Duration::from_millis(200);

/// The Varlink socket of systemd-resolved.
///
/// Source: systemd `src/resolve/resolved-varlink.c: varlink_main_server_init`.
pub const SOCKET: &str = "/run/systemd/resolve/io.systemd.Resolve";

/// What systemd-resolved says of its servers on the socket at `path`; `None`:
/// nobody is there who could tell.
///
/// # Errors
///
/// Somebody was there and did not tell: why, as a sentence without a full stop.
///
/// Source: the Varlink documentation, "Method Call"; systemd
/// `src/shared/varlink-io.systemd.Resolve.c`.
pub fn ask(path: &Path) -> Result<Option<Reported>, String> {
    const CALL: &[u8] = b"{\"method\":\"io.systemd.Resolve.DumpDNSConfiguration\"}\0";
    let failed = |reason: String| {
        let path = shown(path);
        Err(format!(
            "cannot ask systemd-resolved for its servers: {path}: {reason}; its files count alone"
        ))
    };
    let reply = match exchange(path, CALL, Instant::now() + PATIENCE) {
        Ok(reply) => reply,
        Err(error) => {
            return match error.kind() {
                ErrorKind::NotFound | ErrorKind::ConnectionRefused => Ok(None),
                _ => failed(why(&error)),
            };
        }
    };
    match reported::varlink(
        &reply,
        "what systemd-resolved says itself, on its Varlink socket",
    ) {
        Ok(reported) => Ok(Some(reported)),
        Err(Refusal::NoSuchMethod) => Ok(None),
        Err(Refusal::Other(reason)) => failed(reason),
    }
}

/// Sends a call, and gives what comes before the zero byte that ends the reply.
fn exchange(path: &Path, call: &[u8], deadline: Instant) -> io::Result<Vec<u8>> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // It also holds for connecting, where nobody accepts.
    socket.set_write_timeout(Some(left(deadline)?))?;
    socket.connect(&SockAddr::unix(path)?)?;
    let mut stream = UnixStream::from(OwnedFd::from(socket));
    stream.set_write_timeout(Some(left(deadline)?))?;
    stream.write_all(call)?;
    let mut reply = Vec::new();
    let mut block = [0; 16 << 10];
    while reply.len() <= MAX_BYTES {
        stream.set_read_timeout(Some(left(deadline)?))?;
        let count = match stream.read(&mut block) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        let block = block.get(..count).unwrap_or_default();
        let end = memchr::memchr(0, block);
        reply.extend_from_slice(block.get(..end.unwrap_or(count)).unwrap_or_default());
        if end.is_some() {
            return Ok(reply);
        }
        if count == 0 {
            return Err(io::Error::other("the reply ends too early"));
        }
    }
    Err(io::Error::other("the reply is too long"))
}

/// The time that is left, or that there is none.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(ErrorKind::TimedOut.into());
    }
    Ok(left)
}

/// Why an exchange failed, in words.
fn why(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => "no answer in time".to_owned(),
        ErrorKind::Other | ErrorKind::InvalidInput => error.to_string(),
        _ => io_reason(error),
    }
}

#[cfg(test)]
mod tests;
