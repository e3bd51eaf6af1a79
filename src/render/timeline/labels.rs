//! What is written on queries and below them.

use std::time::Duration;

use super::paper::Fate;
use crate::dig::mnemonic::rcode_text;
use crate::engine::io::{Came, Wrong};
use crate::engine::message::{Because, Data, Rcode, Reply, Transport};
use crate::explain::live::{AT_ONCE, Answer, Exchange, Then};
use crate::explain::plan::Candidate;
use crate::explain::timeline::{Next, Step};
use crate::render::live::{rooted, time};
use crate::render::words;
use crate::scenario::record_type::Shown;
use crate::text::counted;

/// Less time than this is not told.
const LEAST: Duration = Duration::from_micros(50);
const NOT_WAITED: &str = "not waited for";

/// What a query came to: its colour, and in words.
pub(super) fn fate(exchange: &Exchange, step: &Step) -> (Fate, String) {
    if exchange.unsent.is_some() {
        return (Fate::Broken, "not sent".to_owned());
    }
    if let Some(wrong) = exchange.wrong {
        return (Fate::Broken, wrong_answer(wrong).to_owned());
    }
    let Some(answer) = &exchange.answer else {
        let waited = step.until.saturating_sub(exchange.at);
        if waited < AT_ONCE {
            return (Fate::NoData, NOT_WAITED.to_owned());
        }
        return (Fate::Silent, "no answer".to_owned());
    };
    match (&answer.what, exchange.query.transport) {
        (Came::Refused, Transport::Udp) => (Fate::Broken, "closed port".to_owned()),
        (Came::Refused, Transport::Tcp) => (Fate::Broken, "refused".to_owned()),
        (Came::Closed, _) => (Fate::Broken, "closed".to_owned()),
        (Came::Reset, _) => (Fate::Broken, "reset".to_owned()),
        (Came::Reply(reply), _) => replied(reply, answer),
    }
}

/// What came back for a query and is no reply to it.
const fn wrong_answer(wrong: Wrong) -> &'static str {
    match wrong {
        Wrong::Id => "another id",
        Wrong::Question => "another question",
        Wrong::Source => "another address",
    }
}

fn replied(reply: &Reply, answer: &Answer) -> (Fate, String) {
    if reply.truncated {
        return (Fate::Cut, "truncated".to_owned());
    }
    match reply.rcode {
        Rcode::NoError => {}
        Rcode::NxDomain => return (Fate::NoName, "NXDOMAIN".to_owned()),
        other if answer.rcode == 0 => return (Fate::Broken, other.as_str().to_owned()),
        _ => return (Fate::Broken, rcode_text(answer.rcode).into_owned()),
    }
    let addresses = reply.answers.iter().filter_map(|it| it.data.ip());
    let addresses: Vec<String> = addresses.map(|it| it.to_string()).collect();
    let is_alias = |data: &Data| matches!(data, Data::Cname(_));
    match addresses.as_slice() {
        [] if reply.answers.is_empty() => (Fate::NoData, "NODATA".to_owned()),
        [] if reply.answers.iter().all(|it| is_alias(&it.data)) => {
            (Fate::NoData, "alias only".to_owned())
        }
        [] => {
            let count = counted(reply.answers.len(), "record", "records");
            (Fate::Found, count)
        }
        [one] => (Fate::Found, one.clone()),
        [one, rest @ ..] => (Fate::Found, format!("{one} +{}", rest.len())),
    }
}

/// `AAAA`, `A TCP`, `?` for a message that no server can read.
pub(super) fn asked(exchange: &Exchange) -> String {
    let record_type = exchange.query.record_type().map(|it| Shown(it).to_string());
    let record_type = record_type.unwrap_or_else(|| "?".to_owned());
    match exchange.query.transport {
        Transport::Udp => record_type,
        Transport::Tcp => format!("{record_type} TCP"),
    }
}

