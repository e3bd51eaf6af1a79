#![doc = include_str!("option_without_number.md")]

use crate::config::yaml::Kind;
use crate::lint::rules::prelude::*;

use super::spec::{asks_cluster_dns, options};

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    for option in options(workload) {
        let name = option.name();
        let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
        let is_other = option.value.is_some_and(|it| it.kind() != Some(Kind::Text));
        if !NUMBERS.contains(&name)
            || is_other
            || option
                .value()
                .is_some_and(|it| is_number(it) || has_placeholder(it))
        {
            continue;
        }
        let at = workload.at(option.value.or(option.name).unwrap_or(option.node));
        let value = option.value().unwrap_or_default();
        let message = match value {
            "" => format!("{name} has no number"),
            value => format!("{name} has the value {value}, which is no number"),
        };
        let finding = report.add(at, message);
        finding.help(format!(
            "write value: \"2\" or another number under name: {name}"
        ));
        match (name, value) {
            ("ndots", "") if asks_cluster_dns(workload) => finding.note("it takes the place of the kubelet's ndots:5, and without a number ndots is 1: names like web.shop are first asked as they stand"),
            ("ndots", "") => finding.note("without a number ndots is 1"),
            (_, "") => finding.note("resolvers take no notice of it"),
            _ => finding.note("glibc reads the digits at its beginning, or 0; musl takes no notice of it"),
        };
    }
}

/// Options of resolv.conf that have a number.
const NUMBERS: [&str; 3] = ["ndots", "timeout", "attempts"];
