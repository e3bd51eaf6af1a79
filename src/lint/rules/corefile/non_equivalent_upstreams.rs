#![doc = include_str!("non_equivalent_upstreams.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::CorefileText;
use crate::lint::{Check, Rule};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::config::corefile::{Directive, Transport, Word};
use crate::lint::rules::corefile::blocks;

/// KC010.
pub static RULE: Rule = Rule {
    code: "KC010",
    name: "non-equivalent-upstreams",
    severity: Severity::Warning,
    summary: "a private and a public server are asked by lot",
    page: include_str!("non_equivalent_upstreams.md"),
    check: Check::Corefile(check),
};

fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let forwards = blocks::blocks(file)
        .iter()
        .flat_map(|it| blocks::named(it, "forward"));
    let mut places = blocks::Places::of(file);
    for forward in forwards.filter(|it| !is_sequential(it)) {
        let targets = || blocks::targets(forward).iter();
        let find =
            |is_it: fn(IpAddr) -> bool| targets().find(|it| address(&it.text).is_some_and(is_it));
        let (Some(private), Some(public)) = (find(is_private), find(is_public_resolver)) else {
            continue;
        };
        let (Some(at), Some(other)) = (places.first(public), file.at(private.at)) else {
            continue;
        };
        report
            .add(at, format!("{} does not know the names that {} knows, and each is asked by lot", public.text, private.text))
            .label("a public resolver")
            .also(other, "a private address")
            .help("write policy sequential in the block of this forward, or forward the private zones in a server block of their own")
            .note("names of the private zones are NXDOMAIN now and then, and the cache keeps that answer");
    }
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

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => it.is_private() || it.is_link_local() || it == AZURE,
        IpAddr::V6(it) => it.is_unique_local() || it.is_unicast_link_local(),
    }
}

/// Azure's resolver, which knows the names of the virtual network.
const AZURE: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// Resolvers for everybody, which know no private name: Google, Cloudflare,
/// Quad9, `OpenDNS`, Level 3, `AdGuard`.
fn is_public_resolver(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => PUBLIC.contains(&it.octets()),
        IpAddr::V6(it) => {
            let [first, second, ..] = it.segments();
            PUBLIC_6.contains(&[first, second])
        }
    }
}

const PUBLIC: [[u8; 4]; 17] = [
    [8, 8, 8, 8],
    [8, 8, 4, 4],
    [1, 1, 1, 1],
    [1, 0, 0, 1],
    [1, 1, 1, 2],
    [1, 1, 1, 3],
    [9, 9, 9, 9],
    [9, 9, 9, 10],
    [149, 112, 112, 112],
    [208, 67, 222, 222],
    [208, 67, 220, 220],
    [4, 2, 2, 1],
    [4, 2, 2, 2],
    [4, 2, 2, 3],
    [4, 2, 2, 4],
    [94, 140, 14, 14],
    [94, 140, 15, 15],
];

/// The first 32 bits of their IPv6 addresses: Google, Cloudflare, Quad9,
/// `OpenDNS`.
const PUBLIC_6: [[u16; 2]; 4] = [
    [0x2001, 0x4860],
    [0x2606, 0x4700],
    [0x2620, 0xfe],
    [0x2620, 0x119],
];
