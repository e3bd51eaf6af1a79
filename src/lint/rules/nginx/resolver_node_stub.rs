#![doc = include_str!("resolver_node_stub.md")]

use crate::lint::rules::nginx::names::{MAX_FINDINGS, resolvers};
use crate::lint::rules::prelude::*;

/// Those of systemd-resolved.
const STUBS: [&str; 2] = ["127.0.0.53", "127.0.0.54"];

pub(super) fn check(file: &DaemonText<'_>, _: &Context<'_>, report: &mut Report) {
    // On a node it is the node's own.
    if !file.document.is_embedded() {
        return;
    }
    let is_stub = |word: &str| STUBS.contains(&word.split(':').next().unwrap_or_default());
    for (span, word) in resolvers(file)
        .filter(|it| is_stub(it.1))
        .take(MAX_FINDINGS)
    {
        report
            .add(
                file.at(span),
                format!("in a pod nobody listens at {word}: it is systemd-resolved's on the node"),
            )
            .help("write the name of the cluster's DNS Service");
    }
}
