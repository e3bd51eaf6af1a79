#![doc = include_str!("option_value_in_name.md")]

use super::spec::{asks_cluster_dns, options};
use crate::lint::rules::prelude::*;

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
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
