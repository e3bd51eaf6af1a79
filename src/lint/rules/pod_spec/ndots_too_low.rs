#![doc = include_str!("ndots_too_low.md")]

use crate::config::yaml::Node;
use crate::lint::rules::prelude::*;
use crate::text::WordList;

use super::spec::{asks_cluster_dns, called_hosts, options, service_names};

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
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
        return in_other_namespace(workload, node, ndots, report);
    };
    let dots = name.split('.').count() - 1;
    report
        .add(workload.at(node), format!("with ndots {ndots} {name} is looked up as it stands"))
        .also(place.at, "this name needs the search list")
        .help(format!("write \"{}\", or the whole name with the cluster's domain", dots + 1))
        .note("musl never adds the search list to a name with so many dots, and does not find it; glibc asks the servers outside for it first");
}

/// `web.shop` is the Service of another namespace, or a name outside: only the
/// namespaces of the cluster tell.
fn in_other_namespace(workload: &Workload<'_>, node: &Node, ndots: usize, report: &mut Report) {
    let can_be = |name: &str| {
        let namespace = name.split_once('.').map_or("", |it| it.1);
        let has_letter = namespace.contains(|it: char| it.is_ascii_lowercase());
        let is_one = has_letter && !namespace.contains('.') && namespace.len() > 2;
        is_one && !ENDINGS.has(namespace)
    };
    let mut called = called_hosts(workload).into_iter();
    let Some((name, place)) = called.find(|it| can_be(&it.0)).filter(|_| ndots == 1) else {
        return;
    };
    report
        .add(workload.at(node), format!("with ndots 1 {name} is looked up as it stands"))
        .severity(Severity::Info)
        .also(place.at, "with a namespace, this name needs the search list")
        .help("if it is a Service, write \"2\", or the whole name with the cluster's domain")
        .note("musl never adds the search list to a name with so many dots, and does not find it; glibc asks the servers outside for it first");
}

/// What names outside of the cluster often end in; two letters are a country.
const ENDINGS: WordList = WordList(
    "com net org edu gov mil int info biz dev app cloud online site tech xyz company internal intranet \
    intra private local localhost localdomain lan home corp consul example test invalid arpa",
);
