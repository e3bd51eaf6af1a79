#![doc = include_str!("search_domain_needs_newer_version.md")]

use crate::finding::Severity;
use crate::kubelet::Version;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::Workload;
use crate::lint::{Check, Rule};
use crate::pod::{Rules, is_search};

use super::spec::is_placeholder;

/// KP011.
pub static RULE: Rule = Rule {
    code: "KP011",
    name: "search-domain-needs-newer-version",
    severity: Severity::Warning,
    summary: "a search domain that older API servers refuse",
    page: include_str!("search_domain_needs_newer_version.md"),
    check: Check::Workload(check),
};

fn check(workload: &Workload<'_>, context: &Context<'_>, report: &mut Report) {
    let version = context.kubelet_version();
    let rules = Rules::of(version);
    if version.is_some() && rules.relaxed_searches {
        return;
    }
    let (newest, oldest) = (Rules::of(None), Rules::of(Some(Version::minor(1, 0))));
    for search in workload.dns_config("searches") {
        let is_new = is_search(&search.text, &newest) && !is_search(&search.text, &oldest);
        if !is_new || is_placeholder(&search.text) {
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
