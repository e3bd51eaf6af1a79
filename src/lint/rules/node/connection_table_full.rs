#![doc = include_str!("connection_table_full.md")]

use crate::lint::rules::prelude::*;
use crate::text::Place;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    if let Some(room) = node.kernel.conntrack
        && room.count >= room.max - room.max / 10
    {
        // Connections that end leave room for a moment, and others wait for it.
        let is_full = room.count >= room.max - room.max / 1000;
        let place = Place::nowhere("/proc/sys/net/netfilter/nf_conntrack_count");
        let word = if is_full { "is full" } else { "is nearly full" };
        report
            .add(place, format!("the table of connections {word}: {} of {}", room.count, room.max))
            .severity(if is_full { Severity::Error } else { Severity::Warning })
            .help(format!("set net.netfilter.nf_conntrack_max to {} or more, and run NodeLocal DNSCache, whose queries make no connections", room.max.saturating_mul(2)))
            .note("when it is full, packets of new connections are dropped, each DNS query among them; the kernel logs nf_conntrack: table full, dropping packet");
        return;
    }
    let statistics = node
        .kernel
        .statistics
        .as_ref()
        .filter(|it| it.counters.early_drop > 0);
    if let Some(statistics) = statistics {
        let message = format!(
            "the table of connections was full: {} of them had to go before their time since the start",
            statistics.counters.early_drop
        );
        report
            .add(Place::nowhere(&statistics.file), message)
            .severity(Severity::Info)
            .help("set net.netfilter.nf_conntrack_max higher, if it is not set higher since")
            .note("DNS queries were lost then");
    }
}
