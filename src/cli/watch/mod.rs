//! `kdns watch TARGET`: the packets of a pod, judged against what its resolver
//! should have sent.

mod args;
mod capture;
mod counters;
mod course;
mod input;
mod keep;
mod live;
mod output;
mod subject;

use std::net::IpAddr;

use clap_complete::engine::ArgValueCandidates;

use self::args::InputArgs;
use self::course::Course;
use self::input::Input;
use self::output::{Format, Output, Wanted, end_of};
use super::completions;
use super::explain::words;
use super::output::Outputs;
use super::threshold::{Level, Threshold};
use crate::cli::streams::{Status, Streams};
use crate::doctor::Route;
use crate::name::Name;
use crate::resolver;
use crate::watch::{Report, Setup, Watch};

/// Watch the DNS packets of a pod, or a capture, and judge them
#[derive(clap::Args, Debug)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The resolver of whoever asks; without it the target's own, or the one that fits best
    #[arg(long, value_name = "RESOLVER", value_parser = parse_resolver, add = ArgValueCandidates::new(completions::resolver_names))]
    resolver: Option<String>,
    /// Show the lookup of this name as a timeline: what was planned beside what was seen
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    show: Option<Name>,
    /// Write a line for every lookup, not only for those that broke the plan
    #[arg(short, long)]
    verbose: bool,
    /// Write hashes in place of names and addresses, the same ones all through the run
    #[arg(long)]
    anonymize: bool,
    #[command(flatten)]
    threshold: Threshold,
    #[command(flatten)]
    outputs: Outputs<Format>,
}

impl WatchArgs {
    /// Whether it looks into the network of this node or of a target.
    pub(super) fn is_live(&self) -> bool {
        self.input.read.is_none()
    }
}

/// Opens the input, judges what comes, writes what was found.
pub(super) fn run(args: &WatchArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let input = Input::open(&args.input, streams)?;
    let wanted = Wanted {
        is_verbose: args.verbose,
        is_anonymous: args.anonymize,
        show: args.show.clone(),
    };
    let output = Output::begin(&args.outputs, wanted, &input.subject, streams)?;
    let word = args
        .resolver
        .as_deref()
        .map(|it| resolver::alias(it).map_or(it, |it| it.resolver))
        .or(input.subject.resolver.as_deref());
    let watch = Watch::new(Setup {
        scenario: input.subject.scenario.clone(),
        resolver: word.and_then(resolver::find),
        all: output.wants_all(),
        show: args.show.clone(),
        is_live: input.subject.is_live,
    });
    let about = input.subject.context.about.clone();
    let services = input.subject.services.clone();
    let mut course = Course::new(watch, output, args.input.until_broken());
    let ended = input.each(&mut |event| course.take(event, streams))?;
    let Course {
        mut watch,
        mut output,
        ..
    } = course;
    if let Some(error) = course.failed {
        return Err(error);
    }
    let end = end_of(&ended, course.last);
    watch.finish(end.time.or(end.counters.last));
    output.lookups(watch.take_judged(), streams)?;
    let report = watch.end(&end);
    let notes = [about, ended.notes].concat();
    let services = asked_in_vain(args, services, &report);
    output.end(&report, &services, &notes, streams)?;
    streams.out.flush()?;
    if course.is_unkept {
        return Ok(args.threshold.undecided());
    }
    Ok(status(args, &report, streams))
}

/// Those of the Services with which something is wrong; none where addresses are hidden.
fn asked_in_vain(
    args: &WatchArgs,
    services: Vec<Result<Route, String>>,
    report: &Report,
) -> Vec<Result<Route, String>> {
    let servers = report.findings.iter().filter_map(|it| it.server);
    let wrong: Vec<IpAddr> = servers.map(|it| it.ip()).collect();
    let is_wrong = |it: &Route| {
        let mut trees = it.trees.iter();
        !args.anonymize && trees.any(|it| wrong.contains(&it.packet.destination))
    };
    let services = services.into_iter();
    let found = services.filter(|it| it.as_ref().is_ok_and(is_wrong));
    found.collect()
}

fn status(args: &WatchArgs, report: &Report, streams: &mut Streams<'_>) -> Status {
    if report.is_empty() {
        let (encrypted, tunnelled) = (report.counters.encrypted, report.counters.tunnelled);
        streams.tell(match (encrypted, tunnelled) {
            (0, 0) => "no DNS queries were seen on these ports; --port names others",
            (0, _) => "no DNS queries were seen outside of tunnels; --decap looks into these",
            (_, 0) => "only encrypted DNS was seen, which nobody can read on the wire",
            _ => "what was seen is encrypted, or in tunnels, into which --decap looks",
        });
        return args.threshold.undecided();
    }
    if report.findings.is_empty() && report.open == report.queries {
        streams.tell("no query was answered before the end, and none is old enough to be lost");
        return args.threshold.undecided();
    }
    let worst = report.findings.iter().map(|it| it.severity).max();
    args.threshold.status(worst.map(Level::from))
}

fn parse_resolver(word: &str) -> Result<String, String> {
    if word == "all" {
        return Err("packets are judged by the plan of one resolver".to_owned());
    }
    words::parse(word)
}

fn parse_name(text: &str) -> Result<Name, String> {
    Name::from_master_file(text.as_bytes()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_resolver_by_any_word_that_explain_takes() {
        for word in ["glibc", "musl-1.2.4", "go-1.23", "dig-9.20", "alpine"] {
            assert_eq!(parse_resolver(word).as_deref(), Ok(word));
        }
        for (word, said) in [("all", "one resolver"), ("gilbc", "did you mean glibc?")] {
            assert!(parse_resolver(word).unwrap_err().contains(said), "{word}");
        }
    }
}
