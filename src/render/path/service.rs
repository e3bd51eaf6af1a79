//! Which pods a Service is, in one sentence: for commands that meet one on
//! their way.

use std::io::{self, Write};
use std::net::IpAddr;

use colored::Colorize as _;
use schemars::JsonSchema;
use serde::Serialize;

use super::words;
use crate::doctor::Route;
use crate::path::{Outcome, Tree, Verdict};
use crate::render::command::Command;
use crate::render::paragraph;
use crate::render::style::painted;

/// So many ends are named.
const MOST: usize = 6;

/// What `kdns path` says of a Service.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::render) struct ServiceForm {
    /// The verdict in one sentence, with the pods and their shares.
    headline: String,
    /// The answer, as `kdns path` has it.
    #[schemars(extend("enum" = ["reaches", "partly", "nothing", "no-rule", "no-endpoints", "hairpin", "other-proxy", "unknown"]))]
    verdict: &'static str,
    /// The Service's address.
    address: IpAddr,
    /// Its name in the rules: `kube-system/kube-dns:dns`.
    name: Option<String>,
    /// Every end over UDP.
    ends: Vec<EndForm>,
    /// The command that shows all of it.
    command: String,
}

/// One end.
#[derive(Debug, Serialize, JsonSchema)]
struct EndForm {
    #[schemars(extend("enum" = ["endpoint", "local", "drop", "reject", "no-route", "unknown"]))]
    kind: &'static str,
    address: IpAddr,
    port: u16,
    /// `1/3`
    share: String,
    /// `NAMESPACE/NAME`
    pod: Option<String>,
    /// Whether it is reached, and its answers come back.
    arrives: bool,
}

/// The Services of which something is known.
pub(in crate::render) fn forms(services: &[Result<Route, String>]) -> Vec<ServiceForm> {
    let known = services.iter().filter_map(|it| it.as_ref().ok());
    known.filter_map(form).collect()
}

/// `None`: nothing is known of it.
fn form(route: &Route) -> Option<ServiceForm> {
    let tree = decisive(route)?;
    let end = |it: &Outcome| EndForm {
        kind: it.kind.word(),
        address: it.address,
        port: it.port,
        share: it.share.to_string(),
        pod: it.pod.clone(),
        arrives: it.arrives(),
    };
    Some(ServiceForm {
        headline: sentence(route)?,
        verdict: tree.verdict.word(),
        address: tree.packet.destination,
        name: tree.service.clone(),
        ends: tree.outcomes.iter().map(end).collect(),
        command: command(route).to_string(),
    })
}

/// Where packets to it go, in a sentence without a full stop.
pub(in crate::render) fn sentence(route: &Route) -> Option<String> {
    let tree = decisive(route)?;
    let what = words::verdict(tree);
    Some(match tree.verdict {
        Verdict::Reaches | Verdict::Partly | Verdict::Hairpin => {
            format!("{what}: {}", ends(tree))
        }
        Verdict::Unknown => match route.skipped.first() {
            Some(why) => format!("{what}: {why}"),
            None => what,
        },
        Verdict::Nothing | Verdict::NoRule | Verdict::NoEndpoints | Verdict::OtherProxy => what,
    })
}

/// What shows all of it.
fn command(route: &Route) -> Command {
    Command::new("kdns path").args(&route.question)
}

/// The packet that tells most: one that is lost, one of which nothing is known,
/// the first.
fn decisive(route: &Route) -> Option<&Tree> {
    let is_open = |it: &&Tree| it.verdict == Verdict::Unknown;
    let mut trees = route.trees.iter();
    let lost = trees.clone().find(|it| it.fails());
    lost.or_else(|| trees.clone().find(is_open))
        .or_else(|| trees.next())
}

/// `1/2 10.244.1.5:53 (pod kube-system/coredns-a), 1/2 10.244.2.6:53`.
fn ends(tree: &Tree) -> String {
    let end = |it: &Outcome| format!("{} {}", it.share, words::end(it));
    let mut all: Vec<String> = tree.outcomes.iter().take(MOST).map(end).collect();
    let rest = tree.outcomes.len().saturating_sub(MOST);
    if rest > 0 {
        all.push(format!("and {rest} more"));
    }
    all.join(", ")
}

/// Writes which pods each Service is, or why that is not known.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(
    services: &[Result<Route, String>],
    colors: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    if services.is_empty() {
        return Ok(());
    }
    let title = "Where the Service leads, by the rules of the node as this began";
    writeln!(out, "{}", painted(colors, title, |it| it.bold()))?;
    for service in services {
        let (text, more) = match service {
            Ok(route) => (sentence(route), Some(command(route))),
            Err(reason) => (Some(format!("not known: {reason}")), None),
        };
        if let Some(text) = text {
            paragraph::write(out, "  ", "  ", &format!("{text}."))?;
        }
        if let Some(command) = more {
            writeln!(out, "    {command}")?;
        }
    }
    Ok(())
}
