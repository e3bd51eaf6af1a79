//! `kdns watch` for programs: a summary, and a line for each lookup.

mod line;

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::doctor::Route;
use crate::render::json;
use crate::render::path::service::{self, ServiceForm};
use crate::render::watch::{Style, words};
use crate::watch::findings::Times;
use crate::watch::report::{NameReport, Role, ServerReport, Whose};
use crate::watch::{Finding, Report};

pub(in crate::render) use self::line::LookupForm;
pub use self::line::line;

/// A whole watch, summed up.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "kdns watch")]
pub(in crate::render) struct SummaryForm {
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
    /// Queries to which an answer may still have come after the end.
    open: u64,
    /// Packets that the kernel had no room for; null: not known.
    drops: Option<u64>,
    /// What is wrong, the worst first.
    findings: Vec<FindingForm>,
    /// Where the Services lead that the findings are about, as the node's rules said
    /// when watching began, where these were read.
    services: Vec<ServiceForm>,
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
    /// What it was read off.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<EvidenceForm>,
}

/// What a search list was read off that nobody gave.
#[derive(Debug, Serialize, JsonSchema)]
struct EvidenceForm {
    /// Names whose lookups speak for it.
    names: usize,
    /// Names whose lookups speak against it.
    against: usize,
    /// `ndots` is no less.
    ndots_least: usize,
    /// `ndots` is no more; null: not known.
    ndots_most: Option<usize>,
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
    /// Packets with a wrong time, read as captured together with the packet before.
    mistimed: u64,
    /// Datagrams of which a fragment is missing.
    incomplete: u64,
    /// Bytes of connections that were not seen.
    stream_gaps: u64,
    /// Answers to queries that were not seen.
    orphans: u64,
    /// Answers that the program no longer read.
    unread: u64,
    /// Lookups whose end was not waited for: there was no room, or the clock was set.
    forgotten: u64,
    /// Unanswered queries that were counted, and not looked at, for want of room.
    only_counted: u64,
    other: u64,
}

/// Writes the summary.
///
/// # Errors
///
/// Any error of `out`.
pub fn summary(
    report: &Report,
    services: &[Result<Route, String>],
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
            evidence: report.evidence.map(|it| EvidenceForm {
                names: it.names,
                against: it.against,
                ndots_least: it.ndots.0,
                ndots_most: it.ndots.1,
            }),
        },
        lookups: report.lookups,
        broken: report.broken,
        queries: report.queries,
        unanswered: report.unanswered,
        open: report.open,
        drops: report.drops,
        services: service::forms(services),
        findings: report
            .findings
            .iter()
            .map(|it| finding(it, style))
            .collect(),
        advice: report.advice.iter().map(|it| advice(it, style)).collect(),
        servers: report.servers.iter().map(|it| server(it, style)).collect(),
        names: report.names.iter().map(|it| name(it, style)).collect(),
        clients: report.clients.len(),
        forwarders: report.forwarders.iter().map(|it| shown.ip(*it)).collect(),
        slowest_ms: ms(report.slowest),
        counted: counted(report),
        notes: notes.to_vec(),
    };
    json::document(&form, out)
}

fn server(server: &ServerReport, style: &Style) -> ServerForm {
    ServerForm {
        server: style.shown.server(server.server),
        queries: server.queries,
        unanswered: server.unanswered,
        times: times(&server.times),
        role: server.role.map(|it| match it {
            Role::IstioProxy => "istio-proxy",
            Role::NotInFile => "not-in-file",
        }),
    }
}

fn name(name: &NameReport, style: &Style) -> NameForm {
    NameForm {
        name: style.shown.name(&name.name),
        lookups: name.lookups,
        queries: name.queries,
        times: times(&name.times),
    }
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
        mistimed: counters.mistimed,
        incomplete: counters.incomplete,
        stream_gaps: counters.stream_gaps,
        orphans: strays.orphans,
        unread: strays.unread,
        forgotten: strays.forgotten,
        only_counted: report.only_counted,
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
