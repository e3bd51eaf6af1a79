#![doc = include_str!("invalid_search_domain.md")]

use crate::lint::rules::prelude::*;
use crate::pod::{Rules, is_search};

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    let newest = Rules::of_version(None);
    for search in workload.dns_config("searches") {
        let text = &search.text;
        if has_placeholder(text) || is_search(text, &newest) {
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
