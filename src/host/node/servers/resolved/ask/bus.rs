//! Asks systemd-resolved on the system's D-Bus.
//!
//! The few messages are made here and not by a library: zbus would cost every
//! start of kdns a tenth of a millisecond, and is not done in time with a bus
//! that talks nonsense.
//!
//! Source: D-Bus specification, "Authentication Protocol", "Message Bus
//! Messages".

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Instant;

use nix::net::if_::{Interface, if_nameindex};
use nix::unistd::geteuid;

use super::{Line, Silence, why};
use crate::host::{MAX_BYTES, shown};
use crate::text::{escaped, ordered};
use crate::topology::resolved::told::message::{self, Call, HEADER};
use crate::topology::resolved::told::properties::{self, Properties, SIGNATURE};
use crate::topology::resolved::told::{MAX_SCOPES, Told};

const SERVICE: &str = "org.freedesktop.resolve1";

/// What takes the place of a line in a file.
const BY: &str = "what systemd-resolved says itself, on D-Bus";

/// Longest line of a bus before the first message.
const MAX_LINE: usize = 1000;

/// Asks on the bus that listens at `path`, no longer than until `deadline`.
pub(super) fn ask(path: &Path, deadline: Instant) -> Result<Told, Silence> {
    told(path, deadline).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => Silence::Nobody,
        _ => Silence::Failed(format!("{}: {}", shown(path), why(&error))),
    })
}

fn told(path: &Path, deadline: Instant) -> io::Result<Told> {
    let mut bus = Bus::join(path, deadline)?;
    let manager = bus.properties("/org/freedesktop/resolve1", "Manager")?;
    let mut numbers: BTreeSet<u32> = ordered(manager.links());
    if manager.hides_links() {
        let interfaces = if_nameindex()?;
        numbers.extend(interfaces.iter().map(Interface::index));
    }
    let mut links = Vec::new();
    for number in numbers.into_iter().take(MAX_SCOPES) {
        let path = properties::link_path(number);
        match bus.properties(&path, "Link") {
            Ok(link) => links.push((number, link)),
            // It does not know the link, or not any more.
            Err(error) if error.kind() == ErrorKind::InvalidInput => {}
            Err(error) => return Err(error),
        }
    }
    Ok(manager.told(&links))
}

/// A bus that kdns has joined.
struct Bus {
    line: Line,
    serial: u32,
}

impl Bus {
    fn join(path: &Path, deadline: Instant) -> io::Result<Self> {
        let mut line = Line::to(path, deadline)?;
        // The codes of its digits in hexadecimal: those of digits are 30 to 39.
        let id = geteuid().to_string();
        let codes: String = id.chars().flat_map(|digit| ['3', digit]).collect();
        line.send(format!("\0AUTH EXTERNAL {codes}\r\n").as_bytes())?;
        let welcome = line.until(b'\n', MAX_LINE)?;
        if !welcome.starts_with(b"OK ") {
            let said = escaped(welcome.strip_suffix(b"\r").unwrap_or(&welcome));
            return Err(io::Error::other(format!("the bus says {said}")));
        }
        line.send(b"BEGIN\r\n")?;
        let mut bus = Self { line, serial: 0 };
        let hello = Call {
            serial: 0,
            destination: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            member: "Hello",
            argument: None,
        };
        bus.call(hello, |_| Some(()))?;
        Ok(bus)
    }

    fn properties(&mut self, path: &str, kind: &str) -> io::Result<Properties> {
        let interface = format!("{SERVICE}.{kind}");
        let call = Call {
            serial: 0,
            destination: SERVICE,
            path,
            interface: "org.freedesktop.DBus.Properties",
            member: "GetAll",
            argument: Some(&interface),
        };
        self.call(call, |reply| {
            let body = (reply.signature == SIGNATURE).then_some(reply.body);
            properties::read(body?, BY)
        })
    }

    /// Calls a method, and gives what `read` makes of the answer.
    fn call<T>(
        &mut self,
        call: Call<'_>,
        read: impl Fn(message::Reply<'_>) -> Option<T>,
    ) -> io::Result<T> {
        self.serial += 1;
        let serial = self.serial;
        self.line.send(&Call { serial, ..call }.bytes())?;
        loop {
            let bytes = self.message()?;
            // Signals come in between.
            let Some(reply) = message::reply(&bytes).filter(|it| it.to == serial) else {
                continue;
            };
            if let Some(error) = reply.error {
                let error = escaped(error.as_bytes());
                let error = format!("it says {error}");
                return Err(io::Error::new(ErrorKind::InvalidInput, error));
            }
            return read(reply).ok_or_else(odd);
        }
    }

    fn message(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = self.line.exactly(HEADER)?;
        let header: Option<[u8; HEADER]> = bytes.as_slice().try_into().ok();
        let length = header.and_then(message::length);
        let length = length.filter(|it| *it <= MAX_BYTES).ok_or_else(odd)?;
        bytes.extend(self.line.exactly(length.saturating_sub(HEADER))?);
        Ok(bytes)
    }
}

fn odd() -> io::Error {
    io::Error::other("the bus sent no message that kdns can read")
}
