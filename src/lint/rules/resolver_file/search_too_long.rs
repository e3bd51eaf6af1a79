#![doc = include_str!("search_too_long.md")]

use crate::lint::facts::Text;
use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{kubelet, point_to_setting};
use crate::pod::DEFAULT_CLUSTER_DOMAIN;

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    if file.role != Role::Kubelet {
        return;
    }
    let version = context.kubelet_version();
    let limits = context.pod_rules().limits;
    let is_long = |it: &Text| limits.domain_chars.is_some_and(|most| chars(it) > most);
    for search in file.read.searches.iter().filter(|it| is_long(it)) {
        let message = format!(
            "a search domain of {} characters, and none has more than {MAX_NAME}",
            chars(search)
        );
        let finding = report
            .add(search.at, message)
            .help("remove it")
            .note("the kubelet leaves it out of pods' files and records events; some versions of glibc end the program that reads it");
        point_to_setting(finding, file);
    }
    // First those of the cluster, then these, each behind a blank.
    let mut length = of_cluster(file, context);
    let fitting = file.read.searches.iter().filter(|it| !is_long(it));
    for search in fitting.take(limits.searches) {
        length += 1 + chars(search);
        if length > limits.search_chars {
            let message = format!(
                "{} cuts pods' search lists at {} characters, and this domain ends behind that",
                kubelet(version),
                limits.search_chars
            );
            let finding = report
                .add(search.at, message)
                .label("pods lose it and all behind it")
                .help("remove search domains, or give the kubelet a file of its own without them")
                .note("each sync of a pod records an event DNSConfigForming: Search Line limits were exceeded");
            point_to_setting(finding, file);
            return;
        }
    }
}

/// The longest name of DNS, as text (RFC 1035, section 2.3.4).
const MAX_NAME: usize = 253;

/// The kubelet takes the final dot away first.
fn chars(search: &Text) -> usize {
    let text = search.text.as_str();
    text.strip_suffix('.').unwrap_or(text).len()
}

/// The length of `default.svc.DOMAIN svc.DOMAIN DOMAIN`.
fn of_cluster(file: &ResolverFile<'_>, context: &Context<'_>) -> usize {
    let known = context.cluster_domain(file.read.file);
    let domain = known.map_or(DEFAULT_CLUSTER_DOMAIN.len(), |it| it.value.len());
    "default.svc. svc. ".len() + 3 * domain
}