/// What a query was and came to, as a sentence.
pub(super) fn sentence(exchange: &Exchange, step: &Step) -> String {
    let query = &exchange.query;
    let name = query
        .name()
        .map_or_else(|| "a malformed message".to_owned(), rooted);
    let transport = match query.transport {
        Transport::Udp => "UDP",
        Transport::Tcp => "TCP",
    };
    let (_, came) = fate(exchange, step);
    let why = exchange.unsent.as_ref().map(|it| it.why.as_str());
    let why = why.or_else(|| exchange.answer.as_ref()?.why.as_deref());
    let why = why.map(|it| format!(" ({it})")).unwrap_or_default();
    let after = took(exchange, step).map(|it| format!(" {}", took_words(exchange, it)));
    format!(
        "{}: {} {name} to {} over {transport}: {came}{why}{}",
        clock(exchange.at),
        asked(exchange),
        query.server,
        after.unwrap_or_default()
    )
}

/// How long it took, where that is worth a word.
pub(super) fn took(exchange: &Exchange, step: &Step) -> Option<Duration> {
    let took = match &exchange.answer {
        Some(answer) => answer.after,
        None => step.until.saturating_sub(exchange.at),
    };
    let least = match exchange.answer {
        Some(_) => LEAST,
        // It was not waited for.
        None => AT_ONCE,
    };
    (took >= least && exchange.unsent.is_none()).then_some(took)
}

fn took_words(exchange: &Exchange, took: Duration) -> String {
    match exchange.answer {
        Some(_) => format!("after {}", time(took)),
        None => format!("in {}", time(took)),
    }
}

/// A time from the start of the lookup.
pub(super) fn clock(at: Duration) -> String {
    if at.is_zero() {
        return "0 s".to_owned();
    }
    time(at)
}

/// Why the next step is made.
pub(super) fn why(step: &Step, candidates: &[&Candidate]) -> String {
    let Some(next) = &step.next else {
        return String::new();
    };
    let what = match next {
        Next::Type => "next type".to_owned(),
        Next::Then(Then::Again {
            server,
            over_tcp,
            without_edns,
        }) => match (server, over_tcp, without_edns) {
            (Some(_), true, _) => "next server, over TCP".to_owned(),
            (Some(_), false, _) => "next server".to_owned(),
            (None, true, _) => "again over TCP".to_owned(),
            (None, false, true) => "again without EDNS".to_owned(),
            (None, false, false) => "again".to_owned(),
        },
        Next::Then(Then::Candidate(number)) => {
            match candidates.get(*number).map(|it| &it.because) {
                Some(Because::Cname) => "the alias's target".to_owned(),
                _ if *number == step.candidate + 1 => "next name".to_owned(),
                _ => format!("name {}", number + 1),
            }
        }
    };
    format!("{} → {what}", came(step))
}

/// Whether nobody answered what was waited for.
pub(super) fn is_silent(step: &Step) -> bool {
    let mut all = step.exchanges.iter();
    all.clone()
        .all(|it| it.unsent.is_none() && it.answer.is_none())
        && all.any(|it| fate(it, step).0 == Fate::Silent)
}

/// What a step came to, equal answers put together.
pub(super) fn came(step: &Step) -> String {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for exchange in &step.exchanges {
        let (fate, mut came) = fate(exchange, step);
        if fate == Fate::Found {
            "answer".clone_into(&mut came);
        }
        let record_type = asked(exchange);
        match said.iter_mut().find(|(other, _)| *other == came) {
            Some((_, types)) if types.contains(&record_type) => {}
            Some((_, types)) => types.push(record_type),
            None => said.push((came, vec![record_type])),
        }
    }
    if said.len() > 1 {
        said.retain(|(came, _)| came != NOT_WAITED);
    }
    if let [(came, _)] = said.as_slice() {
        return came.clone();
    }
    let parts = said
        .iter()
        .map(|(came, types)| format!("{} {came}", types.join(" ")));
    parts.collect::<Vec<_>>().join(", ")
}

/// Where a name comes from.
pub(super) fn because(candidate: &Candidate, is_meant: bool) -> String {
    let because = words::because(&candidate.because);
    if is_meant {
        return format!("{because}: likely meant");
    }
    because
}

/// The name with its final dot.
pub(super) fn full(candidate: &Candidate) -> String {
    candidate
        .name
        .as_ref()
        .map_or_else(|| "(a malformed message)".to_owned(), rooted)
}
