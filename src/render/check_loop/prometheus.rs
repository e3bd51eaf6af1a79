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
    head(
        "log_lines",
        "Lines in the logs of DNS servers that show a loop or a dead upstream.",
        out,
    )?;
    let mut kinds: Vec<&'static str> = report.evidence.iter().map(|it| it.kind).collect();
    kinds.order();
    kinds.dedup();
    for kind in kinds {
        let sightings = report.evidence.iter().filter(|it| it.kind == kind);
        let count: usize = sightings.map(|it| it.count).sum();
        let kind = label(kind);
        writeln!(out, "kdns_check_loop_log_lines{{kind=\"{kind}\"}} {count}")?;
    }
    head(
        "skipped_files",
        "Things on the node that could not be read.",
        out,
    )?;
    writeln!(
        out,
        "kdns_check_loop_skipped_files {}",
        report.skipped.len()
    )?;
    head(
        "failed",
        "Whether kdns check-loop could not do its work.",
        out,
    )?;
    writeln!(out, "kdns_check_loop_failed 0")
}

/// Writes that nothing is known, with the reason as a label.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_error(message: &str, out: &mut dyn Write) -> io::Result<()> {
    write_answer(Verdict::Unknown, State::Unknown, State::Unknown, out)?;
    head(
        "failed",
        "Whether kdns check-loop could not do its work.",
        out,
    )?;
    let message = label(message);
    writeln!(out, "kdns_check_loop_failed{{reason=\"{message}\"}} 1")
}

fn write_answer(
    verdict: Verdict,
    now: State,
    next_start: State,
    out: &mut dyn Write,
) -> io::Result<()> {
    head(
        "verdict",
        "Whether the DNS of this node loops; 1 for the verdict.",
        out,
    )?;
    for it in Verdict::ALL {
        let word = it.word();
        let value = u8::from(it == verdict);
        writeln!(out, "kdns_check_loop_verdict{{verdict=\"{word}\"}} {value}")?;
    }
    head(
        "state",
        "How the running pods do, and how they will after the next start; 1 for the state.",
        out,
    )?;
    for (when, state) in [("now", now), ("next start", next_start)] {
        for it in State::ALL {
            let word = it.word();
            let value = u8::from(it == state);
            writeln!(
                out,
                "kdns_check_loop_state{{state=\"{word}\",when=\"{when}\"}} {value}"
            )?;
        }
    }
    Ok(())
}

fn head(name: &str, help: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# HELP kdns_check_loop_{name} {help}")?;
    writeln!(out, "# TYPE kdns_check_loop_{name} gauge")
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
