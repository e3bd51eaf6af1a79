#![doc = include_str!("non_equivalent_upstreams.md")]

use std::net::{IpAddr, SocketAddr};

use crate::address::{is_private, is_public_resolver};
use crate::config::corefile::{Directive, Transport, Word};
use crate::lint::document::At;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let forwards = blocks::blocks(file)
        .iter()
        .flat_map(|it| blocks::named(it, "forward"));
    let mut places = blocks::Places::new(file);
    for forward in forwards.filter(|it| !is_sequential(it)) {
        let servers: Vec<Server<'_>> = blocks::targets(forward)
            .iter()
            .flat_map(|word| servers(file, context, word))
            .collect();
        let find = |is_it: fn(IpAddr) -> bool| servers.iter().find(|it| is_it(it.address));
        let (Some(private), Some(public)) = (find(is_private), find(is_public_resolver)) else {
            continue;
        };
        let Some(at) = places.first(public.word) else {
            continue;
        };
        let (known, unknown) = (private.text, public.text);
        report
            .add(at, format!("{unknown} does not know the names that {known} knows, and each is asked at random"))
            .label(if public.is_listed { "this file lists a public resolver" } else { "a public resolver" })
            .also(private.at, "a private address")
            .help("write policy sequential in the block of this forward, or forward the private zones in a server block of their own")
            .note("names of the private zones are NXDOMAIN now and then, and the cache keeps that answer");
    }
}

/// A server that a `forward` can ask.
struct Server<'w> {
    address: IpAddr,
    text: &'w str,
    at: At,
    /// The word of the `forward`.
    word: &'w Word,
    /// Whether that names a file, which lists the server.
    is_listed: bool,
}

/// The kubelet gives pods no more of a file.
const MAX_LISTED: usize = 3;

/// The server that a word names, or those of the file: the pod's own is what
/// the kubelet hands out, where it is known which.
fn servers<'w>(file: &CorefileText<'w>, context: &Context<'w>, word: &'w Word) -> Vec<Server<'w>> {
    if let (Some(address), Some(at)) = (address(&word.text), file.at(word.at)) {
        let text = word.text.as_str();
        return vec![Server {
            address,
            text,
            at,
            word,
            is_listed: false,
        }];
    }
    let read = blocks::handed_out(context, word).into_iter();
    let listed = read.flat_map(|it| it.servers.iter().take(MAX_LISTED));
    let server = |it: &'w crate::lint::facts::Text| {
        let (address, text) = (address(&it.text)?, it.text.as_str());
        Some(Server {
            address,
            text,
            at: it.at,
            word,
            is_listed: true,
        })
    };
    listed.filter_map(server).collect()
}

/// Whether the first server that answers is asked, in the order of the list.
fn is_sequential(forward: &Directive) -> bool {
    let policy = forward.options("policy").filter_map(<[Word]>::first).last();
    policy.is_some_and(|it| !matches!(it.text.as_str(), "random" | "round_robin"))
}

/// The address of a server, whatever the transport.
fn address(text: &str) -> Option<IpAddr> {
    let (_, rest) = Transport::split(text);
    let plain = rest.split('%').next()?.parse().ok();
    plain.or_else(|| Some(rest.parse::<SocketAddr>().ok()?.ip()))
}
