//! What came back and what followed, in words.

use std::time::Duration;

use super::Lived;
use crate::dig::mnemonic::rcode_text;
use crate::engine::io::Came;
use crate::engine::message::{Because, Data, Rcode, Reply, Transport};
use crate::explain::live::{Answer, Departure, Exchange, Played, Silence, Stop, Then};
use crate::name::Name;
use crate::render::dig::edns::extended_error;
use crate::render::words;
use crate::scenario::record_type::Shown;
use crate::text::counted;
use crate::text::escaped;

/// So many addresses of an answer are shown; the others are counted.
const SHOWN: usize = 4;
/// So much of an extended error's text is shown, in bytes.
const EXTENDED_TEXT: usize = 120;

/// A name with its final dot.
pub(in crate::render) fn rooted(name: &Name) -> String {
    match name.to_string().as_str() {
        "." => ".".to_owned(),
        text => format!("{text}."),
    }
}

/// What came back, and in how long.
pub(super) fn came(played: &Played, exchange: &Exchange) -> String {
    came_of(exchange).unwrap_or_else(|| match played.silence(exchange) {
        Some(Silence::Waited(waited)) => waited_in_vain(waited),
        Some(Silence::NotWaitedFor) | None => NOT_WAITED_FOR.to_owned(),
    })
}

/// `no answer in 5 s`
pub(super) fn waited_in_vain(waited: Duration) -> String {
    format!("no answer in {}", time(waited))
}

/// The same as far as it is known without the rest of the lookup; `None`:
/// nothing came.
pub(super) fn came_of(exchange: &Exchange) -> Option<String> {
    if let Some(unsent) = &exchange.unsent {
        return Some(format!("not sent: {}", unsent.why));
    }
    let answer = exchange.answer.as_ref()?;
    let what = match &answer.what {
        Came::Reply(reply) => contents(reply, answer.rcode),
        _ => no_reply(answer, exchange.query.transport),
    };
    let extended = answer.extended_errors.iter().map(|(code, text)| {
        let meaning = extended_error(*code).unwrap_or("unknown");
        let text = escaped(text.get(..EXTENDED_TEXT).unwrap_or(text));
        let text = if text.is_empty() {
            text
        } else {
            format!(": {text}")
        };
        format!("; EDE {code} ({meaning}){text}")
    });
    let extended: String = extended.collect();
    let damage = match (&answer.what, &answer.why) {
        (Came::Reply(_), Some(why)) => format!("; {why}"),
        _ => String::new(),
    };
    Some(format!(
        "{what} in {}{damage}{extended}",
        time(answer.after)
    ))
}

/// The resolver ended, or went on, before an answer could come.
pub(super) const NOT_WAITED_FOR: &str = "not waited for";

pub(super) fn no_reply(answer: &Answer, transport: Transport) -> String {
    let why = answer.why.as_deref().unwrap_or_default();
    match (&answer.what, transport) {
        (Came::Refused, Transport::Udp) => format!("closed port ({why})"),
        (Came::Reset, _) | (Came::Refused, Transport::Tcp) => {
            format!("connection broken off ({why})")
        }
        _ => "connection closed without an answer".to_owned(),
    }
}

/// The answer section in short, or the response code.
fn contents(reply: &Reply, rcode: u16) -> String {
    let mut parts: Vec<String> = Vec::new();
    if reply.truncated {
        parts.push("truncated".to_owned());
    }
    if reply.rcode != Rcode::NoError {
        parts.push(rcode_text(rcode).into_owned());
    }
    let mut more = 0;
    let mut others: Vec<(String, usize)> = Vec::new();
    for record in &reply.answers {
        let shown = match &record.data {
            Data::A(ip) => ip.to_string(),
            Data::Aaaa(ip) => ip.to_string(),
            Data::Cname(target) => format!("alias of {}", rooted(target)),
            Data::Other(record_type) => {
                let word = Shown(*record_type).to_string();
                match others.iter_mut().find(|(other, _)| *other == word) {
                    Some((_, count)) => *count += 1,
                    None => others.push((word, 1)),
                }
                continue;
            }
        };
        if parts.len() < SHOWN {
            parts.push(shown);
        } else {
            more += 1;
        }
    }
    for (word, count) in others.iter().take(SHOWN) {
        parts.push(counted(
            *count,
            &format!("{word} record"),
            &format!("{word} records"),
        ));
    }
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    if parts.is_empty() {
        return "NODATA".to_owned();
    }
    parts.join(", ")
}

