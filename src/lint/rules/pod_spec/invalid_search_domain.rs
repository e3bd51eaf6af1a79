#![doc = include_str!("invalid_search_domain.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::Workload;
use crate::lint::{Check, Rule};
use crate::pod::{Rules, is_search};

use super::spec::is_placeholder;

/// KP019.
pub static RULE: Rule = Rule {
    code: "KP019",
    name: "invalid-search-domain",
    severity: Severity::Error,
    summary: "an entry of dnsConfig.searches is no domain name that the API server takes",
    page: include_str!("invalid_search_domain.md"),
    check: Check::Workload(check),
};

fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    let newest = Rules::of(None);
    for search in workload.dns_config("searches") {
        let text = &search.text;
        if is_placeholder(text) || is_search(text, &newest) {
            continue;
        }
        let finding = report.add(search.at, format!("\"{text}\" is no search domain"));
        finding.note("the API server refuses the pod: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'");
        let lower = text.to_ascii_lowercase();
        let bare = lower.trim_start_matches('.');
        if text.contains([' ', ',']) {
            finding.help("write each domain as an entry of its own");
        } else if bare != text && is_search(bare, &newest) {
            finding.help(format!("write {bare}"));
        } else {
            finding.help("write a domain of lower-case letters, digits, '-' and '.'");
        }
    }
}
