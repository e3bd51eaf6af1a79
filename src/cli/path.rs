//! `kdns path`.

mod live;

use std::net::IpAddr;
use std::path::PathBuf;

use super::manual;
use super::output::Outputs;
use super::threshold::Threshold;
use crate::cli::streams::{Status, Streams};

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

/// Reads, walks, writes.
pub(super) fn run(args: &PathArgs, _streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let _ = args;
    anyhow::bail!("not yet")
}
