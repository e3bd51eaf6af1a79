//! A report for people: the verdict, why, the fix, the proof. What is beside
//! the answer stands in the whole report, which `--verbose` gives.

mod picture;
mod steps;

use std::io::{self, Write};

use colored::{Color, Colorize as _};

use super::probe;
use super::words;
use crate::check_loop::facts::{Caveat, Concern, Missing, Remark, Trouble};
use crate::check_loop::seen::Sight;
use crate::check_loop::{Chain, End, Report, SendsTo, Sighting, State, Verdict, Who};
use crate::order::{Order as _, once};
use crate::render::Style;
use crate::render::paragraph;
use crate::render::sentence::Sentence;
use crate::render::style::painted;
use crate::text::counted;
use crate::text::{Place, escaped};

/// Query paths that are drawn in the whole report; otherwise the first is.
const MAX_DRAWN: usize = 2;
/// Other query paths, of which each gets a line.
const MAX_OTHERS: usize = 8;
/// Sentences of a kind that are shown.
const MAX_REMARKS: usize = 12;
/// The same where the report is not whole.
const MAX_BRIEF: usize = 3;

/// Characters of a line of a log that is not shown whole.
const MAX_LINE: usize = 150;

/// Writes `report`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page { style, out };
    page.headline(report)?;
    page.states(report)?;
    if let Some(concern) = &report.concern {
        page.concern(concern)?;
    }
    let left = page.paths(report)?;
    page.steps(report)?;
    page.evidence(report)?;
    probe::write(report, page.out)?;
    page.missing(&report.missing)?;
    if style.verbose {
        page.notes(report)?;
    }
    page.list("Could not be read", unsaid(report).into_iter())?;
    if style.verbose {
        return Ok(());
    }
    page.more(report, left)
}

/// Where the text goes.
struct Page<'p> {
    style: Style,
    out: &'p mut dyn Write,
}

