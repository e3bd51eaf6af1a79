//! `kdns doctor`: everything that is read-only here, one ranked answer.

mod args;
mod asking;
mod here;
mod network;
mod sheet;

use std::path::Path;
use std::rc::Rc;

use anyhow::Context as _;
use tempfile::NamedTempFile;

use self::here::Scene;
use self::sheet::Sheet;
use super::lint;
use super::output;
use super::path;
use super::threshold::Level;
use crate::check_loop;
use crate::cli::streams::{Status, Streams};
use crate::doctor::{self, Logs, State, Verdict, checks};
use crate::hidden::Shown;
use crate::host::node::{self, Parts};
use crate::host::root::Recorder;
use crate::host::snapshot;
use crate::upstream;

pub(super) use self::args::DoctorArgs;

/// Reads the node, decides, writes.
pub(super) fn run(args: &DoctorArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let stand_ins = args.node.stand_ins(streams)?;
    let recorder = args.snapshot.as_ref().map(|_| Rc::new(Recorder::default()));
    // Rules hold names and addresses in ways that nobody could still follow once
    // they are hidden.
    let has_rules = args.snapshot.is_some() && !args.anonymize;
    let rules = has_rules.then(NamedTempFile::new).transpose();
    let rules = rules.context("cannot make a temporary file for the rules of the snapshot")?;
    let Scene { here, mut root } = here::find(&args.node)?;
    network::expect_target(args, &root)?;
    let first = network::first_counters(&here);
    if let Some(recorder) = &recorder {
        root = root.recorded(recorder);
    }
    let mut node = node::read_node(&root, &stand_ins, Parts::ALL)?;
    node.kernel = node::kernel::read_kernel(&root);
    path::see_rules(&args.node, Some(&root), &mut node);
    let here = here::with_kubelet(here, &node);
    let mut sheet = Sheet::new(args, &here);
    sheet.add(checks::here(&here, &node), streams)?;

    let loops = check_loop::judge(&node);
    sheet.add_of_node(checks::loops(&loops), streams)?;
    let servers = upstream::of_node(&node);
    let health = servers.health(&node);
    sheet.add(checks::upstream(&here, &servers, health), streams)?;
    sheet.add_of_node(checks::pods(&node, &loops), streams)?;
    let findings = lint::findings_of_node(&root, &node);
    sheet.add_of_node(checks::lint(&findings), streams)?;
    let logs = Logs::from_node(&node);
    sheet.add_of_node(checks::logs(logs.as_ref()), streams)?;
    let client = network::client(args, &node);
    let client = client.as_deref();
    let saved = rules.as_ref().map(NamedTempFile::path);
    let route = network::route(args, (&here, &root), &node, (client, saved), streams);
    let route = route.map_err(|error| format!("{error:#}"));
    let route = route.as_ref().map_err(String::as_str);
    sheet.add_of_node(checks::path(route), streams)?;
    let counted = network::counted(&node, first);
    sheet.add_of_node(checks::kernel(&findings, &counted), streams)?;

    let asked = asking::ask(args, &node, (&loops, &servers), route.ok());
    let check = match &asked {
        Ok(asked) => checks::servers(asked),
        Err(why) => checks::not_asked(*why),
    };
    sheet.add(check, streams)?;
    let looked_up = asking::look_up(args, &here, (&node, client), streams);
    if let Some(lookup) = &looked_up {
        let lookup = lookup.as_ref().map_err(String::as_str);
        sheet.add(checks::lookup(lookup), streams)?;
    }
    let report = doctor::report(node.name.as_deref(), sheet.end());
    sheet::write(args, &report, streams)?;
    if let Some((path, recorder)) = args.snapshot.as_ref().zip(recorder) {
        let rules = saved.map(std::fs::read).transpose();
        let rules = rules.context("cannot read the rules of the snapshot again")?;
        let rules = rules.filter(|it| !it.is_empty());
        write_snapshot(path, (&recorder, rules), args, streams)?;
    }
    Ok(status(args, &report))
}

/// Writes the snapshot, and says what is in it.
fn write_snapshot(
    path: &Path,
    (recorder, rules): (&Recorder, Option<Vec<u8>>),
    args: &DoctorArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<()> {
    let shown = if args.anonymize {
        Shown::anonymous()
    } else {
        Shown::default()
    };
    let mut written = None;
    output::write(Some(path), args.outputs.others, streams.out, |out| {
        written = Some(snapshot::write(recorder, &shown, rules.as_deref(), out)?);
        Ok(())
    })?;
    streams.out.flush()?;
    streams.tell(summary(&written.unwrap_or_default(), rules.is_some()));
    Ok(())
}

fn summary(written: &snapshot::Written, has_rules: bool) -> String {
    let left_out = match written.left_out.as_slice() {
        [] => String::new(),
        [first, ..] => format!(
            "; {} left out, which can hold secrets: {}…",
            written.left_out.len(),
            first.display()
        ),
    };
    let cut = if written.is_cut {
        "; what was read last is not in it"
    } else {
        ""
    };
    let rules = if has_rules {
        ", and what kdns path read"
    } else {
        ", no rules of the node"
    };
    format!(
        "the snapshot holds {} files{rules}{left_out}{cut}",
        written.files
    )
}

fn status(args: &DoctorArgs, report: &doctor::Report<'_>) -> Status {
    let worst = report.checks.iter().map(|it| it.state).max();
    match (report.verdict, worst) {
        (Verdict::Unknown, _) => args.threshold.undecided(),
        (_, Some(State::Error)) => args.threshold.status(Some(Level::Error)),
        (_, Some(State::Warning)) => args.threshold.status(Some(Level::Warning)),
        _ => args.threshold.status(None),
    }
}
