#![doc = include_str!("loopback_nameserver.md")]

use std::net::IpAddr;

use crate::kubelet::choice::UPLINK_FILE;
use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{handed_out, handed_out_count, point_to_setting};
use crate::loopback::owners::DOCKER;
use crate::loopback::{self, Evidence};

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    let is_bad = |address: IpAddr| address.to_canonical().is_loopback();
    let mut servers = handed_out(file, context);
    let Some((address, first)) = servers.next().filter(|(it, _)| is_bad(*it)) else {
        return;
    };
    let count = handed_out_count(file, context);
    let is_all = handed_out(file, context).count() == count && servers.all(|(it, _)| is_bad(it));
    let lead = loopback::lead(address, file.conf, &Evidence::default());
    let owner = lead.as_ref().map(|it| it.owner);
    let is_resolved = owner.is_some_and(|it| it.upstream_files.contains(&UPLINK_FILE));
    // A pod can have a server of its own, but not systemd-resolved.
    let is_in_pod = file.role == Role::Pod && is_resolved && count == 1;
    let is_wrong = file.role == Role::Kubelet || is_in_pod;
    if !is_wrong || !is_all || address == DOCKER {
        // Docker's is what KR028 is about.
        return;
    }
    let message = if count == 1 {
        format!(
            "the only name server, {address}, is a loopback address, and in a pod that is the pod itself"
        )
    } else {
        "all name servers are loopback addresses, and in a pod these are the pod itself".to_owned()
    };
    let finding = report
        .add(first.at, message)
        .label(owner.map_or_else(String::new, |it| format!("this is {}", it.who)));
    if is_in_pod {
        finding
            .severity(Severity::Warning)
            .note("unless the pod is on the host network, each of its lookups is refused, and if it is CoreDNS, it forwards to itself")
            .help(format!("name {UPLINK_FILE} in the kubelet's resolvConf, and recreate the pod"));
        return;
    }
    finding
        .note("CoreDNS forwards to itself and ends with a FATAL message; other pods with the policy Default are refused");
    point_to_setting(finding, file);
    if is_resolved {
        finding.help(format!(
            "give the kubelet the file with the real servers: resolvConf: {UPLINK_FILE}"
        ));
    } else {
        finding.help("give the kubelet a file of its own with servers that pods reach, and name it in resolvConf");
    }
}
