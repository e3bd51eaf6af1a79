#![doc = include_str!("service_resolved_once.md")]

use crate::lint::rules::haproxy::servers::servers;
use crate::lint::rules::nginx::names::MAX_FINDINGS;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &DaemonText<'_>, _: &Context<'_>, report: &mut Report) {
    let servers = servers(file);
    let once = servers
        .iter()
        .filter(|it| it.resolvers.is_none() && it.is_asked_at_start && it.is_service());
    for server in once.take(MAX_FINDINGS) {
        report
            .add(
                file.at(server.span),
                format!("HAProxy looks up {} once, when it starts", server.host),
            )
            .help("for a headless Service, or one that can be created again, add resolvers to the line, with a section of that name")
            .note("HAProxy does not start while the name is not found, unless init-addr ends in none");
    }
}
