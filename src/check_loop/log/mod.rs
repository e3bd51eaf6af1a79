//! What the logs of DNS servers show of a loop, a dead upstream or a dead Kubernetes API.
//!
//! The kinds are [`SightingKind`]. A log without a sighting proves nothing: a loop
//! can be silent.

mod line;
mod message;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::check_loop::report::Sighting;
use crate::text::{Place, Source, escaped};

pub use message::{Shown, classify, is_reloaded, version};

/// Longer lines are cut, in characters.
const MAX_SHOWN: usize = 400;

/// Servers of a sighting that are named.
pub(super) const MAX_SERVERS: usize = 8;

/// What lines of a log show, the strongest first. `render` has the words.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum SightingKind {
    /// CoreDNS ended because its own query came back.
    LoopFatal,
    /// The same of versions that say so also when the upstream is silent.
    LoopFatalDoubtful,
    /// dnsmasq saw its own query come back.
    LoopDetected,
    /// A loopback address, or the server's own, does not answer.
    LoopbackTimeout,
    /// A loopback address, or the server's own, refuses packets.
    LoopbackRefused,
    /// More queries wait for answers than are allowed.
    TooManyQueries,
    /// A server left itself out: nothing is wrong then.
    OwnAddress,
    /// An upstream server does not answer.
    UpstreamTimeout,
    /// An upstream server refuses packets.
    UpstreamRefused,
    /// There is no route to an upstream server.
    UpstreamUnreachable,
    /// An upstream server closed the connection.
    UpstreamClosed,
    /// An upstream server's certificate was not accepted.
    UpstreamTls,
    /// An upstream server's reply cannot be read.
    UpstreamMalformed,
    /// Every upstream server is down.
    UpstreamDown,
    /// The Kubernetes API does not answer, refuses or cannot be reached.
    ApiUnreachable,
    /// The Kubernetes API does not let the server read what it watches.
    ApiForbidden,
    /// CoreDNS does not start with its Corefile, or goes on with its old one.
    StartFailed,
}

impl SightingKind {
    /// Its word for machines.
    pub fn word(self) -> &'static str {
        match self {
            Self::LoopFatal => "loop-fatal",
            Self::LoopFatalDoubtful => "loop-fatal-doubtful",
            Self::LoopDetected => "loop-detected",
            Self::LoopbackTimeout => "loopback-timeout",
            Self::LoopbackRefused => "loopback-refused",
            Self::TooManyQueries => "too-many-queries",
            Self::OwnAddress => "own-address",
            Self::UpstreamTimeout => "upstream-timeout",
            Self::UpstreamRefused => "upstream-refused",
            Self::UpstreamUnreachable => "upstream-unreachable",
            Self::UpstreamClosed => "upstream-closed",
            Self::UpstreamTls => "upstream-tls",
            Self::UpstreamMalformed => "upstream-malformed",
            Self::UpstreamDown => "upstream-down",
            Self::ApiUnreachable => "api-unreachable",
            Self::ApiForbidden => "api-forbidden",
            Self::StartFailed => "start-failed",
        }
    }

    /// Whether queries came back to who sent them, or went to an address of its own.
    pub fn leads_back(self) -> bool {
        self <= Self::LoopbackRefused
    }

    /// Whether another server does not do its work.
    pub fn is_of_another(self) -> bool {
        (Self::UpstreamTimeout..=Self::ApiForbidden).contains(&self)
    }

    /// Whether a server did not answer.
    pub fn is_timeout(self) -> bool {
        matches!(self, Self::UpstreamTimeout | Self::LoopbackTimeout)
    }
}

/// What a log shows, the strongest kind first; each kind once, with the first
/// line that shows it. A reload that failed counts until one succeeds. Linear in the log.
///
/// Lines can have the prefix of the container runtime (CRI, or Docker's JSON)
/// or that of syslog.
pub fn sightings(log: &Source) -> Vec<Sighting> {
    let mut found: BTreeMap<SightingKind, Sighting> = BTreeMap::new();
    let mut version = None;
    for (number, bytes) in log.bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = line::split(bytes);
        if let Some(seen) = message::version(&line.message) {
            version = Some(seen);
        }
        if is_reloaded(&line.message) {
            found.remove(&SightingKind::StartFailed);
        }
        let Some(shown) = classify(&line.message, version) else {
            continue;
        };
        let sighting = found.entry(shown.kind).or_insert_with(|| Sighting {
            kind: shown.kind,
            place: Place::new(log.name.clone(), number + 1, line.column),
            text: cut(bytes.get(line.start..).unwrap_or_default()),
            count: 0,
            first: line.time.clone(),
            last: None,
            pod: None,
            servers: Vec::new(),
        });
        if let Some(server) = shown.server
            && !sighting.servers.contains(&server)
            && sighting.servers.len() < MAX_SERVERS
        {
            sighting.servers.push(server);
        }
        sighting.count = sighting.count.saturating_add(shown.count);
        sighting.last = line.time;
    }
    found.into_values().collect()
}

/// The time of the last line that has one, as the log has it.
pub(super) fn last_time(log: &Source) -> Option<String> {
    let mut lines = log.bytes.rsplit(|&byte| byte == b'\n').map(line::split);
    lines.find_map(|it| it.time)
}

/// What a program wrote last, safe to print and not too long; `None`: nothing.
pub(super) fn last_line(log: &Source) -> Option<String> {
    let mut lines = log.bytes.rsplit(|&byte| byte == b'\n').map(line::split);
    let last = lines.find(|it| !it.message.trim().is_empty())?;
    Some(cut(last.message.trim().as_bytes()))
}

/// The line, safe to print and not too long.
fn cut(line: &[u8]) -> String {
    // No character that is escaped becomes shorter.
    let bytes = line.get(..MAX_SHOWN * 4).unwrap_or(line);
    let end = bytes
        .iter()
        .rposition(|&byte| byte != b'\r')
        .map_or(0, |at| at + 1);
    let shown = escaped(bytes.get(..end).unwrap_or_default());
    shown.chars().take(MAX_SHOWN).collect()
}
