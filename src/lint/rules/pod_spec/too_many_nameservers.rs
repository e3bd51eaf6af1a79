#![doc = include_str!("too_many_nameservers.md")]

use super::spec::list;
use crate::config::manifest::MAX_NAMESERVERS;
use crate::lint::rules::prelude::*;

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    let servers = list(workload, "nameservers");
    let Some(fourth) = servers.get(MAX_NAMESERVERS) else {
        return;
    };
    report
        .add(
            workload.at(fourth),
            format!(
                "dnsConfig has {} name servers, and the API server takes {MAX_NAMESERVERS}",
                servers.len()
            ),
        )
        .label("this one is too many")
        .help(format!("write at most {MAX_NAMESERVERS}"))
        .note("the pod is refused: must not have more than 3 nameservers");
}
