//! Lookups on the wire as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::address::Address;
use crate::dig::mnemonic::rcode_text;
use crate::engine::io::Came;
use crate::engine::machine::Outcome;
use crate::engine::message::{Data, Rcode};
use crate::explain::live::{Cut, Exchange, Played, Silence, Then, Unconnected};
use crate::render::dig::edns::extended_error;
use crate::render::live::{self, Lived};
use crate::render::{json, prediction};
use crate::scenario::record_type::Shown;
use crate::simulation::courses::Courses;
use crate::text::escaped;

/// A lookup that was made.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::render) struct LookupForm {
    resolver: &'static str,
    version: &'static str,
    /// As the program sees it; absent if the lookup was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<OutcomeForm>,
    /// How long it took, in milliseconds.
    ms: f64,
    /// What ended it before the resolver did: the time allowed for it, more queries than any
    /// resolver should send, that it would wait for ever, or Ctrl-C.
    #[schemars(extend("enum" = ["time", "queries", "hangs", "interrupt", null]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<&'static str>,
    /// Queries of the plan, in which no name exists.
    planned: usize,
    /// Whether the queries are those of the plan.
    as_planned: bool,
    /// Whether no server responded to any query.
    unanswered: bool,
    /// Every query, in order of sending.
    queries: Vec<QueryForm>,
    /// Connections that were not made.
    unconnected: Vec<UnconnectedForm>,
    /// Where reality left the plan, as sentences in order.
    departures: Vec<DepartureForm>,
    /// Planned queries that were not made.
    unasked: usize,
    /// Messages that answered nothing, as sentences; the first few.
    strays: Vec<String>,
    /// Bugs that were met and choices at random.
    notes: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OutcomeForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    addresses: Option<Vec<String>>,
    /// The error as the resolver spells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct QueryForm {
    /// Number of the candidate: those of the plan, then others, from 1.
    candidate: usize,
    /// With its final dot; absent for a malformed message.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    record_type: Option<String>,
    server: String,
    /// `udp` or `tcp`.
    proto: &'static str,
    /// When it was sent, in milliseconds from the start.
    at_ms: f64,
    #[serde(flatten)]
    reply: ReplyForm,
}

/// What came back for a query.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::render) struct ReplyForm {
    /// `ANSWER` (records), `NODATA` (none), another response code, `TC`
    /// (truncated), `TIMEOUT` (nothing came while the resolver waited),
    /// `UNAWAITED` (it ended or went on without waiting), `ICMP` (closed port),
    /// `CLOSE` (connection closed), `UNSENT` (the query did not leave).
    reply: String,
    /// How long after the query, in milliseconds; absent where nothing came.
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<f64>,
    /// How long the resolver waited for what did not come, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_ms: Option<f64>,
    /// Addresses in the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    addresses: Vec<String>,
    /// Targets of aliases in the answer, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
    /// Types of other records in the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<String>,
    /// Extended errors (RFC 8914).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    extended_errors: Vec<ExtendedErrorForm>,
    /// What the kernel says, where it is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ExtendedErrorForm {
    code: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    meaning: Option<&'static str>,
    /// With escapes for what could trick a terminal.
    text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct UnconnectedForm {
    server: String,
    proto: &'static str,
    at_ms: f64,
    error: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DepartureForm {
    /// Index in `queries`.
    query: usize,
    /// `next_server`, `tcp`, `without_edns`, `again` or `candidate`; `stop`:
    /// the lookup ended before the plan.
    then: &'static str,
    sentence: String,
}

/// Appends a line: a prediction's, with what came back.
///
/// # Errors
///
/// None: writing to memory does not fail.
pub fn line(case: &str, lived: &Lived, line: &mut Vec<u8>) -> io::Result<()> {
    let played = &lived.played;
    let (run, courses) = (played.run(), Courses::default());
    let mut form = prediction::prediction(case, played.resolver, &run, &courses);
    form.replies = Some(played.reached().map(|it| reply(played, it)).collect());
    form.ms = Some(milliseconds(played.elapsed));
    form.cut = played.cut.map(cut);
    json::append(&form, line)
}

/// The form of a lookup.
pub(in crate::render) fn form(lived: &Lived) -> LookupForm {
    let (played, comparison) = (&lived.played, &lived.comparison);
    let numbered = played.exchanges.iter().zip(&comparison.numbers);
    LookupForm {
        resolver: played.resolver.id,
        version: played.resolver.version,
        outcome: played.cut.is_none().then(|| outcome(&played.outcome)),
        ms: milliseconds(played.elapsed),
        cut: played.cut.map(cut),
        planned: comparison.planned,
        as_planned: comparison.is_as_planned,
        unanswered: played.is_unanswered(),
        queries: numbered
            .map(|(it, number)| query(played, it, *number))
            .collect(),
        unconnected: played.unconnected.iter().map(unconnected).collect(),
        departures: departures(lived),
        unasked: comparison.stop.map_or(0, |it| it.unasked),
        strays: played.strays.clone(),
        notes: played.notes.clone(),
    }
}

/// Addresses as they are written.
pub(in crate::render) fn texts(addresses: &[Address]) -> Vec<String> {
    addresses.iter().map(ToString::to_string).collect()
}

fn outcome(outcome: &Outcome) -> OutcomeForm {
    OutcomeForm {
        addresses: outcome.found().map(texts),
        code: outcome.code(),
    }
}

/// The word of what ended a lookup before the resolver did.
fn cut(cut: Cut) -> &'static str {
    match cut {
        Cut::Time(_) => "time",
        Cut::Queries => "queries",
        Cut::Hangs => "hangs",
        Cut::Interrupt => "interrupt",
    }
}

