//! A report as workflow commands of GitHub Actions, which make annotations.

use std::io::{self, Write};

use super::{findings, words};
use crate::check_loop::Report;
use crate::render::findings::{Notice, github};

/// Writes one annotation for the verdict, with its proof, what fixes it and
/// what is worth knowing, and one for each thing that is missing or could not
/// be read.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut verdict = findings::verdict(report);
    let (mut notices, remarks) = (findings::notices(report), &report.remarks);
    let remarks = remarks.iter().map(|it| words::remark(it).begun().text);
    let remarks = remarks.map(|it| findings::shown(&it));
    verdict.notes.extend(remarks);
    notices.retain(|Notice { message, .. }| !verdict.notes.contains(message));
    github::write(&findings::log(&[verdict], notices), out)
}

/// Writes the annotation that says what went wrong.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_error(message: &str, out: &mut dyn Write) -> io::Result<()> {
    github::write(&findings::failed(message), out)
}
