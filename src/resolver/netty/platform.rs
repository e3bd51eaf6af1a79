//! The servers where Netty finds none in the file.

use std::net::{IpAddr, Ipv6Addr};

use crate::address::{DNS_PORT, Server};
use crate::config::resolv_conf::ResolvConf;
use crate::resolver::netty::hosts::{ipv4, ipv6};
use crate::resolver::netty::read::{Servers, lines, number};
use crate::resolver::reading::{Reading, Setting};

/// Google's, which are asked where no other server is known.
///
/// Source: `DefaultDnsServerAddressStreamProvider.java` (4.1.48), for an interface `lo` with `::1`
pub(super) const GOOGLE: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0x2001, 0x4860, 0x4860, 0, 0, 0, 0, 0x8888),
    Ipv6Addr::new(0x2001, 0x4860, 0x4860, 0, 0, 0, 0, 0x8844),
];
/// Source: OpenJDK `sun/net/dns/ResolverConfigurationImpl.java: loadConfig` (17)
const MAX_PLATFORM_SERVERS: usize = 5;

/// What the JDK finds where Netty finds no server.
///
/// Source: OpenJDK `sun/net/dns/ResolverConfigurationImpl.java: resolvconf` (17)
pub(super) fn platform_servers(file: &ResolvConf, reading: &mut Reading<'_>) -> Servers {
    let lines = lines(file).filter_map(|line| {
        let rest = line.bytes.strip_prefix(b"nameserver")?;
        let is_blank = matches!(rest.first(), Some(b' ' | b'\t'));
        let word = line.split(b" \t").nth(1)?;
        let word = std::str::from_utf8(word.bytes)
            .ok()
            .map(|text| (text, word.span));
        word.filter(|it| is_blank && !it.0.starts_with(['#', ';']))
    });
    let mut servers = Servers::new();
    for (word, span) in lines.take(MAX_PLATFORM_SERVERS) {
        let (ip, port) = match word.split_once(':') {
            Some((ip, port)) if ipv4(ip).is_some() => (ip, number(port.as_bytes())),
            _ => (word, Some(DNS_PORT)),
        };
        let ip = ipv4(ip)
            .map(IpAddr::V4)
            .or_else(|| Some(ipv6(ip)?.0.into()));
        if let (Some(ip), Some(port)) = (ip, port) {
            let address = ip.into();
            let server = Server { address, port };
            reading.servers.push(Setting::file(server.clone(), span));
            servers.push(Some(server));
        }
    }
    servers
}
