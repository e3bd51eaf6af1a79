//! The arguments.

use std::path::PathBuf;

use clap::ValueEnum;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::completions;
use crate::cli::node::NodeArgs;
use crate::cli::output::Outputs;
use crate::cli::threshold::Threshold;

#[derive(clap::Args, Debug)]
pub(in crate::cli) struct DoctorArgs {
    /// Whose lookups and packets: a pod, container or process [default: a pod that asks the cluster's DNS]
    #[arg(value_name = "TARGET", add = ArgValueCandidates::new(completions::pods_here))]
    target: Option<String>,
    /// TARGET, as other commands take it
    #[arg(
        long = "target",
        value_name = "TARGET",
        hide = true,
        conflicts_with = "target"
    )]
    target_option: Option<String>,
    /// Also ask: each upstream server and each DNS pod over UDP and TCP, and look a name up as the target does
    #[arg(long)]
    pub(super) ask: bool,
    /// Take the rules of the node from these files, as kdns path does
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(super) rules: Vec<PathBuf>,
    /// Also write all that was read to this file, which --root takes on another machine
    #[arg(long, value_name = "FILE")]
    pub(super) snapshot: Option<PathBuf>,
    /// With --snapshot: hashes in the place of names and addresses
    #[arg(long, requires = "snapshot")]
    pub(super) anonymize: bool,
    /// All causes, long ids
    #[arg(long, short)]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) threshold: Threshold,
    #[command(flatten)]
    pub(super) outputs: Outputs<Format>,
    #[command(flatten)]
    pub(super) node: NodeArgs,
}

/// How to write a report.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(in crate::cli) enum Format {
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
    /// The target that was named.
    pub(super) fn target(&self) -> Option<&String> {
        self.target.as_ref().or(self.target_option.as_ref())
    }

    /// Whether it reads the node that this is.
    pub(in crate::cli) fn reads_this_node(&self) -> bool {
        self.node.is_this()
    }
}
