//! A line for each finding.

use std::io::{self, Write};

use crate::render::watch::{Style, words};
use crate::text::escaped;
use crate::watch::Report;

/// Writes `SEVERITY CODE: MESSAGE`, a line for each finding.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for finding in &report.findings {
        let message = escaped(words::finding(finding, &style.shown).message.as_bytes());
        writeln!(
            out,
            "{} {}: {message}",
            finding.severity.word(),
            finding.what.code()
        )?;
    }
    Ok(())
}
