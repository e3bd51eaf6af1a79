#![doc = include_str!("search_domain_needs_newer_version.md")]

use crate::kubelet::Version;
use crate::lint::rules::prelude::*;
use crate::pod::{Rules, is_search};

pub(super) fn check(workload: &Workload<'_>, context: &Context<'_>, report: &mut Report) {
    let version = context.kubelet_version();
    let rules = Rules::of_version(version);
    if version.is_some() && rules.relaxed_searches {
        return;
    }
    let (newest, oldest) = (
        Rules::of_version(None),
        Rules::of_version(Some(Version::minor(1, 0))),
    );
    for search in workload.dns_config("searches") {
        let is_new = is_search(&search.text, &newest) && !is_search(&search.text, &oldest);
        if !is_new || has_placeholder(&search.text) {
            continue;
        }
        let message = format!(
            "API servers before 1.33 refuse the search domain {}",
            search.text
        );
        let finding = report.add(search.at, message);
        finding
            .help("write a domain of letters, digits, '-' and '.', or upgrade to 1.33 first")
            .note("the pod is refused: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'");
        if version.is_none() {
            finding.severity(Severity::Info);
        } else {
            finding.severity(Severity::Error);
        }
    }
}
