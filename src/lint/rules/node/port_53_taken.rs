#![doc = include_str!("port_53_taken.md")]

use crate::lint::rules::prelude::*;
use crate::node::{Listener, Pod};
use crate::text::Place;
use crate::topology::Network;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let has_name = |it: &&Pod| {
        it.containers.iter().any(|it| it.name == CACHE)
            || it.processes.iter().any(|it| it.comm == CACHE)
    };
    let is_on_node = |it: &&Pod| it.host_network == Some(true);
    let Some(pod) = node.pods.iter().filter(has_name).find(is_on_node) else {
        return;
    };
    let own = |it: &&Listener| it.network == Network::Node;
    let comm = |it: &Listener| it.owner.as_ref().map(|it| it.comm.clone());
    let listeners: Vec<&Listener> = node.listeners.iter().filter(own).collect();
    // It listens, or it is not known who does.
    if listeners
        .iter()
        .any(|it| comm(it).is_none_or(|it| it == CACHE))
    {
        return;
    }
    let any = listeners.iter().find(|it| it.address.is_none());
    let Some((listener, owner)) = any.and_then(|it| Some((it, it.owner.as_ref()?))) else {
        return;
    };
    report
        .add(Place::nowhere(&listener.file), format!("{} (process {}) has port 53 of all addresses, and NodeLocal DNSCache in pod {} does not listen", owner.comm, owner.pid, pod.label()))
        .help(format!("let {} listen on the addresses alone that it is needed on", owner.comm))
        .note("the cache ends with bind: address already in use, and the pods of the node have no DNS as long as they ask its address");
}

/// The name of its program and of its container.
const CACHE: &str = "node-cache";
