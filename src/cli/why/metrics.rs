//! Metrics: of files, or of a pod that is asked twice.

use std::path::Path;

use super::{Format, WhyArgs};
use crate::cli::node::read_log;
use crate::cli::streams::{Status, Streams};
use crate::cli::threshold::Level;
use crate::finding::Severity;
use crate::render::why::metrics as text;
use crate::why::metrics::{Page, Report, judge};

pub(super) fn run(args: &WhyArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let pages = args.metrics.iter().map(|path| page(path, streams));
    let pages = pages.collect::<anyhow::Result<Vec<Page>>>()?;
    write(&judge(&pages, None), args, streams)
}

fn page(path: &Path, streams: &mut Streams<'_>) -> anyhow::Result<Page> {
    let source = read_log(path, streams)?;
    let text = String::from_utf8_lossy(&source.bytes);
    Ok(Page::parse(&source.name, &text))
}

/// Writes the report; the status.
fn write(report: &Report, args: &WhyArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    if report.is_empty() {
        anyhow::bail!(
            "there is no metric of CoreDNS in the input: its page is at :9153/metrics, and that of \
             NodeLocal DNSCache at :9253/metrics"
        );
    }
    args.outputs
        .write(streams, |format, colors, out| match format {
            Format::Text => text::write(report, colors, out),
            Format::Json => text::json::write(report, out),
            // `why` has refused it.
            Format::Svg => Ok(()),
        })?;
    let worst = report.findings.iter().map(|it| match it.severity() {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Info => Level::Info,
    });
    Ok(args.threshold.status(worst.max()))
}
