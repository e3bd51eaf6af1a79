//! `kdns check-loop`: read the node, judge, write.

use std::io::{self, Write};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::node::{NodeArgs, read_log};
use super::output::Outputs;
use super::path;
use super::threshold::{Level, Threshold};
use crate::check_loop::facts::Cause;
use crate::check_loop::seen::Target;
use crate::check_loop::{self, Report, Verdict};
use crate::cli::streams::{Status, Streams};
use crate::doctor::Route;
use crate::host::node::{self, Parts};
use crate::host::root::Root;
use crate::node::Node;
use crate::path::Kind;
use crate::probe;
use crate::render::Style;
use crate::render::check_loop::probe::plan;
use crate::render::check_loop::text;
use crate::render::check_loop::{concise, github, json, junit, npd, prometheus, sarif};
use crate::render::path::service;
use crate::text::escaped;

#[derive(clap::Args, Debug)]
pub(super) struct CheckLoopArgs {
    /// Look for a loop in this log of a DNS server too; - is standard input
    #[arg(long, value_name = "FILE")]
    log: Vec<PathBuf>,
    /// Also send a few queries with random names to the node's DNS servers and watch whether they
    /// come back; takes up to 10 seconds and needs root
    #[arg(long)]
    probe: bool,
    /// With --probe: only servers whose name or address has this in it
    #[arg(long, value_name = "SERVER", requires = "probe")]
    only: Option<String>,
    /// With --probe: show what would be asked, and ask nothing
    #[arg(long, requires = "probe")]
    dry_run: bool,
    /// The node's name in json and jsonl [default: $NODE_NAME, else the host name]
    #[arg(long, value_name = "NAME")]
    node_name: Option<String>,
    /// The cluster's name in json and jsonl, which tells nodes of one name apart
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,
    /// Everything: long ids, other query paths, notes, what could not be read
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    threshold: Threshold,
    #[command(flatten)]
    outputs: Outputs<Format>,
    #[command(flatten)]
    node: NodeArgs,
}

/// How to write a report.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(super) enum Format {
    /// For people
    #[default]
    Text,
    /// One document
    Json,
    /// The same document on one line, for logs and kdns report merge
    Jsonl,
    /// One message a line, as compilers write them
    Concise,
    /// SARIF 2.1.0
    Sarif,
    /// Workflow commands of GitHub Actions
    Github,
    /// JUnit XML
    Junit,
    /// One line for node-problem-detector
    Npd,
    /// A textfile for node_exporter
    Prometheus,
}

/// Reads the node, decides, writes.
pub(super) fn run(args: &CheckLoopArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let (report, root, known, partly) = match judge(args, streams) {
        Ok(Some(judged)) => judged,
        Ok(None) => return Ok(Status::Clean),
        Err(error) => return report_failure(&error, args, streams),
    };
    let services = args.services((&report, partly), root.as_ref(), known);
    args.outputs
        .write(args.verbose, streams, |format, style, out| {
            write(&report, &services, format, style, out)
        })?;
    Ok(args.status(&report))
}

/// The report, the root of the node if not only files are judged, what was asked of its
/// rules, and the Service of the cluster's DNS where some of its pods loop.
type Judged = (Report, Option<Root>, Vec<Route>, Option<IpAddr>);

/// `None`: what a probe would ask was shown instead.
fn judge(args: &CheckLoopArgs, streams: &mut Streams<'_>) -> anyhow::Result<Option<Judged>> {
    let begun = Instant::now();
    let stand_ins = args.node.stand_ins(streams)?;
    if args.probe && args.node.is_files_only(&stand_ins) {
        anyhow::bail!(
            "--probe needs a node: files alone cannot be asked; add --root / for this one"
        );
    }
    let is_node = !args.node.is_files_only(&stand_ins);
    let root = is_node.then(|| args.node.root()).transpose()?;
    let mut node = match &root {
        Some(root) => node::read_node(root, &stand_ins, Parts::ALL)?,
        None => node::of_files(&stand_ins),
    };
    let known = path::see_rules(&args.node, root.as_ref(), &mut node);
    for path in &args.log {
        node.logs.push(read_log(path, streams)?);
    }
    let mut report = check_loop::judge(&node);
    report.node = args.node_name().or(report.node);
    report.cluster.clone_from(&args.cluster);
    let is_partly = matches!(&report.cause, Some(Cause::Path { pods: Some(_), .. }));
    let services = is_partly.then(|| check_loop::cluster_dns(&node).services);
    let partly = services.and_then(|it| Some(it.first()?.0));
    if !args.probe {
        return Ok(Some((report, root, known, partly)));
    }
    let targets = targets(args, &node, &report)?;
    if args.dry_run {
        plan::write(&targets, &check_loop::seen::RECORD_TYPES, streams.out)?;
        return Ok(None);
    }
    let record = probe::run(args.node.directory(), &targets, args.probe_limit(begun));
    let seen = check_loop::seen::judge(&targets, &record);
    let report = check_loop::with_probe(report, seen);
    Ok(Some((report, root, known, partly)))
}

/// The servers on the query paths; where there is none, all of the node.
fn targets(args: &CheckLoopArgs, node: &Node, report: &Report) -> anyhow::Result<Vec<Target>> {
    let all = check_loop::probe_targets(node);
    let found = match &args.only {
        None => check_loop::on_path(all.clone(), report),
        Some(only) => {
            let only = only.to_lowercase();
            let is_it = |it: &Target| {
                let who = it.who.to_string().to_lowercase();
                who.contains(&only) || it.server.to_string().contains(&only)
            };
            all.iter().filter(|it| is_it(it)).cloned().collect()
        }
    };
    if found.is_empty() && args.only.is_some() {
        let all: Vec<String> = all
            .iter()
            .map(|it| format!("{} {}", it.who, it.server))
            .collect();
        let only = args.only.as_deref().unwrap_or_default();
        anyhow::bail!(
            "no DNS server of this node fits --only {only}; there are: {}",
            all.join(", ")
        );
    }
    Ok(found)
}

