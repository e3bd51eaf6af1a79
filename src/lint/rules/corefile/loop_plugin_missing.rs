#![doc = include_str!("loop_plugin_missing.md")]

use crate::config::corefile::Directive;
use crate::kubelet::Version;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;
use crate::topology::coredns::UPSTREAM_SERVERS;

/// The port on which a query that comes back arrives.
const PORT: u16 = 53;

/// The first one that has the plugin.
///
/// Source: `CoreDNS`, notes/coredns-1.2.1.md.
const SINCE: Version = Version::release(1, 2, 1);

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let blocks = blocks::blocks(file);
    let version = context.coredns_version(file.document.file);
    if !blocks::is_whole(file) || version.is_some_and(|it| it.value < SINCE) {
        return;
    }
    let is_of_cluster = blocks::is_cluster_dns(blocks) || blocks::is_node_cache(blocks);
    let mut places = blocks::Places::new(file);
    for block in blocks.iter().filter(|it| !blocks::has(it, "loop")) {
        let Some((key, _)) = blocks::key_of(block, ".").filter(|it| it.1.port == PORT) else {
            continue;
        };
        if file.document.is_partial && !blocks::is_without_gaps(file, block) {
            continue;
        }
        let of_root = |it: &&Directive| blocks::forwarded_zone(it).is_some_and(|zone| zone == ".");
        let Some(forward) = blocks::forwards(block).find(of_root) else {
            continue;
        };
        let targets = blocks::targets(forward);
        // What a file lists is not known here, and changes with the node.
        let open = targets
            .iter()
            .find(|it| it.text.starts_with('/') || it.text == UPSTREAM_SERVERS);
        let is_said = open.is_some() || is_of_cluster;
        let place = is_said.then(|| places.first(key)).flatten();
        let (Some(at), Some(target)) = (place, open.or(targets.first())) else {
            continue;
        };
        // No fix: where only some of the servers lead back, it ends what answers.
        let finding = report
            .add(at, "the root zone is forwarded, but loop is missing")
            .label("a loop is not noticed here")
            .help("write loop on a line of its own in this block")
            .note("if a server leads back here, the queries pile up until the pod is killed for its memory; with loop it ends at once and says why");
        finding.also_each(file.at(target.at), "queries go here");
        if open.is_none() {
            finding.severity(Severity::Info);
        }
    }
}
