//! The pods of a node as one JSON document.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::words;
use crate::config::resolv_conf::ResolvConf;
use crate::node::{Container, Pod, Presence};
use crate::render::json;

/// What `kdns pods --format json` writes. Fields are only added within a
/// format version.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Pods")]
pub(in crate::render) struct PodsDocument {
    /// Version of this format.
    format: u32,
    /// Sorted by namespace and name; those without a name come last.
    pods: Vec<PodForm>,
    /// What is there and could not be read.
    skipped: Vec<String>,
}

/// A pod. What is not known is null.
#[derive(Debug, Serialize, JsonSchema)]
struct PodForm {
    namespace: Option<String>,
    name: Option<String>,
    uid: Option<String>,
    /// The id of the sandbox that runs, or was the last.
    sandbox: Option<String>,
    /// Whether it is on the node's network.
    host_network: Option<bool>,
    /// The number of its network namespace.
    netns: Option<u64>,
    /// The file that keeps its network namespace.
    netns_path: Option<String>,
    /// The addresses there, loopback ones left out; empty on the node's
    /// network.
    addresses: Vec<String>,
    /// Its processes, the sandbox's own first.
    processes: Vec<ProcessForm>,
    /// Its containers by name, without the sandbox.
    containers: Vec<ContainerForm>,
    /// Whether it is still there: `runs`; `waits`: it has a sandbox, and no container was
    /// ever made; `left-over`: its sandbox is gone, and only directories are there;
    /// `hidden`: processes are there that kdns cannot see; `not-seen`: no process table
    /// was read.
    presence: &'static str,
    /// Whether a container has been started again and does not run now.
    crashes: bool,
    /// Its resolv.conf as the runtime keeps it on the node.
    resolv_conf: Option<FileForm>,
    /// The file that its processes see, where that has other bytes.
    seen_resolv_conf: Option<FileForm>,
    /// Whether these two differ, and not because the pod's spec mounts the second.
    drift: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ProcessForm {
    pid: u32,
    /// Its name as the kernel has it, at most 15 bytes.
    comm: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ContainerForm {
    name: String,
    id: Option<String>,
    image: Option<String>,
    /// Its first process; null: it does not run.
    pid: Option<u32>,
    /// How often it was restarted.
    restarts: Option<u32>,
    /// `running`, `paused`, `exited`, or null: it does not run, and how it ended
    /// is not known.
    state: Option<&'static str>,
    /// How it ended, where the runtime wrote that down.
    ended: Option<EndForm>,
}

/// The end of a container.
#[derive(Debug, Serialize, JsonSchema)]
struct EndForm {
    /// When, in UTC.
    at: Option<String>,
    exit_code: i64,
    /// As the runtime says.
    reason: Option<String>,
}

/// A file in the syntax of resolv.conf.
#[derive(Debug, Serialize, JsonSchema)]
struct FileForm {
    /// Its path on the node.
    path: String,
    /// All of it; bytes that are no UTF-8 are replaced.
    content: String,
    /// The words behind `nameserver`, as they are.
    nameservers: Vec<String>,
    /// The words behind the `search` lines.
    search: Vec<String>,
    /// The words behind the `options` lines.
    options: Vec<String>,
}

/// Writes the document.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(pods: &[Pod], skipped: &[String], out: &mut dyn Write) -> io::Result<()> {
    let document = PodsDocument {
        format: 1,
        pods: pods.iter().map(pod).collect(),
        skipped: skipped.to_vec(),
    };
    json::document(&document, out)
}

fn pod(pod: &Pod) -> PodForm {
    let process = |it: &crate::node::Process| ProcessForm {
        pid: it.pid,
        comm: it.comm.clone(),
    };
    PodForm {
        namespace: pod.namespace.clone(),
        name: pod.name.clone(),
        uid: pod.uid.clone(),
        sandbox: pod.sandbox.clone(),
        host_network: pod.host_network,
        netns: pod.netns,
        netns_path: pod.netns_path.clone(),
        addresses: pod.addresses.iter().map(ToString::to_string).collect(),
        processes: pod.processes.iter().map(process).collect(),
        containers: pod.containers.iter().map(container).collect(),
        presence: match pod.presence {
            Presence::Runs => "runs",
            Presence::Waits => "waits",
            Presence::NotSeen => "not-seen",
            Presence::Hidden => "hidden",
            Presence::LeftOver => "left-over",
        },
        crashes: pod.crashes(),
        resolv_conf: pod.resolv_conf.as_ref().map(file),
        seen_resolv_conf: pod.seen_resolv_conf.as_ref().map(file),
        drift: pod.drifts(),
    }
}

fn container(container: &Container) -> ContainerForm {
    ContainerForm {
        name: container.name.clone(),
        id: container.id.clone(),
        image: container.image.clone(),
        pid: container.pid,
        restarts: container.restarts,
        state: match (container.pid, &container.ended) {
            (Some(_), _) if container.is_paused => Some("paused"),
            (Some(_), _) => Some("running"),
            (None, Some(_)) => Some("exited"),
            (None, None) => None,
        },
        ended: container.ended.as_ref().map(|it| EndForm {
            at: it.at.clone(),
            exit_code: it.code,
            reason: it.reason.clone(),
        }),
    }
}

fn file(conf: &ResolvConf) -> FileForm {
    FileForm {
        path: conf.source.name.clone(),
        content: String::from_utf8_lossy(&conf.source.bytes).into_owned(),
        nameservers: words(conf, "nameserver"),
        search: words(conf, "search"),
        options: words(conf, "options"),
    }
}
