//! What logs of `CoreDNS` and NodeLocal DNSCache show: which queries were for
//! nothing, who makes them, what fails.
//!
//! A [`Reading`] is given the bytes of one log and counts; a [`Tally`] is what
//! it counted, and those of several logs are put together; a [`Summary`] is what
//! that says. Memory is bounded, whatever is in a log.

mod advice;
mod causes;
mod clients;
mod custom;
mod frequent;
mod lookups;
mod merge;
mod missing;
mod name;
mod negative;
mod periods;
mod pods;
mod query;
mod repeats;
mod search;
mod settings;
mod summary;
mod tally;
mod time;
mod wrapper;

use memchr::{memchr, memmem};

use self::query::Query;
use self::time::Times;
use self::wrapper::{Message, Wrapper};
use crate::check_loop::log::{SightingKind, classify, is_reloaded, version};
use crate::text::escaped;

pub use advice::Advice;
pub use clients::Resolver;
pub use custom::Format;
pub use periods::Periods;
pub use pods::Pods;
pub use query::Rcode;
pub use summary::{
    ClientRow, Latency, NameRow, Row, Sighting, Summary, TimeoutRow, Waste, ZoneRow,
};
pub use tally::{Minute, Tally};

/// A longer line is cut.
const MAX_LINE: usize = 1 << 20;

/// So much is kept of a text that may be no log: a pasted message is shorter.
const MAX_HEAD: usize = 1 << 16;

/// What has more lines is a program's log, and no question; of a DNS server's lines
/// people quote fewer.
const MAX_PASTED: u64 = 400;
const MAX_QUOTED: u64 = 40;

/// A line of a sighting is shown so far, in characters.
const MAX_SHOWN: usize = 400;

/// How logs are to be read.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Lines before this time do not count, in nanoseconds since 1970.
    pub since: Option<i64>,
    /// Lines from this time on do not count.
    pub until: Option<i64>,
    /// The formats of the `log` plugin beside its own.
    pub formats: Vec<Format>,
    /// Whether the Corefile has the log plugin write only queries of some classes,
    /// and none of those that succeed.
    pub is_filtered: bool,
    /// The `ttl` of the `kubernetes` plugin, in seconds, if the Corefile is known.
    pub ttl: Option<u32>,
}

/// A log while it is read.
#[derive(Debug)]
pub struct Reading<'s> {
    settings: &'s Settings,
    /// The log's name, safe to print.
    name: String,
    wrapper: Wrapper,
    /// The beginning of a line whose end was not yet read.
    rest: Vec<u8>,
    line: u64,
    tally: Tally,
    /// The pod of the line before, and the pods that were seen, hashed.
    pods: Vec<u64>,
}

/// Reads a time as `--since` and `--until` have it: `2026-11-23T08:00:00Z`; in
/// nanoseconds since 1970.
pub fn parse_time(text: &str) -> Option<i64> {
    Times::default().parse(text.as_bytes())
}

impl<'s> Reading<'s> {
    /// Of a log that nothing was read of; `name` is safe to print.
    pub fn new(name: String, settings: &'s Settings) -> Self {
        let mut tally = Tally::default();
        tally.sources = 1;
        Self {
            settings,
            name,
            wrapper: Wrapper::default(),
            rest: Vec::new(),
            line: 0,
            tally,
            pods: Vec::new(),
        }
    }

