//! A report as gauges for `node_exporter`'s textfile collector.

use std::io::{self, Write};

use super::findings::shown;
use crate::check_loop::{Report, State, Verdict};
use crate::order::Order as _;

/// Writes `report` in Prometheus's text format: every verdict and every
/// state, 1 for the one that is true.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    write_answer(report.verdict, report.now, report.next_start, out)?;
    let mut kinds: Vec<&'static str> = report.evidence.iter().map(|it| it.kind.word()).collect();
    kinds.order();
    kinds.dedup();
    let lines = kinds.into_iter().map(|kind| {
        let sightings = report.evidence.iter().filter(|it| it.kind.word() == kind);
        let labels = format!("{{kind=\"{}\"}}", label(kind));
        (labels, sightings.map(|it| it.count).sum())
    });
    let help = "Lines in the logs of DNS servers that show a loop or a dead upstream.";
    gauge("log_lines", help, lines, out)?;
    let help = "Things on the node that could not be read.";
    gauge("skipped_files", help, alone(report.skipped.len()), out)?;
    gauge("failed", FAILED, alone(0), out)
}

const FAILED: &str = "Whether kdns check-loop could not do its work.";

/// Writes that nothing is known, with the reason as a label.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_error(message: &str, out: &mut dyn Write) -> io::Result<()> {
    write_answer(Verdict::Unknown, State::Unknown, State::Unknown, out)?;
    let labels = format!("{{reason=\"{}\"}}", label(message));
    gauge("failed", FAILED, [(labels, 1)], out)
}

fn write_answer(
    verdict: Verdict,
    now: State,
    next_start: State,
    out: &mut dyn Write,
) -> io::Result<()> {
    let verdicts = Verdict::ALL.map(|it| {
        let labels = format!("{{verdict=\"{}\"}}", it.word());
        (labels, usize::from(it == verdict))
    });
    let help = "Whether the DNS of this node loops; 1 for the verdict.";
    gauge("verdict", help, verdicts, out)?;
    let states = [("now", now), ("next start", next_start)].map(|(when, state)| {
        State::ALL.map(|it| {
            let labels = format!("{{state=\"{}\",when=\"{when}\"}}", it.word());
            (labels, usize::from(it == state))
        })
    });
    let help = "How the running pods do, and how they will after the next start; 1 for the state.";
    gauge("state", help, states.into_iter().flatten(), out)
}

/// A value without labels.
fn alone(value: usize) -> [(String, usize); 1] {
    [(String::new(), value)]
}

/// Writes a gauge: labels, in braces, and the value of each.
fn gauge(
    name: &str,
    help: &str,
    values: impl IntoIterator<Item = (String, usize)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "# HELP kdns_check_loop_{name} {help}")?;
    writeln!(out, "# TYPE kdns_check_loop_{name} gauge")?;
    let mut values = values.into_iter();
    values.try_for_each(|(labels, value)| writeln!(out, "kdns_check_loop_{name}{labels} {value}"))
}

/// A string as the value of a label.
///
/// Source: Prometheus, "Exposition formats", "Comments, help text, and type
/// information": backslash, quote and newline are escaped.
fn label(text: &str) -> String {
    shown(text)
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
