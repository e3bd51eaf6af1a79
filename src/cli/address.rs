//! Addresses of name servers as options.

use std::net::IpAddr;

use crate::text::escaped;

/// An address as resolv.conf has it: a scope behind `%` names the interface,
/// and tells nothing about whose the address is.
pub(super) fn parse_server(text: &str) -> Result<IpAddr, String> {
    let error = || {
        let shown = escaped(text.as_bytes());
        format!("`{shown}` is no IP address; 127.0.0.53 or fe80::1%eth0 would be")
    };
    match text.split_once('%') {
        None => text.parse().map_err(|_| error()),
        Some((_, "")) => Err(error()),
        Some((address, _)) => match address.parse() {
            Ok(address @ IpAddr::V6(_)) => Ok(address),
            _ => Err(error()),
        },
    }
}

/// An address and the interface that its scope names.
#[derive(Clone, Debug)]
pub(super) struct Scoped {
    pub(super) address: IpAddr,
    /// What stands behind `%`.
    pub(super) scope: Option<String>,
}

/// The same as [`parse_server`], and keeps the scope.
pub(super) fn parse_scoped(text: &str) -> Result<Scoped, String> {
    let address = parse_server(text)?;
    let scope = text.split_once('%').map(|(_, scope)| scope.to_owned());
    Ok(Scoped { address, scope })
}

impl Scoped {
    /// Refuses a scope that is none of these interfaces, by name or number.
    pub(super) fn check(&self, interfaces: &[String]) -> Result<(), String> {
        let Some(scope) = &self.scope else {
            return Ok(());
        };
        let is_number = scope.bytes().all(|it| it.is_ascii_digit());
        if is_number || interfaces.contains(scope) {
            return Ok(());
        }
        Err(format!(
            "{}%{}: there is no interface {} here; there are {}",
            self.address,
            escaped(scope.as_bytes()),
            escaped(scope.as_bytes()),
            escaped(interfaces.join(", ").as_bytes())
        ))
    }
}

/// An address of `clusterDNS`: the kubelet knows no scopes.
///
/// Source: kubernetes `pkg/kubelet/kubelet.go: NewMainKubelet`
/// (`ParseIPSloppy`, "Invalid clusterDNS IP").
pub(super) fn parse_cluster_dns(text: &str) -> Result<IpAddr, String> {
    let shown = escaped(text.as_bytes());
    match parse_server(text) {
        Ok(_) if text.contains('%') => Err(format!(
            "the kubelet takes no address with a scope for the cluster's DNS, it leaves {shown} out"
        )),
        Ok(address) => Ok(address),
        Err(_) => Err(format!("`{shown}` is no IP address; 10.96.0.10 would be")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_may_have_a_scope() {
        let check = |text: &str, expected: Option<&str>| {
            let found = parse_server(text).ok().map(|it| it.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("127.0.0.53", Some("127.0.0.53"));
        check("fe80::1%eth0", Some("fe80::1"));
        check("fe80::1%2", Some("fe80::1"));
        for wrong in ["", "x", "fe80::1%", "10.0.0.1%eth0", "%eth0"] {
            check(wrong, None);
        }
    }

    #[test]
    fn the_kubelet_takes_no_scope() {
        let sentence = parse_cluster_dns("fe80::1%eth0").unwrap_err();
        assert!(sentence.contains("leaves fe80::1%eth0 out"), "{sentence}");
        assert!(parse_cluster_dns("10.96.0.10").is_ok());
        assert!(parse_cluster_dns("x").is_err());
    }
}
