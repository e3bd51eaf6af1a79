//! `kdns doctor`: everything that is read-only here, one ranked answer.

mod args;
mod asking;
mod here;
mod network;
mod sheet;

use std::path::Path;
use std::rc::Rc;

use self::here::Scene;
use self::sheet::Sheet;
use super::lint;
use super::output;
use super::threshold::Level;
use crate::check_loop;
use crate::cli::streams::{Status, Streams};
use crate::doctor::{self, Here, Logs, State, Verdict, checks};
use crate::hidden::Shown;
use crate::host::node::{self, Parts};
use crate::host::root::Recorder;
use crate::host::snapshot;
use crate::lint::Findings;
use crate::upstream;

pub(super) use self::args::DoctorArgs;
pub(super) use self::here::is_on_node;

/// Reads the node, decides, writes.
pub(super) fn run(args: &DoctorArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let first = network::first_counters(args);
    let stand_ins = args.node.stand_ins(streams)?;
    let recorder = args.snapshot.as_ref().map(|_| Rc::new(Recorder::default()));
    let Scene { here, mut root } = here::find(&args.node)?;
    if let Some(recorder) = &recorder {
        root = root.recorded(recorder);
    }
    let mut node = node::read_node(&root, &stand_ins, Parts::ALL)?;
    node.kernel = node::kernel::read_kernel(&root);
    let here = here::with_kubelet(here, &node);
    let mut sheet = Sheet::new(args);
    sheet.add(checks::here(&here, &node), streams)?;

    let loops = check_loop::judge(&node);
    let mut with_pods = node.clone();
    upstream::add_pods(&mut with_pods);
    let servers = upstream::of_node(&with_pods);
    let is_node = here != Here::Pod;
    if is_node {
        sheet.add(checks::loops(&loops), streams)?;
    }
    let health = servers.health(&with_pods);
    sheet.add(checks::upstream(&servers, health), streams)?;
    let findings = if is_node {
        sheet.add(checks::pods(&node), streams)?;
        lint::findings_of_node(&root, &node)
    } else {
        Findings::default()
    };
    let logs = Logs::of(&node);
    let client = network::client(args, &node);
    let route = network::route(args, &here, &node, client.as_deref(), streams);
    let route = route.map_err(|error| format!("{error:#}"));
    if is_node {
        sheet.add(checks::lint(&findings), streams)?;
        sheet.add(checks::logs(logs.as_ref()), streams)?;
        sheet.add(
            checks::path(route.as_ref().map_err(String::as_str)),
            streams,
        )?;
    }
    let counted = network::counted(&node, first);
    if is_node {
        sheet.add(checks::kernel(&findings, &counted), streams)?;
    }
    let asked = asking::ask(args, &node, (&loops, &servers));
    let looked_up = args
        .ask
        .then(|| asking::look_up(args, &here, client.as_deref(), streams));
    let looked_up = looked_up.map(|it| it.map_err(|error| format!("{error:#}")));
    let check = asked
        .as_ref()
        .map_or_else(|why| checks::not_asked(*why), |it| checks::servers(it));
    sheet.add(check, streams)?;
    if let Some(lookup) = &looked_up {
        sheet.add(
            checks::lookup(lookup.as_ref().map_err(String::as_str)),
            streams,
        )?;
    }
    let report = doctor::report(node.name.as_deref(), sheet.end());
    sheet::write(args, &report, streams)?;
    if let Some((path, recorder)) = args.snapshot.as_ref().zip(recorder) {
        write_snapshot(path, &recorder, args, streams)?;
    }
    Ok(status(args, &report))
}

/// Writes the snapshot, and says what is in it.
fn write_snapshot(
    path: &Path,
    recorder: &Recorder,
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
        written = Some(snapshot::write(recorder, &shown, out)?);
        Ok(())
    })?;
    streams.out.flush()?;
    streams.tell(summary(&written.unwrap_or_default()));
    Ok(())
}

fn summary(written: &snapshot::Written) -> String {
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
    format!("the snapshot holds {} files{left_out}{cut}", written.files)
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
