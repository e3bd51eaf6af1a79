//! `kdns pods`: the pods of a node, with what decides their DNS.

use std::net::IpAddr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use super::node::node_below;
use super::output::{Outputs, TextOrJson};
use super::threshold::{Level, Threshold};
use crate::cli::streams::{Status, Streams};
use crate::host::node::processes::ProcessSeen;
use crate::host::node::{Parts, pods, processes, sockets};
use crate::host::root::Root;
use crate::node::{Pod, listening};
use crate::render::pods::{self as text, Heard};
use crate::text::escaped;
use crate::topology::Network;

#[derive(clap::Args, Debug)]
pub(super) struct PodsArgs {
    /// Read the node below this directory [default: /]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    #[command(flatten)]
    threshold: Threshold,
    #[command(flatten)]
    outputs: Outputs<TextOrJson>,
    /// More detail: uid, processes, paths, containers
    #[arg(long, short)]
    verbose: bool,
}

/// Reads the node, writes what its pods are.
pub(super) fn run(args: &PodsArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let root = node_below(args.root.as_deref())?;
    let (seen, mut skipped) = processes::scan(&root);
    let (pods, unread) = pods::read_pods(&root, &seen, Parts::PODS, |_| true);
    skipped.extend(unread.sentences);
    let heard: Vec<Vec<Heard>> = pods.iter().map(|it| heard(&root, &seen, it)).collect();
    args.outputs
        .write(args.verbose, streams, |format, style, out| match format {
            TextOrJson::Text => text::write(&pods, &heard, skipped.is_empty(), style, out),
            TextOrJson::Json => text::json::write(&pods, &skipped, out),
        })?;
    streams.out.flush()?;
    for sentence in &skipped {
        streams.tell(sentence);
    }
    if pods.is_empty() {
        streams.tell(nothing(args));
    }
    // What could not be read may be another pod, or another file of one.
    let is_whole = skipped.is_empty() && !pods.is_empty();
    Ok(if is_whole {
        let is_odd = |it: &Pod| it.crashes() || it.is_paused() || it.drifts() == Some(true);
        let is_odd = pods.iter().any(is_odd);
        args.threshold.status(is_odd.then_some(Level::Info))
    } else {
        args.threshold.undecided()
    })
}

/// Who listens on the loopback servers of a pod with a network of its own.
fn heard(root: &Root, processes: &[ProcessSeen], pod: &Pod) -> Vec<Heard> {
    let servers = listening::loopback_servers(pod);
    let Some(process) = pod.processes.first().filter(|_| !servers.is_empty()) else {
        return Vec::new();
    };
    let network = Network::Pod(pod.key());
    let is_its = |it: &&ProcessSeen| pod.netns.is_some() && it.netns == pod.netns;
    let own: Vec<ProcessSeen> = processes.iter().filter(is_its).cloned().collect();
    let Some(listeners) = sockets::of_process(root, &own, &network, process.pid) else {
        return Vec::new();
    };
    let heard = |address: IpAddr| Heard {
        address,
        listener: listening::listener(&listeners, &network, address).cloned(),
    };
    servers.into_iter().map(heard).collect()
}

/// What to say where there is no pod.
fn nothing(args: &PodsArgs) -> String {
    let Some(directory) = &args.root else {
        return "there are no pods here; run it on a node, or in \
            kubectl debug node/NODE -it --profile=sysadmin --image=IMAGE -- kdns pods --root /host"
            .to_owned();
    };
    let directory = escaped(directory.as_os_str().as_bytes());
    format!("there are no pods on the node below {directory}")
}

impl PodsArgs {
    /// Whether it is about the machine that kdns runs on.
    pub(super) fn reads_this_node(&self) -> bool {
        self.root.is_none()
    }
}
