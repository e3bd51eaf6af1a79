#![doc = include_str!("option_value_in_name.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::Workload;
use crate::lint::{Check, Rule};

use super::spec::{asks_cluster_dns, options};

/// KP022.
pub static RULE: Rule = Rule {
    code: "KP022",
    name: "option-value-in-name",
    severity: Severity::Warning,
    summary: "the number of an option stands in its name",
    page: include_str!("option_value_in_name.md"),
    check: Check::Workload(check),
};

fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    if !asks_cluster_dns(workload) {
        return;
    }
    for option in options(workload) {
        let Some((name, number)) = option.name().split_once(':') else {
            continue;
        };
        // The kubelet writes no other option that this one could meet.
        if name != "ndots" || option.value.is_some() {
            continue;
        }
        let at = workload.at(option.name.unwrap_or(option.node));
        report
            .add(at, format!("ndots:{number} does not take the place of the kubelet's ndots:5"))
            .help(format!("write name: ndots and value: \"{number}\""))
            .note("the pod's file has both, in an order that the kubelet draws when the pod starts, and the last one counts");
    }
}
