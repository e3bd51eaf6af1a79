//! A report as lines in the form of compilers: `FILE:LINE:COLUMN: LEVEL: MESSAGE`.

use std::io::{self, Write};

use super::findings::{self, Finding, Level, shown};
use crate::check_loop::Report;

/// Writes `report`, one message a line. What has no place begins with `kdns`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    findings::of(report)
        .iter()
        .try_for_each(|finding| line(finding, out))
}

/// Writes the line that says what went wrong.
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
    line(&finding, out)
}

fn line(finding: &Finding<'_>, out: &mut dyn Write) -> io::Result<()> {
    let level = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    };
    let place = match finding.place {
        Some(place) => shown(&place.to_string()),
        None => "kdns".to_owned(),
    };
    writeln!(out, "{place}: {level}: {}", finding.message)
}