impl Page<'_> {
    fn headline(&mut self, report: &Report) -> io::Result<()> {
        let is_open = report
            .probe
            .as_ref()
            .is_some_and(|it| it.sight == Sight::Unknown);
        let color = match report.verdict {
            Verdict::Loop | Verdict::Mixed | Verdict::Refused | Verdict::WillLoop => Color::Red,
            Verdict::NoLoop if report.concern.is_none() && !is_open => Color::Green,
            Verdict::NoLoop | Verdict::Unknown => Color::Yellow,
        };
        let text = format!("{}.", shown(&words::headline(report)));
        for line in paragraph::lines(&text) {
            let line = painted(self.style.colors, &line, |it| it.color(color).bold());
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    /// Now and later, where that differs or is not all known.
    fn states(&mut self, report: &Report) -> io::Result<()> {
        let (now, next) = (report.now, report.next_start);
        if now == next && (now != State::Unknown || report.verdict == Verdict::Unknown) {
            return Ok(());
        }
        let (now, next) = (now.word(), next.word());
        writeln!(
            self.out,
            "Now: {now}. After the next start of the DNS pods: {next}."
        )?;
        let mut remarks = report.remarks.iter();
        match remarks.find(|it| matches!(it, Remark::Waits(_))) {
            Some(waits) => self.item("", &format!("{}.", words::remark(waits).begun().text)),
            None => Ok(()),
        }
    }

    fn title(&mut self, title: &str) -> io::Result<()> {
        paragraph::title(self.style.colors, self.out, title)
    }

    /// What is wrong though DNS does not loop, each with its proof.
    fn concern(&mut self, concern: &Concern) -> io::Result<()> {
        let all = concern.troubles.as_slice();
        // The headline says the first one; lines of a log are its proof.
        let is_of_log = matches!(all, [Trouble::Log(_), ..]);
        let shown = if is_of_log {
            all
        } else {
            all.get(1..).unwrap_or_default()
        };
        if shown.is_empty() {
            return Ok(());
        }
        self.title(if is_of_log { "Why" } else { "Also" })?;
        let most = self.most();
        for (number, trouble) in shown.iter().take(most).enumerate() {
            let text = match trouble {
                Trouble::Log(sighting) if number == 0 && is_of_log => sighted(sighting),
                _ => format!("{}.", words::trouble(trouble).begun().text),
            };
            self.item("  - ", &text)?;
            if let Trouble::Log(sighting) = trouble {
                self.line_of_log(sighting)?;
            }
        }
        self.and_more(shown.len().saturating_sub(most))
    }

    /// The query paths that decide as pictures; of the whole report the others
    /// as lines. How many it left out.
    fn paths(&mut self, report: &Report) -> io::Result<usize> {
        let Some(first) = report.chains.first() else {
            return Ok(0);
        };
        let most = match &report.concern {
            _ if self.style.verbose => MAX_DRAWN,
            Some(_) => 0,
            None => 1,
        };
        let mut drawn: Vec<&Chain> = Vec::new();
        let mut others: Vec<&Chain> = Vec::new();
        for chain in &report.chains {
            let decides = is_alike(&chain.end, &first.end) && chain.when == first.when;
            let is_known = |known: &[&Chain]| known.iter().any(|it| is_same(it, chain));
            if decides && drawn.len() < most && !is_known(&drawn) {
                drawn.push(chain);
            } else if !is_known(&drawn) && !is_known(&others) {
                others.push(chain);
            }
        }
        for chain in drawn {
            self.title(&picture::title(chain))?;
            for line in picture::lines(chain) {
                let line = self.style.brief(line);
                writeln!(self.out, "{line}")?;
            }
        }
        if self.style.verbose {
            self.others(&others)?;
        }
        Ok(others.len())
    }

    fn others(&mut self, others: &[&Chain]) -> io::Result<()> {
        let lines = once(others.iter().map(|it| picture::line(it)));
        if lines.is_empty() {
            return Ok(());
        }
        self.title("Other query paths")?;
        for line in lines.iter().take(MAX_OTHERS) {
            self.item("  ", line)?;
        }
        if lines.len() > MAX_OTHERS {
            let rest = lines.len() - MAX_OTHERS;
            writeln!(self.out, "  and {rest} more: --format json has them")?;
        }
        Ok(())
    }

    /// What is missing for an answer; the first of it is in the headline.
    fn missing(&mut self, missing: &[Missing]) -> io::Result<()> {
        if missing.contains(&Missing::Node) {
            self.title("What is missing")?;
            let Sentence { text, .. } = Sentence::new("no-node", words::NO_NODE).begun();
            return self.step("  - ", &text, Some(words::DEBUG));
        }
        let missing = if self.style.verbose {
            missing
        } else {
            missing.get(1..).unwrap_or_default()
        };
        let missing = missing.iter().map(|it| words::missing(it).begun().text);
        self.list("What is missing", missing)
    }

    /// The lines of logs that show it.
    fn evidence(&mut self, report: &Report) -> io::Result<()> {
        let verbose = self.style.verbose;
        // In brief a concern has its lines with it.
        let is_shown = |it: &&Sighting| verbose || it.shows_loop() && report.concern.is_none();
        let mut shown = report.evidence.iter().filter(is_shown).peekable();
        if shown.peek().is_none() {
            return Ok(());
        }
        self.title("Seen in logs")?;
        let most = if verbose { usize::MAX } else { 1 };
        for it in shown.take(most) {
            self.item("  ", &sighted(it))?;
            if verbose || report.chains.is_empty() {
                self.line_of_log(it)?;
            } else {
                let place = self.place(&it.place);
                writeln!(self.out, "    {place}")?;
            }
        }
        Ok(())
    }

    fn line_of_log(&mut self, sighting: &Sighting) -> io::Result<()> {
        let place = self.place(&sighting.place);
        writeln!(self.out, "    {place}")?;
        let text = &sighting.text;
        match text.char_indices().nth(MAX_LINE) {
            Some((end, _)) if !self.style.verbose => {
                let text = text.get(..end).unwrap_or_default();
                self.item("    ", &format!("{text}…"))
            }
            _ => self.item("    ", text),
        }
    }

    /// What is beside the answer.
    fn notes(&mut self, report: &Report) -> io::Result<()> {
        let remarks = report.remarks.iter();
        let remarks = remarks.map(|it| words::remark(it).begun().text);
        self.list("Notes", remarks)
    }

    /// How much is left out, and how to see it.
    fn more(&mut self, report: &Report, paths: usize) -> io::Result<()> {
        let shown = report.concern.as_ref().map_or(0, |it| {
            let is_remark = |it: &&Trouble| matches!(it, Trouble::Files(_));
            it.troubles.iter().filter(is_remark).count()
        });
        let fix = report.fix.as_ref();
        let is_brief = |it: &&Caveat| !steps::is_brief(it);
        let of_fix = fix.map_or(0, |it| {
            it.not.len() + it.but.iter().filter(is_brief).count()
        });
        let notes = report.remarks.len().saturating_sub(shown) + of_fix;
        let mut parts = Vec::new();
        for (count, one, many) in [
            (paths, "other query path", "other query paths"),
            (notes, "note", "notes"),
        ] {
            if count > 0 {
                parts.push(counted(count, one, many));
            }
        }
        if parts.is_empty() {
            return Ok(());
        }
        writeln!(self.out)?;
        self.item("", &format!("With --verbose: {}.", parts.join(", ")))
    }

    fn list(
        &mut self,
        title: &str,
        sentences: impl ExactSizeIterator<Item = String>,
    ) -> io::Result<()> {
        if sentences.len() == 0 {
            return Ok(());
        }
        self.title(title)?;
        let most = self.most();
        let rest = sentences.len().saturating_sub(most);
        for sentence in sentences.take(most) {
            self.item("  - ", &format!("{sentence}."))?;
        }
        self.and_more(rest)
    }

    /// How many sentences of a kind are shown.
    fn most(&self) -> usize {
        if self.style.verbose {
            MAX_REMARKS
        } else {
            MAX_BRIEF
        }
    }

    fn and_more(&mut self, rest: usize) -> io::Result<()> {
        match rest {
            0 => Ok(()),
            rest if self.style.verbose => {
                writeln!(self.out, "  and {rest} more: --format json has them")
            }
            rest => writeln!(self.out, "  and {rest} more: --verbose"),
        }
    }

    /// A paragraph; its lines after the first begin below its words.
    fn item(&mut self, mark: &str, text: &str) -> io::Result<()> {
        let hanging = " ".repeat(mark.chars().count());
        let text = self.style.brief(shown(text));
        paragraph::write(self.out, mark, &hanging, &text)
    }

    fn place(&self, place: &Place) -> String {
        self.style.brief(shown(&place.to_string()))
    }
}

/// `loop-fatal: 3 times, 2026-11-21T02:07:12Z to 2026-11-21T02:09:12Z`.
fn sighted(sighting: &Sighting) -> String {
    let when = match (&sighting.first, &sighting.last) {
        (Some(first), Some(last)) if first != last => format!(", {first} to {last}"),
        (Some(time), _) | (None, Some(time)) => format!(", {time}"),
        (None, None) => String::new(),
    };
    let times = counted(sighting.count, "time", "times");
    format!("{}: {times}{when}", sighting.kind.word())
}

/// What could not be read, but for what is said to be missing.
fn unsaid(report: &Report) -> Vec<String> {
    let said: Vec<&str> = report.missing.iter().filter_map(Missing::reason).collect();
    let is_said = |it: &&String| said.contains(&it.as_str());
    let unsaid = report.skipped.iter().filter(|it| !is_said(it));
    unsaid.cloned().collect()
}

fn is_alike(one: &End, other: &End) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// Whether two query paths differ at most in the files that say so, or are the same
/// circle from another beginning.
fn is_same(one: &Chain, other: &Chain) -> bool {
    let is_circle = matches!((&one.end, &other.end), (End::Cycle(0), End::Cycle(0)));
    let (mut first, mut second) = (hops(one), hops(other));
    if is_circle {
        first.order();
        second.order();
    }
    one.zone == other.zone && one.end == other.end && first == second
}

fn hops(chain: &Chain) -> Vec<(&Who, &SendsTo)> {
    let hops = chain.hops.iter();
    hops.map(|it| (&it.who, &it.sends_to)).collect()
}

fn shown(text: &str) -> String {
    escaped(text.as_bytes())
}
