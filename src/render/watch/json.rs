//! `kdns watch` for programs: a summary, and a line for each lookup.

use std::io::{self, Write};

use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::engine::message::Transport;
use crate::render::json;
use crate::render::watch::lookup::{asked, came, faults, or, outcome, record_type, stamp};
use crate::render::watch::{Style, words};
use crate::watch::findings::Times;
use crate::watch::lookup::Exchange;
use crate::watch::plan::Planned;
use crate::watch::report::{Role, Whose};
use crate::watch::{Finding, Judged, Report};

/// A whole watch, summed up.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "kdns watch")]
struct SummaryForm {
    /// The version of this format.
    version: u32,
    /// The resolver that the lookups are judged as; null: none fits.
    resolver: Option<&'static str>,
    /// How it is known: `given`, `fits` (its plans are most like the queries), `none`
    /// (no model fits), `unknown` (there are no lookups).
    resolver_known: &'static str,
    /// How alike the queries and its plans are, from 0 to 1; null: it was given.
    likeness: Option<f64>,
    /// Other resolvers that fit as well.
    also: Vec<&'static str>,
    /// The search list that names were found by.
    search: SearchForm,
    /// Lookups that ended.
    lookups: u64,
    /// Lookups in which something went wrong.
    broken: u64,
    /// Queries, repeats included.
    queries: u64,
    /// Queries that nobody answered.
    unanswered: u64,
    /// Packets that the kernel had no room for; null: not known.
    drops: Option<u64>,
    /// What is wrong, the worst first.
    findings: Vec<FindingForm>,
    /// What would have helped, by playing the same lookups with the answers that
    /// were seen.
    advice: Vec<AdviceForm>,
    /// Servers, the one that is asked most first; the first ten.
    servers: Vec<ServerForm>,
    /// Names as programs asked for them, the most queries first; the first ten.
    names: Vec<NameForm>,
    /// How many clients asked.
    clients: usize,
    /// Clients that are asked themselves.
    forwarders: Vec<String>,
    /// The longest lookup, in milliseconds.
    slowest_ms: f64,
    /// What was counted beside queries and their answers.
    counted: CountedForm,
    /// What went wrong with the capture, as sentences.
    notes: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SearchForm {
    entries: Vec<String>,
    /// Names with fewer dots are searched for first.
    ndots: usize,
    /// Whether that was read off the queries, because no file was given.
    inferred: bool,
}

/// Something that is wrong.
#[derive(Debug, Serialize, JsonSchema)]
struct FindingForm {
    /// Which kind: `unanswered`, `conntrack-race`, …
    code: &'static str,
    /// `error` or `warning`.
    severity: &'static str,
    /// How often it was seen.
    count: u64,
    /// The server that it is about, `#PORT` behind it if that is not 53.
    server: Option<String>,
    /// The name that it is about, or the first of them.
    name: Option<String>,
    /// The numbers of the first packets that show it.
    packets: Vec<u64>,
    /// What is wrong, as a sentence.
    message: String,
    /// What it could be taken for.
    not: String,
    /// What to do.
    fix: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AdviceForm {
    /// The change: `options ndots:1`.
    change: String,
    /// Queries that would not have been sent.
    queries_saved: u64,
    /// The time that programs would not have waited, in milliseconds.
    ms_saved: f64,
    /// Names that were found and no longer would be, or with another address.
    breaks: Vec<String>,
    /// Names of which it is not known: nobody asked what would then be asked.
    unknown: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ServerForm {
    server: String,
    queries: u64,
    unanswered: u64,
    #[serde(flatten)]
    times: TimesForm,
    /// Why it is another one than the file names: `istio-proxy`, `not-in-file`.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NameForm {
    name: String,
    lookups: u64,
    queries: u64,
    #[serde(flatten)]
    times: TimesForm,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TimesForm {
    /// Half took no longer, in milliseconds; null: nothing was answered.
    median_ms: Option<f64>,
    /// 99 of 100 took no longer, in milliseconds.
    p99_ms: Option<f64>,
}

/// Counts, of packets unless said otherwise.
#[derive(Debug, Serialize, JsonSchema)]
struct CountedForm {
    frames: u64,
    messages: u64,
    /// Messages of which only the beginning was captured.
    cut: u64,
    /// The same packet on another interface.
    copies: u64,
    /// The same query before or behind NAT.
    translated: u64,
    encrypted: u64,
    damaged: u64,
    /// Datagrams of which a fragment is missing.
    incomplete: u64,
    /// Bytes of connections that were not seen.
    stream_gaps: u64,
    /// Answers to queries that were not seen.
    orphans: u64,
    /// Answers that the program no longer read.
    unread: u64,
    /// Lookups whose end was not waited for, for want of room.
    forgotten: u64,
    other: u64,
}

/// A lookup: a line of `--format jsonl`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "kdns watch, a lookup")]
struct LookupForm {
    /// The version of this format.
    version: u32,
    /// The name as the program asked for it, with its final dot if it must have
    /// had one.
    name: String,
    /// Other names that it can have asked for.
    or: Vec<String>,
    /// The resolver that it is judged as; null: none fits.
    resolver: Option<&'static str>,
    client: String,
    /// When it began (RFC 3339).
    start: Option<String>,
    /// From the first to the last packet, in milliseconds.
    duration_ms: f64,
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
    /// When it was sent, in milliseconds from the start.
    at_ms: f64,
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
    /// Whether it was seen.
    seen: bool,
}

/// The schema of the summary.
pub fn schema() -> Schema {
    json::schema::<SummaryForm>()
}

/// The schema of a line.
pub fn line_schema() -> Schema {
    json::schema::<LookupForm>()
}

/// Writes the summary.
///
/// # Errors
///
/// Any error of `out`.
pub fn summary(
    report: &Report,
    notes: &[String],
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let shown = &style.shown;
    let (resolver, known, likeness, also) = match &report.resolver {
        Whose::Known(resolver) => (Some(resolver.id), "given", None, Vec::new()),
        Whose::Fits(fit) => {
            let also = fit.also.iter().map(|it| it.id).collect();
            (fit.best.map(|it| it.id), "fits", Some(fit.likeness), also)
        }
        Whose::Nobody(fit) => (None, "none", Some(fit.likeness), Vec::new()),
        Whose::Unknown => (None, "unknown", None, Vec::new()),
    };
    let form = SummaryForm {
        version: 1,
        resolver,
        resolver_known: known,
        likeness: likeness.map(|it| (it * 1000.0).round() / 1000.0),
        also,
        search: SearchForm {
            entries: report
                .search
                .entries
                .iter()
                .map(|it| shown.name(it))
                .collect(),
            ndots: report.search.ndots,
            inferred: report.is_inferred,
        },
        lookups: report.lookups,
        broken: report.broken,
        queries: report.queries,
        unanswered: report.unanswered,
        drops: report.drops,
        findings: report
            .findings
            .iter()
            .map(|it| finding(it, style))
            .collect(),
        advice: report.advice.iter().map(|it| advice(it, style)).collect(),
        servers: report
            .servers
            .iter()
            .map(|it| ServerForm {
                server: shown.server(it.server),
                queries: it.queries,
                unanswered: it.unanswered,
                times: times(&it.times),
                role: it.role.map(|it| match it {
                    Role::IstioProxy => "istio-proxy",
                    Role::NotInFile => "not-in-file",
                }),
            })
            .collect(),
        names: report
            .names
            .iter()
            .map(|it| NameForm {
                name: shown.name(&it.name),
                lookups: it.lookups,
                queries: it.queries,
                times: times(&it.times),
            })
            .collect(),
        clients: report.clients.len(),
        forwarders: report.forwarders.iter().map(|it| shown.ip(*it)).collect(),
        slowest_ms: ms(report.slowest),
        counted: counted(report),
        notes: notes.to_vec(),
    };
    json::document(&form, out)
}

fn counted(report: &Report) -> CountedForm {
    let (counters, strays) = (&report.counters, &report.strays);
    CountedForm {
        frames: counters.frames,
        messages: counters.messages,
        cut: counters.cut,
        copies: counters.copies,
        translated: strays.translated,
        encrypted: counters.encrypted,
        damaged: counters.damaged,
        incomplete: counters.incomplete,
        stream_gaps: counters.stream_gaps,
        orphans: strays.orphans,
        unread: strays.unread,
        forgotten: strays.forgotten,
        other: counters.other,
    }
}

fn finding(finding: &Finding, style: &Style) -> FindingForm {
    let words = words::finding(finding, &style.shown);
    FindingForm {
        code: finding.what.code(),
        severity: finding.severity.word(),
        count: finding.count,
        server: finding.server.map(|it| style.shown.server(it)),
        name: finding.name.as_ref().map(|it| style.shown.name(it)),
        packets: finding.packets.clone(),
        message: words.message,
        not: words.not,
        fix: words.fix,
    }
}

fn advice(advice: &crate::watch::advice::Advice, style: &Style) -> AdviceForm {
    let names = |names: &[crate::name::Name]| names.iter().map(|it| style.shown.name(it)).collect();
    AdviceForm {
        change: words::advice(advice, &style.shown).0,
        queries_saved: advice.queries_saved,
        ms_saved: advice.time_saved.as_secs_f64() * 1e3,
        breaks: names(&advice.breaks),
        unknown: names(&advice.unknown),
    }
}

fn times(times: &Times) -> TimesForm {
    let known = |it: i64| (times.count > 0).then(|| ms(it));
    TimesForm {
        median_ms: known(times.median),
        p99_ms: known(times.most),
    }
}

#[expect(clippy::cast_precision_loss, reason = "microseconds are shown")]
fn ms(nanoseconds: i64) -> f64 {
    (nanoseconds / 1000) as f64 / 1e3
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
            let is_answered = exchange.answered() == Some(sent);
            (
                sent.time,
                query(exchange, sent.packet, since, is_answered, unplanned, style),
            )
        }));
    }
    queries.sort_by_key(|it| (it.0, it.1.packet));
    let form = LookupForm {
        version: 1,
        name: asked(judged, style),
        or: or(judged, style),
        resolver: plan.map(|it| it.resolver.id),
        client: style.shown.ip(lookup.client),
        start: stamp(lookup.start()).map(|it| it.to_string()),
        duration_ms: ms(lookup.end().saturating_sub(lookup.start())),
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
    packet: u64,
    since: i64,
    is_answered: bool,
    unplanned: Option<bool>,
    style: &Style,
) -> QueryForm {
    let is_replied = exchange.reply.is_some() && !is_answered;
    QueryForm {
        name: style.shown.name(&exchange.name),
        record_type: record_type(exchange.qtype),
        server: style.shown.server(exchange.server),
        proto: if exchange.is_tcp() { "tcp" } else { "udp" },
        port: exchange.client.port(),
        id: exchange.id,
        packet,
        at_ms: ms(since),
        reply: if is_replied {
            "TIMEOUT".to_owned()
        } else {
            came(exchange)
        },
        ms: exchange.took().filter(|_| is_answered).map(ms),
        reply_packet: exchange.reply.filter(|_| is_answered).map(|it| it.packet),
        planned: unplanned.map(|it| !it),
    }
}

fn planned(planned: &Planned, style: &Style) -> PlannedForm {
    PlannedForm {
        name: style.shown.name(&planned.name),
        record_type: record_type(planned.qtype),
        server: style.shown.ip(planned.server),
        proto: match planned.transport {
            Transport::Udp => "udp",
            Transport::Tcp => "tcp",
        },
        at_ms: planned.at.as_secs_f64() * 1e3,
        seen: planned.seen.is_some(),
    }
}
