//! What follows from what was counted.

use std::net::SocketAddr;

use super::clients::Resolver;
use super::missing::{by_turns, missing};
use super::repeats;
use super::summary::{Sighting, Summary, Waste};
use super::tally::Tally;
use super::{Rcode, Settings};
use crate::check_loop::log::SightingKind;
use crate::finding::Severity;
use crate::order::Order as _;
use crate::why::{Catalogue, recognise};

/// Clients and names that get an advice of their own.
pub(super) const MAX_OF_A_KIND: usize = 5;

/// So many names that `ndots:2` would break are named.
const MAX_BROKEN: usize = 16;

/// From so many parts of a hundred on, waste is worth a change.
const WASTE_SHARE: u64 = 5;

/// From so many parts of a hundred on, replies that were cut are worth a look: large
/// answers are rare.
const TRUNCATED_SHARE: u64 = 5;

/// Something that follows.
#[derive(Clone, Debug, PartialEq)]
pub enum Advice {
    /// There is no line about a query.
    NoQueries,
    /// There is no line about a query, and a known message is among the lines.
    Message {
        /// Its id.
        id: &'static str,
        /// What it means.
        meaning: String,
        /// Whether it is about DNS.
        is_dns: bool,
        /// The name that was looked up, if it says so.
        name: Option<String>,
    },
    /// Only queries that failed are in the log.
    Filtered,
    /// Search domains make queries for nothing.
    Waste {
        /// So many.
        waste: u64,
        /// Of so many.
        queries: u64,
    },
    /// A client asks less with `ndots:2`.
    Ndots {
        /// Its address.
        client: String,
        /// Its pod.
        pod: Option<String>,
        /// Its resolver, as far as known.
        resolver: Option<Resolver>,
        /// Queries that were not sent.
        saves: u64,
        /// Of its queries.
        queries: u64,
        /// Names with two dots that were found with a search domain: musl does
        /// not find them then, others ask once more.
        breaks: Vec<String>,
    },
    /// Names with two dots that were found with a search domain: with `ndots:2`
    /// musl does not find them.
    Breaks {
        /// At most 16 of them.
        names: Vec<String>,
    },
    /// A name that could be written with a final dot.
    FinalDot {
        /// The name.
        name: String,
        /// Queries that were not sent.
        saves: u64,
    },
    /// Log lines show an error.
    Error(Sighting),
    /// A server does not answer.
    Timeouts {
        /// The server.
        server: SocketAddr,
        /// How often.
        count: u64,
        /// The worst period: its first minute since 1970, its minutes, and how often in it.
        worst: Option<(i64, i64, u64)>,
        /// The one name that all were for, safe to print, if it was so more than twice.
        name: Option<String>,
    },
    /// Queries of a zone got an error, or nothing.
    Broken {
        /// The zone.
        zone: String,
        /// What they got.
        rcode: Rcode,
        /// How many.
        count: u64,
        /// Of so many.
        queries: u64,
    },
    /// Services that were asked for and never had a record.
    Missing {
        /// Their names, at most five, safe to print.
        names: Vec<String>,
    },
    /// A name was there and not there by turns.
    ByTurns {
        /// The name, safe to print.
        name: String,
        /// Queries to which it did not exist.
        denied: u64,
        /// Of so many.
        queries: u64,
        /// Whether it is a Service's, or that of a pod of one.
        is_service: bool,
    },
    /// Answers of a zone that came after more than 2 s.
    Slow {
        /// The zone.
        zone: String,
        /// How many.
        count: u64,
    },
    /// AAAA fails in a zone where A does not.
    Aaaa {
        /// The zone.
        zone: String,
        /// How many.
        count: u64,
    },
    /// Replies were cut to what clients take over UDP (`tc`).
    Truncated {
        /// How many.
        count: u64,
        /// Of so many queries.
        queries: u64,
    },
    /// A client asks again while its answer still counts.
    Repeats {
        /// The client.
        client: String,
        /// The name.
        name: String,
        /// Answers.
        answers: u64,
        /// Within so many seconds.
        seconds: u64,
        /// In seconds.
        ttl: u32,
        /// Whether the TTL is that of the Corefile.
        is_known: bool,
    },
    /// `CoreDNS` started more than once.
    Restarts {
        /// Starts.
        starts: u64,
        /// Logs.
        logs: u64,
    },
    /// There were more lookups or clients than there is room for.
    Bounded {
        /// Failed queries whose lookups were forgotten.
        forgotten: u64,
        /// Queries of clients for whom there was no room.
        beyond: u64,
    },
    /// `--since` or `--until` for lines without a time.
    Timeless {
        /// So many.
        lines: u64,
    },
}

