//! A report for people: the verdict, the way as a picture, what mends it.

use std::io::{self, Write};

use crate::check_loop::Report;

/// Writes `report`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report, colors: bool, out: &mut dyn Write) -> io::Result<()> {
    let _ = colors;
    writeln!(out, "{}", report.headline)
}
