//! What logs say, for people.

pub mod chart;
pub mod json;
pub(in crate::render) mod words;

use std::io::{self, Write};

use crate::finding::Severity;
use crate::order::Order as _;
use crate::render::why::numbers::{clock, duration, grouped, minute, percent};
use crate::render::why::said;
use crate::render::{Style, paragraph};
use crate::text::escaped;
use crate::why::log::{Advice, Rcode, Summary, Waste, ZoneRow};

/// Rows of each table, and with `--verbose`.
const ROWS: usize = 5;
const MORE_ROWS: usize = 50;
/// Names of a client.
const NAMES: usize = 3;

/// Writes `summary`. Tables of 80 columns; the chart has those that there are.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(summary: &Summary, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let rows = if style.verbose { MORE_ROWS } else { ROWS };
    let mut page = Page { style, rows, out };
    page.verdict(summary)?;
    page.counts(summary)?;
    page.findings(&summary.advice)?;
    page.clients(summary)?;
    page.names(summary)?;
    page.zones(summary)?;
    page.timeouts(summary)?;
    if summary.minutes.len() > 1 {
        page.title("Queries over time (# those that got no record)")?;
        chart::write(&summary.minutes, style.columns, page.out)?;
    }
    Ok(())
}

/// What the error of counts is.
const MISSING: &str = "at most are missing from each count";

struct Page<'p> {
    style: Style,
    rows: usize,
    out: &'p mut dyn Write,
}

