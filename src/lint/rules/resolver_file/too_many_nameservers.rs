#![doc = include_str!("too_many_nameservers.md")]

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::point_to_setting;

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    let most = context.pod_rules().limits.servers;
    let Some(first) = file.read.servers.get(most) else {
        return;
    };
    if file.role != Role::Kubelet {
        return;
    }
    let count = file.read.servers.len();
    let message = format!("pods get only the first {most} of these {count} name servers");
    let finding = report
        .add(first.at, message)
        .label("the first that no pod gets")
        .help(format!("leave the {most} that pods are to ask, or give the kubelet a shorter file of its own"))
        .note("each sync of a pod with the policy Default records an event DNSConfigForming: Nameserver limits were exceeded");
    point_to_setting(finding, file);
}
