//! A report as workflow commands of GitHub Actions, which make annotations.

use std::io::{self, Write};

use super::findings::{self, Finding, Level, shown};
use crate::check_loop::Report;

/// Writes one annotation for the verdict, with its proof and what mends it,
/// and one for each thing that is missing or could not be read.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut verdict = findings::verdict(report);
    let hops = findings::deciding_hops(report).iter();
    let proof = hops.flat_map(|hop| {
        let line = |proof: &crate::check_loop::Proof| {
            let place = shown(&proof.place.to_string());
            format!("{place}: {}", findings::sends(hop, &proof.text))
        };
        hop.proof.iter().map(line)
    });
    let sightings = report.evidence.iter().map(|sighting| {
        let place = shown(&sighting.place.to_string());
        format!("{place}: {}", findings::seen(sighting))
    });
    let mend = report.mend.iter().flat_map(findings::steps);
    let remarks = report.remarks.iter().map(|it| shown(it));
    for line in proof.chain(sightings).chain(mend).chain(remarks) {
        verdict.message.push('\n');
        verdict.message.push_str(&line);
    }
    command(&verdict, out)?;
    let missing = report.missing.iter().map(|it| (Level::Warning, it));
    let skipped = report.skipped.iter().map(|it| (Level::Note, it));
    for (level, text) in missing.chain(skipped) {
        let finding = Finding {
            level,
            place: None,
            message: shown(text),
        };
        command(&finding, out)?;
    }
    Ok(())
}

/// Writes the annotation that says what went wrong.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_error(message: &str, out: &mut dyn Write) -> io::Result<()> {
    let finding = Finding {
        level: Level::Error,
        place: None,
        message: shown(message),
    };
    command(&finding, out)
}

fn command(finding: &Finding<'_>, out: &mut dyn Write) -> io::Result<()> {
    let name = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    let message = data(&finding.message);
    let title = "title=kdns check-loop";
    match finding.place {
        Some(place) => writeln!(
            out,
            "::{name} file={},line={},col={},{title}::{message}",
            property(&shown(&place.file)),
            place.line,
            place.column
        ),
        None => writeln!(out, "::{name} {title}::{message}"),
    }
}

/// A message as a command's data.
///
/// Source: actions/toolkit packages/core/src/command.ts `escapeData`.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property.
///
/// Source: actions/toolkit packages/core/src/command.ts `escapeProperty`.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
