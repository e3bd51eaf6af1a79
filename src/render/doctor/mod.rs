//! `kdns doctor` as text for people.

pub mod json;
mod words;

use std::io::{self, Write};

use colored::{Color, Colorize as _};

use crate::doctor::{Cause, Check, Report, State, Verdict};
use crate::render::{paragraph, shortened};
use crate::text::escaped;

/// Causes that are shown without `--verbose`.
const MAX_CAUSES: usize = 3;
/// Places of a check that are shown with it.
const MAX_PLACES: usize = 3;

/// How a report is written.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// In colours.
    pub colors: bool,
    /// All causes, with long ids.
    pub verbose: bool,
}

/// Writes `report`: its checks, then what follows from them.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    for check in &report.checks {
        write_check(check, style, out)?;
    }
    write_end(report, style, out)
}

/// Writes the line of one check.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_check(check: &Check<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    Page { style, out }.check(check)
}

/// Writes what follows from the checks: the verdict, and the causes.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_end(report: &Report<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page { style, out };
    let color = match report.verdict {
        Verdict::Ok => Color::Green,
        Verdict::Unknown => Color::Yellow,
        Verdict::Wrong => match report.causes.first().map(|it| it.state) {
            Some(State::Error) => Color::Red,
            _ => Color::Yellow,
        },
    };
    writeln!(page.out)?;
    let headline = page.brief(&format!("{}.", words::headline(report)));
    for line in paragraph::lines(&headline) {
        let line = page.colored(&line, color, true);
        writeln!(page.out, "{line}")?;
    }
    page.causes(report)
}

/// Writes one line a check: `ok upstream: …`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_concise(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for check in &report.checks {
        let fact = escaped(words::fact(check).as_bytes());
        let place = check.places.first();
        let place = place.map_or_else(|| "kdns".to_owned(), ToString::to_string);
        let (state, code) = (word(check.state), check.code);
        writeln!(
            out,
            "{}: {state}: {code}: {fact}",
            escaped(place.as_bytes())
        )?;
    }
    Ok(())
}

/// Writes a textfile for `node_exporter`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_prometheus(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "# HELP kdns_doctor_check_state 0 ok, 1 unknown, 2 warning, 3 error.\n\
         # TYPE kdns_doctor_check_state gauge"
    )?;
    for check in &report.checks {
        let (code, state) = (check.code, check.state as u8);
        writeln!(out, "kdns_doctor_check_state{{check=\"{code}\"}} {state}")?;
    }
    Ok(())
}

/// The state as machines have it.
fn word(state: State) -> &'static str {
    match state {
        State::Ok => "ok",
        State::Unknown => "unknown",
        State::Warning => "warning",
        State::Error => "error",
    }
}

struct Page<'p> {
    style: Style,
    out: &'p mut dyn Write,
}

impl Page<'_> {
    fn check(&mut self, check: &Check<'_>) -> io::Result<()> {
        let (mark, color) = match check.state {
            State::Ok => ("✓", Color::Green),
            State::Unknown => ("?", Color::Yellow),
            State::Warning => ("!", Color::Yellow),
            State::Error => ("✗", Color::Red),
        };
        let text = self.brief(&words::fact(check));
        let first = format!("{mark} {:<9} ", check.code);
        let plain = paragraph::hanging(&first, " ".repeat(12).as_str(), &text);
        let line = plain.replacen(mark, &self.colored(mark, color, false), 1);
        writeln!(self.out, "{line}")
    }

    fn causes(&mut self, report: &Report<'_>) -> io::Result<()> {
        let most = if self.style.verbose {
            usize::MAX
        } else {
            MAX_CAUSES
        };
        for (number, cause) in report.causes.iter().take(most).enumerate() {
            self.cause(number + 1, cause, report)?;
        }
        match report.causes.len().saturating_sub(most) {
            0 => Ok(()),
            rest => writeln!(self.out, "\nWith --verbose: {rest} more."),
        }
    }

    fn cause(&mut self, number: usize, cause: &Cause<'_>, report: &Report<'_>) -> io::Result<()> {
        let text = self.brief(&words::cause_text(&cause.kind).text);
        writeln!(self.out)?;
        let first = format!("{number}. ");
        paragraph::write(self.out, &first, "   ", &format!("{text}."))?;
        let checks = cause
            .evidence
            .iter()
            .filter_map(|it| report.checks.get(*it));
        for check in checks {
            for place in check.places.iter().take(MAX_PLACES) {
                let place = self.brief(&place.to_string());
                writeln!(self.out, "   seen at {place}")?;
            }
            writeln!(self.out, "   more: {}", words::command(&check.fact))?;
        }
        for (step, text) in words::fix(&cause.kind).iter().enumerate() {
            let first = if step == 0 { "   Fix: " } else { "        " };
            let text = self.brief(text);
            paragraph::write(self.out, first, "        ", &format!("{text}."))?;
        }
        Ok(())
    }

    fn colored(&self, text: &str, color: Color, is_bold: bool) -> String {
        match (self.style.colors, is_bold) {
            (false, _) => text.to_owned(),
            (true, true) => text.color(color).bold().to_string(),
            (true, false) => text.color(color).to_string(),
        }
    }

    fn brief(&self, text: &str) -> String {
        let text = escaped(text.as_bytes());
        if self.style.verbose {
            text
        } else {
            shortened::ids(&text)
        }
    }
}
