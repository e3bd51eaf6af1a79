//! Findings as lines in the form of compilers.

use std::io::{self, Write};

use super::{Log, level, place, remarks};
use crate::finding::Finding;

/// Writes a line for each finding: `FILE:LINE:COLUMN: CODE[NAME] MESSAGE`.
/// What there is to say about the run is not among them.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    findings
        .iter()
        .try_for_each(|finding| writeln!(out, "{}", line(finding)))
}

/// Writes a line for each finding and each thing that is said about it or the
/// run: `FILE:LINE:COLUMN: LEVEL: MESSAGE`. What has no place begins with `kdns`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_all(log: &Log<'_>, out: &mut dyn Write) -> io::Result<()> {
    for finding in log.findings {
        let at = Some(place(&finding.primary)).filter(|it| !it.is_empty());
        let at = at.unwrap_or_else(|| "kdns".to_owned());
        let level = level(finding.severity);
        writeln!(out, "{at}: {level}: {}", finding.message)?;
        for label in &finding.secondary {
            writeln!(out, "{}: note: {}", place(label), label.text)?;
        }
        for text in remarks(finding) {
            writeln!(out, "{at}: note: {text}")?;
        }
    }
    for notice in &log.notices {
        writeln!(out, "kdns: {}: {}", level(notice.severity), notice.message)?;
    }
    Ok(())
}

/// A finding as one line.
pub(in crate::render) fn line(finding: &Finding) -> String {
    format!(
        "{}: {}[{}] {}",
        place(&finding.primary),
        finding.code,
        finding.name,
        finding.message
    )
}
