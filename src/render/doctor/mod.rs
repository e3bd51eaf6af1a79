//! `kdns doctor` as text for people.

pub mod json;
mod step;
mod words;

use std::io::{self, Write};

use colored::{Color, Colorize as _};

use crate::doctor::{Cause, Check, Report, State, Verdict};
use crate::render::Style;
use crate::render::command::Command;
use crate::render::paragraph;
use crate::render::sentence::full_stop;
use crate::text::escaped;
use step::Step;

/// Causes that are shown without `--verbose`.
const MAX_CAUSES: usize = 3;
/// Places that are shown with a cause without `--verbose`.
const MAX_PLACES: usize = 2;
/// Lines of all causes without `--verbose`; the first one is shown whatever it has.
const MAX_CAUSE_LINES: usize = 15;
/// Lines of what a check found that are shown without `--verbose`.
const MAX_LINES: usize = 2;

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
    if report.verdict == Verdict::Wrong && !report.causes.is_empty() {
        return page.causes(report);
    }
    let color = match report.verdict {
        Verdict::Ok => Color::Green,
        Verdict::Unknown | Verdict::Wrong => Color::Yellow,
    };
    page.headline("", &words::headline(report), Some(color))
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
        let mut lines: Vec<String> = plain.lines().map(str::to_owned).collect();
        let is_cut = !self.style.verbose && lines.len() > MAX_LINES;
        lines.truncate(if is_cut { MAX_LINES } else { usize::MAX });
        if let Some(last) = lines.last_mut().filter(|_| is_cut) {
            // Between words, unless it is one.
            let is_full = last.chars().count() >= paragraph::WIDTH;
            let end = last
                .rfind(' ')
                .filter(|_| is_full && last.trim().contains(' '));
            last.truncate(end.unwrap_or(last.len()));
            last.push('…');
        }
        let line = lines.join("\n");
        let line = line.replacen(mark, &self.colored(mark, color, false), 1);
        writeln!(self.out, "{line}")
    }

    /// A sentence after an empty line; with a color it is what matters most.
    fn headline(&mut self, first: &str, text: &str, color: Option<Color>) -> io::Result<()> {
        let rest = " ".repeat(first.len());
        let text = paragraph::hanging(first, &rest, &format!("{}.", self.brief(text)));
        writeln!(self.out)?;
        for line in text.lines() {
            let line = color.map_or_else(|| line.to_owned(), |it| self.colored(line, it, true));
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    fn causes(&mut self, report: &Report<'_>) -> io::Result<()> {
        let verbose = self.style.verbose;
        let (mut shown, mut lines) = (0, 0);
        for (index, cause) in report.causes.iter().enumerate() {
            let text = self.cause(index, cause, report)?;
            lines += text.lines().count();
            let is_too_much = index >= MAX_CAUSES || lines > MAX_CAUSE_LINES;
            if !verbose && index > 0 && is_too_much {
                break;
            }
            self.out.write_all(text.as_bytes())?;
            shown += 1;
        }
        match report.causes.len() - shown {
            0 => Ok(()),
            rest => writeln!(self.out, "With --verbose: {rest} more."),
        }
    }

    /// The text of a cause: what it is, what shows it, what fixes it.
    fn cause(&self, index: usize, cause: &Cause<'_>, report: &Report<'_>) -> io::Result<String> {
        let mut text = Vec::new();
        let mut page = Page {
            style: self.style,
            out: &mut text,
        };
        let mark = match report.causes.len() {
            1 => String::new(),
            _ => format!("{}. ", index + 1),
        };
        let color = match cause.state {
            _ if index > 0 => None,
            State::Error => Some(Color::Red),
            State::Ok | State::Unknown | State::Warning => Some(Color::Yellow),
        };
        page.headline(&mark, &words::cause_text(&cause.kind).text, color)?;
        page.proof_and_fix(cause, report)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn proof_and_fix(&mut self, cause: &Cause<'_>, report: &Report<'_>) -> io::Result<()> {
        let most = if self.style.verbose {
            usize::MAX
        } else {
            MAX_PLACES
        };
        for place in cause.places.iter().take(most) {
            let place = self.brief(&place.to_string());
            writeln!(self.out, "   seen at {place}")?;
        }
        let steps = words::fix(&cause.kind);
        for (index, step) in steps.iter().enumerate() {
            let mark = match steps.len() {
                1 => "   Fix: ".to_owned(),
                _ if index == 0 => "   Fix: 1. ".to_owned(),
                _ => format!("        {}. ", index + 1),
            };
            self.step(&mark, step)?;
        }
        let mut checks = cause.evidence.iter();
        let check = checks.find_map(|it| report.checks.get(*it));
        let more = words::more_of(&cause.kind, check.map(|it| &it.fact));
        let is_new = |it: &Command| !steps.iter().any(|step| step.commands.contains(it));
        match more.filter(is_new) {
            Some(more) => writeln!(self.out, "   More: {more}"),
            None => Ok(()),
        }
    }

    /// A step: its commands, which have lines of their own where they do not fit, then
    /// what they change.
    fn step(&mut self, mark: &str, step: &Step) -> io::Result<()> {
        let rest = " ".repeat(mark.len());
        let commands: Vec<String> = step
            .commands
            .iter()
            .map(|it| escaped(it.as_str().as_bytes()))
            .collect();
        // What is to be edited is said with its whole path.
        let (text, end) = match step.change {
            Some(_) => (escaped(step.text.as_bytes()), ""),
            None => (self.brief(&step.text), full_stop(&step.text)),
        };
        let whole = format!("{mark}{text}: {}", commands.join("; "));
        let mut below = commands.iter();
        if commands.is_empty() {
            paragraph::write(self.out, mark, &rest, &format!("{text}{end}"))?;
        } else if text.is_empty() {
            let first = below.next().map_or("", String::as_str);
            writeln!(self.out, "{mark}{first}")?;
        } else if whole.chars().count() <= paragraph::WIDTH {
            below = [].iter();
            writeln!(self.out, "{whole}")?;
        } else {
            paragraph::write(self.out, mark, &rest, &format!("{text}:"))?;
        }
        for command in below {
            writeln!(self.out, "{rest}{command}")?;
        }
        if let Some((old, new)) = &step.change {
            self.changed(&rest, "-", old, Color::Red)?;
            self.changed(&rest, "+", new, Color::Green)?;
        }
        Ok(())
    }

    fn changed(&mut self, indent: &str, sign: &str, text: &str, color: Color) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let line = format!("{sign} {}", escaped(text.as_bytes()));
        let line = self.colored(&line, color, false);
        writeln!(self.out, "{indent}{line}")
    }

    fn colored(&self, text: &str, color: Color, is_bold: bool) -> String {
        match (self.style.colors, is_bold) {
            (false, _) => text.to_owned(),
            (true, true) => text.color(color).bold().to_string(),
            (true, false) => text.color(color).to_string(),
        }
    }

    fn brief(&self, text: &str) -> String {
        self.style.brief(escaped(text.as_bytes()))
    }
}
