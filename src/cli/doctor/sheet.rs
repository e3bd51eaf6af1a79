//! The checks as they come: people see each at once.

use super::args::{DoctorArgs, Format};
use crate::cli::streams::Streams;
use crate::doctor::{Check, Here, Report};
use crate::render::doctor::{self as text, json};

/// What was checked so far.
#[derive(Debug)]
pub(super) struct Sheet<'a, 'o> {
    args: &'a DoctorArgs,
    /// Whether there is a node to look at.
    is_node: bool,
    checks: Vec<Check<'o>>,
}

impl<'a, 'o> Sheet<'a, 'o> {
    pub(super) fn new(args: &'a DoctorArgs, here: &Here) -> Self {
        Self {
            args,
            is_node: *here != Here::Pod,
            checks: Vec::new(),
        }
    }

    /// Adds what was found; its line is there at once if people watch.
    pub(super) fn add(
        &mut self,
        check: Check<'o>,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<()> {
        if is_watched(self.args) {
            let style = streams.style(self.args.verbose);
            text::write_check(&check, style, streams.out)?;
            streams.out.flush()?;
        }
        self.checks.push(check);
        Ok(())
    }

    /// The same of a check that is about a node, where there is one to look at.
    pub(super) fn add_of_node(
        &mut self,
        check: Check<'o>,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<()> {
        if self.is_node {
            self.add(check, streams)?;
        }
        Ok(())
    }

    /// Ends the sheet: all checks, in the order in which they were printed.
    pub(super) fn end(self) -> Vec<Check<'o>> {
        self.checks
    }
}

/// Writes all that is not there yet.
pub(super) fn write(
    args: &DoctorArgs,
    report: &Report<'_>,
    streams: &mut Streams<'_>,
) -> anyhow::Result<()> {
    if is_watched(args) {
        text::write_end(report, streams.style(args.verbose), streams.out)?;
    }
    let mut outputs = args.outputs.clone();
    outputs
        .wanted
        .retain(|it| it.file.is_some() || it.format != Format::Text);
    outputs.write(args.verbose, streams, |format, style, out| match format {
        Format::Text => text::write(report, style, out),
        Format::Json => json::write(report, out),
        Format::Jsonl => json::write_line(report, out),
        Format::Concise => text::write_concise(report, out),
        Format::Prometheus => text::write_prometheus(report, out),
    })
}

/// Whether text goes to standard output.
fn is_watched(args: &DoctorArgs) -> bool {
    args.outputs.shows(Format::Text)
}
