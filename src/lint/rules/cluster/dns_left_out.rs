#![doc = include_str!("dns_left_out.md")]

use crate::lint::egress::{self, Reach};
use crate::lint::rules::prelude::*;

pub(super) fn check(object: &Object<'_>, context: &Context<'_>, report: &mut Report) {
    // With Cilium one policy for the whole cluster often allows DNS.
    let is_cilium = object.word(&["apiVersion"]).starts_with("cilium.io/");
    for policy in egress::closing(object.object) {
        let pods = &policy.pods;
        if pods.are_dns() {
            continue;
        }
        let is_left_out = |it: Reach<'_>| matches!(it, Reach::LeftOut);
        let lacks_udp = is_left_out(policy.udp) && !context.some_policy(pods, |it| it.udp);
        let lacks_tcp = is_left_out(policy.tcp) && !context.some_policy(pods, |it| it.tcp);
        let (message, mut severity) = match (lacks_udp, lacks_tcp) {
            (false, true) if policy.udp.is_let_out() => (
                "this policy allows DNS over UDP and not over TCP: long answers do not arrive",
                Severity::Info,
            ),
            (true, false) if policy.tcp.is_let_out() => (
                "this policy allows DNS over TCP only: nearly every query is sent over UDP",
                Severity::Warning,
            ),
            // Those that call only addresses look nothing up.
            (true, true) if policy.calls_names => (
                "this policy lets its pods call others by name, and leaves DNS out",
                Severity::Warning,
            ),
            _ => continue,
        };
        // What brings the pods can bring a policy for DNS along.
        let has_pods = context.some_pod(pods);
        if is_cilium || !has_pods {
            severity = Severity::Info;
        }
        let finding = report
            .add(object.at(policy.place), message)
            .severity(severity)
            .help("allow port 53 for UDP and TCP to the pods with k8s-app: kube-dns in the namespace with kubernetes.io/metadata.name: kube-system")
            .note("policies add up: one for the same pods that was not given can allow it");
        if !has_pods {
            finding.note("its pods are made by something that was not given");
        }
    }
}
