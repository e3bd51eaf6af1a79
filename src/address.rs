//! Addresses of name servers and answers.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The port of DNS (RFC 1035, section 4.2).
pub const DNS_PORT: u16 = 53;

/// An IP address with the scope that was written behind it, as in `fe80::1%eth0`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Address {
    /// The address itself.
    pub ip: IpAddr,
    /// Text after `%`, without it.
    pub scope: Option<Box<str>>,
    /// The text that a resolver hands on, where it is not that of RFC 5952.
    pub written: Option<Box<str>>,
}

/// A name server as a resolver sends to it.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Server {
    /// Its address.
    pub address: Address,
    /// UDP and TCP port, 53 unless the resolver knows a syntax for others.
    pub port: u16,
}

impl Address {
    /// An address with its scope, in the usual text.
    pub fn scoped(ip: IpAddr, scope: Option<Box<str>>) -> Self {
        Self {
            ip,
            scope,
            written: None,
        }
    }

    /// An IPv6 address that may have a scope.
    pub fn parse_scoped(text: &[u8]) -> Option<Self> {
        let (ip, scope) = split_scope(std::str::from_utf8(text).ok()?);
        let ip: Ipv6Addr = ip.parse().ok()?;
        Some(Self::scoped(ip.into(), scope.map(Into::into)))
    }

    /// An IPv4 address in any form of [`inet_aton`], or an IPv6 address that may have
    /// a scope.
    pub fn parse_c(text: &[u8]) -> Option<Self> {
        let four = inet_aton(text).map(|it| IpAddr::V4(it).into());
        four.or_else(|| Self::parse_scoped(text))
    }

    /// In the text of C's `inet_ntop`, which writes an IPv4 address behind 96
    /// zero bits with dots.
    ///
    /// Source: glibc `resolv/inet_ntop.c: inet_ntop6`.
    #[must_use]
    pub fn in_c_text(self) -> Self {
        let written = match self.ip {
            IpAddr::V6(ip) if matches!(ip.segments(), [0, 0, 0, 0, 0, 0, 1..=u16::MAX, _]) => {
                ip.to_ipv4().map(|ip| format!("::{ip}").into())
            }
            _ => None,
        };
        Self { written, ..self }
    }

    /// Whether it is a link-local IPv6 address without its scope, with which
    /// `connect(2)` fails (`EINVAL`).
    pub fn lacks_scope(&self) -> bool {
        let is_local = matches!(self.ip, IpAddr::V6(ip) if ip.is_unicast_link_local());
        is_local && self.scope.is_none()
    }

    /// The address that a packet to this one reaches: Linux takes the
    /// unspecified address for the loopback one (`ip(7)`), and a mapped IPv4
    /// address is sent as IPv4. Without the scope.
    pub fn reached(&self) -> IpAddr {
        match self.ip {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
                Some(mapped) => Self::from(IpAddr::V4(mapped)).reached(),
                None => ip.into(),
            },
            ip @ IpAddr::V4(_) => ip,
        }
    }
}

impl From<IpAddr> for Address {
    fn from(ip: IpAddr) -> Self {
        Self::scoped(ip, None)
    }
}

impl From<IpAddr> for Server {
    fn from(ip: IpAddr) -> Self {
        Address::from(ip).into()
    }
}

impl From<Address> for Server {
    fn from(address: Address) -> Self {
        Self {
            address,
            port: DNS_PORT,
        }
    }
}

/// `10.96.0.10`, `fe80::1%eth0`.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.written, &self.scope) {
            (Some(text), _) => f.write_str(text),
            (None, None) => self.ip.fmt(f),
            (None, Some(scope)) => write!(f, "{}%{scope}", self.ip),
        }
    }
}

/// The address; a port other than 53 follows as in dig, `127.0.0.1#5353`.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)?;
        if self.port == DNS_PORT {
            Ok(())
        } else {
            write!(f, "#{}", self.port)
        }
    }
}

/// An IPv4 address in any form of `inet_aton(3)`, the whole text: `1.2.3.4`,
/// `127.1`, `0x7f000001`, `010.0.0.1` (octal).
///
/// Source: glibc `resolv/inet_addr.c: __inet_aton_exact`, musl
/// `src/network/inet_aton.c`.
pub fn inet_aton(text: &[u8]) -> Option<Ipv4Addr> {
    let mut parts = text.split(|&byte| byte == b'.');
    let last = strtoul(parts.next_back()?)?;
    let mut high = 0;
    let mut last_bits = 32;
    for part in parts {
        let part = u8::try_from(strtoul(part)?).ok()?;
        if last_bits == 8 {
            return None;
        }
        last_bits -= 8;
        high |= u32::from(part) << last_bits;
    }
    let fits = u64::from(last) >> last_bits == 0;
    fits.then(|| Ipv4Addr::from(high | last))
}

