//! The servers in a configuration of `HAProxy` whose address is a name.

use crate::config::statements::Statement;
use crate::lint::rules::nginx::names::MAX_FINDINGS;
use crate::lint::rules::prelude::*;
use crate::text::Span;

/// A line `server` or `server-template`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Server<'d> {
    /// The host of its address, and where that stands.
    pub(super) host: &'d str,
    pub(super) span: Span,
    /// How many servers a template makes; a server is one.
    pub(super) count: u32,
    /// The `resolvers` section that looks the name up while `HAProxy` runs.
    pub(super) resolvers: Option<&'d str>,
}

/// Every server of a file, in order. What `default-server` says holds for the servers of its
/// section; of `defaults` for all of the file, which is more than those that name it.
pub(super) fn servers<'d>(file: &DaemonText<'d>) -> Vec<Server<'d>> {
    let of_defaults = file
        .statements
        .iter()
        .filter(|it| file.word(it, 0) == "defaults")
        .find_map(|it| default_resolvers(file, it));
    let mut found = Vec::new();
    for section in file.statements {
        let own = default_resolvers(file, section).or(of_defaults);
        for line in section.block.iter().flatten() {
            let (at, count) = match file.word(line, 0) {
                "server" => (2, 1),
                "server-template" => (3, last_number(file.word(line, 2))),
                _ => continue,
            };
            let Some(&span) = line.words.get(at) else {
                continue;
            };
            found.push(Server {
                host: host(file.word(line, at)),
                span,
                count,
                resolvers: resolvers(file, line).or(own),
            });
        }
    }
    found.truncate(MAX_FINDINGS);
    found
}

/// `20` and `1-20` make the same number of servers at most.
fn last_number(word: &str) -> u32 {
    let last = word.rsplit('-').next().unwrap_or(word);
    last.parse().unwrap_or(1)
}

fn default_resolvers<'d>(file: &DaemonText<'d>, section: &'d Statement) -> Option<&'d str> {
    let lines = section.block.iter().flatten();
    let mut lines = lines.filter(|it| file.word(it, 0) == "default-server");
    lines.find_map(|it| resolvers(file, it))
}

/// The word behind `resolvers`.
fn resolvers<'d>(file: &DaemonText<'d>, line: &'d Statement) -> Option<&'d str> {
    let at = (1..line.words.len()).find(|at| file.word(line, *at) == "resolvers")?;
    Some(file.word(line, at + 1))
}

/// The host of `ipv4@HOST:PORT`.
fn host(address: &str) -> &str {
    let bare = address.split_once('@').map_or(address, |it| it.1);
    bare.split(':').next().unwrap_or(bare)
}
