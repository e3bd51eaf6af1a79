//! `kdns upstream`.

use super::address::{Scoped, parse_scoped};
use super::node::NodeArgs;
use super::output::{Outputs, TextOrJson};
use super::path;
use super::threshold::{Level, Threshold};
use crate::cli::streams::{Status, Streams};
use crate::doctor::Route;
use crate::host::node::{self, Parts};
use crate::host::root::Root;
use crate::host::situation;
use crate::path::Verdict;
use crate::render::path::service;
use crate::render::upstream as text;
use crate::upstream::{self, FileReport, Health, Who};

#[derive(clap::Args, Debug)]
pub(super) struct UpstreamArgs {
    /// Only this name server; an address may have a scope: fe80::1%eth0
    #[arg(value_name = "ADDRESS", value_parser = parse_scoped)]
    address: Option<Scoped>,
    /// Also what confirms who a server is, and whole ids
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    threshold: Threshold,
    #[command(flatten)]
    outputs: Outputs<TextOrJson>,
    #[command(flatten)]
    node: NodeArgs,
}

/// Reads the node, decides, writes.
pub(super) fn run(args: &UpstreamArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let root = args.node.root()?;
    let stand_ins = args.node.stand_ins(streams)?;
    // DNS servers on the node's network can be those of pods.
    let parts = Parts {
        servers: true,
        dns_pods: true,
        ..Parts::default()
    };
    let mut node = node::read_node(&root, &stand_ins, parts)?;
    path::see_rules(&args.node, Some(&root), &mut node);
    if let Some(asked) = args.address.as_ref().filter(|_| root.is_live()) {
        let interfaces = situation::interfaces().unwrap_or_default();
        asked.check(&interfaces).map_err(anyhow::Error::msg)?;
    }
    let services = args.services(&root);
    let report = match &args.address {
        Some(asked) => upstream::of_address(&node, asked.address, ruled(&services)),
        None => upstream::of_node(&node),
    };
    let health = report.health(&node);
    args.outputs
        .write(args.verbose, streams, |format, style, out| match format {
            TextOrJson::Text => {
                text::write(&report, health, style, out)?;
                if !services.is_empty() {
                    writeln!(out)?;
                }
                service::write(&services, style.colors, out)
            }
            TextOrJson::Json => text::json::write(&report, &services, health, out),
        })?;
    Ok(match health {
        Health::Clean => {
            let is_lossy = report.files.iter().any(FileReport::loses);
            let is_lossy = is_lossy || !report.remarks.is_empty();
            args.threshold.status(is_lossy.then_some(Level::Info))
        }
        Health::Dead => args.threshold.status(Some(Level::Error)),
        Health::Unknown => args.threshold.undecided(),
        Health::Nothing => {
            streams.tell("nothing of a node could be read here; --root DIR names another place");
            args.threshold.undecided()
        }
    })
}

/// What rules make of the address.
fn ruled(services: &[Result<Route, String>]) -> Option<Who> {
    let trees = &services.first()?.as_ref().ok()?.trees;
    let service = trees.iter().find_map(|it| it.service.clone());
    let is_amid = trees.iter().any(|it| it.verdict == Verdict::NoRule);
    (service.is_some() || is_amid).then_some(Who::Service(service))
}

/// Whether rules lead packets on, or are missing for a Service.
fn is_of_service(route: &Route) -> bool {
    let mut trees = route.trees.iter();
    trees.any(|it| {
        it.service.is_some()
            || it.verdict == Verdict::NoRule
            || it.outcomes.iter().any(|it| it.is_translated)
    })
}

impl UpstreamArgs {
    /// Where rules lead what is sent to the address, where they do anything to it.
    fn services(&self, root: &Root) -> Vec<Result<Route, String>> {
        let words = self.node.words_of_rules(Some(root));
        let asked = self.address.as_ref().filter(|it| !it.address.is_loopback());
        let Some((words, asked)) = words.zip(asked) else {
            return Vec::new();
        };
        let asked = asked.address.to_string();
        let route = path::route([vec![asked], words].concat());
        route
            .ok()
            .filter(is_of_service)
            .map(Ok)
            .into_iter()
            .collect()
    }

    /// Whether it is about the machine that kdns runs on.
    pub(super) fn reads_this_node(&self) -> bool {
        self.node.is_this()
    }
}
