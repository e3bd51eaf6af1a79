//! `kdns doctor`: everything that is read-only here, one ranked answer.

use std::path::PathBuf;
use std::rc::Rc;

use clap::ValueEnum;

use super::lint;
use super::manual;
use super::node::NodeArgs;
use super::output::{self, Outputs};
use super::threshold::{Level, Threshold};
use crate::check_loop;
use crate::cli::streams::{Status, Streams};
use crate::doctor::{self, Observed, State, Verdict};
use crate::host::node::{self, Parts};
use crate::host::root::Recorder;
use crate::host::snapshot;
use crate::render::doctor::{self as text, Style, json};
use crate::upstream;

#[derive(clap::Args, Debug)]
#[command(after_help = manual::help("doctor"))]
pub(super) struct DoctorArgs {
    /// Also write all that was read to this file, which --root takes on another machine
    #[arg(long, value_name = "FILE")]
    snapshot: Option<PathBuf>,
    /// All causes, long ids
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    threshold: Threshold,
    #[command(flatten)]
    outputs: Outputs<Format>,
    #[command(flatten)]
    node: NodeArgs,
}

/// How to write a report.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(super) enum Format {
    /// For people
    #[default]
    Text,
    /// One document
    Json,
    /// The same document on one line
    Jsonl,
    /// One line a check
    Concise,
    /// A textfile for node_exporter
    Prometheus,
}

impl DoctorArgs {
    /// Whether it reads the node that this is.
    pub(super) fn reads_this_node(&self) -> bool {
        self.node.is_this()
    }
}

/// Reads the node, decides, writes.
pub(super) fn run(args: &DoctorArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let stand_ins = args.node.stand_ins(streams)?;
    let recorder = args.snapshot.as_ref().map(|_| Rc::new(Recorder::default()));
    let mut root = args.node.root()?;
    if let Some(recorder) = &recorder {
        root = root.recorded(recorder);
    }
    let mut node = node::read_node(&root, &stand_ins, Parts::ALL)?;
    node.kernel = node::kernel::read_kernel(&root);
    let loops = check_loop::judge(&node);
    let findings = lint::findings_of_node(&root, &node);
    let mut with_pods = node.clone();
    upstream::add_pods(&mut with_pods);
    let servers = upstream::of_node(&with_pods);
    let report = doctor::report(&Observed {
        node: &node,
        loops: &loops,
        health: servers.health(&with_pods),
        upstream: &servers,
        findings: &findings,
        asked: &[],
    });
    args.outputs.write(streams, |format, colors, out| {
        let style = Style {
            colors,
            verbose: args.verbose,
        };
        match format {
            Format::Text => text::write(&report, style, out),
            Format::Json => json::write(&report, out),
            Format::Jsonl => json::write_line(&report, out),
            Format::Concise => text::write_concise(&report, out),
            Format::Prometheus => text::write_prometheus(&report, out),
        }
    })?;
    if let Some((path, recorder)) = args.snapshot.as_ref().zip(recorder) {
        let mut written = None;
        output::write(Some(path), args.outputs.others, streams.out, |out| {
            written = Some(snapshot::write(&recorder, out)?);
            Ok(())
        })?;
        streams.out.flush()?;
        streams.tell(summary(&written.unwrap_or_default()));
    }
    Ok(status(args, &report))
}

fn summary(written: &snapshot::Written) -> String {
    let left_out = match written.left_out.as_slice() {
        [] => String::new(),
        [first, ..] => format!(
            "; {} left out, which can hold secrets: {}…",
            written.left_out.len(),
            first.display()
        ),
    };
    let cut = if written.is_cut {
        "; what was read last is not in it"
    } else {
        ""
    };
    format!("the snapshot holds {} files{left_out}{cut}", written.files)
}

fn status(args: &DoctorArgs, report: &doctor::Report<'_>) -> Status {
    let worst = report.checks.iter().map(|it| it.state).max();
    match (report.verdict, worst) {
        (Verdict::Unknown, _) => args.threshold.undecided(),
        (_, Some(State::Error)) => args.threshold.status(Some(Level::Error)),
        (_, Some(State::Warning)) => args.threshold.status(Some(Level::Warning)),
        _ => args.threshold.status(None),
    }
}
