//! A report for people: the verdict, the way as a picture, what fixes it.

mod picture;

use std::io::{self, Write};

use colored::Colorize as _;

use super::probe;
use crate::check_loop::{Chain, End, Fix, Report, Sighting, Verdict};
use crate::render::paragraph;
use crate::render::words::counted;
use crate::text::escaped;
/// Ways that are drawn.
const MAX_DRAWN: usize = 2;
/// Other ways, of which each gets a line.
const MAX_OTHERS: usize = 8;
/// Remarks of a kind that are shown.
const MAX_REMARKS: usize = 12;

/// How the command begins that runs kdns on a node from elsewhere.
const DEBUG: &str = "kubectl debug";

/// How the commands of steps begin.
const COMMANDS: [&str; 3] = ["kubectl ", "systemctl ", "snap "];

/// Writes `report`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report, colors: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page { colors, out };
    page.headline(report)?;
    page.states(report)?;
    page.ways(report)?;
    if let Some(fix) = &report.fix {
        page.fix(fix)?;
    }
    page.evidence(&report.evidence)?;
    probe::write(report, page.out)?;
    page.list("What is missing", &report.missing)?;
    page.list("Worth knowing", &report.remarks)?;
    page.list("Could not be read", &report.skipped)
}

/// Where the text goes.
struct Page<'p> {
    colors: bool,
    out: &'p mut dyn Write,
}

