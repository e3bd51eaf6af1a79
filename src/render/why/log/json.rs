//! What logs say, as JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::words;
use crate::histogram::Histogram;
use crate::render::json;
use crate::render::why::json::WorstForm;
use crate::render::why::numbers::minute_key;
use crate::why::Recognised;
use crate::why::log::{Advice, ClientRow, NameRow, Rcode, Summary, TimeoutRow, Waste, ZoneRow};

/// What logs of a DNS server say.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "kdns why LOG --format json")]
pub(in crate::render) struct LogDocument<'s> {
    /// Lines that are about a query.
    queries: u64,
    /// Those whose name was a candidate of a lookup that succeeded under another
    /// name; null: the log has only queries that failed, and cannot tell.
    waste: Option<u64>,
    /// Those with the most waste, at most 100.
    clients: Vec<ClientForm<'s>>,
    /// Those with the most waste, then those asked for most, at most 100.
    names: Vec<NameForm<'s>>,
    /// Queries by what they came to; `unanswered` has no reply.
    rcodes: BTreeMap<&'static str, u64>,
    /// Upstream servers that did not answer, by error lines, at most 256.
    timeouts: Vec<TimeoutForm>,
    latency: LatencyForm<'s>,
    left_out: LeftOutForm,
    /// What follows, the worst first.
    advice: Vec<AdviceForm>,
    /// The known message that says the worst, with its likeliest causes; null: nothing failed that is
    /// known to be an error of DNS.
    worst: Option<WorstForm<'s>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ClientForm<'s> {
    /// Its address.
    client: &'s str,
    /// `NAMESPACE/NAME`; null: not known.
    pod: Option<&'s str>,
    queries: u64,
    waste: u64,
    /// Queries that `ndots:2` would save.
    saved_by_ndots_2: u64,
    /// Which resolver its queries look like; null: not known.
    #[schemars(extend("enum" = ["glibc", "musl", "glibc or musl", "go", "c-ares", null]))]
    resolver: Option<&'static str>,
    /// The names that its waste is for.
    names: Vec<WasteForm<'s>>,
    /// Names with two dots that were found with a search domain: with `ndots:2`
    /// musl does not find them, and others ask once more.
    breaks_under_ndots_2: &'s [String],
}

#[derive(Debug, Serialize, JsonSchema)]
struct WasteForm<'s> {
    name: &'s str,
    waste: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NameForm<'s> {
    /// Without a search domain and a final dot.
    name: &'s str,
    /// Queries for this very name.
    queries: u64,
    /// Those that got no record.
    failed: u64,
    /// Queries with search domains behind it, of lookups that succeeded otherwise.
    waste: u64,
    /// Whether such lookups succeeded with a search domain.
    found_with_search_domain: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TimeoutForm {
    /// ADDRESS:PORT.
    server: String,
    count: u64,
    /// How many minutes each of `minutes` stands for: the fewest of 1, 5, 15, 60, 180,
    /// 720, 1440 and more with which a report stays short.
    step_minutes: i64,
    /// By the first minute, where lines have a time.
    minutes: BTreeMap<String, u64>,
}

/// Times are in seconds, at most an eighth too high.
#[derive(Debug, Serialize, JsonSchema)]
struct LatencyForm<'s> {
    #[serde(flatten)]
    all: TimesForm,
    /// Answers that took over 2 s: an upstream server did not answer, another did.
    slow: u64,
    /// The domain of the cluster, and the last two labels of other names.
    zones: Vec<ZoneForm<'s>>,
    /// By the server that answered, where the log's format has it.
    upstreams: Vec<UpstreamForm<'s>>,
    /// How many minutes each of `minutes` stands for.
    step_minutes: i64,
    /// By the first minute, where lines have a time.
    minutes: Vec<MinuteForm>,
    /// All times: upper bounds in nanoseconds, and how many there are.
    buckets: Vec<(u64, u64)>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TimesForm {
    count: u64,
    p50: Option<f64>,
    p90: Option<f64>,
    p99: Option<f64>,
    max: Option<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ZoneForm<'s> {
    zone: &'s str,
    queries: u64,
    rcodes: BTreeMap<&'static str, u64>,
    slow: u64,
    #[serde(flatten)]
    times: TimesForm,
}

#[derive(Debug, Serialize, JsonSchema)]
struct UpstreamForm<'s> {
    server: &'s str,
    #[serde(flatten)]
    times: TimesForm,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MinuteForm {
    minute: String,
    queries: u64,
    failed: u64,
}

