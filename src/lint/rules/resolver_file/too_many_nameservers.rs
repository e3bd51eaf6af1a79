#![doc = include_str!("too_many_nameservers.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::options::Role;
use crate::lint::report::Report;
use crate::lint::rules::resolver_file::common::point_to_setting;
use crate::lint::subject::ResolverFile;
use crate::lint::{Check, Rule};

/// KR006.
pub static RULE: Rule = Rule {
    code: "KR006",
    name: "too-many-nameservers",
    severity: Severity::Warning,
    summary: "the kubelet's file has more name servers than a pod's file takes",
    page: include_str!("too_many_nameservers.md"),
    check: Check::Resolver(check),
};

fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
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
