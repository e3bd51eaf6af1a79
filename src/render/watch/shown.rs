//! Names and addresses as they are shown, or hidden for a ticket.

use std::hash::{BuildHasher as _, RandomState};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::address::DNS_PORT;
use crate::name::Name;

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
    pub(super) fn name(&self, name: &Name) -> String {
        let Some(key) = &self.key else {
            return name.to_string();
        };
        let label = |label: &[u8]| {
            let lower = label.to_ascii_lowercase();
            match std::str::from_utf8(&lower) {
                Ok(text) if KEPT.contains(&text) => text.to_owned(),
                _ => format!("x{:06x}", key.hash_one(&lower) & 0x00ff_ffff),
            }
        };
        let labels: Vec<String> = name.labels().map(label).collect();
        if labels.is_empty() {
            return ".".to_owned();
        }
        labels.join(".")
    }

    /// An address. Those of this very host say nothing and stay.
    pub(super) fn ip(&self, ip: IpAddr) -> String {
        let Some(key) = self.key.as_ref().filter(|_| !ip.is_loopback()) else {
            return ip.to_string();
        };
        let hash = key.hash_one(ip).to_be_bytes();
        match ip {
            IpAddr::V4(_) => Ipv4Addr::new(10, hash[0], hash[1], hash[2]).to_string(),
            IpAddr::V6(_) => {
                let one = u16::from_be_bytes([hash[0], hash[1]]);
                let other = u16::from_be_bytes([hash[2], hash[3]]);
                Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, one, other).to_string()
            }
        }
    }

    /// A server; a port other than 53 follows as in dig.
    pub(super) fn server(&self, server: SocketAddr) -> String {
        let ip = self.ip(server.ip());
        match server.port() {
            DNS_PORT => ip,
            port => format!("{ip}#{port}"),
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
