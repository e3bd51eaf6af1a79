//! IPVS services: `ipvsadm -S -n`, `ipvsadm -L -n`, `/proc/net/ip_vs`.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A virtual service.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Service {
    /// What it is known by.
    pub key: Key,
    /// How a real server is picked: `rr`.
    pub scheduler: Box<str>,
    /// Whether a client stays with its server.
    pub is_persistent: bool,
    /// Its real servers.
    pub servers: Vec<Server>,
    /// In which text it is written.
    pub text: u16,
    /// On which line of that.
    pub line: u32,
}

impl Service {
    /// The kernel takes a server once; a text can have it twice.
    pub(super) fn with_each_once(mut self) -> Self {
        let mut seen = BTreeSet::new();
        self.servers.retain(|it| seen.insert(it.address));
        self
    }
}

/// What a service is known by.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Key {
    /// Protocol number, address and port.
    Address(u8, SocketAddr),
    /// The mark of the packet.
    Mark(u32),
}

/// A real server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Server {
    /// Its address.
    pub address: SocketAddr,
    /// Its share is in proportion to it; 0 gets nothing new.
    pub weight: u32,
    /// Whether packets are translated to it (`Masq`), not tunnelled or routed.
    pub is_translated: bool,
    /// Where it is written.
    pub line: u32,
}

/// Services, as their lines come.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Those whose lines were understood.
    pub services: Vec<Service>,
    /// The servers that follow are of a service whose line was not.
    is_unknown: bool,
}

impl Taken {
    /// Takes a line; `false`: it is none of these formats.
    pub(crate) fn take(&mut self, line: &str, number: u32) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        let taken = match words.as_slice() {
            ["-A" | "--add-service", rest @ ..] => saved_service(rest, number).map(|it| {
                self.services.push(it);
            }),
            ["-a" | "--add-server", rest @ ..] => saved_server(&mut self.services, rest, number),
            ["TCP" | "UDP" | "SCTP" | "FWM", ..] => {
                let service = listed_service(&words, number);
                self.is_unknown = service.is_none();
                service.map(|it| self.services.push(it))
            }
            ["->", ..] if self.is_unknown => None,
            ["->", rest @ ..] => listed_server(&mut self.services, rest, number),
            _ => return is_header(line),
        };
        taken.is_some()
    }
}

/// The line above a list that has schedulers and weights in it.
fn is_header(line: &str) -> bool {
    line.starts_with("Prot LocalAddress:Port") && line.contains("Scheduler")
}

fn option<'w>(words: &[&'w str], names: [&str; 2]) -> Option<&'w str> {
    let at = words.iter().position(|it| names.contains(it))?;
    words.get(at + 1).copied()
}

fn saved_key(words: &[&str]) -> Option<Key> {
    if let Some(address) = option(words, ["-t", "--tcp-service"]) {
        return Some(Key::Address(6, address.parse().ok()?));
    }
    if let Some(address) = option(words, ["-u", "--udp-service"]) {
        return Some(Key::Address(17, address.parse().ok()?));
    }
    if let Some(address) = words.iter().position(|it| *it == "--sctp-service") {
        return Some(Key::Address(132, words.get(address + 1)?.parse().ok()?));
    }
    let mark = option(words, ["-f", "--fwmark-service"])?;
    Some(Key::Mark(mark.parse().ok()?))
}

fn saved_service(words: &[&str], line: u32) -> Option<Service> {
    Some(Service {
        key: saved_key(words)?,
        scheduler: option(words, ["-s", "--scheduler"]).unwrap_or("wlc").into(),
        is_persistent: words.iter().any(|it| *it == "-p" || *it == "--persistent"),
        servers: Vec::new(),
        text: 0,
        line,
    })
}