impl Page<'_> {
    fn headline(&mut self, report: &Report) -> io::Result<()> {
        let text = shown(&report.headline);
        let text = match report.verdict {
            _ if !self.colors => text,
            Verdict::Loop | Verdict::Mixed | Verdict::Refused | Verdict::WillLoop => {
                text.red().bold().to_string()
            }
            Verdict::NoLoop => text.green().bold().to_string(),
            Verdict::Unknown => text.yellow().bold().to_string(),
        };
        writeln!(self.out, "{text}.")
    }

    fn states(&mut self, report: &Report) -> io::Result<()> {
        let now = report.now.word();
        let next = report.next_start.word();
        let line = if now == next {
            format!("Now and at the next start of the DNS pods: {now}.")
        } else {
            format!("Now: {now}. At the next start of the DNS pods: {next}.")
        };
        writeln!(self.out, "{line}")
    }

    fn title(&mut self, title: &str) -> io::Result<()> {
        if self.colors {
            writeln!(self.out, "\n{}", title.bold())
        } else {
            writeln!(self.out, "\n{title}")
        }
    }

    /// The ways that decide as pictures, the others as lines.
    fn ways(&mut self, report: &Report) -> io::Result<()> {
        let Some(first) = report.chains.first() else {
            return Ok(());
        };
        let mut drawn: Vec<&Chain> = Vec::new();
        let mut others: Vec<&Chain> = Vec::new();
        for chain in &report.chains {
            let decides = is_alike(&chain.end, &first.end) && chain.when == first.when;
            if drawn.iter().any(|it| is_same(it, chain)) {
                continue;
            }
            if decides && drawn.len() < MAX_DRAWN {
                drawn.push(chain);
            } else if !others.iter().any(|it| is_same(it, chain)) {
                others.push(chain);
            }
        }
        for chain in drawn {
            self.title(&picture::title(chain))?;
            for line in picture::lines(chain) {
                writeln!(self.out, "{line}")?;
            }
        }
        self.others(&others)
    }

    fn others(&mut self, others: &[&Chain]) -> io::Result<()> {
        let mut lines: Vec<String> = others.iter().map(|it| picture::line(it)).collect();
        let mut seen = std::collections::BTreeSet::new();
        lines.retain(|line| seen.insert(line.clone()));
        if lines.is_empty() {
            return Ok(());
        }
        self.title("Other ways")?;
        for line in lines.iter().take(MAX_OTHERS) {
            self.item("  ", line)?;
        }
        if lines.len() > MAX_OTHERS {
            let rest = lines.len() - MAX_OTHERS;
            writeln!(self.out, "  and {rest} more: --format json has them")?;
        }
        Ok(())
    }

    fn fix(&mut self, fix: &Fix) -> io::Result<()> {
        let edit = &fix.edit;
        if edit.old.as_ref() == Some(&edit.new) {
            let title = if fix.is_restart {
                "The fix: nothing is left to edit, the kubelet has not read it yet"
            } else {
                "The fix: nothing is left to edit"
            };
            self.title(title)?;
            writeln!(
                self.out,
                "  {} has it already:",
                shown(&edit.place.to_string())
            )?;
            writeln!(self.out, "    {}", shown(&edit.new))?;
        } else {
            self.title("The fix")?;
            writeln!(self.out, "  {}", shown(&edit.place.to_string()))?;
            if let Some(old) = &edit.old {
                self.changed("-", old)?;
            }
            if !edit.new.is_empty() {
                self.changed("+", &edit.new)?;
            }
        }
        for (number, step) in fix.then.iter().enumerate() {
            self.step(&format!("  {}. ", number + 1), step)?;
        }
        if !fix.but.is_empty() {
            self.list("Mind", &fix.but)?;
        }
        self.list("What does not fix it", &fix.not)
    }

    /// A step; the command at its end has a line of its own, to be copied.
    fn step(&mut self, mark: &str, step: &str) -> io::Result<()> {
        let command = COMMANDS.iter().find_map(|it| step.find(it));
        let parts = command.and_then(|at| Some((step.get(..at)?, step.get(at..)?)));
        let Some((words, command)) = parts else {
            return self.item(mark, &format!("{step}."));
        };
        let words = words.trim_end_matches([' ', ',', ':']);
        self.item(mark, &format!("{words}:"))?;
        writeln!(self.out, "       {}", shown(command))
    }

    fn changed(&mut self, sign: &str, text: &str) -> io::Result<()> {
        let line = format!("{sign} {}", shown(text));
        let line = match sign {
            _ if !self.colors => line,
            "-" => line.red().to_string(),
            _ => line.green().to_string(),
        };
        writeln!(self.out, "    {line}")
    }

    fn evidence(&mut self, sightings: &[Sighting]) -> io::Result<()> {
        if sightings.is_empty() {
            return Ok(());
        }
        self.title("Seen in logs")?;
        for it in sightings {
            let when = match (&it.first, &it.last) {
                (Some(first), Some(last)) if first != last => format!(", {first} to {last}"),
                (Some(time), _) | (None, Some(time)) => format!(", {time}"),
                (None, None) => String::new(),
            };
            let times = counted(it.count, "time", "times");
            self.item("  ", &format!("{}: {times}{when}", it.kind))?;
            writeln!(self.out, "    {}", shown(&it.place.to_string()))?;
            self.item("    ", &it.text)?;
        }
        Ok(())
    }

    fn list(&mut self, title: &str, sentences: &[String]) -> io::Result<()> {
        if sentences.is_empty() {
            return Ok(());
        }
        self.title(title)?;
        for sentence in sentences.iter().take(MAX_REMARKS) {
            if sentence.contains(DEBUG) {
                self.step("  - ", sentence)?;
            } else {
                self.item("  - ", &format!("{sentence}."))?;
            }
        }
        if sentences.len() > MAX_REMARKS {
            let rest = sentences.len() - MAX_REMARKS;
            writeln!(self.out, "  and {rest} more: --format json has them")?;
        }
        Ok(())
    }

    /// A paragraph; its lines after the first begin below its words.
    fn item(&mut self, mark: &str, text: &str) -> io::Result<()> {
        let hanging = " ".repeat(mark.chars().count());
        paragraph::write(self.out, mark, &hanging, &shown(text))
    }
}

fn is_alike(one: &End, other: &End) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// Whether two ways differ at most in the files that say so, or are the same
/// circle from another beginning.
fn is_same(one: &Chain, other: &Chain) -> bool {
    let is_circle = matches!((&one.end, &other.end), (End::Cycle(0), End::Cycle(0)));
    let (mut first, mut second) = (hops(one), hops(other));
    if is_circle {
        first.sort_unstable();
        second.sort_unstable();
    }
    one.zone == other.zone && one.end == other.end && first == second
}

fn hops(chain: &Chain) -> Vec<(&str, &str)> {
    let hops = chain.hops.iter();
    hops.map(|it| (it.who.as_str(), it.sends_to.as_str()))
        .collect()
}

fn shown(text: &str) -> String {
    escaped(text.as_bytes())
}
