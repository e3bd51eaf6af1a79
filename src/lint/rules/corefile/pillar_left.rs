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
        let text = word.text.as_str();
        let by_hand = |why: &str| (why.to_owned(), fix(text).to_owned());
        let (why, help) = if text == NIL {
            by_hand("the Service of -upstreamsvc did not exist when the cache started")
        } else if is_cluster_dns && text.contains("__PILLAR__") {
            by_hand("only NodeLocal DNSCache replaces such words, and this is CoreDNS")
        } else if is_installed && text.contains(DOMAIN) {
            by_hand(
                "it is replaced when the manifest is installed, as the addresses behind bind were",
            )
        } else if let Some(near) = meant(text) {
            let known = KNOWN.join(", ");
            let why = format!(
                "there is no such word: those of NodeLocal DNSCache's template are {known}"
            );
            // What whoever installs it replaces is replaced already.
            let is_kept = !is_installed || [CLUSTER_DNS, UPSTREAM_SERVERS].contains(&near);
            let help = if is_kept {
                format!("write {near}")
            } else {
                fix(near).to_owned()
            };
            (why, help)
        } else {
            continue;
        };
        let at = file.at(word.at).filter(|it| !found.contains(it));
        let Some(at) = at.filter(|_| found.len() < MAX_FINDINGS) else {
            continue;
        };
        found.push(at);
        report
            .add(at, format!("{text} was not replaced"))
            .note(why)
            .note("the server block serves no name that anybody asks for, or forwards nowhere")
            .help(help);
    }
}

/// The word that is replaced and nearly this one, as a zone with its final dot and port.
fn meant(text: &str) -> Option<&'static str> {
    const MOST: usize = 2;
    let name = match text.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() => name,
        _ => text,
    };
    let name = name.trim_end_matches('.');
    let is_word = name.starts_with("__PILLAR__") && !KNOWN.contains(&name);
    let mut near = KNOWN.into_iter().filter(|it| is_near(name, it, MOST));
    is_word.then(|| near.next())?
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