fn saved_server(services: &mut [Service], words: &[&str], line: u32) -> Option<()> {
    let key = saved_key(words)?;
    let service = services.iter_mut().rfind(|it| it.key == key)?;
    let weight = option(words, ["-w", "--weight"]).map_or(Some(1), |it| it.parse().ok());
    let is_translated = words
        .iter()
        .any(|it| *it == "-m" || *it == "--masquerading");
    service.servers.push(Server {
        address: option(words, ["-r", "--real-server"])?.parse().ok()?,
        weight: weight?,
        is_translated,
        line,
    });
    Some(())
}

/// `UDP  0A60000A:0035 rr`, and with addresses in the letters of `ipvsadm`.
fn listed_service(words: &[&str], line: u32) -> Option<Service> {
    let [kind, address, scheduler, flags @ ..] = words else {
        return None;
    };
    let key = match *kind {
        "TCP" => Key::Address(6, socket(address)?),
        "UDP" => Key::Address(17, socket(address)?),
        "SCTP" => Key::Address(132, socket(address)?),
        _ => Key::Mark(mark(address)?),
    };
    // Counters stand there in `ipvsadm -L --stats`.
    if scheduler.starts_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    Some(Service {
        key,
        scheduler: (*scheduler).into(),
        is_persistent: flags.contains(&"persistent"),
        servers: Vec::new(),
        text: 0,
        line,
    })
}

/// `/proc` writes a mark in eight hexadecimal digits, `ipvsadm` as a number.
fn mark(text: &str) -> Option<u32> {
    if text.len() == 8 {
        return u32::from_str_radix(text, 16).ok();
    }
    text.parse().ok()
}

fn listed_server(services: &mut [Service], words: &[&str], line: u32) -> Option<()> {
    let [address, forward, weight, ..] = words else {
        return None;
    };
    if *address == "RemoteAddress:Port" {
        return Some(());
    }
    let is_way = ["Masq", "Tunnel", "Route", "Local"].contains(forward);
    if !is_way {
        return None;
    }
    services.last_mut()?.servers.push(Server {
        address: socket(address)?,
        weight: weight.parse().ok()?,
        is_translated: *forward == "Masq",
        line,
    });
    Some(())
}

/// `10.96.0.10:53`, `[fd00::a]:53`; of `/proc`: `0A60000A:0035`.
fn socket(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.rsplit_once(':')?;
    if let Some(six) = ip.strip_prefix('[') {
        let ip: Ipv6Addr = six.strip_suffix(']')?.parse().ok()?;
        let is_hex = text.len() == 46;
        let port = if is_hex {
            u16::from_str_radix(port, 16).ok()?
        } else {
            port.parse().ok()?
        };
        return Some((ip, port).into());
    }
    if ip.len() == 8 && !ip.contains('.') {
        let ip = Ipv4Addr::from(u32::from_str_radix(ip, 16).ok()?);
        return Some((IpAddr::V4(ip), u16::from_str_radix(port, 16).ok()?).into());
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_saved_by_short_and_long_options() {
        let address = "10.96.0.10:53".parse().unwrap();
        for (words, key) in [
            ("-t 10.96.0.10:53", Key::Address(6, address)),
            ("--tcp-service 10.96.0.10:53", Key::Address(6, address)),
            ("-u 10.96.0.10:53", Key::Address(17, address)),
            ("--udp-service 10.96.0.10:53", Key::Address(17, address)),
            ("--sctp-service 10.96.0.10:53", Key::Address(132, address)),
            ("-f 7", Key::Mark(7)),
            ("--fwmark-service 7", Key::Mark(7)),
        ] {
            let mut taken = Taken::default();
            assert!(taken.take(&format!("-A {words} -s rr"), 1));
            let server = format!("-a {words} -r 10.244.0.5:53 -m -w 1");
            assert!(taken.take(&server, 2), "{words}");
            let services = taken.services.iter();
            let found: Vec<_> = services.map(|it| (it.key, it.servers.len())).collect();
            assert_eq!(found, [(key, 1)], "{words}");
        }
    }
}
