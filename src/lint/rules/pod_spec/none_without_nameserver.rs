#![doc = include_str!("none_without_nameserver.md")]

use super::spec::list;
use crate::lint::rules::prelude::*;

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    let Some(policy) = workload.policy().filter(|it| it.text == "None") else {
        return;
    };
    let config = workload.get("dnsConfig");
    let servers = config.and_then(|it| it.get("nameservers"));
    // Something that is no list is filled in later, or another mistake.
    let is_other =
        |it: &crate::config::yaml::Node| it.as_scalar().is_some_and(|it| has_placeholder(&it.text));
    if !list(workload, "nameservers").is_empty()
        || [config, servers].into_iter().flatten().any(is_other)
    {
        return;
    }
    let message = format!(
        "{} has dnsPolicy: None and no name server",
        workload.label()
    );
    let finding = report.add(policy.at, message);
    finding
        .label("everything comes from dnsConfig")
        .help("write dnsConfig with nameservers, one to three addresses, or another dnsPolicy")
        .note("the API server refuses it: must provide at least one DNS nameserver when `dnsPolicy` is None");
    if let Some(config) = config {
        finding.also(workload.at(config), "no nameservers are in it");
    }
}
