//! Lookups on the wire as text for people.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::Duration;

use crate::dig::mnemonic::rcode_text;
use crate::engine::io::Came;
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, Data, Rcode, Reply, Transport};
use crate::explain::Context;
use crate::explain::live::{
    AT_ONCE, Answer, Comparison, Cut, Departure, Exchange, Played, Stop, Then, Unconnected,
};
use crate::name::Name;
use crate::render::dig::edns::extended_error;
use crate::render::explanation::{Style, Text};
use crate::render::words;
use crate::resolver::Resolver;
use crate::scenario::Scenario;
use crate::scenario::record_type::Shown;
use crate::text::escaped;

/// A lookup and its plan.
#[derive(Debug)]
pub struct Lived {
    /// The lookup.
    pub played: Played,
    /// Beside its plan.
    pub comparison: Comparison,
}

/// So many addresses of an answer are shown; the others are counted.
const SHOWN: usize = 4;
/// So much of an extended error's text is shown, in bytes.
const EXTENDED_TEXT: usize = 120;

/// Writes what was read before the lookups.
///
/// # Errors
///
/// Any error of `out`.
pub fn begin(context: &Context, style: Style, out: &mut dyn Write) -> io::Result<()> {
    Text::new(style, out).about(context)
}

/// Writes one lookup: its end first, then each query with what came back.
///
/// # Errors
///
/// Any error of `out`.
pub fn lookup(
    scenario: &Scenario,
    lived: &Lived,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = Text::new(style, out);
    let played = &lived.played;
    let resolver = played.resolver;
    let who = text.bold(&format!(
        "{} as {} ({})",
        scenario.name, resolver.id, resolver.version
    ));
    let verdict = verdict(lived);
    let verdict = match (&played.outcome, played.cut) {
        (Outcome::Found(_), None) => text.green(&verdict),
        _ => text.yellow(&verdict),
    };
    text.line(&format!("{who}: {verdict}"))?;
    text.paragraph(2, &summary(lived))?;
    Trace {
        text: &mut text,
        lived,
        heading: None,
        said: BTreeSet::new(),
    }
    .write()?;
    if played.is_unanswered() {
        text.paragraph(2, &unanswered(played))?;
    }
    for note in played.notes.iter().chain(&played.strays) {
        text.paragraph(2, note)?;
    }
    if played.more_strays > 0 {
        text.paragraph(2, &format!("and {} such messages more", played.more_strays))?;
    }
    text.line("")
}

