//! A report as lines in the form of compilers: `FILE:LINE:COLUMN: LEVEL: MESSAGE`.

use std::io::{self, Write};

use super::findings;
use crate::check_loop::Report;
use crate::render::findings::concise;

/// Writes `report`, one message a line. What has no place begins with `kdns`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let verdict = [findings::verdict(report)];
    concise::write_all(&findings::log(&verdict, findings::notices(report)), out)
}

/// Writes the line that says what went wrong.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_error(message: &str, out: &mut dyn Write) -> io::Result<()> {
    concise::write_all(&findings::failed(message), out)
}
