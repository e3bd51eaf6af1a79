//! Asks a systemd-resolved that runs what its servers are, on its Varlink
//! socket: since systemd 259 it tells all. What older ones do is in their
//! files, as its D-Bus interface says it.
//!
//! It may be stuck: kdns waits for it no longer than [`PATIENCE`].

use std::io::{self, BufRead as _, BufReader, ErrorKind, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use socket2::{Domain, SockAddr, Socket, Type};

use crate::host::{MAX_BYTES, io_reason, shown};
use crate::topology::resolved::told::{self, Refusal, Told};

/// How long is waited.
pub const PATIENCE: Duration = Duration::from_millis(200);

/// Its Varlink socket.
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
pub fn ask(path: &Path) -> Result<Option<Told>, String> {
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
    match told::varlink(
        &reply,
        "what systemd-resolved says itself, on its Varlink socket",
    ) {
        Ok(told) => Ok(Some(told)),
        Err(Refusal::NoSuchMethod) => Ok(None),
        Err(Refusal::Other(reason)) => failed(reason),
    }
}

/// Sends a call, and gives what comes before the byte that ends the reply.
fn exchange(path: &Path, call: &[u8], deadline: Instant) -> io::Result<Vec<u8>> {
    let mut line = Line::to(path, deadline)?;
    line.send(call)?;
    line.until(0, MAX_BYTES)
}

/// A connection to a socket that is not used longer than until a deadline.
struct Line {
    stream: BufReader<UnixStream>,
    deadline: Instant,
}

impl Line {
    fn to(path: &Path, deadline: Instant) -> io::Result<Self> {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        // It also holds for connecting, where nobody accepts.
        socket.set_write_timeout(Some(left(deadline)?))?;
        socket.connect(&SockAddr::unix(path)?)?;
        let stream = BufReader::new(UnixStream::from(OwnedFd::from(socket)));
        Ok(Self { stream, deadline })
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stream = self.stream.get_mut();
        stream.set_write_timeout(Some(left(self.deadline)?))?;
        stream.write_all(bytes)
    }

    /// What has come and was not read, at least one byte.
    fn fill(&mut self) -> io::Result<&[u8]> {
        let stream = self.stream.get_ref();
        stream.set_read_timeout(Some(left(self.deadline)?))?;
        let block = self.stream.fill_buf()?;
        if block.is_empty() {
            return Err(io::Error::other("the reply ends too early"));
        }
        Ok(block)
    }

    /// What comes before a byte, without it.
    fn until(&mut self, end: u8, most: usize) -> io::Result<Vec<u8>> {
        let mut found = Vec::new();
        loop {
            let block = self.fill()?;
            let at = memchr::memchr(end, block);
            let piece = block.get(..at.unwrap_or(block.len()));
            found.extend_from_slice(piece.unwrap_or_default());
            let used = piece.map_or(0, <[u8]>::len) + usize::from(at.is_some());
            self.stream.consume(used);
            if found.len() > most {
                return Err(io::Error::other("the reply is too long"));
            }
            if at.is_some() {
                return Ok(found);
            }
        }
    }
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
