//! Asks a systemd-resolved that runs what its servers are: on its Varlink
//! socket, else on the system's D-Bus.
//!
//! It may be stuck, and so may the bus: kdns waits for both together no longer
//! than [`PATIENCE`].

mod bus;

use std::io::{self, BufRead as _, BufReader, ErrorKind, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use socket2::{Domain, SockAddr, Socket, Type};

use crate::host::{MAX_BYTES, io_reason, shown};
use crate::topology::resolved::told::{self, Refusal, Told};

/// How long is waited altogether.
pub const PATIENCE: Duration = Duration::from_millis(400);
/// How much of it is for the first socket.
const FIRST: Duration = Duration::from_millis(200);

/// Where it and the bus listen.
#[derive(Clone, Debug)]
pub struct Sockets {
    /// Its Varlink socket.
    pub varlink: PathBuf,
    /// That of the system's D-Bus.
    pub bus: PathBuf,
}

impl Default for Sockets {
    /// Source: systemd `src/resolve/resolved-varlink.c:
    /// varlink_main_server_init`; D-Bus specification, "Well-known Message Bus
    /// Instances".
    fn default() -> Self {
        Self {
            varlink: PathBuf::from("/run/systemd/resolve/io.systemd.Resolve"),
            bus: PathBuf::from("/run/dbus/system_bus_socket"),
        }
    }
}

/// Why a socket told nothing.
#[derive(Debug)]
enum Silence {
    /// Nobody is there who could: nothing is wrong with that.
    Nobody,
    /// What went wrong, what follows `cannot ask systemd-resolved`.
    Failed(String),
}

/// What systemd-resolved says of its servers; `None`: nobody is there who could
/// tell.
///
/// # Errors
///
/// Somebody was there and did not tell: why, as a sentence without a full stop.
pub fn ask(sockets: &Sockets) -> Result<Option<Told>, String> {
    let start = Instant::now();
    let mut reasons = Vec::new();
    for (door, patience) in [(Door::Varlink, FIRST), (Door::Bus, PATIENCE)] {
        match door.ask(sockets, start + patience) {
            Ok(told) => return Ok(Some(told)),
            Err(Silence::Nobody) => {}
            Err(Silence::Failed(reason)) => reasons.push(reason),
        }
    }
    if reasons.is_empty() {
        return Ok(None);
    }
    Err(format!(
        "cannot ask systemd-resolved for its servers: {}; its files count alone",
        reasons.join("; ")
    ))
}

#[derive(Clone, Copy)]
enum Door {
    Varlink,
    Bus,
}

impl Door {
    fn ask(self, sockets: &Sockets, deadline: Instant) -> Result<Told, Silence> {
        match self {
            Self::Varlink => varlink(&sockets.varlink, deadline),
            Self::Bus => bus::ask(&sockets.bus, deadline),
        }
    }
}

/// Calls the method that tells all: systemd 259 and later have it.
///
/// Source: the Varlink documentation, "Method Call"; systemd
/// `src/shared/varlink-io.systemd.Resolve.c`.
fn varlink(path: &Path, deadline: Instant) -> Result<Told, Silence> {
    const CALL: &[u8] = b"{\"method\":\"io.systemd.Resolve.DumpDNSConfiguration\"}\0";
    let by = "what systemd-resolved says itself, on its Varlink socket";
    let failed = |reason: String| Silence::Failed(format!("{}: {reason}", shown(path)));
    let reply = exchange(path, CALL, deadline).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => Silence::Nobody,
        _ => failed(why(&error)),
    })?;
    told::varlink(&reply, by).map_err(|refusal| match refusal {
        Refusal::NoSuchMethod => Silence::Nobody,
        Refusal::Other(reason) => failed(reason),
    })
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

    /// The next so many bytes.
    fn exactly(&mut self, count: usize) -> io::Result<Vec<u8>> {
        let mut found = Vec::new();
        while found.len() < count {
            let wanted = count - found.len();
            let block = self.fill()?;
            let piece = block.get(..wanted).unwrap_or(block);
            found.extend_from_slice(piece);
            let used = piece.len();
            self.stream.consume(used);
        }
        Ok(found)
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