/// An answer's kind, as the reason for what follows.
fn reason(exchange: &Exchange, waited: Option<Duration>) -> String {
    if exchange.wrong.is_some() {
        return "an answer, but not to this query".to_owned();
    }
    let is_refused = |it: &Answer| it.what == Came::Refused;
    if waited.is_some() && !exchange.answer.as_ref().is_some_and(is_refused) {
        return "no answer".to_owned();
    }
    match (&exchange.unsent, exchange.answer.as_ref()) {
        (Some(_), _) => "it could not be sent".to_owned(),
        (None, None) => "no answer".to_owned(),
        (None, Some(answer)) => match &answer.what {
            Came::Refused if exchange.query.transport == Transport::Udp => "closed port".to_owned(),
            Came::Refused | Came::Closed => "connection closed".to_owned(),
            Came::Reset => "connection reset".to_owned(),
            Came::Reply(reply) if reply.truncated => "truncated".to_owned(),
            Came::Reply(reply) if reply.rcode != Rcode::NoError => {
                rcode_text(answer.rcode).into_owned()
            }
            Came::Reply(reply) if reply.answers.is_empty() => "NODATA".to_owned(),
            Came::Reply(_) => "answer".to_owned(),
        },
    }
}

/// `SERVFAIL: glibc goes on to the next server, 10.0.0.2`
pub(in crate::render) fn departure(lived: &Lived, departure: &Departure) -> String {
    let (played, comparison) = (&lived.played, &lived.comparison);
    let exchange = played.exchanges.get(departure.exchange);
    let reason = exchange.map_or_else(String::new, |it| reason(it, departure.waited));
    let what = match &departure.then {
        Then::Again {
            server,
            over_tcp,
            without_edns,
        } => {
            let to = server
                .as_ref()
                .map(|it| format!("goes on to the next server, {it}"));
            match (to, over_tcp, without_edns) {
                (Some(to), true, _) => format!("{to}, over TCP"),
                (Some(to), false, _) => to,
                (None, true, _) => "asks again over TCP".to_owned(),
                (None, false, true) => "asks again without EDNS".to_owned(),
                (None, false, false) => "asks the same server again".to_owned(),
            }
        }
        Then::Candidate(number) => {
            let candidate = comparison.candidates.get(*number);
            let is_target = candidate.is_some_and(|it| it.because == Because::Cname);
            if is_target {
                format!("asks for the alias's target, candidate {}", number + 1)
            } else {
                format!("goes on with candidate {}", number + 1)
            }
        }
    };
    format!("{reason}: {} {what}", played.resolver.id)
}

/// `answer at candidate 2: glibc stops here, 4 of 8 queries`
pub(in crate::render) fn stop(lived: &Lived, stop: Stop) -> String {
    let (played, comparison) = (&lived.played, &lived.comparison);
    let number = comparison.numbers.get(stop.exchange).copied();
    let exchange = played.exchanges.get(stop.exchange);
    let reason = exchange.map_or_else(String::new, |it| reason(it, None));
    let (sent, planned) = (played.exchanges.len(), comparison.planned);
    let how_far = if sent + stop.unasked == planned {
        format!("{sent} of {planned} queries")
    } else {
        format!("{} of {planned} planned queries are not made", stop.unasked)
    };
    let verb = if stop.is_answer { "stops" } else { "gives up" };
    let number = number.unwrap_or_default() + 1;
    let id = played.resolver.id;
    format!("{reason} at candidate {number}: {id} {verb} here, {how_far}")
}

/// `0.4 ms`, `12 ms`, `2.5 s`
pub(in crate::render) fn time(duration: Duration) -> String {
    let microseconds = duration.as_micros();
    let (tenths, whole) = ((microseconds + 50) / 100, (microseconds + 500) / 1000);
    if whole >= 1000 {
        words::seconds(duration)
    } else if tenths < 100 {
        format!("{}.{} ms", tenths / 10, tenths % 10)
    } else {
        format!("{whole} ms")
    }
}
