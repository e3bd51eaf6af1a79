//! What all names of a lookup share.

use std::collections::{HashMap, HashSet};

use crate::address::Server;
use crate::engine::message::{Data, Reply, SocketId};
use crate::resolver::netty::question::of_reply;

/// What aliases mean: names in lower case, with a final dot.
pub(super) type Targets = HashMap<String, String>;

/// The socket, and what was learnt: aliases (`DnsCnameCache`) and routes.
pub(super) struct Shared {
    pub(super) channel: SocketId,
    targets: Targets,
    /// Servers that are known to have a route, or not.
    pub(super) routes: HashMap<Server, bool>,
}

impl Shared {
    pub(super) fn new(channel: SocketId) -> Self {
        Self {
            channel,
            targets: HashMap::new(),
            routes: HashMap::new(),
        }
    }

    /// The aliases of a reply, which are kept.
    ///
    /// Source: Netty `DnsResolveContext.java: buildAliasMap` (4.1.48)
    pub(super) fn learn(&mut self, reply: &Reply) -> Targets {
        let mut aliases = HashMap::new();
        for record in &reply.answers {
            let Data::Cname(target) = &record.data else {
                continue;
            };
            let (name, target) = (of_reply(&record.name), of_reply(target));
            if name != target {
                self.targets.insert(name.clone(), target.clone());
                aliases.insert(name, target);
            }
        }
        aliases
    }

    /// The name at the end of the aliases that are known; where they have no end, one of them.
    ///
    /// Source: Netty `DnsResolveContext.java: internalResolve, followCname` (4.1.48)
    pub(super) fn end_of(&self, name: &str) -> Result<String, String> {
        let mut name = name.to_owned();
        let mut seen = HashSet::new();
        while let Some(target) = self.targets.get(&with_dot(&name)) {
            if !seen.insert(name.clone()) {
                return Err(name);
            }
            name.clone_from(target);
        }
        Ok(name)
    }
}

fn with_dot(name: &str) -> String {
    let dot = if name.ends_with('.') { "" } else { "." };
    format!("{name}{dot}")
}

/// Whether `owner` is the name that was asked for, or one of its aliases.
pub(super) fn leads_to(aliases: &Targets, asked: &str, owner: &str) -> bool {
    let mut left = aliases.len();
    let mut name = asked;
    while name != owner {
        match aliases.get(name) {
            Some(target) if left > 0 => name = target,
            _ => return false,
        }
        left -= 1;
    }
    true
}
