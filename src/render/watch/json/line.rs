//! A line for each lookup.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::ms;
use crate::order::Order as _;
use crate::render::json;
use crate::render::watch::Style;
use crate::render::watch::lookup::{asked, came, faults, or, outcome, record_type, stamp};
use crate::watch::Judged;
use crate::watch::lookup::{Exchange, Sent};
use crate::watch::plan::Planned;

/// A lookup: a line of `--format jsonl`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "kdns watch, a lookup")]
pub(in crate::render) struct LookupForm {
    /// The version of this format.
    version: u32,
    /// The name as the program asked for it, with its final dot if it must have
    /// had one.
    name: String,
    /// Other names that it can have asked for.
    or: Vec<String>,
    /// Where it can be two lookups: when the second one began, in milliseconds from the
    /// start. From another port, with another id, it asks again, which is not planned, or for
    /// a name long after the denial of the one before.
    #[serde(skip_serializing_if = "Option::is_none")]
    second_at_ms: Option<f64>,
    /// The resolver that it is judged as; live, until that is known, the one that fits best so
    /// far; null: none fits.
    resolver: Option<&'static str>,
    client: String,
    /// Whose socket asked; only of a live watch, or a capture that one wrote, and only
    /// where the socket was still open when it was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<ProcessForm>,
    /// When it began (RFC 3339).
    start: Option<String>,
    /// From the first to the last packet, in milliseconds; missing: the time of one is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<f64>,
    /// `found`, `not-found`, `failed`, `refused` (ICMP), `truncated`, `wrong-source`,
    /// `timed-out`, `open` (the capture ended first).
    outcome: &'static str,
    /// How it ended for the program, by the plan: an error as the resolver spells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// Whether something went wrong.
    broken: bool,
    /// What, as sentences.
    faults: Vec<String>,
    /// Every sending of a query, in order.
    queries: Vec<QueryForm>,
    /// What the resolver would have sent, given these answers; null: no resolver
    /// fits.
    planned: Option<Vec<PlannedForm>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ProcessForm {
    /// Its id, where kdns runs.
    pid: u32,
    /// Its name as the kernel has it, at most 15 bytes.
    comm: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct QueryForm {
    name: String,
    #[serde(rename = "type")]
    record_type: String,
    server: String,
    /// `udp` or `tcp`.
    proto: &'static str,
    /// The client's port and the id.
    port: u16,
    id: u16,
    /// The number of its packet.
    packet: u64,
    /// When it was sent, in milliseconds from the start; missing: the time of its packet is
    /// wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_ms: Option<f64>,
    /// `ANSWER`, `NODATA`, another response code, `TC`, `TIMEOUT`, `ICMP`, `CLOSE`,
    /// `WRONG-SOURCE`.
    reply: String,
    /// How long the answer took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<f64>,
    /// The packet of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_packet: Option<u64>,
    /// Whether the plan has it; null: there is no plan.
    planned: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlannedForm {
    name: String,
    #[serde(rename = "type")]
    record_type: String,
    server: String,
    /// `udp` or `tcp`.
    proto: &'static str,
    /// When, in milliseconds from the start.
    at_ms: f64,
    /// Whether the capture has a query that fits.
    seen: bool,
}

/// Writes one lookup as a line.
///
/// # Errors
///
/// Any error of `out`.
pub fn line(judged: &Judged, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let lookup = &judged.lookup;
    let plan = judged.plan.as_ref().map(|it| &it.1);
    let mut queries: Vec<(i64, QueryForm)> = Vec::new();
    for (number, exchange) in lookup.exchanges.iter().enumerate() {
        queries.extend(exchange.sent().enumerate().map(|(sending, sent)| {
            let unplanned = plan.map(|it| it.unplanned.contains(&(number, sending)));
            let since = sent.time.saturating_sub(lookup.start());
            (sent.time, query(exchange, sent, since, unplanned, style))
        }));
    }
    queries.order_by_key(|it| (it.0, it.1.packet));
    let form = LookupForm {
        version: 1,
        name: asked(judged, style),
        or: or(judged, style),
        second_at_ms: judged
            .second()
            .map(|it| ms(it.first.time.saturating_sub(lookup.start()))),
        resolver: plan.map(|it| it.resolver.id),
        client: style.shown.ip(lookup.client),
        process: lookup.process.as_ref().map(|it| ProcessForm {
            pid: it.pid,
            comm: it.comm.clone(),
        }),
        start: stamp(lookup.start()).map(|it| it.to_string()),
        duration_ms: lookup.took().map(ms),
        outcome: outcome(lookup),
        code: plan.and_then(|it| it.outcome.as_ref()?.code()),
        broken: !judged.faults.is_empty(),
        faults: faults(judged, style),
        queries: queries.into_iter().map(|it| it.1).collect(),
        planned: plan.map(|it| it.planned.iter().map(|it| planned(it, style)).collect()),
    };
    json::line(&form, out)
}

fn query(
    exchange: &Exchange,
    sent: Sent,
    since: i64,
    unplanned: Option<bool>,
    style: &Style,
) -> QueryForm {
    let (word, reply) = came(exchange, sent).unwrap_or(("TIMEOUT".into(), None));
    QueryForm {
        name: style.shown.name(&exchange.name),
        record_type: record_type(exchange.qtype),
        server: style.shown.server(exchange.server),
        proto: if exchange.is_tcp() { "tcp" } else { "udp" },
        port: exchange.client.port(),
        id: exchange.id,
        packet: sent.packet,
        at_ms: sent.is_time_known.then(|| ms(since)),
        reply: word.into_owned(),
        ms: reply.and_then(|it| it.after(sent)).map(ms),
        reply_packet: reply.map(|it| it.packet),
        planned: unplanned.map(|it| !it),
    }
}

fn planned(planned: &Planned, style: &Style) -> PlannedForm {
    PlannedForm {
        name: style.shown.name(&planned.name),
        record_type: record_type(planned.qtype),
        server: style.shown.ip(planned.server),
        proto: planned.transport.word(),
        at_ms: planned.at.as_secs_f64() * 1e3,
        seen: planned.seen.is_some(),
    }
}
