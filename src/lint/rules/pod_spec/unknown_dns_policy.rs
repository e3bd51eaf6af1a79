#![doc = include_str!("unknown_dns_policy.md")]

use crate::config::manifest::DnsPolicy;
use crate::config::yaml::Kind;
use crate::lint::extract;
use crate::lint::rules::prelude::*;

use super::spec::rewritten;

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    let is_known = |it: &str| DnsPolicy::ALL.iter().any(|known| known.0 == it);
    let own = || extract::misspelled_policy(workload.spec);
    let Some(node) = workload.get("dnsPolicy").or_else(own) else {
        return;
    };
    let Some(scalar) = node.as_scalar().filter(|it| !has_placeholder(&it.text)) else {
        return;
    };
    let is_text = node.kind() == Some(Kind::Text);
    if is_text && (is_known(&scalar.text) || scalar.text.is_empty()) {
        return;
    }
    let finding = report.add(
        workload.at(node),
        format!("there is no dnsPolicy {}", scalar.text),
    );
    let mut all = DnsPolicy::ALL.iter().map(|it| it.0);
    let meant = all.find(|it| it.eq_ignore_ascii_case(&scalar.text));
    match meant.filter(|_| is_text) {
        Some(meant) => {
            let change = rewritten(workload, node, meant);
            finding
                .help(format!("write dnsPolicy: {meant}"))
                .fix(format!("write {meant}"), [change]);
        }
        None => {
            finding.help("write ClusterFirst, ClusterFirstWithHostNet, Default or None");
        }
    }
    finding.note("the API server refuses the pod; of a template it refuses the object, or its pods never come");
}