fn query(played: &Played, exchange: &Exchange, number: usize) -> QueryForm {
    let query = &exchange.query;
    QueryForm {
        candidate: number + 1,
        name: query.name().map(live::rooted),
        record_type: query.record_type().map(|it| Shown(it).to_string()),
        server: query.server.to_string(),
        proto: query.transport.word(),
        at_ms: milliseconds(exchange.at),
        reply: reply(played, exchange),
    }
}

fn reply(played: &Played, exchange: &Exchange) -> ReplyForm {
    let answer = exchange.answer.as_ref();
    let records = exchange.reply().map(|it| it.answers.as_slice());
    let records = records.unwrap_or_default();
    let error = answer.and_then(|it| it.why.clone());
    let unsent = exchange.unsent.as_ref().map(|it| it.why.clone());
    let of = |data: &Data| match data {
        Data::A(ip) => Some(ip.to_string()),
        Data::Aaaa(ip) => Some(ip.to_string()),
        _ => None,
    };
    let target = |data: &Data| match data {
        Data::Cname(target) => Some(live::rooted(target)),
        _ => None,
    };
    let other = |data: &Data| match data {
        Data::Other(record_type) => Some(Shown(*record_type).to_string()),
        _ => None,
    };
    ReplyForm {
        reply: word(played, exchange),
        ms: answer.map(|it| milliseconds(it.after)),
        waited_ms: match played.silence(exchange) {
            Some(Silence::Waited(waited)) => Some(milliseconds(waited)),
            Some(Silence::NotWaitedFor) | None => None,
        },
        addresses: records.iter().filter_map(|it| of(&it.data)).collect(),
        aliases: records.iter().filter_map(|it| target(&it.data)).collect(),
        others: records.iter().filter_map(|it| other(&it.data)).collect(),
        extended_errors: answer
            .iter()
            .flat_map(|it| &it.extended_errors)
            .map(|(code, text)| ExtendedErrorForm {
                code: *code,
                meaning: extended_error(*code),
                text: escaped(text),
            })
            .collect(),
        error: unsent.or(error),
    }
}

/// What came back, in the words of the rules.
fn word(played: &Played, exchange: &Exchange) -> String {
    let Some(answer) = &exchange.answer else {
        let word = match played.silence(exchange) {
            _ if exchange.unsent.is_some() => "UNSENT",
            Some(Silence::NotWaitedFor) => "UNAWAITED",
            _ => "TIMEOUT",
        };
        return word.to_owned();
    };
    match &answer.what {
        Came::Refused => "ICMP".to_owned(),
        Came::Closed => "FIN".to_owned(),
        Came::Reset => "RST".to_owned(),
        Came::Reply(reply) if reply.truncated => "TC".to_owned(),
        Came::Reply(reply) if reply.rcode != Rcode::NoError => {
            rcode_text(answer.rcode).into_owned()
        }
        Came::Reply(reply) if reply.answers.is_empty() => "NODATA".to_owned(),
        Came::Reply(_) => "ANSWER".to_owned(),
    }
}

fn unconnected(it: &Unconnected) -> UnconnectedForm {
    UnconnectedForm {
        server: it.server.to_string(),
        proto: it.transport.word(),
        at_ms: milliseconds(it.at),
        error: it.unsent.why.clone(),
    }
}

fn departures(lived: &Lived) -> Vec<DepartureForm> {
    let comparison = &lived.comparison;
    let forms = comparison.departures.iter().map(|it| DepartureForm {
        query: it.exchange,
        then: match &it.then {
            Then::Again { over_tcp: true, .. } => "tcp",
            Then::Again {
                server: Some(_), ..
            } => "next_server",
            Then::Again {
                without_edns: true, ..
            } => "without_edns",
            Then::Again { .. } => "again",
            Then::Candidate(_) => "candidate",
        },
        sentence: live::departure(lived, it),
    });
    let stop = comparison.stop.map(|it| DepartureForm {
        query: it.exchange,
        then: "stop",
        sentence: live::stop(lived, it),
    });
    forms.chain(stop).collect()
}

fn milliseconds(duration: std::time::Duration) -> f64 {
    let microseconds = u32::try_from(duration.as_micros()).unwrap_or(u32::MAX);
    f64::from(microseconds) / 1000.0
}
