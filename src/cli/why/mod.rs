//! `kdns why`: what a message, a log or metrics say.

mod given;
mod log;
mod message;
mod metrics;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use self::given::Given;
use super::manual;
use super::node::NodeArgs;
use super::output::Outputs;
use super::threshold::Threshold;
use crate::cli::streams::{Status, Streams};

/// How the answer is written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// One document
    Json,
    /// A picture of a log's queries over time
    Svg,
}

#[derive(clap::Args, Debug)]
#[command(after_help = manual::help("why"))]
pub(super) struct WhyArgs {
    /// A message, in quotes or as words; what names a file, and -, is a log
    #[arg(value_name = "MESSAGE|LOG")]
    words: Vec<OsString>,
    /// Take this for a message, whatever it names
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["words", "log", "metrics", "list"])]
    message: Option<String>,
    /// Take this file for a log; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["metrics", "list"])]
    log: Vec<PathBuf>,
    /// Metrics of CoreDNS or NodeLocal DNSCache, once or twice some time apart; - is standard input
    #[arg(
        long,
        value_name = "FILE",
        value_delimiter = ',',
        conflicts_with_all = ["words", "list"]
    )]
    metrics: Vec<PathBuf>,
    /// List the messages that are known
    #[arg(long, conflicts_with = "words")]
    list: bool,
    /// Only lines of a log from this time on: 2026-11-23T08:00:00Z, or 15m ago
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only lines of a log before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// The pods of the clients in a log: what kubectl get pods -A -o json, or -o wide, writes
    #[arg(long, value_name = "FILE")]
    pods: Option<PathBuf>,
    /// Ask this DNS pod for its metrics, twice
    #[arg(long, value_name = "POD", conflicts_with_all = ["words", "message", "log", "metrics", "list"])]
    target: Option<String>,
    /// How long between the two times, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    interval: Duration,
    /// Everything: what is less likely, sources
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    threshold: Threshold,
    #[command(flatten)]
    outputs: Outputs<Format>,
    #[command(flatten)]
    node: NodeArgs,
}

fn seconds(word: &str) -> Result<Duration, String> {
    let seconds: f64 = word.parse().map_err(|_| "not a number of seconds")?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// Takes what was given for what it is.
pub(super) fn run(args: &WhyArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let given = given::of(args)?;
    let is_picture = args
        .outputs
        .wanted
        .iter()
        .any(|it| it.format == Format::Svg);
    if is_picture && !matches!(given, Given::Logs(_)) {
        anyhow::bail!("--format svg is for logs: it is a picture of their queries over time");
    }
    match given {
        Given::List => message::list(args, streams),
        Given::Message(text) => message::run(&text, args, streams),
        Given::Logs(files) => log::run(&files, args, streams),
        Given::Metrics => metrics::run(args, streams),
    }
}
