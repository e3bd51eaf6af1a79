//! The arguments that say where packets come from.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap_complete::engine::ArgValueCandidates;

use crate::cli::completions;
use crate::cli::question::QuestionArgs;
use crate::packet::Options;
use crate::render::command::quoted;

/// What to watch: a target, the node, or a capture.
#[derive(clap::Args, Debug)]
pub(super) struct InputArgs {
    /// A pid, a network namespace's file, a container's or sandbox's id, NAMESPACE/POD, POD or POD:CONTAINER
    #[arg(value_name = "TARGET", conflicts_with_all = ["target", "file", "namespace", "pod"], add = ArgValueCandidates::new(completions::pods_here))]
    pub(super) word: Option<String>,
    /// Watch the network of the node itself, and all that goes through it
    #[arg(long, conflicts_with_all = ["word", "target", "read", "file", "namespace", "pod"])]
    pub(super) node: bool,
    /// Read this capture (pcap or pcapng, also in gzip or zstd); - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "word")]
    pub(super) read: Option<PathBuf>,
    /// Keep the packets in this pcapng file, with the target's files and counters
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Begin another file after so many bytes, and keep the last two: 100MiB
    #[arg(long, value_name = "SIZE", requires = "write", value_parser = parse_size)]
    rotate: Option<u64>,
    /// Ports of DNS servers, at most 40 [default: 53,15053]
    #[arg(long, value_name = "PORT", value_delimiter = ',', num_args = 1..=40, value_parser = clap::value_parser!(u16).range(1..))]
    port: Vec<u16>,
    /// Look into VXLAN and Geneve
    #[arg(long)]
    decap: bool,
    /// End after this time: 30s, 10m, 2h
    #[arg(long = "for", value_name = "TIME", value_parser = parse_time)]
    pub(super) how_long: Option<Duration>,
    /// End after so many lookups that broke the plan
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    until_broken: Option<u64>,
    #[command(flatten)]
    pub(super) question: QuestionArgs,
}

impl InputArgs {
    /// End after so many broken lookups.
    pub(super) fn until_broken(&self) -> Option<u64> {
        self.until_broken
    }

    /// What counts as DNS.
    pub(super) fn options(&self) -> Options {
        let mut options = Options::default();
        if !self.port.is_empty() {
            options.ports.clone_from(&self.port);
        }
        options.decap = self.decap;
        options
    }

    /// The file to keep packets in, and how long it becomes.
    pub(super) fn keep(&self) -> Option<(&Path, Option<u64>)> {
        Some((self.write.as_deref()?, self.rotate))
    }
}

/// What is meant by a word that is no target: a capture, or one of these links, which
/// tcpdump would take.
pub(super) fn in_place_of(word: &str, links: &[String]) -> Option<String> {
    let bare = word.trim_end_matches(".gz").trim_end_matches(".zst");
    if [".pcap", ".pcapng", ".cap"]
        .iter()
        .any(|it| bare.ends_with(it))
    {
        return Some(format!("--read {} reads a capture", quoted(word)));
    }
    let is_link = word == "any" || links.iter().any(|it| it == word);
    is_link.then(|| "--node watches all links of the node".to_owned())
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
    fn captures_and_links_are_no_targets() {
        let links = ["eth0".to_owned()];
        for (word, expected) in [
            ("x.pcap", Some("--read x.pcap reads")),
            ("./x.pcapng.zst", Some("--read")),
            ("x.cap.gz", Some("--read")),
            ("any", Some("--node")),
            ("eth0", Some("--node")),
            ("shop/web", None),
            ("eth1", None),
            ("", None),
        ] {
            let hint = in_place_of(word, &links);
            assert_eq!(hint.is_some(), expected.is_some(), "{word}");
            assert!(
                hint.unwrap_or_default()
                    .starts_with(expected.unwrap_or_default())
            );
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
