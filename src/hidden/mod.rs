//! Names and addresses as they are shown, or hidden for a ticket: in what is
//! printed, and in whole texts.

mod names;
mod tables;

use std::hash::{BuildHasher as _, RandomState};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::address::DNS_PORT;
use crate::name::Name;

pub use self::names::Names;

/// Labels that say nothing about anybody.
const KEPT: &[&str] = &[
    "svc", "cluster", "local", "pod", "in-addr", "ip6", "arpa", "com", "net", "org", "io",
];

/// How names and addresses are written: as they are, or as hashes that are the
/// same for the same one all through a run. The key is drawn again for each run,
/// so that nobody can try names until their hashes fit.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    key: Option<RandomState>,
}

impl Shown {
    /// As hashes.
    pub fn anonymous() -> Self {
        Self {
            key: Some(RandomState::new()),
        }
    }

    /// Whether they are hashes.
    pub fn is_anonymous(&self) -> bool {
        self.key.is_some()
    }

    /// A name without its final dot, safe to print.
    pub fn name(&self, name: &Name) -> String {
        let Some(key) = &self.key else {
            return name.to_string();
        };
        let labels: Vec<String> = name.labels().map(|it| label(key, it)).collect();
        if labels.is_empty() {
            return ".".to_owned();
        }
        labels.join(".")
    }

    /// An address. Those that every host has say nothing and stay.
    pub fn ip(&self, ip: IpAddr) -> String {
        self.address(ip).to_string()
    }

    /// The address that stands for this one.
    fn address(&self, ip: IpAddr) -> IpAddr {
        let Some(key) = self.key.as_ref().filter(|_| !says_nothing(ip)) else {
            return ip;
        };
        let hash = key.hash_one(ip).to_be_bytes();
        match ip {
            IpAddr::V4(_) => Ipv4Addr::new(10, hash[0], hash[1], hash[2]).into(),
            IpAddr::V6(_) => {
                let one = u16::from_be_bytes([hash[0], hash[1]]);
                let other = u16::from_be_bytes([hash[2], hash[3]]);
                Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, one, other).into()
            }
        }
    }

    /// A server; a port other than 53 follows as in dig.
    pub fn server(&self, server: SocketAddr) -> String {
        let ip = self.ip(server.ip());
        match server.port() {
            DNS_PORT => ip,
            port => format!("{ip}#{port}"),
        }
    }
}

/// The same label in letters of any size has the same hash.
fn label(key: &RandomState, label: &[u8]) -> String {
    let lower = label.to_ascii_lowercase();
    match std::str::from_utf8(&lower) {
        Ok(text) if KEPT.contains(&text) => text.to_owned(),
        _ => format!("x{:06x}", key.hash_one(&lower) & 0x00ff_ffff),
    }
}

/// Whether it is an address that any machine can have: of itself, of its link,
/// no address at all.
fn says_nothing(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            ip.is_loopback() || ip.is_unspecified() || ip.is_link_local() || ip.is_broadcast()
        }
        IpAddr::V6(ip) => {
            ip.is_loopback()
                || ip.is_unspecified()
                || ip.is_unicast_link_local()
                || ip.is_multicast()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_the_same_for_the_same() {
        let shown = Shown::anonymous();
        let name = |text: &str| shown.name(&Name::from_plain(text.as_bytes()).unwrap());
        let (one, other) = (name("db.shop.svc.cluster.local"), name("DB.test"));
        assert!(
            one.ends_with(".svc.cluster.local") && !one.contains("shop"),
            "{one}"
        );
        assert_eq!(one.split('.').next(), other.split('.').next());
        let ip = IpAddr::from([192, 0, 2, 1]);
        assert_eq!(shown.ip(ip), shown.ip(ip));
        assert!(shown.ip(ip).starts_with("10."));
        assert_ne!(shown.ip(ip), shown.ip([192, 0, 2, 2].into()));
        assert_eq!(shown.ip([127, 0, 0, 53].into()), "127.0.0.53");
        assert!(
            shown
                .ip("2001:db8::1".parse().unwrap())
                .starts_with("fd00::")
        );
    }
}
