#![doc = include_str!("dns_server_drops_queries.md")]

use crate::lint::rules::prelude::*;
use crate::text::Place;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    for listener in &node.listeners {
        let Some(severity) = severity(listener.dropped) else {
            continue;
        };
        let owner = listener.owner.as_ref();
        let who = owner.map_or_else(String::new, |it| {
            format!(" of {} (process {})", it.comm, it.pid)
        });
        report
            .add(
                Place::nowhere(&listener.file),
                format!("the UDP socket{who} on port {} has dropped {} packets since it was opened", listener.port, listener.dropped),
            )
            .severity(severity)
            .help("give DNS servers more CPU (no limit) or more replicas, raise net.core.rmem_default, or run NodeLocal DNSCache")
            .note("mostly queries that came faster than they were read: their clients time out, while CPU and memory on average look idle, and no log says so");
    }
}

/// How bad so many are: a start under load drops a few, and how long the socket is open is
/// not known.
fn severity(dropped: u64) -> Option<Severity> {
    match dropped {
        ..100 => None,
        100..10_000 => Some(Severity::Info),
        _ => Some(Severity::Warning),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_drops_are_nothing_and_some_a_remark() {
        for (dropped, expected) in [
            (99, None),
            (100, Some(Severity::Info)),
            (9_999, Some(Severity::Info)),
            (10_000, Some(Severity::Warning)),
        ] {
            assert_eq!(severity(dropped), expected, "{dropped}");
        }
    }
}
