#![doc = include_str!("connections_lost.md")]

use crate::lint::rules::prelude::*;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let (Some(statistics), Some(uptime)) = (&node.kernel.statistics, node.kernel.uptime) else {
        return;
    };
    let hours = uptime / 3600;
    let Some(rate) = statistics.counters.insert_failed.checked_div(hours) else {
        return;
    };
    if rate < WORTH_A_WORD {
        return;
    }
    let place = crate::text::Place::nowhere(&statistics.file);
    let message = format!(
        "{rate} packets an hour were dropped since the start, because their connection could not be entered"
    );
    report
        .add(place, message)
        .help("run NodeLocal DNSCache, whose queries make no connections; with glibc the option single-request-reopen or use-vc helps, too")
        .note("a resolver that sends its queries for IPv4 and IPv6 at once from one socket can lose one of them, and waits five seconds for it; other programs than resolvers count here, too");
}

/// Drops an hour on average, over the whole time that the machine has run: one
/// a minute.
const WORTH_A_WORD: u64 = 60;
