#![doc = include_str!("too_many_search_domains.md")]

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{kubelet, point_to_setting};
use crate::pod::rules::FinalDots;

/// `NAMESPACE.svc.DOMAIN`, `svc.DOMAIN`, `DOMAIN`.
///
/// Source: kubernetes `pkg/kubelet/network/dns/dns.go:
/// generateSearchesForDNSClusterFirst`.
const OF_CLUSTER: usize = 3;

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    if file.role != Role::Kubelet {
        return;
    }
    let version = context.kubelet_version();
    let rules = context.pod_rules();
    let most = rules.limits.searches;
    let is_dropped = |text: &str| text == "." && rules.final_dots == FinalDots::RootDropped;
    let mut searches = file.read.searches.iter().filter(|it| !is_dropped(&it.text));
    let Some(first) = searches.nth(most - OF_CLUSTER) else {
        return;
    };
    let lost = 1 + searches.count();
    let message = format!(
        "pods get {most} search domains from {}, {OF_CLUSTER} of them the cluster's, and {lost} of these are lost",
        kubelet(version)
    );
    let finding = report
        .add(first.at, message)
        .label("the first that pods with the policy ClusterFirst lose")
        .help("remove search domains, or give the kubelet a file of its own without them")
        .note("the node records an event CheckLimitsForResolvConf, and each sync of a pod one DNSConfigForming");
    point_to_setting(finding, file);
}
