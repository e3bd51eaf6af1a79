//! `kdns watch` for people.

pub mod concise;
pub mod json;
mod lookup;
pub mod picture;
mod table;
mod words;

use std::io::{self, Write};

use colored::{ColoredString, Colorize as _};

use self::words::Words;
use crate::doctor::Route;
use crate::finding::Severity;
use crate::packet::Counters;
use crate::render::paragraph;
use crate::render::path::service;
use crate::render::style::painted;
use crate::text::counted;
use crate::text::escaped;
use crate::watch::report::{Report, Whose};
use crate::watch::{Finding, Progress};

pub use self::lookup::{line, show, unlisted};
pub use crate::hidden::Shown;

/// Packets that are named with a finding, at most.
const PACKETS: usize = 8;

/// Forwarders that are named.
const FORWARDERS: usize = 5;

/// How it is written.
#[derive(Clone, Debug, Default)]
pub struct Style {
    /// Whether in colours.
    pub colors: bool,
    /// Names and addresses, as they are or hidden.
    pub shown: Shown,
}

impl Style {
    fn painted(&self, text: &str, paint: impl FnOnce(&str) -> ColoredString) -> String {
        painted(self.colors, text, paint)
    }

    fn paint(&self, severity: Severity, text: &str) -> String {
        self.painted(text, |it| match severity {
            Severity::Error => it.red().bold(),
            Severity::Warning => it.yellow().bold(),
            Severity::Info => it.cyan(),
        })
    }

    fn bold(&self, text: &str) -> String {
        self.painted(text, |it| it.bold())
    }

    fn green(&self, text: &str) -> String {
        self.painted(text, |it| it.green())
    }

    fn dim(&self, text: &str) -> String {
        self.painted(text, |it| it.dimmed())
    }
}

/// A time for people, from nanoseconds: `0.4 ms`, `12 ms`, `5.00 s`.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(super) fn time(nanoseconds: i64) -> String {
    let seconds = nanoseconds as f64 / 1e9;
    if nanoseconds < 999_500 {
        format!("{:.0} µs", seconds * 1e6)
    } else if nanoseconds < 9_950_000 {
        format!("{:.1} ms", seconds * 1e3)
    } else if nanoseconds < 999_500_000 {
        format!("{:.0} ms", seconds * 1e3)
    } else if nanoseconds < 600_000_000_000 {
        format!("{seconds:.2} s")
    } else {
        format!("{:.0} min", seconds / 60.0)
    }
}

/// The line at the bottom of a terminal while watching goes on.
pub fn status(progress: &Progress, seconds: f64, drops: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = progress.lookups as f64 / seconds.max(0.001);
    let drops = match drops {
        0 => String::new(),
        some => format!(", {}", counted(some, "packet dropped", "packets dropped")),
    };
    format!(
        "{}, {rate:.1} a second, {} broken{drops}",
        counted(progress.lookups, "lookup", "lookups"),
        progress.broken
    )
}

/// Writes the summary, the verdict first; `services` are those that lead to servers
/// of the findings.
///
/// # Errors
///
/// Any error of `out`.
pub fn summary(
    report: &Report,
    services: &[Result<Route, String>],
    notes: &[String],
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = Writer { style, out };
    writer.verdict(report)?;
    writer.about(report)?;
    for finding in &report.findings {
        writer.finding(finding)?;
    }
    writer.services(services)?;
    writer.advice(report)?;
    writer.servers(&report.servers)?;
    writer.names(&report.names)?;
    for note in notes {
        writer.paragraph("", "  ", note)?;
    }
    writer.lost(report)
}

struct Writer<'w> {
    style: &'w Style,
    out: &'w mut dyn Write,
}