impl Page<'_> {
    fn verdict(&mut self, summary: &Summary) -> io::Result<()> {
        let mut text = format!("{}.", words::verdict(&summary.advice).text);
        if let Some(share) = waste_beside(summary) {
            text += &format!(" {share}.");
        }
        let severity = summary.advice.first().map(Advice::severity);
        let severity = severity.unwrap_or(Severity::Info);
        said::verdict(&text, severity, self.style, self.out)
    }

    fn title(&mut self, title: &str) -> io::Result<()> {
        paragraph::title(self.style.colors, self.out, title)
    }

    fn item(&mut self, head: &str, text: &str) -> io::Result<()> {
        let rest = " ".repeat(head.chars().count());
        paragraph::write(self.out, head, &rest, text)
    }

    fn counts(&mut self, summary: &Summary) -> io::Result<()> {
        let mut text = format!(
            "{} in {} lines",
            grouped(summary.queries),
            grouped(summary.lines)
        );
        if let Some((first, last)) = summary.span {
            let at = |time: i64| minute(time.div_euclid(60_000_000_000));
            text += &format!(", {} to {}", at(first), at(last));
        }
        if let Some((major, minor, patch)) = summary.version {
            text += &format!(", CoreDNS {major}.{minor}.{patch}");
        }
        writeln!(self.out)?;
        self.item("Queries  ", &text)?;
        if summary.queries == 0 {
            return Ok(());
        }
        let types = ["A", "AAAA", "other"].iter().zip(summary.records);
        let types = types.filter(|it| it.1 > 0);
        let types =
            types.map(|(name, count)| format!("{name} {}", percent(count, summary.queries)));
        self.item("Types    ", &types.collect::<Vec<_>>().join(", "))?;
        self.item("Came to  ", &shares(&summary.rcodes, summary.queries))?;
        let times = &summary.latency.all;
        if let Some(((half, most), last)) = times
            .percentile(0.5)
            .zip(times.percentile(0.99))
            .zip(times.percentile(1.0))
        {
            let text = format!(
                "half within {}, 99 % within {}, at most {}",
                duration(half),
                duration(most),
                duration(last)
            );
            self.item("Took     ", &text)?;
        }
        Ok(())
    }

    fn findings(&mut self, advice: &[Advice]) -> io::Result<()> {
        if advice.is_empty() {
            return Ok(());
        }
        self.title("What follows")?;
        let verdict = words::verdict(advice).text;
        for (index, it) in advice.iter().enumerate() {
            let said = words::said(it);
            let mark = said::mark(it.severity());
            if said.fact.text == verdict {
                writeln!(self.out, "  {mark} (above)")?;
            } else {
                self.item(&format!("  {mark} "), &format!("{}.", said.fact.text))?;
            }
            // One fix for several that have the same.
            let next = advice.get(index + 1).map(|it| words::said(it).fix);
            if !said.fix.is_empty() && next.as_ref() != Some(&said.fix) {
                self.item("    fix: ", &said.fix)?;
            }
        }
        Ok(())
    }

    fn clients(&mut self, summary: &Summary) -> io::Result<()> {
        let all = &summary.clients;
        let shown: Vec<_> = all.first.iter().take(self.rows).collect();
        if shown.is_empty() {
            return Ok(());
        }
        self.title("Who asks (queries, those for nothing)")?;
        for row in &shown {
            let mut who = row.address.clone();
            if let Some(pod) = &row.pod {
                who += &format!(" {}", escaped(pod.as_bytes()));
            }
            if let Some(resolver) = row.resolver {
                who += &format!(" ({})", words::resolver(resolver));
            }
            let (queries, waste) = (grouped(row.queries), grouped(row.waste));
            writeln!(self.out, "  {queries:>11} {waste:>11}  {who}")?;
            let names: Vec<String> = row
                .names
                .iter()
                .take(NAMES)
                .map(|(name, count)| format!("{name} {}", grouped(*count)))
                .collect();
            if !names.is_empty() {
                self.item(&" ".repeat(28), &format!("for {}", names.join(", ")))?;
            }
        }
        self.more(
            all.all,
            shown.len(),
            all.error,
            "queries are of clients not counted apart",
        )
    }

    fn names(&mut self, summary: &Summary) -> io::Result<()> {
        let all = &summary.names;
        let shown: Vec<_> = all.first.iter().take(self.rows).collect();
        if shown.is_empty() {
            return Ok(());
        }
        self.title("Names (queries, those for nothing with a search domain behind it)")?;
        for row in &shown {
            let (queries, waste) = (grouped(row.queries), grouped(row.waste));
            writeln!(self.out, "  {queries:>11} {waste:>11}  {}", row.name)?;
        }
        self.more(all.all, shown.len(), all.error, MISSING)
    }

    fn more(&mut self, all: u64, shown: usize, error: u64, what: &str) -> io::Result<()> {
        let more = all.saturating_sub(shown as u64);
        if more > 0 {
            let hint = if self.rows == ROWS {
                " (-v, --format json)"
            } else {
                ""
            };
            writeln!(self.out, "  {:>23}  and {} more{hint}", "", grouped(more))?;
        }
        if error > 0 {
            writeln!(self.out, "  {:>23}  {} {what}", "", grouped(error))?;
        }
        Ok(())
    }

    fn zones(&mut self, summary: &Summary) -> io::Result<()> {
        let shown = summary.zones.first.iter().take(self.rows);
        if summary.zones.first.len() < 2 {
            return Ok(());
        }
        self.title("Zones (queries, 99 % within)")?;
        let count = shown.len();
        for row in shown {
            self.zone(row)?;
        }
        let zones = &summary.zones;
        self.more(zones.all, count, zones.error, MISSING)?;
        let upstreams = &summary.latency.upstreams;
        let shown = upstreams.first.iter().take(self.rows);
        let count = shown.len();
        for (server, times) in shown {
            let within = times.percentile(0.99).map_or_else(String::new, duration);
            let count = grouped(times.total());
            writeln!(self.out, "  {count:>11} {within:>11}  answered by {server}")?;
        }
        self.more(upstreams.all, count, upstreams.error, MISSING)
    }

    fn zone(&mut self, row: &ZoneRow) -> io::Result<()> {
        let within = row
            .times
            .percentile(0.99)
            .map_or_else(String::new, duration);
        let count = grouped(row.queries);
        let zone = if row.zone.is_empty() { "." } else { &row.zone };
        let shares = shares(&row.rcodes, row.queries);
        self.item(
            &format!("  {count:>11} {within:>11}  "),
            &format!("{zone}  {shares}"),
        )
    }

    fn timeouts(&mut self, summary: &Summary) -> io::Result<()> {
        let all = &summary.timeouts;
        let shown: Vec<_> = all.first.iter().take(self.rows).collect();
        if shown.is_empty() {
            return Ok(());
        }
        self.title("Servers that did not answer (by error lines)")?;
        for row in &shown {
            let minutes = row.minutes.iter().take(self.rows);
            let minutes: Vec<String> = minutes
                .map(|(at, count)| format!("{} {count}", clock(at, row.minutes.length() > 1)))
                .collect();
            let count = grouped(row.count);
            let text = format!("{}  {}", row.server, minutes.join(", "));
            self.item(&format!("  {count:>11}  "), text.trim_end())?;
        }
        self.more(
            all.all,
            shown.len(),
            all.error,
            "time-outs are of servers not counted apart",
        )
    }
}

/// The share of waste, where the verdict is about something else.
fn waste_beside(summary: &Summary) -> Option<String> {
    let first = summary.advice.first();
    let is_said = matches!(first, Some(Advice::Waste { .. } | Advice::Filtered));
    match summary.waste {
        _ if is_said || summary.queries == 0 => None,
        Waste::Known(0) => Some("No query is known to be search-list waste".to_owned()),
        Waste::Known(waste) => Some(format!(
            "{} of the queries are search-list waste",
            percent(waste, summary.queries)
        )),
        Waste::Unknown => Some("Which queries are search-list waste it cannot tell".to_owned()),
    }
}

/// `NOERROR 40 %, NXDOMAIN 60 %`.
fn shares(rcodes: &[(Rcode, u64)], all: u64) -> String {
    let mut sorted = rcodes.to_vec();
    sorted.order_by_key(|it| std::cmp::Reverse(it.1));
    let shares = sorted
        .iter()
        .map(|(rcode, count)| format!("{} {}", rcode.word(), percent(*count, all)));
    shares.collect::<Vec<_>>().join(", ")
}
