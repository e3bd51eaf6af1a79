#![doc = include_str!("split_dns_flattened.md")]

use crate::address::DNS_PORT;
use crate::lint::rules::prelude::*;
use crate::loopback::name_servers;
use crate::text::Place;
use crate::topology::resolved::{Resolved, Scope, UPLINK_FILE};

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let (Some(file), Some(resolved)) = (&node.kubelet_file, &node.resolved) else {
        return;
    };
    let path = file.links.last().unwrap_or(&file.path);
    let Ok(content) = &file.content else {
        return;
    };
    let Some((_, span)) = name_servers(content).next().filter(|_| path == UPLINK_FILE) else {
        return;
    };
    let Some((what, place)) = flattened(resolved) else {
        return;
    };
    report
        .add(
            content.source.place_of(span.start),
            what,
        )
        .help("if pods need it, give systemd-resolved an address that pods reach with DNSStubListenerExtra=, and name that in a file for the kubelet")
        .note("pods ask any of the servers for any name, in clear text")
        .also_each(place, "systemd-resolved has it from here");
}

/// What systemd-resolved does and its file cannot say.
fn flattened(resolved: &Resolved) -> Option<(String, Option<Place>)> {
    let scopes = || resolved.scopes().filter(|it| !it.servers.is_empty());
    let first = |scope: &Scope| scope.servers.first().map(|it| it.place.clone());
    let servers = || scopes().flat_map(|it| &it.servers);
    if let Some(server) = servers().find(|it| it.value.port != DNS_PORT) {
        let (ip, port) = (server.value.ip, server.value.port);
        return Some((
            format!("{ip} on port {port} is not in this file, which has no place for ports"),
            Some(server.place.clone()),
        ));
    }
    if let Some((scope, mode)) = resolved
        .scopes()
        .find_map(|it| Some((it, it.dns_over_tls.as_ref()?)))
    {
        return Some((
            format!("this file does not tell pods that servers are asked over TLS ({mode})"),
            first(scope),
        ));
    }
    // With one place to ask, every name goes there.
    if scopes().count() < 2 {
        return None;
    }
    let (scope, domain) = scopes().find_map(|it| {
        let domain = it
            .domains
            .iter()
            .find(|it| it.route_only && it.name != ".")?;
        Some((it, domain))
    })?;
    Some((
        format!(
            "this file does not tell pods that names below {} have servers of their own",
            domain.name
        ),
        first(scope),
    ))
}