/// What the lists do not have.
#[derive(Debug, Serialize, JsonSchema)]
struct LeftOutForm {
    /// So many clients more.
    clients: u64,
    /// So many names more, at least.
    names: u64,
    /// So many zones more, at least.
    zones: u64,
    /// So many servers that answered more, at least.
    upstreams: u64,
    /// Time-outs of servers that are not in `timeouts`.
    timeouts: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AdviceForm {
    /// Which fact it is; it stays when the words change.
    code: &'static str,
    #[schemars(extend("enum" = ["info", "warning", "error"]))]
    level: &'static str,
    text: String,
    /// What to do; empty: nothing, or it is in the others.
    fix: String,
}

/// Writes the document of `summary`, whose worst message is `worst`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(
    summary: &Summary,
    worst: Option<&Recognised<'_>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = LogDocument {
        queries: summary.queries,
        waste: match summary.waste {
            Waste::Known(waste) => Some(waste),
            Waste::Unknown => None,
        },
        clients: summary.clients.first.iter().map(client).collect(),
        names: summary.names.first.iter().map(name).collect(),
        rcodes: rcodes(&summary.rcodes),
        timeouts: summary.timeouts.first.iter().map(timeout).collect(),
        latency: latency(summary),
        left_out: LeftOutForm {
            clients: summary.clients.left_out(),
            names: summary.names.left_out(),
            zones: summary.zones.left_out(),
            upstreams: summary.latency.upstreams.left_out(),
            timeouts: summary.timeouts.error,
        },
        advice: summary.advice.iter().map(advice).collect(),
        worst: worst.map(WorstForm::new),
    };
    json::document(&document, out)
}

fn client(row: &ClientRow) -> ClientForm<'_> {
    let names = row.names.iter();
    ClientForm {
        client: &row.address,
        pod: row.pod.as_deref(),
        queries: row.queries,
        waste: row.waste,
        saved_by_ndots_2: row.saved,
        resolver: row.resolver.map(words::resolver),
        names: names
            .map(|(name, waste)| WasteForm {
                name,
                waste: *waste,
            })
            .collect(),
        breaks_under_ndots_2: &row.breaks,
    }
}

fn name(row: &NameRow) -> NameForm<'_> {
    NameForm {
        name: &row.name,
        queries: row.queries,
        failed: row.failed,
        waste: row.waste,
        found_with_search_domain: row.is_searched,
    }
}

fn rcodes(counts: &[(Rcode, u64)]) -> BTreeMap<&'static str, u64> {
    counts
        .iter()
        .map(|(rcode, count)| (rcode.word(), *count))
        .collect()
}

fn timeout(row: &TimeoutRow) -> TimeoutForm {
    let minutes = row.minutes.iter();
    TimeoutForm {
        server: row.server.to_string(),
        count: row.count,
        step_minutes: row.minutes.length(),
        minutes: minutes
            .map(|(minute, &count)| (minute_key(minute), count))
            .collect(),
    }
}

fn latency(summary: &Summary) -> LatencyForm<'_> {
    let latency = &summary.latency;
    let upstreams = latency.upstreams.first.iter();
    let minutes = summary.minutes.iter();
    LatencyForm {
        all: times(&latency.all),
        slow: latency.slow,
        zones: summary.zones.first.iter().map(zone).collect(),
        upstreams: upstreams
            .map(|(server, it)| UpstreamForm {
                server,
                times: times(it),
            })
            .collect(),
        step_minutes: summary.minutes.length(),
        minutes: minutes
            .map(|(minute, counts)| MinuteForm {
                minute: minute_key(minute),
                queries: counts.queries,
                failed: counts.failed,
            })
            .collect(),
        buckets: latency.all.buckets().collect(),
    }
}

fn zone(row: &ZoneRow) -> ZoneForm<'_> {
    ZoneForm {
        zone: &row.zone,
        queries: row.queries,
        rcodes: rcodes(&row.rcodes),
        slow: row.slow,
        times: times(&row.times),
    }
}

fn times(histogram: &Histogram) -> TimesForm {
    let at = |share| histogram.percentile(share).map(seconds);
    TimesForm {
        count: histogram.total(),
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        max: at(1.0),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a log has no time of 104 days")]
fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

fn advice(advice: &Advice) -> AdviceForm {
    let said = words::said(advice);
    AdviceForm {
        code: said.fact.code,
        level: advice.severity().word(),
        text: said.fact.text,
        fix: said.fix,
    }
}
