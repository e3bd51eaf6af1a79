//! The options of `kdns lint`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::ValueEnum;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::completions;
use crate::cli::output::Outputs;
use crate::finding::Severity;
use crate::kubelet::Version;
use crate::lint::options::{Assume, Options, Role};
use crate::lint::settings;

#[derive(clap::Args, Debug)]
pub(in crate::cli) struct LintArgs {
    /// Files and directories; - is standard input [default: .]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Also the files that FILE names, one on each line; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(super) files_from: Option<PathBuf>,
    /// What - is called, which tells its kind
    #[arg(
        long,
        value_name = "PATH",
        default_value = "<stdin>",
        hide_default_value = true
    )]
    pub(super) stdin_filename: String,
    /// Fix what has one fix that cannot change what works
    #[arg(long)]
    pub(super) fix: bool,
    /// With --fix or --diff, also fixes that depend on what was not seen; --diff first shows them
    #[arg(long)]
    pub(super) unsafe_fixes: bool,
    /// Show what --fix would change, and change nothing
    #[arg(long)]
    pub(super) diff: bool,
    /// Also read links that lead out of the working directory and its git checkout
    #[arg(long)]
    pub(super) follow: bool,
    /// End with status 0 whatever is found
    #[arg(long)]
    pub(super) exit_zero: bool,
    /// End with status 0 if there is nothing to read
    #[arg(long)]
    pub(super) allow_empty: bool,
    /// Every finding with its lines; without it the text is at most a screen long
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// Count the findings of each rule in place of showing them, in text and concise
    #[arg(long)]
    pub(super) statistics: bool,
    /// Leave out the findings that FILE has, whatever lines they moved to
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// Write the findings to FILE, for --baseline, and end with status 0
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "fix", "diff"])]
    pub(super) write_baseline: Option<PathBuf>,
    /// Show what --config, options and defaults come to, and end
    #[arg(long)]
    pub(super) show_settings: bool,
    #[command(flatten)]
    pub(super) outputs: Outputs<Format>,
    // Last: what follows would get its headings.
    #[command(flatten)]
    pub(super) wanted: WantedArgs,
}

/// How to write findings.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(super) enum Format {
    /// For people, with the lines
    #[default]
    #[value(alias = "full")]
    Text,
    /// One finding a line, as compilers write them
    Concise,
    /// One document
    Json,
    /// SARIF 2.1.0, as GitHub's code scanning reads it
    Sarif,
    /// Workflow commands of GitHub Actions, which make annotations
    Github,
    /// JUnit XML
    Junit,
}

/// Options that `kdns.toml` has keys for, and which file that is.
#[derive(clap::Args, Debug)]
pub(super) struct WantedArgs {
    /// Only these rules: codes, beginnings of codes, names
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = settings::rule_word, add = ArgValueCandidates::new(completions::rule_words))]
    pub(super) select: Vec<String>,
    /// Not these rules: codes, beginnings of codes, names
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = settings::rule_word, add = ArgValueCandidates::new(completions::rule_words))]
    pub(super) ignore: Vec<String>,
    /// From which severity on findings make the status 1: error, warning or info [default: warning]
    #[arg(long, value_name = "SEVERITY", value_parser = settings::severity)]
    pub(super) fail_on: Option<Severity>,
    /// Take the settings from this file and not from the nearest kdns.toml
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Take no settings from any kdns.toml
    #[arg(long, conflicts_with = "config")]
    pub(super) isolated: bool,
    #[command(flatten)]
    pub(super) known: KnownArgs,
    #[command(flatten)]
    pub(super) node: LintNodeArgs,
}

/// What files alone do not tell.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "What files alone do not tell")]
pub(super) struct KnownArgs {
    /// The kubelets' version
    #[arg(long, value_name = "VERSION", value_parser = settings::version)]
    pub(super) kubelet_version: Option<Version>,
    /// CoreDNS's version
    #[arg(long, value_name = "VERSION", value_parser = settings::version)]
    pub(super) coredns_version: Option<Version>,
    /// The addresses of the cluster's DNS
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',', value_parser = settings::address)]
    pub(super) cluster_dns: Vec<IpAddr>,
    /// The cluster's domain
    #[arg(long, value_name = "DOMAIN")]
    pub(super) cluster_domain: Option<String>,
    /// The networks of the pods
    #[arg(long, value_name = "NETWORK", value_delimiter = ',', value_parser = settings::network)]
    pub(super) pod_cidr: Vec<(IpAddr, u8)>,
    /// What the nodes are like: systemd-resolved or none
    #[arg(long, value_name = "WHAT", value_parser = settings::assume)]
    pub(super) assume: Option<Assume>,
    /// What every resolv.conf is: node, kubelet or pod
    #[arg(long, value_name = "ROLE", value_parser = settings::role)]
    pub(super) role: Option<Role>,
    /// Take this for the file that the kubelet's resolvConf names
    #[arg(long, value_name = "FILE")]
    pub(super) node_file: Option<PathBuf>,
}

/// Which node.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Which node")]
pub(super) struct LintNodeArgs {
    /// Also lint the node below this directory
    #[arg(long, value_name = "DIR", conflicts_with = "node")]
    pub(super) root: Option<PathBuf>,
    /// Also lint this node
    #[arg(long)]
    pub(super) node: bool,
}

impl KnownArgs {
    pub(super) fn options(&self) -> Options {
        Options {
            kubelet_version: self.kubelet_version,
            coredns_version: self.coredns_version,
            cluster_dns: self.cluster_dns.clone(),
            cluster_domain: self.cluster_domain.as_deref().map(settings::domain),
            pod_cidr: self.pod_cidr.clone(),
            assume: self.assume,
            role: self.role,
        }
    }
}

impl LintArgs {
    /// Whether it is about the machine that kdns runs on.
    pub(in crate::cli) fn reads_this_node(&self) -> bool {
        self.wanted.node.node
    }
}
