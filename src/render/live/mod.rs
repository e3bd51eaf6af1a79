//! Lookups on the wire as text for people.

pub(super) mod bars;
mod conclusion;
pub mod json;
mod phrases;
mod progress;
mod repeated;

use std::collections::BTreeSet;
use std::io::{self, Write};

pub(super) use self::conclusion::concluded;
use self::phrases::came;
pub(super) use self::phrases::{departure, rooted, stop, time};
pub use self::progress::Progress;
pub use self::repeated::{repeated, run_line};
use crate::engine::machine::Outcome;
use crate::engine::message::Transport;
use crate::explain::Context;
pub use crate::explain::live::Lived;
use crate::explain::live::{Cut, Exchange, Unconnected};
use crate::render::Style;
use crate::render::explanation::Text;
use crate::render::words;
use crate::resolver::Resolver;
use crate::scenario::Scenario;
use crate::scenario::record_type::Shown;
use crate::text::counted;
use crate::text::escaped;

/// Writes what was read before the lookups.
///
/// # Errors
///
/// Any error of `out`.
pub fn begin(context: &Context, style: Style, out: &mut dyn Write) -> io::Result<()> {
    Text::new(style, out).about(context)
}

/// Writes one lookup: each query with what came back and what followed, then
/// how it ended, why, and what to do.
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
    let resolver = lived.played.resolver;
    let who = text.bold(&format!(
        "{} as {} ({})",
        scenario.name, resolver.id, resolver.version
    ));
    text.line(&format!("{who}: {}", summary(lived)))?;
    Trace {
        text: &mut text,
        lived,
        heading: None,
        said: BTreeSet::new(),
    }
    .write()?;
    conclude(scenario, lived, style, out)
}

/// Writes how a lookup ended, of which the queries are on the screen already.
///
/// # Errors
///
/// Any error of `out`.
pub fn conclude(
    scenario: &Scenario,
    lived: &Lived,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = Text::new(style, out);
    let played = &lived.played;
    bars::write(&mut text, played, "")?;
    text.line("")?;
    conclusion::write(&mut text, scenario, lived)?;
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
    let is_left = |it: &&&Resolver| !lived.iter().any(|other| other.played.resolver.id == it.id);
    let left: Vec<&str> = wanted.iter().filter(is_left).map(|it| it.id).collect();
    if left.is_empty() {
        return Ok(());
    }
    let sentence = format!("{} was not looked up as {}", scenario.name, left.join(", "));
    Text::new(style, out).paragraph(0, &sentence)
}

/// So many addresses are shown; a server can send thousands.
const MAX_FOUND: usize = 16;

/// How the lookup ended for the program.
pub(in crate::render) fn verdict(lived: &Lived) -> String {
    let played = &lived.played;
    match (&played.outcome, played.cut) {
        (_, Some(Cut::Time(limit))) => format!("no end within {}", time(limit)),
        (_, Some(Cut::Queries)) => "no end within the most queries that are sent".to_owned(),
        (_, Some(Cut::Hangs)) => "it would wait for ever".to_owned(),
        (_, Some(Cut::Interrupt)) => "interrupted".to_owned(),
        (Outcome::Found(found), None) if found.is_empty() => "found".to_owned(),
        (Outcome::Found(found), None) => {
            let mut shown: Vec<String> = found
                .iter()
                .take(MAX_FOUND)
                .map(ToString::to_string)
                .collect();
            let more = found.len() - shown.len();
            shown.extend((more > 0).then(|| format!("{more} more")));
            shown.join(", ")
        }
        (failed, None) => failed.code().unwrap_or_default().to_owned(),
    }
}

/// After how long, and how many queries.
pub(in crate::render) fn summary(lived: &Lived) -> String {
    let (played, comparison) = (&lived.played, &lived.comparison);
    let sent = played.exchanges.len();
    let queries = counted(sent, "query", "queries");
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
                let is_same = |other: &&Unconnected| is_alike(it, other) && other.at < exchange.at;
                let more = std::iter::from_fn(|| connections.next_if(is_same)).count();
                unconnected_line(self.text, it, more)?;
            }
            let departure = departures.next_if(|it| it.exchange == index);
            let sentence = departure.map(|it| self::departure(self.lived, it));
            // A and AAAA mostly have the same fate.
            if pending != sentence || self.heading != Some(number) {
                self.pending(&mut pending)?;
            }
            self.head(number)?;
            let came = came(played, exchange);
            exchange_line(self.text, exchange, &came)?;
            pending = sentence;
        }
        self.pending(&mut pending)?;
        while let Some(it) = connections.next() {
            let more = std::iter::from_fn(|| connections.next_if(|other| is_alike(it, other)));
            let more = more.count();
            unconnected_line(self.text, it, more)?;
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
}

/// A query, and what came back.
fn exchange_line(text: &mut Text<'_>, exchange: &Exchange, came: &str) -> io::Result<()> {
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
    text.headed(5, &escaped(head.as_bytes()), came)
}

/// A connection that was not made, and how many more like it.
fn unconnected_line(text: &mut Text<'_>, it: &Unconnected, more: usize) -> io::Result<()> {
    let how = match it.transport {
        Transport::Udp => "",
        Transport::Tcp => " TCP",
    };
    let (at, server, why) = (time(it.at), &it.server, &it.unsent.why);
    let times = if more > 0 {
        format!(", {} times", more + 1)
    } else {
        String::new()
    };
    let line = format!(
        "{at:>8}  {:<5} {server}{how}  no connection: {why}{times}",
        ""
    );
    text.headed(5, "", &line)
}

/// Whether the same went wrong once more.
fn is_alike(one: &Unconnected, other: &Unconnected) -> bool {
    one.server == other.server && one.transport == other.transport && one.unsent == other.unsent
}

#[cfg(test)]
mod tests;