fn write(
    report: &Report,
    services: &[Result<Route, String>],
    format: Format,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => {
            text::write(report, style, out)?;
            if !services.is_empty() {
                writeln!(out)?;
            }
            service::write(services, style.colors, out)
        }
        Format::Json => json::write(report, services, false, out),
        Format::Jsonl => json::write(report, services, true, out),
        Format::Concise => concise::write(report, out),
        Format::Sarif => sarif::write(report, out),
        Format::Github => github::write(report, out),
        Format::Junit => junit::write(report, out),
        Format::Npd => npd::write(report, out),
        Format::Prometheus => prometheus::write(report, out),
    }
}

/// Writes what went wrong as the format's own record; people have it on
/// standard error.
fn write_error(
    message: &str,
    node: Option<&str>,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => Ok(()),
        Format::Json => json::write_error(message, node, false, out),
        Format::Jsonl => json::write_error(message, node, true, out),
        Format::Concise => concise::write_error(message, out),
        Format::Sarif => sarif::write_error(message, out),
        Format::Github => github::write_error(message, out),
        Format::Junit => junit::write_error(message, out),
        Format::Npd => npd::write_error(message, out),
        Format::Prometheus => prometheus::write_error(message, out),
    }
}

/// Says in every wanted format what could not be done, and to people always.
fn report_failure(
    error: &anyhow::Error,
    args: &CheckLoopArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let message = escaped(format!("{error:#}").as_bytes());
    let node = args.node_name();
    let outputs = args.outputs.of_failures(&[Format::Text]);
    outputs.write(false, streams, |format, _, out| {
        write_error(&message, node.as_deref(), format, out)
    })?;
    streams.tell(message);
    Ok(Status::Undecided)
}

/// The Service through which NodeLocal DNSCache asks the cluster's DNS.
const UPSTREAM: &str = "kube-system/kube-dns-upstream";

/// node-problem-detector wants its line within 2 seconds: so long after the
/// start a probe ends.
const NPD_PROBE: Duration = Duration::from_millis(1700);

impl CheckLoopArgs {
    /// Whether it is about the machine that kdns runs on.
    pub(super) fn reads_this_node(&self) -> bool {
        self.node.is_this()
    }

    /// The name that the caller, or the pod's manifest, gives the node.
    fn node_name(&self) -> Option<String> {
        let set = std::env::var_os("NODE_NAME");
        let set = set.map(|it| it.to_string_lossy().into_owned());
        let named = self.node_name.clone().or(set);
        named.filter(|it| !it.is_empty())
    }

    /// For how long a probe may go on, if reading the node was begun then.
    fn probe_limit(&self, begun: Instant) -> Duration {
        if self
            .outputs
            .wanted
            .iter()
            .all(|it| it.format == Format::Npd)
        {
            NPD_PROBE.saturating_sub(begun.elapsed())
        } else {
            probe::LIMIT
        }
    }

    /// Where the Services on the query paths lead, where the rules that say so
    /// can be read and the format has room for it.
    fn services(
        &self,
        (report, partly): (&Report, Option<IpAddr>),
        root: Option<&Root>,
        mut known: Vec<Route>,
    ) -> Vec<Result<Route, String>> {
        let mut wanted = self.outputs.wanted.iter();
        let has_room = |it: Format| matches!(it, Format::Text | Format::Json | Format::Jsonl);
        if !wanted.any(|it| has_room(it.format)) {
            return Vec::new();
        }
        let Some(words) = self.node.words_of_rules(root) else {
            return Vec::new();
        };
        let word =
            |ip: &Option<IpAddr>| ip.map_or_else(|| UPSTREAM.to_owned(), |it| it.to_string());
        let mut services = report.services();
        // Whether it leads to those of its pods that loop, only rules tell.
        services.extend(partly.map(|it| (Some(it), true)));
        let mut ask = |it| {
            let question = [vec![word(it)], words.clone()].concat();
            let answered = known.iter().position(|it| it.question == question);
            answered.map_or_else(|| path::route(question), |it| Ok(known.swap_remove(it)))
        };
        // That the node has no way to it says nothing of pods, whose packets come in by
        // their own links.
        let is_without_route = |it: &Result<Route, String>| {
            let trees = it.iter().flat_map(|it| &it.trees);
            let mut ends = trees.flat_map(|it| &it.outcomes).peekable();
            ends.peek().is_some() && ends.all(|it| it.kind == Kind::NoRoute)
        };
        let routes = services
            .iter()
            .map(|(it, is_by_node)| (ask(it), *is_by_node));
        let routes = routes.filter(|(it, is_by_node)| *is_by_node || !is_without_route(it));
        routes.map(|it| it.0).collect()
    }

    fn status(&self, report: &Report) -> Status {
        match report.verdict {
            Verdict::Loop | Verdict::WillLoop | Verdict::Mixed | Verdict::Refused => {
                self.threshold.status(Some(Level::Error))
            }
            Verdict::NoLoop => {
                let is_plain = report.remarks.is_empty() && report.evidence.is_empty();
                self.threshold.status((!is_plain).then_some(Level::Info))
            }
            Verdict::Unknown => self.threshold.undecided(),
        }
    }
}
