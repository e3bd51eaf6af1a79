//! `kdns path`.

mod client;
mod destination;
mod files;
mod live;
mod offline;

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::manual;
use super::output::Outputs;
use super::threshold::{Level, Threshold};
use crate::cli::streams::{Status, Streams};
use crate::finding::Severity;
use crate::path::findings::Finding;
use crate::path::probe::Seen;
use crate::path::{Host, Tree, Verdict};
use crate::render::path as text;

#[derive(clap::Args, Debug)]
#[command(after_help = manual::help("path"))]
pub(super) struct PathArgs {
    /// ADDRESS, ADDRESS:PORT[/udp|tcp] or a Service name [default: every name server of the target's file]
    #[arg(value_name = "DESTINATION")]
    pub(super) destination: Option<String>,
    /// Start in a process, container, pod or network namespace of this node
    #[arg(long, value_name = "TARGET", conflicts_with_all = ["source", "from_host"])]
    pub(super) target: Option<String>,
    /// Who sends the packet, without a target
    #[arg(long, value_name = "IP")]
    pub(super) source: Option<IpAddr>,
    /// The packet starts on the node itself
    #[arg(long, conflicts_with = "in_interface")]
    pub(super) from_host: bool,
    /// The link of the node through which the packet comes in
    #[arg(long, value_name = "IF")]
    pub(super) in_interface: Option<String>,
    /// Take the rules from these files in place of the node's, - is standard input: iptables-save, nft -j list ruleset, ipvsadm -S -n, /proc/net/ip_vs, ipset save, also pasted
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(super) rules: Vec<PathBuf>,
    /// Take the connection tracking table from this file: /proc/net/nf_conntrack or conntrack -L
    #[arg(long, value_name = "FILE")]
    pub(super) conntrack: Option<PathBuf>,
    /// Read the node below this directory [default: /]
    #[arg(long, value_name = "DIR")]
    pub(super) root: Option<PathBuf>,
    /// Write all that was read to this file, for --rules on another machine
    #[arg(long, value_name = "FILE")]
    pub(super) save: Option<PathBuf>,
    /// Ask for real: the Service and each endpoint, from the target's namespace
    #[arg(long)]
    pub(super) probe: bool,
    /// Send at most so many packets
    #[arg(long, value_name = "N", default_value_t = 500, requires = "probe")]
    pub(super) max_packets: u32,
    /// More detail: every rule that the packet meets
    #[arg(long, short)]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) threshold: Threshold,
    #[command(flatten)]
    pub(super) outputs: Outputs<Format>,
}

/// The output formats.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub(super) enum Format {
    /// For people
    #[default]
    Text,
    /// One document
    Json,
    /// One line for each outcome and finding
    Concise,
    /// A picture of the tree
    Svg,
}

impl PathArgs {
    /// Whether this very node is read.
    pub(super) fn reads_this_node(&self) -> bool {
        let is_live = self.root.as_deref().is_none_or(|it| it == Path::new("/"));
        self.rules.is_empty() && is_live
    }
}

/// What was found out.
#[derive(Debug)]
pub(super) struct Answer {
    /// The node.
    pub(super) host: Host,
    /// Where each packet goes.
    pub(super) trees: Vec<Tree>,
    /// What is wrong.
    pub(super) findings: Vec<Finding>,
    /// What is there and could not be read: sentences without a full stop.
    pub(super) skipped: Vec<String>,
    /// What a probe has seen; `None`: none was wanted.
    pub(super) probe: Option<Seen>,
}

/// Reads, walks, writes.
pub(super) fn run(args: &PathArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let answer = match &args.root {
        _ if !args.rules.is_empty() => offline::answer(args, streams)?,
        Some(root) if root != Path::new("/") => files::answer(args, root)?,
        _ => live::answer(args, streams)?,
    };
    write(args, &answer, streams)
}

/// Writes an answer in all its formats, and says how it ends.
pub(super) fn write(
    args: &PathArgs,
    answer: &Answer,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let shown = text::Shown {
        rules: &answer.host.rules,
        trees: &answer.trees,
        findings: &answer.findings,
        skipped: &answer.skipped,
        probe: answer.probe.as_ref(),
    };
    let (verbose, width) = (args.verbose, streams.columns());
    args.outputs
        .write(streams, |format, colors, out| match format {
            Format::Text => {
                let style = text::Style {
                    colors,
                    verbose,
                    width,
                };
                text::write(&shown, style, out)
            }
            Format::Json => text::json::write(&shown, out),
            Format::Concise => text::concise::write(&shown, out),
            Format::Svg => text::svg::write(&shown, out),
        })?;
    Ok(status(args, answer))
}

/// The worst of all packets and findings.
fn status(args: &PathArgs, answer: &Answer) -> Status {
    let level = |it: &Finding| match it.severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Info => Level::Info,
    };
    let mut worst = answer.findings.iter().map(level).max();
    if answer.probe.as_ref().is_some_and(|it| !it.troubles.is_empty()) {
        worst = worst.max(Some(Level::Warning));
    }
    let mut is_undecided = answer.trees.is_empty();
    for tree in &answer.trees {
        match tree.verdict {
            Verdict::Unknown | Verdict::OtherProxy => is_undecided = true,
            _ if tree.fails() => worst = Some(Level::Error),
            _ => {}
        }
    }
    let found = args.threshold.status(worst);
    if is_undecided && found == Status::Clean {
        return args.threshold.undecided();
    }
    found
}
