//! Search domains below which names exist that nobody of the site wrote.

use std::net::IpAddr;

/// What answers below a search domain.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Foreign {
    /// Every name, with this address.
    Wildcard(IpAddr),
    /// The zones of everybody: it is a public suffix.
    Suffix,
}

/// Zones in which every name has the address 127.0.0.1.
///
/// Source: what their servers answer, 2026.
const LOCAL: [&str; 5] = [
    "localtest.me",
    "lvh.me",
    "vcap.me",
    "lacolhost.com",
    "local.gd",
];

/// Zones in which names have the address that stands in them, at their end with
/// dots or dashes.
///
/// Source: cunnie/sslip.io `src/sslip.io-dns-server/xip/xip.go`; <https://nip.io>.
const WITH_ADDRESS: [&str; 4] = ["nip.io", "sslip.io", "xip.io", "traefik.me"];

/// Public suffixes that are written for the domain of a site.
///
/// Source: <https://publicsuffix.org>, a choice.
const SUFFIXES: [&str; 46] = [
    "com", "net", "org", "edu", "gov", "mil", "int", "info", "biz", "io", "dev", "app", "cloud",
    "ai", "co", "me", "tech", "online", "de", "fr", "uk", "us", "eu", "ch", "at", "nl", "it", "es",
    "pl", "se", "no", "dk", "fi", "be", "cz", "ru", "jp", "br", "ca", "co.uk", "org.uk", "com.au",
    "co.nz", "co.jp", "com.br", "com.cn",
];

/// What answers below a search domain, if it is known to be a stranger.
pub fn foreign(domain: &str) -> Option<Foreign> {
    let domain = domain.trim_end_matches('.').to_ascii_lowercase();
    if SUFFIXES.contains(&domain.as_str()) {
        return Some(Foreign::Suffix);
    }
    if LOCAL.iter().any(|it| below(&domain, it).is_some()) {
        return Some(Foreign::Wildcard(IpAddr::from([127, 0, 0, 1])));
    }
    let before = WITH_ADDRESS.iter().find_map(|it| below(&domain, it))?;
    address(before).map(Foreign::Wildcard)
}

/// What stands before a zone in a name of it.
fn below<'d>(domain: &'d str, zone: &str) -> Option<&'d str> {
    let rest = domain.strip_suffix(zone)?;
    (rest.is_empty() || rest.ends_with('.')).then(|| rest.trim_end_matches('.'))
}

/// The address at the end of a name: `app.10.0.0.1`, `app-10-0-0-1`.
fn address(name: &str) -> Option<IpAddr> {
    let parts: Vec<&str> = name.rsplit(['.', '-']).take(4).collect();
    let mut octets = [0; 4];
    if parts.len() < octets.len() {
        return None;
    }
    for (octet, part) in octets.iter_mut().zip(parts.iter().rev()) {
        *octet = part.parse().ok()?;
    }
    Some(IpAddr::from(octets))
}

impl Foreign {
    /// What comes of it.
    pub fn said(&self, domain: &str) -> String {
        match self {
            Self::Wildcard(address) => {
                format!("every name exists below {domain}, with the address {address}")
            }
            Self::Suffix => format!("names below {domain} are those of everybody"),
        }
    }

    /// What a pod gets then.
    pub fn note(&self) -> &'static str {
        match self {
            Self::Wildcard(_) => {
                "with ndots 5 a pod asks for a name outside with each search domain first, and takes this address for it"
            }
            Self::Suffix => {
                "with ndots 5 a pod asks strangers' servers for its short names, and takes their answers"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_strangers() {
        let wildcard = |octets: [u8; 4]| Some(Foreign::Wildcard(octets.into()));
        for (domain, expected) in [
            ("localtest.me", wildcard([127, 0, 0, 1])),
            ("web.LVH.me.", wildcard([127, 0, 0, 1])),
            ("10.0.0.1.nip.io", wildcard([10, 0, 0, 1])),
            ("app-192-0-2-7.sslip.io", wildcard([192, 0, 2, 7])),
            ("nip.io", None),
            ("mylocaltest.me", None),
            ("com", Some(Foreign::Suffix)),
            ("co.uk", Some(Foreign::Suffix)),
            ("example.com", None),
            ("lan", None),
            ("corp", None),
            ("1.2.3.nip.io", None),
        ] {
            assert_eq!(foreign(domain), expected, "{domain}");
        }
    }
}
