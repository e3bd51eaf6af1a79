#![doc = include_str!("ndots_too_low.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::Workload;
use crate::lint::{Check, Rule};

use super::spec::{asks_cluster_dns, options, service_names};

/// KP009.
pub static RULE: Rule = Rule {
    code: "KP009",
    name: "ndots-too-low",
    severity: Severity::Warning,
    summary: "ndots is so low that names of Services are not looked up with the search list",
    page: include_str!("ndots_too_low.md"),
    check: Check::Workload(check),
};

fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    if !asks_cluster_dns(workload) {
        return;
    }
    let option = options(workload).filter(|it| it.name() == "ndots").last();
    let number = option.and_then(|it| Some((it.value()?.parse::<usize>().ok()?, it.value?)));
    let Some((ndots, node)) = number else {
        return;
    };
    if ndots == 0 {
        report
            .add(workload.at(node), "with ndots 0 no name is short: Services are asked for as they are written")
            .help("write \"1\" or more")
            .note("musl never uses the search list then: no Service is found; glibc asks the servers outside for every short name first");
        return;
    }
    let is_short =
        |name: &str| name.strip_suffix(".svc").is_some() && name.split('.').count() > ndots;
    let Some((name, place)) = service_names(workload)
        .into_iter()
        .find(|it| is_short(&it.0))
    else {
        return;
    };
    let dots = name.split('.').count() - 1;
    report
        .add(workload.at(node), format!("with ndots {ndots} {name} is looked up as it stands"))
        .also(place.at, "this name needs the search list")
        .help(format!("write \"{}\", or the whole name with the cluster's domain", dots + 1))
        .note("musl never adds the search list to a name with so many dots, and does not find it; glibc asks the servers outside for it first");
}
