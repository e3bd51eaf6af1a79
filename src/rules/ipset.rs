//! `ipset save`.

use std::net::IpAddr;

use super::rule::{Addresses, Side};

/// A set of `ipset`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Set {
    /// Its name.
    pub name: Box<str>,
    /// What each of its elements is made of; `None`: kdns does not know the type.
    pub parts: Option<Vec<PartKind>>,
    /// Its elements.
    pub elements: Vec<Element>,
    /// The sets that a list of sets has in it.
    pub members: Vec<Box<str>>,
    /// Whether it has an element that kdns does not know.
    pub is_odd: bool,
    /// Where it is created.
    pub line: u32,
}

/// What a part of an element is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PartKind {
    /// An address or a network.
    Net,
    /// A port, with its protocol.
    Port,
    /// A port whose protocol does not count (`bitmap:port`).
    AnyPort,
    /// A link.
    Link,
    /// A mark.
    Mark,
}

/// An element of a set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Element {
    /// Its parts.
    pub parts: Vec<Part>,
    /// Whether it takes out what another one puts in.
    pub is_except: bool,
}

/// A part of an element.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Part {
    /// Addresses.
    Net(Addresses),
    /// Ports of a protocol; 0: of any.
    Port(u8, u16, u16),
    /// A link.
    Link(Box<str>),
    /// A mark.
    Mark(u32),
}

/// What of a packet is looked up.
#[derive(Clone, Copy, Debug)]
pub struct Key<'k> {
    /// Its source and destination.
    pub addresses: (IpAddr, IpAddr),
    /// Its ports; `None`: any that a client draws.
    pub ports: (Option<u16>, Option<u16>),
    /// Its protocol.
    pub protocol: u8,
    /// The links that it came in and leaves through; `None`: not known.
    pub links: (Option<&'k str>, Option<&'k str>),
    /// Its mark.
    pub mark: u32,
}

impl Set {
    /// Whether a packet is in it by these sides; `None`: not known.
    pub fn has(&self, sides: &[Side], key: &Key<'_>) -> Option<bool> {
        let kinds = self.parts.as_ref()?;
        // The rule gives a side for each part, or the set never matches.
        if sides.len() < kinds.len() {
            return Some(false);
        }
        let mut is_in = Some(false);
        for element in &self.elements {
            let mut is_it = Some(true);
            for (part, side) in element.parts.iter().zip(sides) {
                match part.has(*side, key) {
                    Some(true) => {}
                    Some(false) => {
                        is_it = Some(false);
                        break;
                    }
                    None => is_it = None,
                }
            }
            match is_it {
                Some(true) if element.is_except => return Some(false),
                Some(true) => is_in = Some(true),
                None if is_in == Some(false) => is_in = None,
                _ => {}
            }
        }
        if self.is_odd && is_in == Some(false) {
            return None;
        }
        is_in
    }
}

impl Part {
    fn has(&self, side: Side, key: &Key<'_>) -> Option<bool> {
        let is_source = side == Side::Source;
        match self {
            Self::Net(addresses) => {
                let (source, destination) = key.addresses;
                Some(addresses.have(if is_source { source } else { destination }))
            }
            Self::Port(protocol, first, last) => {
                if *protocol != 0 && *protocol != key.protocol {
                    return Some(false);
                }
                let port = if is_source { key.ports.0 } else { key.ports.1 };
                match port {
                    Some(port) => Some((*first..=*last).contains(&port)),
                    None if *last < 1024 => Some(false),
                    None => None,
                }
            }
            Self::Link(name) => {
                let link = if is_source { key.links.0 } else { key.links.1 };
                link.map(|it| *it == **name)
            }
            Self::Mark(mark) => Some(*mark == key.mark),
        }
    }
}

/// Takes a line of `ipset save`; `false`: it is none.
pub(super) fn take(sets: &mut Vec<Set>, line: &str, number: u32) -> bool {
    let mut words = line.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some("create"), Some(name), Some(kind)) => {
            if !kind.contains(':') {
                return false;
            }
            sets.push(Set {
                name: name.into(),
                parts: parts(kind),
                elements: Vec::new(),
                members: Vec::new(),
                is_odd: false,
                line: number,
            });
            true
        }
        (Some("add"), Some(name), Some(element)) => {
            // Elements stand behind their set.
            let Some(set) = sets.iter_mut().rfind(|it| *it.name == *name) else {
                return false;
            };
            let is_except = words.any(|it| it == "nomatch");
            set.add(element, is_except);
            true
        }
        _ => false,
    }
}

fn parts(kind: &str) -> Option<Vec<PartKind>> {
    let (_, parts) = kind.split_once(':')?;
    let part = |it: &str| {
        Some(match it {
            "ip" | "net" => PartKind::Net,
            "port" if kind.starts_with("bitmap") => PartKind::AnyPort,
            "port" => PartKind::Port,
            "iface" => PartKind::Link,
            "mark" => PartKind::Mark,
            _ => return None,
        })
    };
    parts.split(',').map(part).collect()
}

impl Set {
    fn add(&mut self, text: &str, is_except: bool) {
        let Some(kinds) = &self.parts else {
            self.members.push(text.into());
            return;
        };
        let words = text.split(',');
        let parts: Option<Vec<Part>> = words.zip(kinds).map(|(it, kind)| part(it, *kind)).collect();
        match parts {
            Some(parts) if parts.len() == kinds.len() => {
                self.elements.push(Element { parts, is_except });
            }
            _ => self.is_odd = true,
        }
    }
}

fn part(text: &str, kind: PartKind) -> Option<Part> {
    Some(match kind {
        PartKind::Net if text.contains('-') => Part::Net(Addresses::range(text)?),
        PartKind::Net => Part::Net(Addresses::network(text)?),
        PartKind::Port | PartKind::AnyPort => {
            let (protocol, ports) = text.split_once(':').unwrap_or(("", text));
            let protocol = match protocol {
                "tcp" => 6,
                "udp" => 17,
                "sctp" => 132,
                "udplite" => 136,
                "icmp" => 1,
                "icmpv6" => 58,
                "" if kind == PartKind::AnyPort => 0,
                // Written without one it is TCP.
                "" => 6,
                other => other.parse().ok()?,
            };
            let (first, last) = ports.split_once('-').unwrap_or((ports, ports));
            Part::Port(protocol, first.parse().ok()?, last.parse().ok()?)
        }
        PartKind::Link => Part::Link(text.strip_prefix("physdev:").unwrap_or(text).into()),
        PartKind::Mark => match text.strip_prefix("0x") {
            Some(hex) => Part::Mark(u32::from_str_radix(hex, 16).ok()?),
            None => Part::Mark(text.parse().ok()?),
        },
    })
}
