#![doc = include_str!("uplink_file_empty.md")]

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::point_to_setting;
use crate::text::Span;

/// What systemd-resolved writes when it knows no server.
///
/// Source: systemd `src/resolve/resolved-resolv-conf.c:
/// write_uplink_resolv_conf_contents`.
const NONE_KNOWN: &[u8] = b"# No DNS servers known.";

pub(super) fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
    if file.role != Role::Kubelet {
        return;
    }
    let Some(span) = none_known(file) else {
        return;
    };
    let finding = report
        .add(file.document.at(span), "systemd-resolved knew no name server when it wrote this file")
        .help("order the kubelet after network-online.target, and start the pods again once the file has servers")
        .note("pods that start now have no DNS until they are started again, and CoreDNS does not start");
    point_to_setting(finding, file);
}

/// The comment that says so, in a file without servers.
pub(super) fn none_known(file: &ResolverFile<'_>) -> Option<Span> {
    if !file.read.servers.is_empty() {
        return None;
    }
    let mut lines = file.conf.lines();
    let line = lines.find(|it| it.bytes().trim_ascii_end() == NONE_KNOWN)?;
    Some(line.span())
}
