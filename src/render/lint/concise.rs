//! Findings as lines in the form of compilers.

use std::io::{self, Write};

use crate::finding::{Finding, Label};

/// Writes a line for each finding: `FILE:LINE:COLUMN: CODE[NAME] MESSAGE`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    findings
        .iter()
        .try_for_each(|finding| writeln!(out, "{}", line(finding)))
}

/// A finding as one line.
pub(super) fn line(finding: &Finding) -> String {
    format!(
        "{}: {}[{}] {}",
        place(&finding.primary),
        finding.code,
        finding.name,
        finding.message
    )
}

/// `FILE:LINE:COLUMN`, or the file alone.
pub(super) fn place(label: &Label) -> String {
    let Label { file, start, .. } = label;
    if start.line == 0 {
        return file.clone();
    }
    format!("{file}:{}:{}", start.line, start.column)
}
