//! Findings to where they go, in the formats that were asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::args::{Format, LintArgs};
use super::inputs::Inputs;
use crate::cli::output::Outputs;
use crate::cli::streams::{Status, Streams};
use crate::finding::{Label, Severity};
use crate::lint::{Findings, Input as _};
use crate::render::Style;
use crate::render::findings::{Notice, concise, fingerprint, github};
use crate::render::lint::{Lint, json, junit, sarif, statistics, text};
use crate::text::escaped;

/// Writes every format that was asked for, and to people what there is to say
/// about the run.
pub(super) fn write(
    outcome: &Findings,
    notices: Vec<Notice>,
    said: (Severity, Vec<String>),
    inputs: &Inputs,
    args: &LintArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<()> {
    let lint = Lint {
        findings: &outcome.findings,
        suppressed: &outcome.suppressed,
        notices,
        files: outcome.files,
        fail_on: said.0,
        asides: said.1,
    };
    let is_error = |it: &Notice| it.severity == Severity::Error;
    let has_failed = lint.files == 0 && lint.notices.iter().any(is_error);
    let outputs = if has_failed && lint.findings.is_empty() {
        for_machines(args)
    } else {
        args.outputs.clone()
    };
    write_all(&lint, inputs, args, &outputs, streams)?;
    tell(&lint.notices, streams);
    Ok(())
}

/// Says in every format what could not be done, and to people always.
pub(super) fn fail(
    error: &anyhow::Error,
    args: &LintArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let message = escaped(format!("{error:#}").as_bytes());
    let lint = Lint::failed(&message);
    for_machines(args).write(args.verbose, streams, |format, style, out| {
        write_as(format, &lint, &|_| None, style, out)
    })?;
    tell(&lint.notices, streams);
    Ok(Status::Undecided)
}

/// Where to write that nothing was looked at: people see it anyway.
fn for_machines(args: &LintArgs) -> Outputs<Format> {
    args.outputs.of_failures(&[Format::Text, Format::Concise])
}

/// Writes sentences about the run to standard error.
pub(super) fn tell(notices: &[Notice], streams: &mut Streams<'_>) {
    for notice in notices {
        streams.tell(&notice.message);
    }
}

fn write_all(
    lint: &Lint<'_>,
    inputs: &Inputs,
    args: &LintArgs,
    outputs: &Outputs<Format>,
    streams: &mut Streams<'_>,
) -> anyhow::Result<()> {
    outputs.write(args.verbose, streams, |format, style, out| {
        if args.statistics && matches!(format, Format::Text | Format::Concise) {
            return statistics::write(lint.findings, out);
        }
        let hashes = match format {
            Format::Sarif => hashes(lint, inputs),
            _ => BTreeMap::new(),
        };
        let fingerprint = |label: &Label| {
            let lines = hashes.get(label.file.as_str())?;
            lines.get(&label.start.line).cloned()
        };
        write_as(format, lint, &fingerprint, style, out)
    })
}

fn write_as(
    format: Format,
    lint: &Lint<'_>,
    fingerprint: sarif::Fingerprint<'_>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => text::write(lint, style, out),
        Format::Concise => concise::write(lint.findings, out),
        Format::Json => json::write(lint, out),
        Format::Sarif => sarif::write(lint, fingerprint, out),
        Format::Github => github::write(&lint.log(), out),
        Format::Junit => junit::write(lint, out),
    }
}

/// The hashes of the lines with findings, by file.
fn hashes<'l>(lint: &Lint<'l>, inputs: &Inputs) -> BTreeMap<&'l str, BTreeMap<usize, String>> {
    let suppressed = lint.suppressed.iter().map(|(finding, _)| finding);
    let mut wanted: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for finding in lint.findings.iter().chain(suppressed) {
        let label = &finding.primary;
        wanted
            .entry(&label.file)
            .or_default()
            .insert(label.start.line);
    }
    let hashes = wanted.into_iter().filter_map(|(file, lines)| {
        let content = inputs.file(file)?.content().ok()?;
        Some((file, fingerprint::of_lines(&content.source.bytes, &lines)))
    });
    hashes.collect()
}
