//! Addresses as the kubelet reads them.

use std::net::IpAddr;

/// The address that a text is: zeros before the numbers of IPv4 are left out.
///
/// Source: k8s.io/utils `net/parse.go: ParseIPSloppy`, which kubernetes
/// `pkg/kubelet/kubelet.go: NewMainKubelet` calls for `clusterDNS`.
pub fn parse_address(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    // IPv6 can end in the four numbers of IPv4.
    let start = text.rfind(':').map_or(0, |at| at + 1);
    let (before, numbers) = text.split_at_checked(start)?;
    let numbers: Vec<&str> = numbers.split('.').map(number).collect();
    format!("{before}{}", numbers.join(".")).parse().ok()
}

/// A number without the zeros before it.
fn number(part: &str) -> &str {
    let rest = part.trim_start_matches('0');
    if rest.is_empty() && !part.is_empty() {
        "0"
    } else {
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_the_kubelet_does() {
        for (text, expected) in [
            ("10.96.0.10", Some("10.96.0.10")),
            ("010.096.000.010", Some("10.96.0.10")),
            ("fd00::10", Some("fd00::10")),
            ("::ffff:010.0.0.1", Some("::ffff:10.0.0.1")),
            ("10.96.0.10:53", None),
            ("10.96..10", None),
            ("010.96.0", None),
            ("fe80::1%eth0", None),
            ("kube-dns", None),
            ("", None),
        ] {
            let expected = expected.map(|it| it.parse().unwrap());
            assert_eq!(parse_address(text), expected, "{text}");
        }
    }
}
