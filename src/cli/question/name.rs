//! Refuses what cannot be a name, and says what to write.

use std::net::IpAddr;

use anyhow::bail;

use crate::render::command::Command;
use crate::text::escaped;

/// Refuses what cannot be a name, before anybody is asked about it.
pub(super) fn check(name: &str) -> anyhow::Result<()> {
    if name.is_empty() {
        bail!("the name is empty; write a name such as kubernetes.default");
    }
    check_form(name)?;
    let text = name.strip_suffix('.').unwrap_or(name);
    let longest = text
        .split('.')
        .max_by_key(|label| label.len())
        .unwrap_or_default();
    if longest.len() > crate::name::MAX_LABEL_BYTES {
        let bytes = longest.len();
        let start: String = longest.chars().take(20).collect();
        bail!(
            "the label `{start}…` has {bytes} bytes; a label has at most 63 (RFC 1035, section 3.1)"
        );
    }
    if text.len() > 253 {
        let bytes = text.len();
        bail!("the name has {bytes} bytes; a name has at most 253 (RFC 1035, section 3.1)");
    }
    Ok(())
}

/// Refuses what has a name in it and more around it.
fn check_form(text: &str) -> anyhow::Result<()> {
    let shown = escaped(text.as_bytes());
    if let Some((_, rest)) = text.split_once("://") {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let host = rest.get(..end).unwrap_or(rest);
        let host = host.rsplit('@').next().unwrap_or(host);
        let host = without_port(host).unwrap_or(host);
        bail!(
            "`{shown}` is a URL; resolvers are given its host: {}",
            written(host)
        );
    }
    if let Some(host) = without_port(text) {
        let around = if text.ends_with(']') {
            "brackets around the address"
        } else {
            "a port behind the name"
        };
        bail!(
            "`{shown}` has {around}; write the name alone: {}",
            written(host)
        );
    }
    let bare = text.trim_matches(|it: char| it.is_whitespace() || "'\"`".contains(it));
    if bare != text && !bare.is_empty() {
        bail!(
            "`{shown}` has quotes or blanks around the name; write {}",
            written(bare)
        );
    }
    if let Some(name) = text.strip_suffix([',', ';']) {
        bail!(
            "`{shown}` ends with `{}`; write {}",
            text.get(name.len()..).unwrap_or_default(),
            written(name)
        );
    }
    check_slash(text, &shown)
}

/// Refuses what has a slash, as targets of kubectl have.
fn check_slash(text: &str, shown: &str) -> anyhow::Result<()> {
    // Reverse zones smaller than 256 addresses have slashes (RFC 2317, section 4).
    let is_reverse = text.trim_end_matches('.').ends_with(".in-addr.arpa");
    match text.split_once('/') {
        Some((namespace, service)) if !is_reverse => {
            let service = service.trim_end_matches('/');
            if service.contains('/') {
                bail!("`{shown}` has a slash, and no host name has one; write the name alone");
            }
            let alone = match namespace {
                _ if service.is_empty() => Some(namespace),
                "svc" | "service" | "services" => Some(service),
                _ => None,
            };
            if let Some(alone) = alone {
                let name = written(alone);
                bail!("`{shown}` has a slash, and no host name has one; write {name}");
            }
            bail!(
                "`{shown}` has a slash, and no host name has one; for the service {} in \
                 namespace {} write {}",
                escaped(service.as_bytes()),
                escaped(namespace.as_bytes()),
                written(&format!("{service}.{namespace}"))
            );
        }
        _ => Ok(()),
    }
}

/// A command line that asks about `name`.
fn written(name: &str) -> Command {
    Command::new("kdns explain").arg(name)
}

/// The name in front of `:PORT`; an IPv6 address has none.
fn without_port(text: &str) -> Option<&str> {
    if let Some((address, rest)) = text.strip_prefix('[').and_then(|it| it.split_once(']')) {
        return (rest.is_empty() || rest.starts_with(':')).then_some(address);
    }
    let (name, port) = text.rsplit_once(':')?;
    let address = text.split('%').next().unwrap_or(text);
    let is_port = !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit());
    (is_port && address.parse::<IpAddr>().is_err() && !name.contains(':')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn what_is_no_name_is_answered_with_one() {
        for (text, expected) in [
            (
                "https://api.example.com:8443/v1?x=1",
                "resolvers are given its host: kdns explain api.example.com",
            ),
            ("redis://user@db:6379", "its host: kdns explain db"),
            ("db.shop:5432", "write the name alone: kdns explain db.shop"),
            (
                "[::1]:53",
                "has a port behind the name; write the name alone: kdns explain ::1",
            ),
            (
                "[::1]",
                "has brackets around the address; write the name alone: kdns explain ::1",
            ),
            (
                "'db'",
                "has quotes or blanks around the name; write kdns explain db",
            ),
            (" db ", "write kdns explain db"),
            ("svc/db", "no host name has one; write kdns explain db"),
            (
                "db.shop/",
                "no host name has one; write kdns explain db.shop",
            ),
            ("db,", "ends with `,`; write kdns explain db"),
            (
                "shop/db",
                "for the service db in namespace shop write kdns explain db.shop",
            ),
            ("a/b/c", "write the name alone"),
            ("", "the name is empty"),
        ] {
            let error = check(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn odd_names_stay_names() {
        for text in [
            "db",
            "db.",
            ".",
            "::1",
            "fe80::1%eth0",
            "10.0.0.1",
            "_http._tcp.web.shop",
            "0/25.2.0.192.in-addr.arpa",
            "a:b",
            "a_b",
            "*.example.com",
            "::ffff:10.0.0.1",
        ] {
            assert!(check(text).is_ok(), "{text}");
        }
    }
}