impl Advice {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Error(it) if it.kind.leads_back() => Severity::Error,
            Self::Error(_)
            | Self::Timeouts { .. }
            | Self::Broken { .. }
            | Self::Waste { .. }
            | Self::ByTurns { .. }
            | Self::Slow { .. }
            | Self::Aaaa { .. }
            | Self::Truncated { .. }
            | Self::Restarts { .. }
            | Self::Message { is_dns: true, .. } => Severity::Warning,
            Self::NoQueries
            | Self::Message { .. }
            | Self::Filtered
            | Self::Missing { .. }
            | Self::Ndots { .. }
            | Self::Breaks { .. }
            | Self::FinalDot { .. }
            | Self::Repeats { .. }
            | Self::Bounded { .. }
            | Self::Timeless { .. } => Severity::Info,
        }
    }

    /// A word for machines that stays when the words change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoQueries => "no-queries",
            Self::Message { .. } => "message",
            Self::Filtered => "filtered-by-class",
            Self::Waste { .. } => "search-waste",
            Self::Ndots { .. } => "ndots",
            Self::Breaks { .. } => "ndots-breaks",
            Self::FinalDot { .. } => "final-dot",
            Self::Error(it) => it.kind.word(),
            Self::Timeouts { .. } => "timeouts",
            Self::Broken { .. } => "broken-zone",
            Self::Missing { .. } => "service-without-record",
            Self::ByTurns { .. } => "name-by-turns",
            Self::Slow { .. } => "slow-answers",
            Self::Aaaa { .. } => "aaaa-fails",
            Self::Truncated { .. } => "truncated",
            Self::Repeats { .. } => "repeated-name",
            Self::Restarts { .. } => "restarts",
            Self::Bounded { .. } => "bounded",
            Self::Timeless { .. } => "lines-without-time",
        }
    }
}

/// What follows, the worst first.
pub(super) fn advise(summary: &Summary, tally: &Tally, settings: &Settings) -> Vec<Advice> {
    let mut found = Vec::new();
    errors(summary, &mut found);
    zones(summary, &mut found);
    if tally.truncated > 0 && tally.truncated * 100 >= tally.queries * TRUNCATED_SHARE {
        found.push(Advice::Truncated {
            count: tally.truncated,
            queries: tally.queries,
        });
    }
    if tally.starts > tally.sources {
        found.push(Advice::Restarts {
            starts: tally.starts,
            logs: tally.sources,
        });
    }
    if summary.queries == 0 {
        found.push(message(summary, tally).unwrap_or(Advice::NoQueries));
    }
    found.extend(by_turns(tally).take(MAX_OF_A_KIND));
    waste(summary, &mut found);
    missing(summary, &mut found);
    repeats::repeats(summary, tally, settings, &mut found);
    if tally.lookups.forgotten > 0 || tally.clients.beyond > 0 {
        found.push(Advice::Bounded {
            forgotten: tally.lookups.forgotten,
            beyond: tally.clients.beyond,
        });
    }
    if tally.timeless > 0 {
        let lines = tally.timeless;
        found.push(Advice::Timeless { lines });
    }
    found.order_by_key(|it| std::cmp::Reverse(it.severity()));
    found
}

