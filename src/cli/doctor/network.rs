//! Packets to the cluster's DNS, and the kernel's counters.

use std::net::IpAddr;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};

use super::args::DoctorArgs;
use crate::cli::path;
use crate::cli::streams::Streams;
use crate::doctor::{Counted, Here, Route, Twice};
use crate::host::counters::CounterFile;
use crate::host::root::Root;
use crate::host::snapshot;
use crate::loopback::name_servers;
use crate::node::kernel::{self, Statistics};
use crate::node::{Node, Pod, is_dns_server};

/// Counters are read twice so far apart: all in all it takes no more than a second.
const APART: Duration = Duration::from_millis(900);

const COUNTERS: &str = "/proc/1/net/stat/nf_conntrack";

/// Counters, and what to read them from again.
#[derive(Debug)]
pub(super) struct First {
    file: CounterFile,
    at: Instant,
    counters: Statistics,
}

/// The counters of the node that this is; `None`: of another one, or there are none.
pub(super) fn first_counters(here: &Here) -> Option<First> {
    let root = match here {
        Here::Node => "/",
        Here::Debug(root) => root,
        Here::Below(_) | Here::Pod | Here::Elsewhere | Here::Unseen(_) => return None,
    };
    let mut file = CounterFile::of_node(Path::new(root))?;
    let counters = kernel::statistics(COUNTERS, &file.read()?)?;
    Some(First {
        file,
        at: Instant::now(),
        counters,
    })
}

/// Reads them again.
pub(super) fn counted(node: &Node, first: Option<First>) -> Counted {
    let again = |mut first: First| {
        thread::sleep(APART.saturating_sub(first.at.elapsed()));
        let after = kernel::statistics(COUNTERS, &first.file.read()?)?;
        Some(Twice {
            before: first.counters,
            after,
            between: first.at.elapsed(),
        })
    };
    Counted {
        room: node.kernel.conntrack,
        twice: first.and_then(again),
    }
}

/// The pod from which packets are sent and names looked up: the target, or else
/// the first pod that runs and asks the cluster's DNS.
pub(super) fn client(args: &DoctorArgs, node: &Node) -> Option<String> {
    let ordinary =
        |it: &&Pod| !it.processes.is_empty() && !is_dns_server(it) && asks_cluster(it, node);
    let found = || node.pods.iter().find(ordinary).map(Pod::label);
    args.target.clone().or_else(found)
}

/// Whether a pod of its own network asks a server that the kubelet names.
fn asks_cluster(pod: &Pod, node: &Node) -> bool {
    let servers = pod.own_file().into_iter().flat_map(name_servers);
    let own = cluster_dns(node);
    pod.host_network == Some(false) && servers.map(|it| it.0).any(|it| own.contains(&it))
}

fn cluster_dns(node: &Node) -> &[IpAddr] {
    let kubelet = node.kubelet.as_ref();
    kubelet.map_or(&[], |it| it.cluster_dns.value.as_slice())
}

/// Where packets to the cluster's DNS go, as `kdns path` says. All that it read of
/// a node that runs here is written to `saved`.
///
/// # Errors
///
/// Why that is not known.
pub(super) fn route(
    args: &DoctorArgs,
    (here, root): (&Here, &Root),
    node: &Node,
    (client, saved): (Option<&str>, Option<&Path>),
    streams: &mut Streams<'_>,
) -> anyhow::Result<Route> {
    let to = *cluster_dns(node).first().ok_or_else(|| {
        anyhow!("the address of the cluster's DNS is not known: no setting of a kubelet names it")
    })?;
    let mut words = vec![to.to_string()];
    let is_files = !args.rules.is_empty() || *here != Here::Node;
    if is_files {
        let has_others = || node.kernel.services.is_some() || snapshot::has_rules(root);
        if args.rules.is_empty() && !has_others() {
            bail!("rules are in no file: --rules FILE takes iptables-save's output");
        }
        if args.node.is_named() {
            words.extend([
                "--root".to_owned(),
                args.node.directory().display().to_string(),
            ]);
        } else if let Here::Debug(root) = here {
            words.extend(["--root".to_owned(), root.clone()]);
        }
        let is_client = |it: &&Pod| Some(it.label().as_str()) == client;
        let own = node.pods.iter().find(is_client);
        let mut own = own.into_iter().flat_map(|it| &it.addresses);
        match own.find(|it| it.is_ipv4() == to.is_ipv4()) {
            Some(ip) => words.extend(["--source".to_owned(), ip.to_string()]),
            None => words.push("--from-host".to_owned()),
        }
        if !args.rules.is_empty() {
            words.push("--rules".to_owned());
            words.extend(args.rules.iter().map(|it| it.display().to_string()));
        }
    } else if let Some(client) = client {
        words.extend(["--target".to_owned(), client.to_owned()]);
    }
    let mut asked = words.clone();
    if let Some(file) = saved.filter(|_| !is_files) {
        asked.extend(["--save".to_owned(), file.display().to_string()]);
    }
    let answer = path::answer_to(&asked, streams)?;
    Ok(Route {
        trees: answer.trees,
        findings: answer.findings,
        skipped: answer.skipped,
        question: words,
    })
}
