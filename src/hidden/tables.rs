//! Addresses in the tables below `/proc/net`, which are hexadecimal.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Shown;

/// How a table writes addresses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Table {
    /// Words of four bytes, each as the machine has it: sockets, routes of IPv4.
    ///
    /// Source: Linux `net/ipv4/udp.c: udp4_format_sock`, `net/ipv6/datagram.c:
    /// __ip6_dgram_sock_seq_show`, `net/ipv4/fib_trie.c: fib_route_seq_show`.
    Machine,
    /// Bytes in their order: addresses and routes of IPv6, IPVS.
    ///
    /// Source: Linux `net/ipv6/addrconf.c: if6_seq_show`,
    /// `net/netfilter/ipvs/ip_vs_ctl.c: ip_vs_info_seq_show`.
    Network,
}

/// How the table at `path` writes them; `None`: it is none of these.
pub(super) fn table_at(path: &str) -> Option<Table> {
    let (directory, name) = path.rsplit_once('/')?;
    if !directory.starts_with("/proc/") || !directory.ends_with("/net") {
        return None;
    }
    match name {
        "tcp" | "tcp6" | "udp" | "udp6" | "route" => Some(Table::Machine),
        "if_inet6" | "ipv6_route" | "ip_vs" | "ip_vs_conn" => Some(Table::Network),
        _ => None,
    }
}

impl Shown {
    /// A table with its addresses as they are shown. Masks of routes stay: they
    /// begin with ones.
    pub(super) fn table(&self, table: Table, bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(bytes.len());
        let is_digit = |it: &u8| it.is_ascii_hexdigit();
        let mut rest = bytes;
        while !rest.is_empty() {
            let length = rest
                .iter()
                .position(|it| !is_digit(it))
                .unwrap_or(rest.len());
            let (word, behind) = rest.split_at_checked(length).unwrap_or_default();
            let next = behind.iter().position(is_digit).unwrap_or(behind.len());
            let (between, behind) = behind.split_at_checked(next).unwrap_or_default();
            match self.hexadecimal(table, word) {
                Some(hidden) => text.extend_from_slice(hidden.as_bytes()),
                None => text.extend_from_slice(word),
            }
            text.extend_from_slice(between);
            rest = behind;
        }
        text
    }

    fn hexadecimal(&self, table: Table, word: &[u8]) -> Option<String> {
        let word = std::str::from_utf8(word).ok()?;
        match word.len() {
            8 => {
                let number = u32::from_str_radix(word, 16).ok()?;
                if number.leading_ones() >= 8 || number.trailing_ones() >= 8 {
                    return None;
                }
                let ip = match table {
                    Table::Machine => Ipv4Addr::from(number.swap_bytes()),
                    Table::Network => Ipv4Addr::from(number),
                };
                let std::net::IpAddr::V4(hidden) = self.address(ip.into()) else {
                    return None;
                };
                let number = match table {
                    Table::Machine => u32::from(hidden).swap_bytes(),
                    Table::Network => u32::from(hidden),
                };
                Some(format!("{number:08X}"))
            }
            32 => {
                let number = u128::from_str_radix(word, 16).ok()?;
                let swap = |number: u128| match table {
                    Table::Machine => words_swapped(number),
                    Table::Network => number,
                };
                let ip = Ipv6Addr::from(swap(number));
                let std::net::IpAddr::V6(hidden) = self.address(ip.into()) else {
                    return None;
                };
                let number = swap(u128::from(hidden));
                let is_small = word.bytes().any(|it| it.is_ascii_lowercase());
                Some(if is_small {
                    format!("{number:032x}")
                } else {
                    format!("{number:032X}")
                })
            }
            _ => None,
        }
    }
}

/// Each word of four bytes the other way round.
fn words_swapped(number: u128) -> u128 {
    let shifts = [96, 64, 32, 0];
    shifts.into_iter().fold(0, |whole, shift| {
        let word = u32::try_from(number >> shift & 0xffff_ffff).unwrap_or_default();
        whole << 32 | u128::from(word.swap_bytes())
    })
}
