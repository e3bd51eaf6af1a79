#![doc = include_str!("pillar_left.md")]

use std::net::IpAddr;

use crate::config::corefile::{ServerBlock, Word};
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::is_near;
use crate::lint::rules::prelude::*;
use crate::topology::coredns::{CLUSTER_DNS, UPSTREAM_SERVERS};

/// More are not said about one file.
const MAX_FINDINGS: usize = 100;
/// What is replaced before the manifest is applied, by whoever installs it.
///
/// Source: kubernetes, cluster/addons/dns/nodelocaldns/nodelocaldns.yaml.
const DOMAIN: &str = "__PILLAR__DNS__DOMAIN__";
/// The same; newer caches replace it, too.
const LOCAL: &str = "__PILLAR__LOCAL__DNS__";
/// All of them.
const KNOWN: [&str; 5] = [
    DOMAIN,
    LOCAL,
    "__PILLAR__DNS__SERVER__",
    CLUSTER_DNS,
    UPSTREAM_SERVERS,
];
/// What Go prints for an address that is none.
const NIL: &str = "<nil>";

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let blocks = blocks::blocks(file);
    let is_cluster_dns = blocks::is_cluster_dns(blocks);
    let mut binds = blocks.iter().flat_map(blocks::binds);
    let is_installed = binds.any(|it| it.text.parse::<IpAddr>().is_ok())
        && !blocks
            .iter()
            .flat_map(blocks::binds)
            .any(|it| it.text == LOCAL);
    let words = blocks.iter().flat_map(words);
    let mut found = Vec::new();
    for word in words {
        let why = if word.text == NIL {
            "the Service of -upstreamsvc did not exist when the cache started"
        } else if is_cluster_dns && word.text.contains("__PILLAR__") {
            "only NodeLocal DNSCache replaces such words, and this is CoreDNS"
        } else if is_installed && word.text.contains(DOMAIN) {
            "it is replaced when the manifest is installed, as the addresses behind bind were"
        } else if is_misspelled(&word.text) {
            "there is no such word: NodeLocal DNSCache replaces __PILLAR__CLUSTER__DNS__ and __PILLAR__UPSTREAM__SERVERS__"
        } else {
            continue;
        };
        let at = file.at(word.at).filter(|it| !found.contains(it));
        let Some(at) = at.filter(|_| found.len() < MAX_FINDINGS) else {
            continue;
        };
        found.push(at);
        report
            .add(at, format!("{} was not replaced", word.text))
            .note(why)
            .note("the server block serves no name that anybody asks for, or forwards nowhere")
            .help(fix(&word.text));
    }
}

/// Whether a word is nearly one that is replaced.
fn is_misspelled(text: &str) -> bool {
    const MOST: usize = 2;
    text.starts_with("__PILLAR__")
        && !KNOWN.contains(&text)
        && KNOWN.iter().any(|it| is_near(text, it, MOST))
}

fn fix(text: &str) -> &'static str {
    match text {
        NIL => "create the Service before the cache starts, then restart the cache",
        _ if text.contains(DOMAIN) => "write the cluster's domain: cluster.local",
        _ => "write what it stands for: addresses, or /etc/resolv.conf",
    }
}

/// The keys and the arguments of a block.
fn words(block: &ServerBlock) -> impl Iterator<Item = &Word> {
    let directives = block.directives.iter();
    block
        .keys
        .iter()
        .chain(directives.flat_map(|it| &it.arguments))
}
