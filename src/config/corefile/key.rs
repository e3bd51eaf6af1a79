//! The key of a server block, and zones wherever a Corefile has them.

use std::net::IpAddr;

/// A key, taken apart.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Key {
    /// How it is asked.
    pub transport: Transport,
    /// The zones, lower case, with their final dots: several where a network
    /// was given that ends in the middle of a label.
    pub zones: Vec<String>,
    /// The port; its transport's own if none was given.
    pub port: u16,
}

/// How a DNS server is spoken to.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Transport {
    /// Over UDP and TCP.
    Dns,
    /// `tls://`
    Tls,
    /// `grpc://`
    Grpc,
    /// `https://`
    Https,
    /// `https3://`
    Https3,
    /// `quic://`
    Quic,
}

impl Transport {
    /// The transport that a scheme names, and what stands behind it.
    ///
    /// Source: CoreDNS, plugin/pkg/parse/transport.go `Transport`.
    pub fn split(text: &str) -> (Self, &str) {
        let schemes = [
            ("dns://", Self::Dns),
            ("tls://", Self::Tls),
            ("grpc://", Self::Grpc),
            ("https://", Self::Https),
            ("https3://", Self::Https3),
            ("quic://", Self::Quic),
        ];
        let found = schemes
            .into_iter()
            .find_map(|(scheme, transport)| Some((transport, text.strip_prefix(scheme)?)));
        found.unwrap_or((Self::Dns, text))
    }

    /// The port where nothing else is said.
    ///
    /// Source: CoreDNS, plugin/pkg/transport/transport.go.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Dns => 53,
            Self::Tls | Self::Quic => 853,
            Self::Grpc | Self::Https | Self::Https3 => 443,
        }
    }
}

/// Takes the key of a server block apart. An error says what is wrong, safe
/// to print only after escaping.
///
/// Source: CoreDNS, core/dnsserver/register.go `InspectServerBlocks`.
///
/// # Errors
///
/// CoreDNS does not start with such a key.
pub fn split_key(key: &str) -> Result<Key, String> {
    let (transport, rest) = Transport::split(key);
    let (zones, port) = split_host_port(rest)?;
    Ok(Key {
        transport,
        zones,
        port: port.unwrap_or(transport.default_port()),
    })
}

/// The zones that an argument such as `FROM` names: none if it is no zone.
///
/// Source: CoreDNS, plugin/normalize.go `NormalizeExact`.
pub fn zones(text: &str) -> Vec<String> {
    let (_, rest) = Transport::split(text);
    split_host_port(rest).map(|it| it.0).unwrap_or_default()
}

/// A domain name in lower case with its final dot.
///
/// Source: CoreDNS, plugin/normalize.go `Name.Normalize`.
pub fn domain(text: &str) -> String {
    let mut name = text.to_lowercase();
    if !name.ends_with('.') || name.ends_with("\\.") {
        name.push('.');
    }
    name
}

/// Source: CoreDNS, plugin/normalize.go `SplitHostPort`.
fn split_host_port(text: &str) -> Result<(Vec<String>, Option<u16>), String> {
    let (mut host, mut port) = (text, None);
    if text.is_empty() || text.ends_with(':') {
        return Err(format!("expecting data after last colon: \"{text}\""));
    }
    if let Some((before, after)) = text.rsplit_once(':')
        && after.parse::<i64>().is_ok()
    {
        let number = after.parse().map_err(|_| format!("invalid port {after}"))?;
        (host, port) = (before, Some(number));
    }
    if host.len() > 255 {
        let length = host.len();
        return Err(format!("specified zone is too long: {length} > 255"));
    }
    if host.contains("..") || (host.starts_with('.') && host.len() > 1) {
        return Err(format!("zone is not a valid domain name: {host}"));
    }
    let reverse = host.split_once('/').and_then(|(address, length)| {
        let address: IpAddr = address.parse().ok()?;
        reverse_zones(address, length.parse().ok()?)
    });
    Ok((reverse.unwrap_or_else(|| vec![domain(host)]), port))
}

/// The reverse zones of a network: one, or one for each label that its length
/// leaves open. `None`: the length is none.
///
/// Source: CoreDNS, plugin/pkg/cidr/cidr.go `Split`, `Reverse`.
fn reverse_zones(address: IpAddr, length: u32) -> Option<Vec<String>> {
    let (bits, width, label, suffix) = match address {
        IpAddr::V4(it) => (u128::from(u32::from(it)), 32, 8, "in-addr.arpa."),
        IpAddr::V6(it) => (u128::from(it), 128, 4, "ip6.arpa."),
    };
    if length > width {
        return None;
    }
    let labels = length.div_ceil(label);
    let open = labels * label - length;
    let network = bits.checked_shr(width - length).unwrap_or(0) << open;
    let zone = |number: u128| {
        let mut name = String::new();
        for at in 0..labels {
            let value = (number >> (at * label)) & ((1 << label) - 1);
            name.extend([match address {
                IpAddr::V4(_) => format!("{value}."),
                IpAddr::V6(_) => format!("{value:x}."),
            }]);
        }
        name + suffix
    };
    Some((0..1u128 << open).map(|at| zone(network + at)).collect())
}

/// Whether a zone lies in another one, or is it; both lower case with their
/// final dots.
pub fn is_within(zone: &str, other: &str) -> bool {
    let is_below = |rest: &str| rest.is_empty() || rest.ends_with('.');
    other == "." || zone.strip_suffix(other).is_some_and(is_below)
}
