//! `kdns path --root DIR`: what the files of a node tell, of which those below
//! `/proc` have routes, connections and IPVS, but no rules of iptables.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use super::answer::Answer;
use super::args::PathArgs;
use super::destination::{self, Destination};
use crate::cli::node::node_below;
use crate::config::resolv_conf::ResolvConf;
use crate::host::network::{self, NetworkSeen};
use crate::host::node::{Parts, pods, processes};
use crate::host::root::Root;
use crate::host::situation;
use crate::loopback::name_servers;
use crate::path::findings::Around;
use crate::path::{self, Packet, Site, Start, Tree};

const NO_RULES: &str = "files do not have the rules of iptables and nftables; give what the \
    node's tools print with --rules";

/// The node below a directory, without what only its kernel could tell.
pub(super) fn below(directory: &Path) -> anyhow::Result<NetworkSeen> {
    let root = node_below(Some(directory))?;
    let mut seen = network::read_files(&root);
    let (pods, skipped) = pod_names(&root);
    seen.host.pods = pods;
    seen.skipped.extend(skipped);
    Ok(seen)
}

/// Sends the packets through what the files say.
pub(super) fn answer(args: &PathArgs, directory: &Path) -> anyhow::Result<Answer> {
    if args.probe || args.save.is_some() || args.target.is_some() {
        anyhow::bail!(
            "--target, --probe and --save need a node that runs here: of files below --root give \
             --source IP or --from-host"
        );
    }
    let seen = below(directory)?;
    let mut skipped = seen.skipped.clone();
    skipped.push(NO_RULES.to_owned());
    let site = Site {
        node: seen.into_host()?,
        ..Site::default()
    };
    let mut trees: Vec<Tree> = Vec::new();
    for (ip, (port, protocol)) in wanted(args, directory)? {
        let source = args.source.unwrap_or_else(|| unspecified(ip));
        let link = args.in_interface.as_deref().map(Into::into);
        let packet = Packet {
            protocol,
            source,
            source_port: None,
            destination: ip,
            port,
            start: if args.from_host {
                Start::Host
            } else {
                Start::Link { name: link }
            },
            length: None,
        };
        trees.push(site.send(&packet));
    }
    let around = Around {
        table: Some("/proc/net/nf_conntrack"),
        ..Around::default()
    };
    let findings = site.findings(&trees, around);
    Ok(Answer {
        host: site.node,
        trees,
        findings,
        skipped,
        probe: None,
    })
}

/// Addresses, ports and protocols: those of the argument, or of the node's name
/// servers.
fn wanted(
    args: &PathArgs,
    directory: &Path,
) -> anyhow::Result<Vec<(IpAddr, (u16, path::Protocol))>> {
    let (ips, port, protocol) = match args.destination.as_deref().map(Destination::parse) {
        Some(Ok(Destination::Address(ip, port, protocol))) => (vec![ip], port, protocol),
        Some(Ok(Destination::Name(name, ..))) => {
            anyhow::bail!("files alone do not know the address of {name}; give it")
        }
        Some(Err(error)) => return Err(error),
        None => {
            let conf = situation::read_situation(&node_below(Some(directory))?)?.resolv_conf;
            let conf = conf.map(|it| ResolvConf::parse(it.source));
            (
                conf.iter().flat_map(name_servers).map(|it| it.0).collect(),
                None,
                None,
            )
        }
    };
    let all = ips
        .into_iter()
        .flat_map(|ip| destination::packets(port, protocol).map(move |it| (ip, it)));
    Ok(all.collect())
}

/// The address that stands for a sender of which none is known.
pub(super) fn unspecified(to: IpAddr) -> IpAddr {
    if to.is_ipv4() {
        [0; 4].into()
    } else {
        [0; 16].into()
    }
}

/// The pods of the node by their addresses, and what could not be read.
pub(super) fn pod_names(root: &Root) -> (BTreeMap<IpAddr, String>, Vec<String>) {
    let (processes, mut skipped) = processes::scan(root);
    let (pods, unread) = pods::read_pods(root, &processes, Parts::PODS, |_| true);
    skipped.extend(unread.denied);
    let named = pods.iter().flat_map(|pod| {
        let addresses = pod.addresses.iter();
        addresses.map(|it| (*it, pod.label()))
    });
    (named.collect(), skipped)
}