    /// Takes the next bytes, which may begin and end anywhere.
    pub fn push(&mut self, mut bytes: &[u8]) {
        if !self.rest.is_empty() {
            let end = memchr(b'\n', bytes);
            let (head, behind) = bytes
                .split_at_checked(end.unwrap_or(bytes.len()))
                .unwrap_or_default();
            self.keep(head);
            if end.is_none() {
                return;
            }
            bytes = behind.get(1..).unwrap_or_default();
            let line = std::mem::take(&mut self.rest);
            self.line(&line);
            self.rest = line;
            self.rest.clear();
        }
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, behind) = bytes.split_at_checked(end).unwrap_or_default();
            self.line(line);
            bytes = behind.get(1..).unwrap_or_default();
        }
        self.keep(bytes);
    }

    fn keep(&mut self, part: &[u8]) {
        let room = MAX_LINE.saturating_sub(self.rest.len());
        self.rest
            .extend_from_slice(part.get(..room).unwrap_or(part));
    }

    /// What was counted.
    pub fn end(mut self) -> Tally {
        if !self.rest.is_empty() {
            let line = std::mem::take(&mut self.rest);
            self.line(&line);
        }
        self.tally
    }

    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        self.tally.lines += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(Message { text, time, pod }) = self.wrapper.message(line) else {
            return;
        };
        if let Some(pod) = pod {
            note_pod(&mut self.pods, &mut self.tally, pod);
        }
        if !is_inside(self.settings, &mut self.tally, time) {
            return;
        }
        let is_early = self.tally.queries == 0 || self.tally.lines <= MAX_PASTED;
        if is_early && self.tally.head.len() < MAX_HEAD {
            let line = String::from_utf8_lossy(line);
            self.tally.head.extend([line.as_ref(), "\n"]);
        }
        if let Some(query) = query(self.settings, text) {
            self.tally.query(&query, time);
            return;
        }
        if !text.is_empty() {
            other(&mut self.tally, (&self.name, self.line), text, time);
        }
    }
}

/// Counts the pods whose lines are mixed in one log.
fn note_pod(pods: &mut Vec<u64>, tally: &mut Tally, pod: &[u8]) {
    /// More are as good as so many: what is asked is whether there are several.
    const MAX_PODS: usize = 64;
    let hash = name::hash_of(pod);
    tally.pod = 1 << (hash % 32);
    if pods.first() == Some(&hash) || pods.len() >= MAX_PODS {
        return;
    }
    match pods.iter().position(|it| *it == hash) {
        Some(at) => pods.swap(0, at),
        None => {
            tally.sources += u64::from(!pods.is_empty());
            pods.insert(0, hash);
        }
    }
}

/// Whether a line is one of those that count.
fn is_inside(settings: &Settings, tally: &mut Tally, time: Option<i64>) -> bool {
    if settings.since.is_none() && settings.until.is_none() {
        return true;
    }
    let Some(time) = time else {
        tally.timeless += 1;
        return true;
    };
    let is_late = settings.until.is_some_and(|it| time >= it);
    let is_outside = is_late || settings.since.is_some_and(|it| time < it);
    tally.outside += u64::from(is_outside);
    !is_outside
}

/// The query that a message is about, if it is a line of the `log` plugin.
fn query<'l>(settings: &Settings, text: &'l [u8]) -> Option<Query<'l>> {
    let body = text.strip_prefix(b"[INFO] ").or_else(|| {
        // A program's own time before it.
        let head = text.get(..48)?;
        let at = memmem::find(head, b"[INFO] ")?;
        text.get(at + 7..)
    });
    let body = match body {
        Some(body) if body.starts_with(b"plugin/") => return None,
        Some(body) => body,
        // Before 1.1.3 lines of the log plugin have nothing before them.
        None if text.starts_with(b"[") || text.len() > 600 => return None,
        None => text,
    };
    if let Some(query) = query::common(body) {
        return Some(query);
    }
    let mut formats = settings.formats.iter();
    formats
        .find_map(|it| it.query(body))
        .or_else(|| custom::recognised(body))
}

/// A line that is about no query.
fn other(tally: &mut Tally, place: (&str, u64), text: &[u8], time: Option<i64>) {
    let text = String::from_utf8_lossy(text);
    if text.contains("CoreDNS-")
        && let Some(version) = version(&text)
    {
        tally.starts += 1;
        tally.version = Some(version);
    }
    // Source: CoreDNS, coremain/run.go and caddy.go `Restart`.
    tally.reloads += u64::from(text.trim_end().ends_with("] Reloading"));
    // Which of several pods it was is not known.
    let failed = SightingKind::StartFailed;
    if is_reloaded(&text) && tally.sources == 1 && tally.sightings.remove(&failed).is_some() {
        tally.head.clear();
    }
    if let Some(shown) = classify(&text, tally.version) {
        let cut: String = text.chars().take(MAX_SHOWN).collect();
        tally.shown(&shown, time, place, &escaped(cut.as_bytes()));
    }
}
