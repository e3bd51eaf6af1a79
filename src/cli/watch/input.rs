//! Where packets come from: arguments, and what is known of whoever sent them.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use clap_complete::engine::ArgValueCandidates;

use crate::cli::completions;
use crate::cli::question::QuestionArgs;
use crate::cli::streams::Streams;
use crate::explain::Context;
use crate::node::kernel::Statistics;
use crate::packet::{Counters, Seen};
use crate::scenario::Scenario;

/// What to watch: a target, the node, or a capture.
#[derive(clap::Args, Debug)]
pub(super) struct InputArgs {
    /// A pid, a network namespace's file, a container's or sandbox's id, NAMESPACE/POD, POD or POD:CONTAINER
    #[arg(value_name = "TARGET", conflicts_with = "target", add = ArgValueCandidates::new(completions::pods_here))]
    word: Option<String>,
    /// Watch the network of the node itself, and all that goes through it
    #[arg(long, conflicts_with_all = ["word", "target", "read"])]
    node: bool,
    /// Read this capture (pcap or pcapng, also in gzip or zstd); - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "word")]
    read: Option<PathBuf>,
    /// Keep the packets in this pcapng file, with the target's files and counters
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Begin another file after so many bytes, and keep the last two: 100MiB
    #[arg(long, value_name = "SIZE", requires = "write", value_parser = parse_size)]
    rotate: Option<u64>,
    /// Ports of DNS servers [default: 53,15053]
    #[arg(long, value_name = "PORT", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    port: Vec<u16>,
    /// Look into VXLAN and Geneve
    #[arg(long)]
    decap: bool,
    /// End after this time: 30s, 10m, 2h
    #[arg(long = "for", value_name = "TIME", value_parser = parse_time)]
    how_long: Option<Duration>,
    /// End after so many lookups that broke the plan
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    until_broken: Option<u64>,
    #[command(flatten)]
    question: QuestionArgs,
}

impl InputArgs {
    /// End after so many broken lookups.
    pub(super) fn until_broken(&self) -> Option<u64> {
        self.until_broken
    }
}

/// Whose packets they are, as far as it is known.
#[derive(Debug)]
pub(super) struct Subject {
    /// The target in words, or the capture's name; safe to print.
    pub(super) label: String,
    /// Its files, environment and host name; `None`: a capture that does not
    /// carry them, and no option gave them.
    pub(super) scenario: Option<Scenario>,
    /// What is known about the files.
    pub(super) context: Context,
    /// The target's own resolver, if it can be told.
    pub(super) resolver: Option<String>,
    /// Whether packets come as they happen.
    pub(super) is_live: bool,
}

/// What the judge is given, in order of time.
#[derive(Debug)]
pub(super) enum Event<'a> {
    /// Something was seen.
    Seen(Seen<'a>),
    /// It is this late, in nanoseconds since the epoch: at least once in a
    /// quarter of a second while watching live, never for a capture.
    Tick(i64),
}

/// How watching ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// What was counted.
    pub(super) counters: Counters,
    /// Packets that the kernel had no room for; `None`: a capture does not say.
    pub(super) drops: Option<u64>,
    /// The connection tracking counters of the target's namespace, before and
    /// after.
    pub(super) own: Option<(Statistics, Statistics)>,
    /// The same of the node's namespace, where most translation happens.
    pub(super) node: Option<(Statistics, Statistics)>,
    /// What went wrong with a capture, as sentences without a full stop.
    pub(super) notes: Vec<String>,
}

/// Packets to come, opened and entered; nothing was read of them yet.
#[derive(Debug)]
pub(super) struct Input {
    /// Whose packets they are.
    pub(super) subject: Subject,
}

impl Input {
    /// Opens what the arguments name. Whatever needs a privilege is done here.
    pub(super) fn open(args: &InputArgs, streams: &mut Streams<'_>) -> anyhow::Result<Self> {
        let _ = (args, streams);
        anyhow::bail!("packets cannot be watched yet")
    }

    /// Gives everything to `take` until it breaks, the capture ends, the time
    /// is over or Ctrl-C.
    pub(super) fn each(
        self,
        take: &mut dyn FnMut(Event<'_>) -> ControlFlow<()>,
    ) -> anyhow::Result<Ended> {
        let _ = take;
        Ok(Ended::default())
    }
}

/// `100MiB`, `64K`, `5000000`.
fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let unit = text.get(digits.len()..).unwrap_or_default();
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        _ => return Err("write a size such as 100MiB".to_owned()),
    };
    let number = digits.parse::<u64>().ok().filter(|it| *it > 0);
    number
        .and_then(|it| it.checked_mul(1 << shift))
        .ok_or_else(|| "write a size such as 100MiB".to_owned())
}

/// `30`, `30s`, `10m`, `2h`.
fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || "write a time such as 30s, 10m or 2h".to_owned();
    let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let unit = match text.get(digits.len()..).unwrap_or_default() {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let number = digits.parse::<f64>().ok().filter(|it| *it > 0.0);
    number
        .and_then(|it| Duration::try_from_secs_f64(it * unit).ok())
        .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("100MiB"), Ok(100 << 20));
        assert_eq!(parse_size("64k"), Ok(64 << 10));
        assert_eq!(parse_size("7"), Ok(7));
        for wrong in [
            "",
            "MiB",
            "0",
            "-1",
            "1x",
            "99999999999999999999",
            "18446744073709551615G",
        ] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times() {
        assert_eq!(parse_time("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(parse_time("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_time("2h"), Ok(Duration::from_secs(7200)));
        for wrong in ["", "m", "0", "-1s", "1d", "inf", "NaN", "1e300h"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }
}
