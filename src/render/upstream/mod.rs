//! `kdns upstream` as text for people.

pub mod json;
mod verdict;
pub(in crate::render) mod words;

use std::io::{self, Write};

use colored::{ColoredString, Colorize as _};

use crate::address::DNS_PORT;
use crate::render::Style;
use crate::render::paragraph;
use crate::render::style::painted;
use crate::text::escaped;
use crate::upstream::{End, FileReport, Health, Lost, Note, Report, Role, Step, Unknown, Who};

/// Writes where the queries end, then each server on the way there.
///
/// # Errors
///
/// `out` cannot be written.
pub fn write(report: &Report, health: Health, style: Style, out: &mut dyn Write) -> io::Result<()> {
    if style.verbose {
        return write_all(report, health, style, out);
    }
    let mut whole = Vec::new();
    write_all(report, health, style, &mut whole)?;
    let all = memchr::memchr_iter(b'\n', &whole).count();
    if all <= SCREEN {
        return out.write_all(&whole);
    }
    let mut ends = memchr::memchr_iter(b'\n', &whole);
    let end = ends.nth(SCREEN - 2).map_or(whole.len(), |at| at + 1);
    out.write_all(whole.get(..end).unwrap_or(&whole))?;
    writeln!(out, "… {} more lines (-v)", all - SCREEN + 1)
}

/// Without `verbose` no more lines are written.
const SCREEN: usize = 30;

fn write_all(report: &Report, health: Health, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer { style, out };
    if let Some(verdict) = verdict::sentence(report, health) {
        let verdict = format!("{verdict}.");
        let shown = match health {
            Health::Dead => writer.red(&verdict),
            Health::Unknown | Health::Nothing => writer.yellow(&verdict),
            Health::Clean => writer.green(&verdict),
        };
        paragraph::write(writer.out, "", "  ", &shown)?;
        writer.line(0, "")?;
    }
    for (index, file) in report.files.iter().enumerate() {
        if index > 0 {
            writer.line(0, "")?;
        }
        writer.file(file)?;
    }
    if !report.remarks.is_empty() {
        writer.line(0, "")?;
        writer.line(0, "Worth knowing:")?;
    }
    for remark in &report.remarks {
        writer.line(1, &escaped(words::remark(remark).text.as_bytes()))?;
    }
    if !report.skipped.is_empty() {
        writer.line(0, "")?;
        writer.line(0, "Not read:")?;
    }
    for sentence in &report.skipped {
        writer.line(1, &escaped(sentence.as_bytes()))?;
    }
    Ok(())
}

struct Writer<'w> {
    style: Style,
    out: &'w mut dyn Write,
}

impl Writer<'_> {
    fn line(&mut self, depth: usize, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return writeln!(self.out);
        }
        let first = "  ".repeat(depth);
        let rest = "  ".repeat(depth + 2);
        let text = self.style.brief(text.to_owned());
        paragraph::write_within(self.style.columns, self.out, &first, &rest, &text)
    }

    fn colored(&self, text: &str, color: fn(&str) -> ColoredString) -> String {
        painted(self.style.colors, text, color)
    }

    fn bold(&self, text: &str) -> String {
        self.colored(text, |it| it.bold())
    }

    fn red(&self, text: &str) -> String {
        self.colored(text, |it| it.red())
    }

    fn yellow(&self, text: &str) -> String {
        self.colored(text, |it| it.yellow().bold())
    }

    fn green(&self, text: &str) -> String {
        self.colored(text, |it| it.green().bold())
    }

    fn file(&mut self, file: &FileReport) -> io::Result<()> {
        let role = match file.role {
            Role::Kubelet if file.path.is_empty() => "which file the kubelet has is not known",
            Role::Kubelet => "the file of the kubelet's resolvConf: ",
            Role::OfPod => "what the running kubelet wrote for a pod: ",
            Role::Restarted => "from the kubelet's restart on, its file: ",
            Role::Node => "",
            Role::Both => "the node's file and the kubelet's: ",
            Role::Asked if file.path.is_empty() => "no file of the node lists this address",
            Role::Asked => "listed in ",
            Role::Cluster => "where the cluster's DNS goes, by the files of its pods here",
        };
        let mut head = format!("{role}{}", file.path);
        for link in &file.links {
            head.extend([" → ", link]);
        }
        self.line(0, &self.bold(&head))?;
        if let Some(mode) = file.mode {
            let word = mode.word();
            self.line(1, &format!("systemd-resolved calls this mode {word}"))?;
        }
        if let Some(problem) = &file.problem {
            self.line(1, &self.red(&words::problem(problem).text))?;
        }
        for step in &file.servers {
            self.step(step, 1)?;
        }
        self.lost("this file does not say:", &file.lost, 1)
    }

    fn step(&mut self, step: &Step, depth: usize) -> io::Result<()> {
        let zone = step.zone.as_deref().unwrap_or_default();
        let zone = match zone.trim_end_matches('.') {
            "" => String::new(),
            zone => format!("names below {zone}: "),
        };
        let address = match &step.address {
            Some(address) if address.port() == DNS_PORT => format!("{} is ", address.ip()),
            Some(address) => format!("{address} is "),
            None => String::new(),
        };
        let place = step.place.as_ref();
        let place = place.map_or_else(String::new, |it| format!(" ({it})"));
        let address = match &step.end {
            End::Cycle | End::Refused(_) => self.red(&address),
            _ => self.bold(&address),
        };
        let who = match &step.who {
            Who::Outside => "outside the node".to_owned(),
            who => words::who(who),
        };
        self.line(depth, &format!("{zone}{address}{who}{place}"))?;
        if self.style.verbose && !step.confirmed_by.is_empty() {
            let by: Vec<String> = step.confirmed_by.iter().map(words::confirmed).collect();
            let by = by.join(", ");
            self.line(depth + 1, &format!("confirmed by {by}"))?;
        }
        for note in &step.notes {
            self.line(depth + 1, &words::note(note).text)?;
        }
        let head = "a list of its servers does not say:";
        self.lost(head, &step.lost, depth + 1)?;
        self.end(step, depth + 1)?;
        for next in &step.next {
            self.step(next, depth + 2)?;
        }
        Ok(())
    }

    fn end(&mut self, step: &Step, depth: usize) -> io::Result<()> {
        match &step.end {
            End::Outside => Ok(()),
            End::Answers => self.line(depth, "it has these names itself"),
            End::Forwards => self.line(depth, "it forwards to"),
            End::Endpoints => self.line(depth, "of the pods behind it these are on this node:"),
            End::Above => self.line(depth, "where it forwards to: see above"),
            End::Cycle => {
                let text = "this server is on the query path already: the queries go in a circle";
                self.line(depth, &self.red(text))
            }
            End::Refused(reason) => {
                let reason = words::refused(reason).text;
                self.line(depth, &self.red(&format!("it leads nowhere: {reason}")))
            }
            End::Unknown(Unknown::Doubt(doubt))
                if step.notes.contains(&Note::Doubt(doubt.clone())) =>
            {
                Ok(())
            }
            End::Unknown(reason) => {
                let reason = words::unknown(reason).text;
                self.line(depth, &format!("where it leads is not known: {reason}"))
            }
        }
    }

    fn lost(&mut self, head: &str, lost: &[Lost], depth: usize) -> io::Result<()> {
        if !lost.is_empty() {
            self.line(depth, head)?;
        }
        for it in lost {
            self.line(depth + 1, &words::lost(it).text)?;
        }
        Ok(())
    }
}
