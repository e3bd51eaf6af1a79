#![doc = include_str!("unqualified_service.md")]

use crate::lint::rules::haproxy::servers::servers;
use crate::lint::rules::nginx::names::{MAX_FINDINGS, lacks_domain};
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &DaemonText<'_>, _: &Context<'_>, report: &mut Report) {
    for server in servers(file)
        .iter()
        .filter(|it| it.resolvers.is_some() && lacks_domain(it.host))
        .take(MAX_FINDINGS)
    {
        let name = server.host;
        report
            .add(
                file.at(server.span),
                format!("HAProxy asks for {name} as it is, and there is no such name: it has no search list"),
            )
            .help(format!("write the whole name: {name}.cluster.local, or with the cluster's own domain"))
            .note("the C library can find it when HAProxy starts; once `hold nx` is over, the server is taken out");
    }
}