/// A whole text as C's `strtoul` with base 0 reads it, up to 32 bits, no sign.
fn strtoul(text: &[u8]) -> Option<u32> {
    let (digits, radix) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', digits @ ..] if !digits.is_empty() => (digits, 8),
        digits => (digits, 10),
    };
    if !digits.first()?.is_ascii_hexdigit() {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()
}

/// An address as a number of its family.
pub fn number(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => u128::from(ip.to_bits()),
        IpAddr::V6(ip) => ip.to_bits(),
    }
}

/// The mask of the first `bits` of `width`; `None`: there are not so many.
pub fn prefix_mask(width: u32, bits: u32) -> Option<u128> {
    let all = u128::MAX >> (128 - width);
    let rest = width.checked_sub(bits)?;
    Some(all & all.checked_shl(rest).unwrap_or(0))
}

/// Whether the address is in the network that begins with these `bits` of `network`.
pub fn is_within(ip: IpAddr, network: IpAddr, bits: u32) -> bool {
    let width = if ip.is_ipv4() { 32 } else { 128 };
    let mask = prefix_mask(width, bits).unwrap_or(u128::MAX);
    network.is_ipv4() == ip.is_ipv4() && number(network) & mask == number(ip) & mask
}

/// Whether only machines on the same link have the address: `169.254.0.0/16`,
/// `fe80::/10`.
pub fn is_link_local(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(it) => it.is_link_local(),
        IpAddr::V6(it) => it.is_unicast_link_local(),
    }
}

/// Whether only a private network has this address: a server there can know
/// names of its own.
pub fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => it.is_private() || it.is_link_local() || it == AZURE,
        IpAddr::V6(it) => it.is_unique_local() || it.is_unicast_link_local(),
    }
}

/// Azure's resolver, which knows the names of the virtual network.
const AZURE: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// Resolvers for everybody, which know no private name: Google, Cloudflare,
/// Quad9, `OpenDNS`, Level 3, `AdGuard`.
pub fn is_public_resolver(address: IpAddr) -> bool {
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

/// An address as text and what follows its `%`.
pub fn split_scope(text: &str) -> (&str, Option<&str>) {
    match text.split_once('%') {
        Some((ip, scope)) => (ip, Some(scope)),
        None => (text, None),
    }
}

/// The address of the same family that stands for any.
pub fn any_like(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_port_is_shown_as_dig_shows_it() {
        let mut server = Server::from(IpAddr::from([127, 0, 0, 1]));
        assert_eq!(server.to_string(), "127.0.0.1");
        server.port = 5353;
        assert_eq!(server.to_string(), "127.0.0.1#5353");
    }

    #[test]
    fn inet_aton_takes_short_octal_and_hexadecimal_forms() {
        let check = |text: &str, expected: Option<[u8; 4]>| {
            assert_eq!(
                inet_aton(text.as_bytes()),
                expected.map(Ipv4Addr::from),
                "{text}"
            );
        };
        check("1.2.3.4", Some([1, 2, 3, 4]));
        check("127.1", Some([127, 0, 0, 1]));
        check("10", Some([0, 0, 0, 10]));
        check("0x7f000001", Some([127, 0, 0, 1]));
        check("010.1.2.3", Some([8, 1, 2, 3]));
        check("1.2.65535", Some([1, 2, 255, 255]));
        check("4294967295", Some([255, 255, 255, 255]));
        for bad in [
            "",
            ".",
            "1.2.3.4.",
            "1.2.3.4.0",
            "1.2.3.256",
            "256.1",
            "09",
            "0x",
            "1.2.65536",
            "4294967296",
            "+1",
            "1 ",
            "a",
        ] {
            check(bad, None);
        }
    }

    #[test]
    fn networks_are_of_one_family_and_end_with_their_prefix() {
        for (ip, network, bits, expected) in [
            ("10.244.3.4", "10.244.0.0", 16, true),
            ("10.245.0.0", "10.244.0.0", 16, false),
            ("10.244.3.4", "10.244.3.4", 32, true),
            ("10.244.3.5", "10.244.3.4", 32, false),
            ("10.244.3.5", "10.244.3.4", 33, false),
            ("8.8.8.8", "0.0.0.0", 0, true),
            ("::1", "0.0.0.0", 0, false),
            ("fd00::1", "fd00::", 8, true),
            ("fe00::1", "fd00::", 8, false),
            ("fd00::1", "fd00::", 128, false),
        ] {
            let found = is_within(ip.parse().unwrap(), network.parse().unwrap(), bits);
            assert_eq!(found, expected, "{ip} in {network}/{bits}");
        }
    }
}
