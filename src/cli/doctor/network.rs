//! Packets to the cluster's DNS, and the kernel's counters.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};

use super::args::DoctorArgs;
use crate::address::DNS_PORT;
use crate::cli::path;
use crate::cli::streams::Streams;
use crate::config::manifest::MAX_NAMESERVERS;
use crate::config::resolv_conf::ResolvConf;
use crate::doctor::{Counted, Here, Route, Twice};
use crate::host::counters::CounterFile;
use crate::host::root::Root;
use crate::host::snapshot;
use crate::loopback::{self, name_servers};
use crate::netns::{self, EnterError};
use crate::node::kernel::{self, Statistics};
use crate::node::{Node, Pod, is_dns_server};
use crate::render::command::Command;
use crate::rules::{Named, SMALLEST, is_amid};

/// Counters are read twice so far apart: all in all it takes no more than a second.
const APART: Duration = Duration::from_millis(900);

/// More addresses that pods were left with are not looked at.
const MAX_LEFT: usize = 3;

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
    let counters = kernel::statistics(COUNTERS, &file.sample()?)?;
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
        let after = kernel::statistics(COUNTERS, &first.file.sample()?)?;
        Some(Twice {
            before: first.counters,
            after,
            between: first.at.elapsed(),
        })
    };
    Counted {
        room: node.kernel.conntrack,
        disk: Counted::short(node.kernel.disk, &node.sources),
        twice: first.and_then(again),
    }
}

/// The pod from which packets are sent and names looked up: the target, or else
/// the first pod that runs and asks the cluster's DNS.
pub(super) fn client(args: &DoctorArgs, node: &Node) -> Option<String> {
    let target = args.target().cloned();
    target.or_else(|| asker(node).map(Pod::label))
}

fn asker(node: &Node) -> Option<&Pod> {
    let asks_cluster = |it: &&Pod| asked_by(it).any(|it| cluster_dns(node).contains(&it));
    // What cannot be read, as its file system does not answer, cannot be entered; a search list
    // of somebody's own finds no name of the cluster; what is being made, or taken away, has no
    // address, and no way out.
    let is_unread = |it: &Pod| it.eye().is_some() && !it.is_resolv_conf_seen;
    let all = ordinary(node).filter(asks_cluster);
    all.min_by_key(|it| {
        (
            is_unread(it),
            !searches_cluster(it),
            it.addresses.is_empty(),
        )
    })
}

/// Refuses a target that is none, before all else is looked at.
pub(super) fn expect_target(args: &DoctorArgs, root: &Root) -> anyhow::Result<()> {
    let Some(word) = args.target() else {
        return Ok(());
    };
    let is_node = || Path::new(word).is_dir() || word.ends_with(".tar.zst");
    match netns::aim(root, word) {
        Err(it) if (it.is_no_target() || matches!(it, EnterError::Unseen { .. })) && is_node() => {
            let command = Command::new("kdns doctor --root").arg(word);
            bail!("{it}; {command} reads the node whose files it has")
        }
        Err(error) if error.is_no_target() => Err(error.into()),
        _ => Ok(()),
    }
}

/// Pods that run in networks of their own and are no DNS servers.
fn ordinary(node: &Node) -> impl Iterator<Item = &Pod> {
    let runs = |it: &&Pod| !it.processes.is_empty() && it.host_network == Some(false);
    node.pods
        .iter()
        .filter(move |it| runs(it) && !is_dns_server(it))
}

/// The servers that a pod asks.
fn asked_by(pod: &Pod) -> impl Iterator<Item = IpAddr> {
    let servers = pod.own_file().into_iter().flat_map(name_servers);
    servers.map(|it| it.0)
}

