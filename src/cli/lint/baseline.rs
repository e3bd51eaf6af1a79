//! `--baseline` and `--write-baseline`: the file of what is known.

use std::path::Path;

use anyhow::anyhow;

use super::args::LintArgs;
use super::formats;
use crate::cli::output;
use crate::cli::streams::{Status, Streams};
use crate::finding::{Finding, Severity};
use crate::host;
use crate::lint::{Findings, baseline};
use crate::render::findings::Notice;
use crate::text::counted;

/// Writes what was found; what could not be read makes it undecided.
pub(super) fn write(
    path: &Path,
    outcome: &Findings,
    mut notices: Vec<Notice>,
    args: &LintArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let text = baseline::written(&outcome.findings);
    output::write(Some(path), args.outputs.others, streams.out, |out| {
        out.write_all(text.as_bytes())
    })?;
    let is_error = |it: &Notice| it.severity == Severity::Error;
    let has_failed = notices.iter().any(is_error);
    let written = counted(outcome.findings.len(), "finding", "findings");
    let message = format!("wrote {written} to {}", host::shown(path));
    notices.push(Notice::new(Severity::Info, &message));
    formats::tell(&notices, streams);
    Ok(if has_failed {
        Status::Undecided
    } else {
        Status::Clean
    })
}

/// Takes what the file knows away from the findings, and tells how many.
pub(super) fn take_known(
    path: &Path,
    findings: &mut Vec<Finding>,
) -> anyhow::Result<Option<String>> {
    let read = host::read_named(path)?;
    if let Some(reason) = read.cut() {
        return Err(anyhow!("cannot use the baseline: {reason}"));
    }
    let shown = host::shown(path);
    let known = baseline::take_known(&read.source.bytes, findings)
        .map_err(|reason| anyhow!("{shown} is no baseline: {reason}"))?;
    Ok((known > 0).then(|| format!("{known} known from {shown}")))
}
