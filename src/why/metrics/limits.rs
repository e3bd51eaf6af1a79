//! What cloud providers document for their resolvers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// How often a resolver may be asked.
#[derive(Debug, PartialEq)]
pub struct Limit {
    /// Whose it is.
    pub provider: &'static str,
    /// Queries a second.
    pub queries: f64,
    /// What shares them.
    pub of: &'static str,
    /// Where that is written.
    pub source: &'static str,
}

/// The limit counts packets; a query is one.
static AWS: Limit = Limit {
    provider: "AWS",
    queries: 1024.0,
    of: "network interface",
    source: "https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html",
};

static AZURE: Limit = Limit {
    provider: "Azure",
    queries: 1000.0,
    of: "virtual machine",
    source: "https://learn.microsoft.com/azure/azure-resource-manager/management/azure-subscription-service-limits",
};

/// The documented limit of a resolver by its address. Google documents none per
/// machine for 169.254.169.254. The address that AWS gives its resolver in a
/// network (its base plus two) cannot be told from others.
pub(super) fn limit_of(address: IpAddr) -> Option<&'static Limit> {
    const AWS_V4: Ipv4Addr = Ipv4Addr::new(169, 254, 169, 253);
    const AWS_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x253);
    const AZURE_V4: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);
    match address {
        IpAddr::V4(AWS_V4) | IpAddr::V6(AWS_V6) => Some(&AWS),
        IpAddr::V4(AZURE_V4) => Some(&AZURE),
        _ => None,
    }
}

/// The address in a label `to`: `10.0.0.2:53`, `tls://9.9.9.9:853`.
pub(super) fn address(to: &str) -> Option<IpAddr> {
    let to = to.rsplit_once("://").map_or(to, |it| it.1);
    let with_port = to.parse::<SocketAddr>().map(|it| it.ip());
    with_port.or_else(|_| to.parse()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolvers_are_known_by_their_address() {
        let provider = |to: &str| address(to).and_then(limit_of).map(|it| it.provider);
        assert_eq!(provider("169.254.169.253:53"), Some("AWS"));
        assert_eq!(provider("[fd00:ec2::253]:53"), Some("AWS"));
        assert_eq!(provider("168.63.129.16:53"), Some("Azure"));
        assert_eq!(provider("10.0.0.2:53"), None);
        assert_eq!(
            address("tls://9.9.9.9:853"),
            Some("9.9.9.9".parse().unwrap())
        );
        assert_eq!(address("dns.example"), None);
    }
}