/// The servers outside of the node that a pod was given beside the cluster's.
pub(super) fn servers_of(node: &Node, target: &str) -> Vec<SocketAddr> {
    let servers = pod(node, target).into_iter().flat_map(asked_by);
    let servers = servers.take(MAX_NAMESERVERS);
    let is_own = |it: &IpAddr| {
        let is_local = loopback::is_local(*it) || node.addresses.contains(it);
        !is_local && !cluster_dns(node).contains(it)
    };
    let own = servers.filter(is_own);
    own.map(|it| SocketAddr::new(it, DNS_PORT)).collect()
}

/// The pod that this word names.
fn pod<'n>(node: &'n Node, target: &str) -> Option<&'n Pod> {
    let label = target.split_once(':').map_or(target, |it| it.0);
    let is_it = |it: &&Pod| it.label() == label || it.name.as_deref() == Some(label);
    node.pods.iter().find(is_it)
}

/// Whether a pod has servers or a search list of its own, by which names of the cluster
/// need not be found.
pub(super) fn asks_elsewhere(node: &Node, target: &str) -> bool {
    let own = pod(node, target);
    let is_known = own.into_iter().flat_map(asked_by).next().is_some();
    is_known && !own.is_some_and(searches_cluster)
}

/// Whether a pod has the search list that the kubelet writes for the cluster's DNS: another
/// one can well ask a server of its own.
fn searches_cluster(pod: &Pod) -> bool {
    let mut lines = pod.own_file().into_iter().flat_map(ResolvConf::lines);
    lines.any(|line| {
        let mut words = line.words().map(|it| it.bytes);
        words.next() == Some(b"search") && words.any(|it| it.starts_with(b"svc."))
    })
}

/// Addresses amid those of Services that pods ask, and the kubelet no longer names:
/// each with the first of these pods.
fn left_behind(node: &Node, services: &[Named]) -> Vec<(String, IpAddr)> {
    let mut found: Vec<(String, IpAddr)> = Vec::new();
    for pod in ordinary(node).filter(|it| searches_cluster(it)) {
        let old = asked_by(pod).find(|it| {
            !cluster_dns(node).contains(it)
                && is_amid(services.iter().map(|it| it.address), *it, SMALLEST)
        });
        let old = old.filter(|it| found.iter().all(|known| known.1 != *it));
        found.extend(old.map(|it| (pod.label(), it)));
    }
    found.truncate(MAX_LEFT);
    found
}

fn cluster_dns(node: &Node) -> &[IpAddr] {
    let kubelet = node.kubelet.as_ref();
    kubelet.map_or(&[], |it| it.cluster_dns.value.as_slice())
}

/// Where packets to the cluster's DNS go, as `kdns path` says, or to the servers
/// of the target; and those to where pods still ask that were made before the
/// address was another one. All that it read of a node that runs here for the first
/// of these is written to `saved`.
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
    let is_files = !args.rules.is_empty() || *here != Here::Node;
    let to = if args.target().is_some() && !is_files {
        None
    } else {
        let to = cluster_dns(node).first().ok_or_else(|| {
            anyhow!(
                "the address of the cluster's DNS is not known: no setting of a kubelet names it"
            )
        })?;
        Some(*to)
    };
    let has_others = || node.kernel.services.is_some() || snapshot::has_rules(root);
    if is_files && args.rules.is_empty() && !has_others() {
        bail!("rules are in no file: --rules FILE takes iptables-save's output");
    }
    let words = |client: Option<&str>, to: Option<IpAddr>| {
        let mut words = match to {
            Some(to) if is_files => of_files(args, here, node, (client, to)),
            to => of_node(client, to),
        };
        words.extend(stood_in(args, node));
        words
    };
    let (mut route, services) = send(words(client, to), saved.filter(|_| !is_files), streams)?;
    // What is being made, or taken away, says nothing of others.
    let is_without_address = route
        .trees
        .first()
        .is_some_and(|it| it.packet.is_of_some_pod());
    if let (None, false, Some(pod)) = (args.target(), is_files, client)
        && is_without_address
    {
        bail!("{pod} has no address by now: kdns doctor TARGET looks from another pod");
    }
    if args.target().is_none() {
        for (pod, to) in left_behind(node, &services) {
            match send(words(Some(&pod), Some(to)), None, streams) {
                Ok((more, _)) => route.join(more),
                Err(error) => route.skipped.push(format!("{error:#}")),
            }
        }
    }
    Ok(route)
}