impl Writer<'_> {
    fn paragraph(&mut self, first: &str, rest: &str, text: &str) -> io::Result<()> {
        paragraph::write(self.out, first, rest, &escaped(text.as_bytes()))
    }

    fn verdict(&mut self, report: &Report) -> io::Result<()> {
        let lookups = counted(report.lookups, "lookup", "lookups");
        let queries = counted(report.queries, "query", "queries");
        let verdict = match report.findings.first() {
            _ if report.is_empty() => "No DNS lookups were seen.".to_owned(),
            None if report.open > 0 => format!(
                "Nothing wrong seen in {lookups} ({queries}); {} still open at the end.",
                report.open
            ),
            None => format!("Nothing wrong in {lookups} ({queries})."),
            Some(first) => {
                let code = first.what.code();
                let also = match report.findings.len() {
                    1 => String::new(),
                    all => format!(" and {} more", all - 1),
                };
                match report.broken {
                    0 => format!("None of {lookups} broke the plan, but there is {code}{also}."),
                    1 => format!("1 of {lookups} broke the plan: {code}{also}."),
                    broken => format!("{broken} of {lookups} broke the plan: {code}{also}."),
                }
            }
        };
        for line in paragraph::hanging("", "  ", &verdict).lines() {
            let line = match report.findings.first() {
                None if report.is_empty() => line.to_owned(),
                None => self.style.green(line),
                Some(first) => self.style.paint(first.severity, line),
            };
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    fn about(&mut self, report: &Report) -> io::Result<()> {
        if report.is_empty() {
            return Ok(());
        }
        let resolver = match &report.resolver {
            Whose::Known(resolver) => {
                Some(format!("Judged as {} ({})", resolver.id, resolver.version))
            }
            Whose::Fits(fit) => {
                let best = fit.best.map_or("no model", |it| it.id);
                let also: Vec<&str> = fit.also.iter().map(|it| it.id).collect();
                let also = match also.as_slice() {
                    [] => String::new(),
                    also => format!("; as well: {}", also.join(", ")),
                };
                Some(format!(
                    "The queries fit {best} best, by {:.0} of 100 in {}{also}",
                    fit.likeness * 100.0,
                    counted(fit.lookups as u64, "lookup", "lookups")
                ))
            }
            Whose::Nobody(fit) => Some(format!(
                "The queries fit no resolver that kdns knows (the best by {:.0} of 100): a forwarder, a program that asks on its own, several programs together, or packets are missing; judged without a plan",
                fit.likeness * 100.0
            )),
            Whose::Unknown => None,
        };
        let inferred = words::inferred(report, &self.style.shown);
        let mut about: Vec<String> = resolver.into_iter().chain(inferred).collect();
        if !report.forwarders.is_empty() {
            let who: Vec<String> = report
                .forwarders
                .iter()
                .take(FORWARDERS)
                .map(|it| self.style.shown.ip(*it))
                .collect();
            about.push(format!("{} asks and is asked: a forwarder", who.join(", ")));
        }
        let seen = format!(
            "{} by {}, {} unanswered",
            counted(report.queries, "query", "queries"),
            counted(report.clients.len() as u64, "client", "clients"),
            report.unanswered
        );
        if !about.is_empty() {
            self.paragraph("", "  ", &format!("{}.", about.join(". ")))?;
        }
        self.paragraph("", "  ", &format!("{seen}."))
    }

    fn finding(&mut self, finding: &Finding) -> io::Result<()> {
        let Words { message, not, fix } = words::finding(finding, &self.style.shown);
        let severity = finding.severity;
        let head = self.style.paint(
            severity,
            &format!("{}: {}", severity.word(), finding.what.code()),
        );
        writeln!(self.out, "\n{head}")?;
        self.paragraph("  ", "  ", &message)?;
        if !finding.packets.is_empty() {
            let packets = finding
                .packets
                .iter()
                .take(PACKETS)
                .map(ToString::to_string);
            let packets: Vec<String> = packets.collect();
            let more = if finding.count > packets.len() as u64 {
                "…"
            } else {
                ""
            };
            self.paragraph(
                "  packets: ",
                "    ",
                &format!("{}{more}", packets.join(", ")),
            )?;
        }
        self.paragraph("  not:     ", "    ", &not)?;
        self.paragraph("  fix:     ", "    ", &fix)
    }

    fn services(&mut self, services: &[Result<Route, String>]) -> io::Result<()> {
        if !services.is_empty() {
            writeln!(self.out)?;
        }
        service::write(services, self.style.colors, self.out)
    }

    fn advice(&mut self, report: &Report) -> io::Result<()> {
        if report.advice.is_empty() {
            return Ok(());
        }
        writeln!(
            self.out,
            "\n{}",
            self.style
                .bold("What would have helped, by the answers that were seen")
        )?;
        for advice in &report.advice {
            let (change, effect) = words::advice(advice, &self.style.shown);
            self.paragraph("  ", "    ", &format!("{change}: {effect}"))?;
        }
        Ok(())
    }

    /// What was not understood, or not seen.
    fn lost(&mut self, report: &Report) -> io::Result<()> {
        let strays = &report.strays;
        let of_watch = [
            (
                report.drops.unwrap_or_default(),
                "packets the kernel had no room for",
            ),
            (
                strays.forgotten,
                "lookups whose end was not waited for: no room, or the clock was set",
            ),
            (
                report.only_counted,
                "unanswered queries that were counted, and not looked at, for want of room",
            ),
        ];
        let of_answers = [
            (strays.orphans, "answers to queries that were not seen"),
            (strays.unread, "answers that the program no longer read"),
        ];
        let packets = of_packets(&report.counters);
        let all = of_watch.into_iter().chain(packets).chain(of_answers);
        let seen: Vec<String> = all
            .filter(|it| it.0 > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if seen.is_empty() {
            return Ok(());
        }
        writeln!(self.out)?;
        self.paragraph("Also: ", "  ", &seen.join("; "))
    }
}

/// What of packets was not understood.
fn of_packets(counters: &Counters) -> [(u64, &'static str); 10] {
    [
        (
            counters.cut,
            "messages of which only the beginning was captured",
        ),
        (
            counters.encrypted,
            "packets of encrypted DNS, which nobody can read",
        ),
        (
            counters.tunnelled,
            "packets in VXLAN or Geneve, into which --decap looks",
        ),
        (
            counters.unknown_link,
            "packets of a kind that kdns does not read",
        ),
        (
            counters.incomplete,
            "datagrams of which a fragment was not seen",
        ),
        (
            counters.stream_gaps,
            "bytes of connections that were not seen",
        ),
        (
            counters.streams_forgotten,
            "connections that were forgotten",
        ),
        (
            counters.damaged,
            "packets that are damaged or cut in their headers",
        ),
        (
            counters.mistimed,
            "packets with a wrong time, read as captured together with the packet before",
        ),
        (counters.no_message, "payloads that are no DNS message"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{End, Setup, Watch};

    #[test]
    fn nothing_is_said_of_a_resolver_that_is_not_known() {
        let mut report = Watch::new(Setup::default()).end(&End::default());
        report.lookups = 1;
        let style = Style {
            colors: false,
            shown: Shown::default(),
        };
        let mut text = Vec::new();
        summary(&report, &[], &[], &style, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("Nothing wrong in 1 lookup"), "{text}");
        assert!(text.lines().all(|it| it != "."), "{text}");
    }
}
