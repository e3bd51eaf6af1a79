#![doc = include_str!("too_many_search_domains.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::options::Role;
use crate::lint::report::Report;
use crate::lint::rules::resolver_file::common::{kubelet, point_to_setting};
use crate::lint::subject::ResolverFile;
use crate::lint::{Check, Rule};
use crate::pod::rules::FinalDots;

/// KR014.
pub static RULE: Rule = Rule {
    code: "KR014",
    name: "too-many-search-domains",
    severity: Severity::Warning,
    summary: "the kubelet's file has more search domains than fit beside the cluster's",
    page: include_str!("too_many_search_domains.md"),
    check: Check::Resolver(check),
};

/// `NAMESPACE.svc.DOMAIN`, `svc.DOMAIN`, `DOMAIN`.
///
/// Source: kubernetes `pkg/kubelet/network/dns/dns.go:
/// generateSearchesForDNSClusterFirst`.
const OF_CLUSTER: usize = 3;

fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
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
