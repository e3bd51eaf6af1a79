#![doc = include_str!("uplink_file_empty.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::options::Role;
use crate::lint::report::Report;
use crate::lint::rules::resolver_file::common::point_to_setting;
use crate::lint::subject::ResolverFile;
use crate::lint::{Check, Rule};
use crate::text::Span;

/// KR026.
pub static RULE: Rule = Rule {
    code: "KR026",
    name: "uplink-file-empty",
    severity: Severity::Error,
    summary: "systemd-resolved knew no server when it wrote the kubelet's file",
    page: include_str!("uplink_file_empty.md"),
    check: Check::Resolver(check),
};

/// What systemd-resolved writes when it knows no server.
///
/// Source: systemd `src/resolve/resolved-resolv-conf.c:
/// write_uplink_resolv_conf_contents`.
const NONE_KNOWN: &[u8] = b"# No DNS servers known.";

fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
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
