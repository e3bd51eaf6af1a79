#![doc = include_str!("search_list_too_long.md")]

use crate::lint::facts::Text;
use crate::lint::rules::prelude::*;
use crate::pod::Limit;

use super::spec;

pub(super) fn check(workload: &Workload<'_>, context: &Context<'_>, report: &mut Report) {
    let searches = workload.dns_config("searches");
    let limits = context.pod_rules().limits;
    let chars: usize = searches.iter().map(|it| it.text.len() + 1).sum();
    let since = since(context);
    if let Some(beyond) = searches.get(limits.searches) {
        let message = format!(
            "dnsConfig has {} search domains, and the API server takes {}{since}",
            searches.len(),
            limits.searches
        );
        refused(report, beyond, &message);
        return;
    }
    if let (Some(last), true) = (searches.last(), chars > limits.search_chars + 1) {
        let message = format!(
            "the search domains of dnsConfig have {} characters, and the API server takes {}{since}",
            chars - 1,
            limits.search_chars
        );
        refused(report, last, &message);
        return;
    }
    let Some(file) = spec::pod_file(workload, context) else {
        return;
    };
    let dropped = file.dropped.iter().filter(|it| !it.limit.is_of_servers());
    for it in dropped {
        let is_it = |search: &&Text| search.text.as_bytes() == it.word.text;
        let Some(search) = searches.iter().find(is_it) else {
            continue;
        };
        let why = match it.limit {
            Limit::DomainChars(most) => format!(" of more than {most} characters"),
            Limit::SearchChars(most) => format!(", the list has more than {most} characters"),
            Limit::Searches(most) | Limit::Servers(most) => format!(", more than {most}"),
        };
        report
            .add(search.at, format!("{} is cut off: search domain{why}{since}", search.text))
            .help("remove search domains, or take dnsPolicy: None without those of the cluster")
            .note("the kubelet puts the three domains of the cluster and those of the node before them, and records the event DNSConfigForming at every sync");
    }
}

fn refused(report: &mut Report, search: &Text, message: &str) {
    report
        .add(search.at, message)
        .severity(Severity::Error)
        .help("remove search domains")
        .note("the pod is refused");
}

/// What a limit depends on.
fn since(context: &Context<'_>) -> String {
    context.kubelet_version().map_or_else(String::new, |it| {
        format!(" (Kubernetes {}.{})", it.major, it.minor)
    })
}
