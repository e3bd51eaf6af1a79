//! What metrics say, for people.

pub mod json;
mod numbers;
mod words;

use std::io::{self, Write};

use self::numbers::{bytes, count, rate, share};
use crate::finding::Severity;
use crate::order::Order as _;
use crate::render::why::said;
use crate::render::{Style, paragraph};
use crate::text::escaped;
use crate::why::metrics::{Judged, Page, Report};

/// Writes the report.
///
/// # Errors
///
/// Any error of `out`.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of another type"
)]
pub fn write(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let worst = report.findings.first();
    let verdict = match worst.filter(|it| it.severity() > Severity::Info) {
        Some(worst) => words::said(worst).fact.text,
        None => "Nothing in these metrics is wrong, as far as metrics tell".to_owned(),
    };
    let severity = worst.map_or(Severity::Info, |it| it.severity());
    said::verdict(&format!("{verdict}."), severity, style, out)?;
    for judged in &report.judged {
        writeln!(out)?;
        write_page(judged, out)?;
    }
    if report.findings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nWhat follows")?;
    for (index, finding) in report.findings.iter().enumerate() {
        let said = words::said(finding);
        let mark = said::mark(finding.severity());
        let is_verdict = index == 0 && finding.severity() > Severity::Info;
        let text = if is_verdict {
            "(above)"
        } else {
            &format!("{}.", said.fact.text)
        };
        paragraph::write(out, &format!("  {mark} "), "    ", text)?;
        if !said.fix.is_empty() {
            paragraph::write(out, "    fix: ", "         ", &said.fix)?;
        }
    }
    Ok(())
}

fn item(out: &mut dyn Write, head: &str, text: &str) -> io::Result<()> {
    let first = format!("{head:<10}");
    paragraph::write(out, &first, "          ", text)
}

fn write_page(judged: &Judged, out: &mut dyn Write) -> io::Result<()> {
    let page = &judged.page;
    let mut who = escaped(page.name.as_bytes());
    if let Some(version) = &page.version {
        who += &format!(", CoreDNS {}", escaped(version.as_bytes()));
    }
    who += match (judged.is_difference, judged.seconds) {
        (true, Some(_)) => "",
        (true, None) => ", between the two pages",
        (false, _) => ", since it started",
    };
    if let Some(seconds) = judged.seconds.filter(|_| judged.is_difference) {
        who += &format!(", in {seconds:.1} s");
    }
    item(out, "Server", &who)?;
    write_requests(page, judged.seconds, out)?;
    if let Some((hits, misses)) = page.hits.zip(page.misses)
        && hits + misses > 0.0
    {
        let entries: f64 = page.entries.values().sum();
        let text = format!(
            "{} hits, {} entries",
            share(hits, hits + misses),
            count(entries)
        );
        item(out, "Cache", &text)?;
    }
    for (to, upstream) in &page.upstreams {
        let mut text = format!(
            "{}: {} answers",
            escaped(to.as_bytes()),
            count(upstream.requests)
        );
        match upstream.percentile(0.99) {
            Some(within) if within.is_finite() => text += &format!(", 99 % within {within} s"),
            Some(_) => text += ", 99 % within more than is counted",
            None => {}
        }
        item(out, "Upstream", &text)?;
    }
    if let Some(memory) = page.memory {
        let mut text = bytes(memory);
        if let Some(goroutines) = page.goroutines {
            text += &format!(", {} goroutines", count(goroutines));
        }
        item(out, "Memory", &text)?;
    }
    if page.wrong > 0 {
        let text = format!("{} lines are not of Prometheus's text format", page.wrong);
        item(out, "Not read", &text)?;
    }
    Ok(())
}

fn write_requests(page: &Page, seconds: Option<f64>, out: &mut dyn Write) -> io::Result<()> {
    let Some(requests) = page.requests else {
        return item(
            out,
            "Queries",
            "not counted: the plugin prometheus counts them",
        );
    };
    let mut text = count(requests);
    if let Some(seconds) = seconds.filter(|&it| it > 0.0) {
        text += &format!(", {} a second", rate(requests / seconds));
    }
    item(out, "Queries", &text)?;
    let all = page.all_responses();
    let mut responses: Vec<(&String, f64)> = page
        .responses
        .iter()
        .map(|(rcode, &count)| (rcode, count))
        .collect();
    responses.retain(|it| it.1 > 0.0);
    responses.order_by(|a, b| b.1.total_cmp(&a.1));
    let shares: Vec<String> = responses
        .iter()
        .map(|(rcode, count)| format!("{} {}", escaped(rcode.as_bytes()), share(*count, all)))
        .collect();
    if shares.is_empty() {
        return Ok(());
    }
    item(out, "Came to", &shares.join(", "))
}
