#![doc = include_str!("too_many_nameservers.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::Workload;
use crate::lint::{Check, Rule};

use super::spec::list;

/// KP017.
pub static RULE: Rule = Rule {
    code: "KP017",
    name: "too-many-dns-config-nameservers",
    severity: Severity::Error,
    summary: "dnsConfig has more than three name servers",
    page: include_str!("too_many_nameservers.md"),
    check: Check::Workload(check),
};

fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    let servers = list(workload, "nameservers");
    let Some(fourth) = servers.get(MAX_SERVERS) else {
        return;
    };
    report
        .add(
            workload.at(fourth),
            format!(
                "dnsConfig has {} name servers, and the API server takes {MAX_SERVERS}",
                servers.len()
            ),
        )
        .label("this one is too many")
        .help(format!("write at most {MAX_SERVERS}"))
        .note("the pod is refused: must not have more than 3 nameservers");
}

/// Source: kubernetes `pkg/apis/core/validation: MaxDNSNameservers`.
const MAX_SERVERS: usize = 3;
