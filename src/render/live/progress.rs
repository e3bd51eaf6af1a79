//! A lookup while it goes on: a line as each query is answered or given up.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use super::phrases::{came, came_of, waited_in_vain};
use super::{exchange_line, rooted, unconnected_line};
use crate::engine::message::QueryId;
use crate::explain::live::{AT_ONCE, Exchange, Played, Unconnected};
use crate::order::once;
use crate::render::Style;
use crate::render::explanation::Text;
use crate::resolver::Resolver;

/// What is shown of a lookup under way.
#[derive(Debug)]
pub struct Progress {
    style: Style,
    /// Whether a clock stands on the last line.
    has_clock: bool,
    waiting: BTreeMap<QueryId, Exchange>,
    /// The name of the last line.
    heading: Option<String>,
}

impl Progress {
    /// Says who looks up what.
    ///
    /// # Errors
    ///
    /// Any error of `out`.
    pub fn begin(
        name: &str,
        resolver: &Resolver,
        style: Style,
        out: &mut dyn Write,
    ) -> io::Result<Self> {
        let mut text = Text::new(style, out);
        let who = text.bold(&format!("{name} as {} ({})", resolver.id, resolver.version));
        text.line(&who)?;
        Ok(Self::silent(style))
    }

    /// Says nothing yet.
    pub fn silent(style: Style) -> Self {
        Self {
            style,
            has_clock: false,
            waiting: BTreeMap::new(),
            heading: None,
        }
    }

    /// Shows what has happened to a query, if that gets a line.
    ///
    /// # Errors
    ///
    /// Any error of `out`.
    pub fn take(
        &mut self,
        id: QueryId,
        exchange: Exchange,
        has_line: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if exchange.answer.is_some() || exchange.unsent.is_some() {
            self.waiting.remove(&id);
            let what = came_of(&exchange).filter(|_| has_line);
            return match what {
                Some(what) => self.say(&exchange, &what, out),
                None => Ok(()),
            };
        }
        // Who asks the same again, or for another name, has given up.
        let is_left = |it: &Exchange| {
            let is_other = it.query.name() != exchange.query.name();
            let is_later = exchange.at.saturating_sub(it.at) >= AT_ONCE;
            is_later && (is_other || it.query.record_type() == exchange.query.record_type())
        };
        let left = self.waiting.iter().filter(|(_, it)| is_left(it));
        let left: Vec<QueryId> = left.map(|(id, _)| *id).collect();
        for id in left {
            if let Some(other) = self.waiting.remove(&id).filter(|_| has_line) {
                let waited = exchange.at.saturating_sub(other.at);
                self.say(&other, &waited_in_vain(waited), out)?;
            }
        }
        self.waiting.insert(id, exchange);
        Ok(())
    }

    /// Shows a connection that was not made.
    ///
    /// # Errors
    ///
    /// Any error of `out`.
    pub fn unconnected(&mut self, it: &Unconnected, out: &mut dyn Write) -> io::Result<()> {
        self.clear(out)?;
        unconnected_line(&mut Text::new(self.style, out), it, 0)
    }

    /// Moves the clock: only for a terminal.
    ///
    /// # Errors
    ///
    /// Any error of `out`.
    pub fn clock(&mut self, now: Duration, out: &mut dyn Write) -> io::Result<()> {
        let waiting = self.waiting.values();
        let servers = once(waiting.map(|it| it.query.server.to_string()));
        if servers.is_empty() {
            return Ok(());
        }
        let sentence = format!(
            "  {:.1} s, waiting for {}",
            now.as_secs_f32(),
            servers.join(", ")
        );
        let room = self.style.columns.saturating_sub(1);
        let sentence: String = sentence.chars().take(room).collect();
        self.clear(out)?;
        let sentence = Text::new(self.style, out).dim(&sentence);
        write!(out, "{sentence}")?;
        self.has_clock = true;
        out.flush()
    }

    /// Takes the clock away, and shows what was never answered.
    ///
    /// # Errors
    ///
    /// Any error of `out`.
    pub fn end(&mut self, played: &Played, has_lines: bool, out: &mut dyn Write) -> io::Result<()> {
        self.clear(out)?;
        if !has_lines {
            return Ok(());
        }
        for exchange in std::mem::take(&mut self.waiting).into_values() {
            let what = came(played, &exchange);
            self.say(&exchange, &what, out)?;
        }
        Ok(())
    }

    /// Takes the clock away.
    fn clear(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !std::mem::take(&mut self.has_clock) {
            return Ok(());
        }
        write!(out, "\r\u{1b}[K")
    }

    fn say(&mut self, exchange: &Exchange, what: &str, out: &mut dyn Write) -> io::Result<()> {
        self.clear(out)?;
        let mut text = Text::new(self.style, out);
        let name = exchange.query.name().map(rooted);
        let name = name.unwrap_or_else(|| "a malformed message".to_owned());
        if self.heading.as_ref() != Some(&name) {
            let shown = text.bold(&name);
            text.line(&format!("  {shown}"))?;
            self.heading = Some(name);
        }
        exchange_line(&mut text, exchange, what)?;
        out.flush()
    }
}
