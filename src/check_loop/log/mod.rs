//! What the logs of DNS servers show of a loop or a dead upstream.
//!
//! The kinds are in [`KINDS`]. A log without a sighting proves nothing: a loop
//! can be silent.

mod line;
mod message;

#[cfg(test)]
mod tests;

use crate::check_loop::report::Sighting;
use crate::text::{Place, Source, escaped};

pub use message::{LOOP_FATAL, OWN_ADDRESS, Shown, classify, is_reloaded, version};

/// Longer lines are cut, in characters.
const MAX_SHOWN: usize = 400;

/// Servers of a sighting that are named.
pub(super) const MAX_SERVERS: usize = 8;

/// What sightings are called, the strongest first. `render` has the words.
pub const KINDS: [&str; 15] = [
    LOOP_FATAL,
    "loop-fatal-doubtful",
    "loop-detected",
    "loopback-timeout",
    "loopback-refused",
    "too-many-queries",
    OWN_ADDRESS,
    "upstream-timeout",
    "upstream-refused",
    "upstream-unreachable",
    "upstream-closed",
    "upstream-tls",
    "upstream-malformed",
    "upstream-down",
    START_FAILED,
];

/// What a CoreDNS shows that does not start with its Corefile, or goes on with its old one.
pub const START_FAILED: &str = "start-failed";

/// What a log shows, the strongest kind first; each kind once, with the first
/// line that shows it. A reload that failed counts until one succeeds. Linear in the log.
///
/// Lines can have the prefix of the container runtime (CRI, or Docker's JSON)
/// or that of syslog.
pub fn sightings(log: &Source) -> Vec<Sighting> {
    let mut found: Vec<Option<Sighting>> = vec![None; KINDS.len()];
    let mut version = None;
    for (number, bytes) in log.bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = line::split(bytes);
        if let Some(seen) = message::version(&line.message) {
            version = Some(seen);
        }
        if is_reloaded(&line.message) {
            for slot in &mut found {
                slot.take_if(|it| it.kind == START_FAILED);
            }
        }
        let Some(shown) = classify(&line.message, version) else {
            continue;
        };
        let slot = KINDS.iter().position(|it| *it == shown.kind);
        let Some(slot) = slot.and_then(|index| found.get_mut(index)) else {
            continue;
        };
        let sighting = slot.get_or_insert_with(|| Sighting {
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
    found.into_iter().flatten().collect()
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
