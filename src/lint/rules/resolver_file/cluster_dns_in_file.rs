#![doc = include_str!("cluster_dns_in_file.md")]

use std::net::IpAddr;

use crate::address::is_link_local;
use crate::lint::facts::{DnsPod, Forward};
use crate::lint::rules::is_own_file;
use crate::lint::rules::node::look::is_own;
use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{handed_out, point_to_setting};

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    if file.role != Role::Kubelet {
        return;
    }
    // The address of a cache on the node is what KR004 is about.
    let cluster = context.cluster_dns(file.read.file);
    let is_cluster = |address: IpAddr| {
        let known = cluster.iter().find(|it| it.value == address);
        known.filter(|_| !is_link_local(address) && !is_own(address))
    };
    let mut servers = handed_out(file, context);
    let Some((address, server, known)) =
        servers.find_map(|(address, server)| Some((address, server, is_cluster(address)?)))
    else {
        return;
    };
    let corefiles = context.corefiles(file.read.file);
    let mut targets = corefiles.iter().flat_map(|it| &it.forwards);
    let reads_file = |it: &Forward| it.to.iter().any(|it| is_own_file(&it.text));
    if !corefiles.is_empty() && !targets.any(reads_file) {
        return;
    }
    // Pods with a list of their own do not get the file.
    let pods = context.dns_pods(file.read.file);
    let has_own = |it: &&DnsPod| it.policy.as_ref().is_some_and(|it| it.text == "None");
    if !pods.is_empty() && pods.iter().all(has_own) {
        return;
    }
    let message =
        format!("{address} is the cluster's own DNS, whose pods get this file to forward to");
    let finding = report
        .add(server.at, message)
        .help("name the servers that the cluster's DNS is to ask; let the node ask it through split DNS instead")
        .note("CoreDNS with a forward to /etc/resolv.conf asks itself through the Service: it ends with a FATAL message, or its queries time out");
    finding.also_each(known.at, "the cluster's DNS is set here");
    point_to_setting(finding, file);
}
