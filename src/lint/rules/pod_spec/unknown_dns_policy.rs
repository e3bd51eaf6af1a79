#![doc = include_str!("unknown_dns_policy.md")]

use crate::config::yaml::Kind;
use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::Workload;
use crate::lint::{Check, Rule};

use super::spec::{is_placeholder, policy, rewritten};

/// KP016.
pub static RULE: Rule = Rule {
    code: "KP016",
    name: "unknown-dns-policy",
    severity: Severity::Error,
    summary: "dnsPolicy is none of the four that there are",
    page: include_str!("unknown_dns_policy.md"),
    check: Check::Workload(check),
};

fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    let Some(node) = workload.get("dnsPolicy") else {
        return;
    };
    let Some(scalar) = node.as_scalar().filter(|it| !is_placeholder(&it.text)) else {
        return;
    };
    let is_text = node.kind() == Some(Kind::Text);
    if is_text && (policy(workload).is_some() || scalar.text.is_empty()) {
        return;
    }
    let finding = report.add(
        workload.at(node),
        format!("there is no dnsPolicy {}", scalar.text),
    );
    let is_same = |it: &&&str| it.eq_ignore_ascii_case(&scalar.text);
    match POLICIES.iter().find(is_same).filter(|_| is_text) {
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

const POLICIES: [&str; 4] = ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"];
