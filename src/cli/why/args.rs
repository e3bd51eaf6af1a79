//! The arguments.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::cli::node::NodeArgs;
use crate::cli::output::Outputs;
use crate::cli::threshold::Threshold;

/// How the answer is written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub(in crate::cli) enum Format {
    /// For people
    #[default]
    Text,
    /// One document
    Json,
    /// A picture of a log's queries over time
    Svg,
}

#[derive(clap::Args, Debug)]
pub(in crate::cli) struct WhyArgs {
    /// A message, in quotes or as words; what names a file, and -, is a log or a short text that was pasted
    #[arg(value_name = "MESSAGE|LOG", allow_hyphen_values = true)]
    pub(super) words: Vec<OsString>,
    /// Take this for a message, whatever it names
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        conflicts_with_all = ["words", "log", "metrics", "list"]
    )]
    pub(super) message: Option<String>,
    /// Take this file for a log; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["metrics", "list"])]
    pub(super) log: Vec<PathBuf>,
    /// Metrics of CoreDNS or NodeLocal DNSCache, once or twice some time apart; - is standard input
    #[arg(
        long,
        value_name = "FILE",
        value_delimiter = ',',
        conflicts_with_all = ["words", "list"]
    )]
    pub(super) metrics: Vec<PathBuf>,
    /// List the messages that are known
    #[arg(long, conflicts_with = "words")]
    pub(super) list: bool,
    /// Only lines of a log from this time on: 2026-11-23T08:00:00Z, or 15m ago
    #[arg(long, value_name = "TIME")]
    pub(super) since: Option<String>,
    /// Only lines of a log before this time
    #[arg(long, value_name = "TIME")]
    pub(super) until: Option<String>,
    /// The pods of the clients in a log: what kubectl get pods -A -o json, or -o wide, writes
    #[arg(long, value_name = "FILE")]
    pub(super) pods: Option<PathBuf>,
    /// Ask this DNS pod for its metrics, twice
    #[arg(long, value_name = "POD", conflicts_with_all = ["words", "message", "log", "metrics", "list"])]
    pub(super) target: Option<String>,
    /// How long between the two times, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(super) interval: Duration,
    /// Everything: what is less likely, sources
    #[arg(long, short)]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) threshold: Threshold,
    #[command(flatten)]
    pub(super) outputs: Outputs<Format>,
    #[command(flatten)]
    pub(super) node: NodeArgs,
}

fn seconds(word: &str) -> Result<Duration, String> {
    let seconds: f64 = word.parse().map_err(|_| "not a number of seconds")?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
