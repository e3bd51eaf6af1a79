#![doc = include_str!("ndots_too_high.md")]

use super::spec::options;
use crate::lint::rules::prelude::*;

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    for option in options(workload).filter(|it| it.name() == "ndots") {
        let (Some(value), Some(node)) = (option.value(), option.value) else {
            continue;
        };
        let number = value.parse::<u64>().ok().filter(|it| *it > ENOUGH);
        let Some(number) = number.filter(|_| !has_placeholder(value)) else {
            continue;
        };
        let finding = report.add(
            workload.at(node),
            format!("ndots {number} is more than any name of the cluster needs"),
        );
        finding
            .help("write \"5\", or \"2\" if most names that it looks up are outside of the cluster")
            .note("every name with fewer dots is first looked up in each domain of the search list, for IPv4 and IPv6: an outside name costs eight queries or more");
        if number > MOST {
            finding.label(format!("glibc and musl count it as {MOST}"));
        }
    }
}

/// As many dots as the longest short name of a Service record has, and the
/// kubelet's own value.
const ENOUGH: u64 = 5;
/// Source: glibc `resolv/resolv.h: RES_MAXNDOTS`; musl
/// `src/network/resolvconf.c: __get_resolv_conf`.
const MOST: u64 = 15;