/// Writes what was not looked up.
///
/// # Errors
///
/// Any error of `out`.
pub fn end(
    scenario: &Scenario,
    lived: &[Lived],
    wanted: &[&'static Resolver],
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let left: Vec<&str> = wanted.iter().skip(lived.len()).map(|it| it.id).collect();
    if left.is_empty() {
        return Ok(());
    }
    let sentence = format!("{} was not looked up as {}", scenario.name, left.join(", "));
    Text::new(style, out).paragraph(0, &sentence)
}

/// A name with its final dot.
pub(super) fn rooted(name: &Name) -> String {
    match name.to_string().as_str() {
        "." => ".".to_owned(),
        text => format!("{text}."),
    }
}

/// How the lookup ended for the program.
fn verdict(lived: &Lived) -> String {
    let played = &lived.played;
    match (&played.outcome, played.cut) {
        (_, Some(Cut::Time(limit))) => format!("no end within {}", time(limit)),
        (_, Some(Cut::Queries)) => "no end within the most queries that are sent".to_owned(),
        (_, Some(Cut::Hangs)) => "it would wait for ever".to_owned(),
        (_, Some(Cut::Interrupt)) => "interrupted".to_owned(),
        (Outcome::Found(found), None) if found.is_empty() => "found".to_owned(),
        (Outcome::Found(found), None) => {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            found.join(", ")
        }
        (Outcome::Failed(code), None) => (*code).to_owned(),
    }
}

/// After how long, and how many queries.
fn summary(lived: &Lived) -> String {
    let (played, comparison) = (&lived.played, &lived.comparison);
    let sent = played.exchanges.len();
    let queries = words::counted(sent, "query", "queries");
    let after = time(played.elapsed);
    if sent == 0 && played.unconnected.is_empty() {
        return format!("after {after}, without a query");
    }
    let plan = if comparison.is_as_planned {
        "as planned".to_owned()
    } else {
        format!("planned: {} if the name does not exist", comparison.planned)
    };
    format!("after {after} and {queries} ({plan})")
}

/// Which servers said nothing, and how.
fn unanswered(played: &Played) -> String {
    let mut servers: Vec<(String, String)> = Vec::new();
    let queries = played.exchanges.iter().map(|it| {
        let what = match (&it.unsent, &it.answer) {
            (Some(unsent), _) => format!("not sent: {}", unsent.why),
            (None, None) => "no answer".to_owned(),
            (None, Some(answer)) => no_reply(answer, it.query.transport),
        };
        (it.query.server.to_string(), what)
    });
    let connections = played.unconnected.iter().map(|it| {
        let what = format!("no connection: {}", it.unsent.why);
        (it.server.to_string(), what)
    });
    for pair in queries.chain(connections) {
        if !servers.contains(&pair) {
            servers.push(pair);
        }
    }
    let parts: Vec<String> = servers
        .iter()
        .map(|(server, what)| format!("{server}: {what}"))
        .collect();
    format!("no server answered ({})", parts.join("; "))
}

/// The queries of a lookup, line by line.
struct Trace<'t, 'w> {
    text: &'t mut Text<'w>,
    lived: &'t Lived,
    /// The candidate of the last line.
    heading: Option<usize>,
    /// What was said about what follows answers.
    said: BTreeSet<String>,
}

impl Trace<'_, '_> {
    fn write(&mut self) -> io::Result<()> {
        let (played, comparison) = (&self.lived.played, &self.lived.comparison);
        let mut departures = comparison.departures.iter().peekable();
        let mut connections = played.unconnected.iter().peekable();
        let mut pending: Option<String> = None;
        let numbered = played.exchanges.iter().zip(&comparison.numbers);
        for (index, (exchange, &number)) in numbered.enumerate() {
            while let Some(it) = connections.next_if(|it| it.at < exchange.at) {
                self.pending(&mut pending)?;
                self.unconnected(it)?;
            }
            let departure = departures.next_if(|it| it.exchange == index);
            let sentence = departure.map(|it| self::departure(self.lived, it));
            // A and AAAA mostly have the same fate.
            if pending != sentence || self.heading != Some(number) {
                self.pending(&mut pending)?;
            }
            self.head(number)?;
            self.exchange(exchange, departure)?;
            pending = sentence;
        }
        self.pending(&mut pending)?;
        for it in connections {
            self.unconnected(it)?;
        }
        match comparison.stop {
            Some(stop) => self.pending(&mut Some(self::stop(self.lived, stop))),
            None => Ok(()),
        }
    }

    /// Says it, if it was not said before.
    fn pending(&mut self, sentence: &mut Option<String>) -> io::Result<()> {
        match sentence.take() {
            Some(sentence) if self.said.insert(sentence.clone()) => {
                let arrow = self.text.yellow("-> ");
                self.text.headed(7, &arrow, &sentence)
            }
            _ => Ok(()),
        }
    }

    /// The candidate's name, where it is another one than on the last line.
    fn head(&mut self, number: usize) -> io::Result<()> {
        if self.heading == Some(number) {
            return Ok(());
        }
        self.heading = Some(number);
        let comparison = &self.lived.comparison;
        let Some(candidate) = comparison.candidates.get(number) else {
            return Ok(());
        };
        let name = candidate.name.as_ref().map(rooted);
        let name = name.unwrap_or_else(|| "a malformed message".to_owned());
        let name = self.text.bold(&name);
        let from = words::because(&candidate.because);
        let from = if number < comparison.planned_candidates {
            from
        } else {
            format!("{from}, not planned")
        };
        let from = self.text.dim(&format!("({from})"));
        self.text
            .line(&format!("  {:>3}  {name}  {from}", number + 1))
    }

    fn exchange(&mut self, exchange: &Exchange, departure: Option<&Departure>) -> io::Result<()> {
        let query = &exchange.query;
        let record_type = query.record_type().map(|it| Shown(it).to_string());
        let proto = match query.transport {
            Transport::Udp => "",
            Transport::Tcp => " TCP",
        };
        let head = format!(
            "{:>8}  {:<5} {}{proto}  ",
            time(exchange.at),
            record_type.unwrap_or_default(),
            query.server,
        );
        let waited = departure.and_then(|it| it.waited);
        let came = came(exchange, waited, self.lived.played.elapsed);
        self.text.headed(5, &escaped(head.as_bytes()), &came)
    }

    fn unconnected(&mut self, it: &Unconnected) -> io::Result<()> {
        let how = match it.transport {
            Transport::Udp => "",
            Transport::Tcp => " TCP",
        };
        let (at, server, why) = (time(it.at), &it.server, &it.unsent.why);
        let line = format!("{at:>8}  {:<5} {server}{how}  no connection: {why}", "");
        self.text.headed(5, "", &line)
    }
}

/// What came back, and in how long.
fn came(exchange: &Exchange, waited: Option<Duration>, end: Duration) -> String {
    if let Some(unsent) = &exchange.unsent {
        return format!("not sent: {}", unsent.why);
    }
    let Some(answer) = &exchange.answer else {
        let waited = waited.unwrap_or_else(|| end.saturating_sub(exchange.at));
        if waited < AT_ONCE {
            return "not waited for".to_owned();
        }
        return format!("no answer in {}", time(waited));
    };
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
    format!("{what} in {}{extended}", time(answer.after))
}

fn no_reply(answer: &Answer, transport: Transport) -> String {
    let why = answer.why.as_deref().unwrap_or_default();
    match (&answer.what, transport) {
        (Came::Refused, Transport::Udp) => format!("closed port ({why})"),
        (Came::Refused, Transport::Tcp) => format!("connection broken off ({why})"),
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
        parts.push(words::counted(
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
pub(super) fn departure(lived: &Lived, departure: &Departure) -> String {
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
pub(super) fn stop(lived: &Lived, stop: Stop) -> String {
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
fn time(duration: Duration) -> String {
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

#[cfg(test)]
mod tests;
