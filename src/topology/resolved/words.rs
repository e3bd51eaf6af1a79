//! The words of systemd-resolved's settings.

use std::net::IpAddr;

use crate::address::DNS_PORT;
use crate::text::escaped;

/// A server: `ADDRESS[:PORT][%INTERFACE][#NAME]`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServerWord {
    /// Its address.
    pub ip: IpAddr,
    /// Its port; 853 where only DNS over TLS would make it so is left at 53.
    pub port: u16,
    /// Its name for DNS over TLS, safe to print.
    pub name: Option<String>,
}

/// A listener of `DNSStubListenerExtra=`: `[udp:|tcp:]ADDRESS[:PORT]`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Extra {
    /// Its address; `None`: any.
    pub ip: Option<IpAddr>,
    /// Its port.
    pub port: u16,
    /// Whether it listens on UDP.
    pub udp: bool,
    /// Whether it listens on TCP.
    pub tcp: bool,
}

/// A domain of a link, or of all.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Domain {
    /// The domain, lower case, with its final dot.
    pub name: String,
    /// Whether it only routes (`~`) and is not searched.
    pub route_only: bool,
}

/// Where the stub listens.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Stub {
    /// UDP and TCP.
    #[default]
    Yes,
    /// Nowhere.
    No,
    /// Only UDP.
    Udp,
    /// Only TCP.
    Tcp,
}

impl ServerWord {
    /// Reads a server; `None` for anything else.
    ///
    /// Source: systemd `src/basic/in-addr-util.c:
    /// in_addr_port_ifindex_name_from_string_auto`.
    pub fn parse(word: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(word).ok()?;
        let (text, name) = match text.split_once('#') {
            Some((text, name)) => (text, Some(escaped(name.as_bytes()))),
            None => (text, None),
        };
        let (text, _interface) = text.split_once('%').unwrap_or((text, ""));
        let (ip, port) = with_port(text)?;
        Some(Self { ip, port, name })
    }
}

impl Extra {
    /// Reads a listener; `None` for anything else.
    ///
    /// Source: systemd `src/resolve/resolved-conf.c:
    /// config_parse_dns_stub_listener_extra`.
    pub fn parse(value: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(value).ok()?;
        let (udp, tcp, text) = match (text.strip_prefix("udp:"), text.strip_prefix("tcp:")) {
            (Some(rest), _) => (true, false, rest),
            (_, Some(rest)) => (false, true, rest),
            _ => (true, true, text),
        };
        let (ip, port) = with_port(text)?;
        Some(Self {
            ip: Some(ip).filter(|ip| !ip.is_unspecified()),
            port,
            udp,
            tcp,
        })
    }
}

/// `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1`, `[2001:db8::1]:53`.
fn with_port(text: &str) -> Option<(IpAddr, u16)> {
    if let Ok(ip) = text.parse() {
        return Some((ip, DNS_PORT));
    }
    let (address, port) = text.rsplit_once(':')?;
    let port = port.parse().ok().filter(|port| *port != 0)?;
    let inside = address
        .strip_prefix('[')
        .and_then(|it| it.strip_suffix(']'));
    match inside {
        Some(inside) => Some((IpAddr::V6(inside.parse().ok()?), port)),
        None => Some((IpAddr::V4(address.parse().ok()?), port)),
    }
}

impl Domain {
    /// Reads a domain; `~` before it says that it only routes.
    pub(super) fn parse(word: &[u8]) -> Self {
        let route = word.strip_prefix(b"~");
        let name = escaped(route.unwrap_or(word)).to_ascii_lowercase();
        let name = name.trim_matches('.');
        Self {
            name: format!("{name}."),
            // The root cannot be searched.
            route_only: route.is_some() || name.is_empty(),
        }
    }
}

impl Stub {
    /// Reads `DNSStubListener=`; `None` for what is ignored.
    pub fn parse(value: &[u8]) -> Option<Self> {
        let value = value.to_ascii_lowercase();
        Some(match value.as_slice() {
            b"yes" | b"true" | b"1" | b"on" | b"y" | b"t" => Self::Yes,
            b"no" | b"false" | b"0" | b"off" | b"n" | b"f" => Self::No,
            b"udp" => Self::Udp,
            b"tcp" => Self::Tcp,
            _ => return None,
        })
    }
}
