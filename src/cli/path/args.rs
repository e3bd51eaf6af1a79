//! The arguments of `kdns path`.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use crate::cli::address::parse_cluster_dns;
use crate::cli::output::Outputs;
use crate::cli::threshold::Threshold;
use crate::path::Host;

#[derive(clap::Args, Debug)]
#[expect(clippy::doc_markdown, reason = "help texts have no backticks")]
pub(in crate::cli) struct PathArgs {
    /// ADDRESS, ADDRESS:PORT[/udp|tcp] or a Service name [default: every name server of the target's file]
    #[arg(value_name = "DESTINATION")]
    pub(in crate::cli) destination: Option<String>,
    /// Start in a process, container, pod or network namespace of this node
    #[arg(long, value_name = "TARGET", conflicts_with_all = ["source", "from_host"])]
    pub(in crate::cli) target: Option<String>,
    /// Who sends the packet, without a target
    #[arg(long, value_name = "IP")]
    pub(in crate::cli) source: Option<IpAddr>,
    /// The packet starts on the node itself
    #[arg(long, conflicts_with = "in_interface")]
    pub(in crate::cli) from_host: bool,
    /// The link of the node through which the packet comes in
    #[arg(long, value_name = "IF")]
    pub(in crate::cli) in_interface: Option<String>,
    /// Take the rules from these files in place of the node's, - is standard input: iptables-save, iptables -S or -L, nft list ruleset, ipvsadm -S -n, /proc/net/ip_vs, ipset save, also pasted
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(in crate::cli) rules: Vec<PathBuf>,
    /// Take the connection tracking table from this file: /proc/net/nf_conntrack or conntrack -L
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) conntrack: Option<PathBuf>,
    /// What the kubelet has pods ask, clusterDNS, in place of what is read of it
    #[arg(long, value_name = "IP", value_delimiter = ',', value_parser = parse_cluster_dns)]
    pub(in crate::cli) cluster_dns: Vec<IpAddr>,
    /// Read the node below this directory [default: /]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) root: Option<PathBuf>,
    /// Write all that was read to this file, for --rules on another machine
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) save: Option<PathBuf>,
    /// Ask for real: the Service and each endpoint, from the target's namespace
    #[arg(long)]
    pub(in crate::cli) probe: bool,
    /// Send at most so many packets
    #[arg(long, value_name = "N", default_value_t = 500, requires = "probe")]
    pub(in crate::cli) max_packets: u32,
    /// More detail: every rule that the packet meets
    #[arg(long, short)]
    pub(in crate::cli) verbose: bool,
    #[command(flatten)]
    pub(in crate::cli) threshold: Threshold,
    #[command(flatten)]
    pub(in crate::cli) outputs: Outputs<Format>,
}

impl PathArgs {
    /// Says what the kubelet has pods ask, if the caller does.
    pub(in crate::cli) fn set_cluster_dns(&self, node: &mut Host) {
        if !self.cluster_dns.is_empty() {
            node.cluster_dns = Some(self.cluster_dns.clone());
        }
    }

    /// Whether this very node is read.
    pub(in crate::cli) fn reads_this_node(&self) -> bool {
        let is_live = self.root.as_deref().is_none_or(|it| it == Path::new("/"));
        self.rules.is_empty() && is_live
    }
}

/// The output formats.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub(in crate::cli) enum Format {
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