/// The cluster's DNS, where `kdns path` does not read the file that names it.
fn stood_in(args: &DoctorArgs, node: &Node) -> Vec<String> {
    let all = cluster_dns(node).iter().map(ToString::to_string);
    let all: Vec<String> = all.collect();
    if !args.node.has_kubelet_config() || all.is_empty() {
        return Vec::new();
    }
    vec!["--cluster-dns".to_owned(), all.join(",")]
}

/// What `kdns path` is asked on a node that runs here.
fn of_node(client: Option<&str>, to: Option<IpAddr>) -> Vec<String> {
    let target = client
        .into_iter()
        .flat_map(|it| ["--target".to_owned(), it.to_owned()]);
    let to = to.map(|it| it.to_string());
    to.into_iter().chain(target).collect()
}

/// The same of the files of one.
fn of_files(
    args: &DoctorArgs,
    here: &Here,
    node: &Node,
    (client, to): (Option<&str>, IpAddr),
) -> Vec<String> {
    let mut words = vec![to.to_string()];
    let directory = args.node.directory().display().to_string();
    match here {
        _ if args.node.is_named() => words.extend(["--root".to_owned(), directory]),
        Here::Debug(root) => words.extend(["--root".to_owned(), root.clone()]),
        _ => {}
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
    words
}

/// Asks `kdns path`; gives the Services that the rules name, too.
fn send(
    question: Vec<String>,
    saved: Option<&Path>,
    streams: &mut Streams<'_>,
) -> anyhow::Result<(Route, Vec<Named>)> {
    let mut asked = question.clone();
    if let Some(file) = saved {
        asked.extend(["--save".to_owned(), file.display().to_string()]);
    }
    let answer = path::answer_to(&asked, streams)?;
    let services = answer.host.rules.services_named();
    Ok((answer.into_route(question), services))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubelet::Setting;
    use crate::node::{Container, Process};
    use crate::pod::assumed_kubelet;
    use crate::text::Source;

    /// The file system of a container can keep everybody waiting who looks.
    #[test]
    fn who_cannot_be_read_or_is_half_made_comes_last() {
        let conf = "search default.svc.cluster.local svc.cluster.local\nnameserver 10.96.0.10\n";
        let conf = ResolvConf::parse(Source::new("/etc/resolv.conf", conf));
        let pod = |name: &str, is_resolv_conf_seen, address: Option<[u8; 4]>| Pod {
            name: Some(name.to_owned()),
            processes: vec![Process {
                pid: 7,
                comm: name.to_owned(),
                arguments: Vec::new(),
            }],
            host_network: Some(false),
            resolv_conf: Some(conf.clone()),
            containers: vec![Container {
                pid: Some(7),
                ..Container::default()
            }],
            is_resolv_conf_seen,
            addresses: address.into_iter().map(IpAddr::from).collect(),
            ..Pod::default()
        };
        let mut kubelet = assumed_kubelet();
        kubelet.cluster_dns = Setting::built_in(vec![IpAddr::from([10, 96, 0, 10])]);
        let node = |pods| Node {
            kubelet: Some(kubelet.clone()),
            pods,
            ..Node::default()
        };
        let asks = |pods| asker(&node(pods)).and_then(|it| it.name.clone());
        let address = Some([10, 244, 0, 9]);
        let stalled = || pod("stalled", false, address);
        let found = asks(vec![
            stalled(),
            pod("new", true, None),
            pod("fine", true, address),
        ]);
        assert_eq!(found.as_deref(), Some("fine"));
        let found = asks(vec![stalled(), pod("new", true, None)]);
        assert_eq!(found.as_deref(), Some("new"));
        assert_eq!(asks(vec![stalled()]).as_deref(), Some("stalled"));
    }
}
