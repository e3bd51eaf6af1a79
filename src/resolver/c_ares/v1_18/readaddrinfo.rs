//! The hosts file.

use std::net::IpAddr;

use crate::config::resolv_conf::ResolvConf;
use crate::resolver::c_ares::address::{Prefix, inet_net_pton_ipv4, inet_net_pton_ipv6, is_of};
use crate::resolver::c_ares::name::is_space;
use crate::resolver::c_ares::v1_18::lines::c_lines;
use crate::scenario::Family;

/// The addresses of every line that has `name`.
///
/// Source: c-ares 1.18.1 `src/lib/ares__readaddrinfo.c: ares__readaddrinfo`.
pub(super) fn ares_readaddrinfo(file: &ResolvConf, name: &[u8], family: Family) -> Vec<IpAddr> {
    let mut nodes = Vec::new();
    for line in c_lines(file) {
        let text = line
            .text
            .split(|&byte| byte == b'#')
            .next()
            .unwrap_or_default();
        let mut words = text
            .split(|&byte| is_space(byte))
            .filter(|word| !word.is_empty());
        let Some(address) = words.next() else {
            continue;
        };
        if words.any(|word| word.eq_ignore_ascii_case(name)) {
            nodes.extend(
                addresses(address)
                    .into_iter()
                    .flatten()
                    .filter(|&ip| is_of(family, ip)),
            );
        }
    }
    nodes
}

fn addresses(text: &[u8]) -> [Option<IpAddr>; 2] {
    let mut four = [0; 4];
    let mut six = [0; 16];
    [
        inet_net_pton_ipv4(text, &mut four, Prefix::Allowed).map(|_| IpAddr::from(four)),
        inet_net_pton_ipv6(text, &mut six, Prefix::Allowed).map(|()| IpAddr::from(six)),
    ]
}