/// The known message in a log that is none of a DNS server.
fn message(summary: &Summary, tally: &Tally) -> Option<Advice> {
    if !summary.sightings.is_empty() || tally.starts > 0 {
        return None;
    }
    let catalogue = Catalogue::built_in();
    let recognised = recognise(catalogue, &tally.head, None).ok();
    // A log is no question in somebody's words.
    let recognised = recognised.filter(|it| !it.message.speaker.is_symptom())?;
    Some(Advice::Message {
        id: recognised.message.id,
        meaning: recognised.message.meaning.clone(),
        is_dns: recognised.message.is_dns(),
        name: recognised.name,
    })
}

/// Lines that show errors, and servers that do not answer.
fn errors(summary: &Summary, found: &mut Vec<Advice>) {
    for seen in &summary.sightings {
        let is_named =
            seen.kind == SightingKind::UpstreamTimeout && !summary.timeouts.first.is_empty();
        if seen.kind != SightingKind::OwnAddress && !is_named {
            found.push(Advice::Error(seen.clone()));
        }
    }
    for row in summary.timeouts.first.iter().take(MAX_OF_A_KIND) {
        let worst = row.minutes.iter().max_by_key(|it| *it.1);
        found.push(Advice::Timeouts {
            server: row.server,
            count: row.count,
            worst: worst.map(|(at, &most)| (at, row.minutes.length(), most)),
            name: row.name.clone().filter(|_| row.count > 2),
        });
    }
}

/// What goes wrong in zones.
fn zones(summary: &Summary, found: &mut Vec<Advice>) {
    let (mut broken, mut slow, mut aaaa) = (Vec::new(), Vec::new(), Vec::new());
    for row in &summary.zones.first {
        for &(rcode, count) in &row.rcodes {
            let is_broken = matches!(rcode, Rcode::ServFail | Rcode::Unanswered | Rcode::Refused);
            if is_broken && count * 100 >= summary.queries {
                broken.push(Advice::Broken {
                    zone: row.zone.clone(),
                    rcode,
                    count,
                    queries: row.queries,
                });
            }
        }
        if row.slow > 0 {
            slow.push(Advice::Slow {
                zone: row.zone.clone(),
                count: row.slow,
            });
        }
        let [a, of_aaaa] = row.broken;
        if of_aaaa >= 5 && a * 10 < of_aaaa {
            aaaa.push(Advice::Aaaa {
                zone: row.zone.clone(),
                count: of_aaaa,
            });
        }
    }
    broken.order_by_key(|it| match it {
        Advice::Broken { count, .. } => std::cmp::Reverse(*count),
        _ => std::cmp::Reverse(0),
    });
    for kind in [broken, slow, aaaa] {
        found.extend(kind.into_iter().take(MAX_OF_A_KIND));
    }
}

/// Queries for nothing, and what would save them.
fn waste(summary: &Summary, found: &mut Vec<Advice>) {
    let waste = match summary.waste {
        Waste::Unknown => return found.push(Advice::Filtered),
        Waste::Known(waste) => waste,
    };
    if waste == 0 || waste * 100 < summary.queries * WASTE_SHARE {
        return;
    }
    found.push(Advice::Waste {
        waste,
        queries: summary.queries,
    });
    let clients = summary.clients.first.iter().filter(|it| it.saved > 0);
    for row in clients.take(MAX_OF_A_KIND) {
        found.push(Advice::Ndots {
            client: row.address.clone(),
            pod: row.pod.clone(),
            resolver: row.resolver,
            saves: row.saved,
            queries: row.queries,
            breaks: row.breaks.clone(),
        });
    }
    let breaks = summary
        .names
        .first
        .iter()
        .filter(|it| it.is_searched && it.dots > 1);
    let breaks: Vec<String> = breaks.take(MAX_BROKEN).map(|it| it.name.clone()).collect();
    if !breaks.is_empty() {
        found.push(Advice::Breaks { names: breaks });
    }
    let names = summary.names.first.iter();
    let names = names.filter(|it| it.waste > 0 && !it.is_searched && it.dots > 0);
    for row in names.take(MAX_OF_A_KIND) {
        found.push(Advice::FinalDot {
            name: row.name.clone(),
            saves: row.waste,
        });
    }
}
