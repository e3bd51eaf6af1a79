#![doc = include_str!("dns_server_drops_queries.md")]

use crate::lint::rules::prelude::*;
use crate::text::Place;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    for listener in &node.listeners {
        if listener.dropped < WORTH_A_WORD {
            continue;
        }
        let owner = listener.owner.as_ref();
        let who = owner.map_or_else(String::new, |it| {
            format!(" of {} (process {})", it.comm, it.pid)
        });
        report
            .add(
                Place::nowhere(&listener.file),
                format!("the socket{who} at port {} has dropped {} packets since it was opened", listener.port, listener.dropped),
            )
            .help("give DNS servers more CPU (no limit) or more replicas, raise net.core.rmem_default, or run NodeLocal DNSCache")
            .note("queries came faster than they were read: their clients time out, while CPU and memory on average look idle, and no log says so");
    }
}

/// A start under load drops a few.
const WORTH_A_WORD: u64 = 100;
