//! The servers of a scenario: rules that say what comes back for a query.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::address::{Address, DNS_PORT, Server};
use crate::engine::io::{Came, ConnectError, Wrong};
use crate::engine::message::{Data, Query, Rcode, Record, Reply, Transport};
use crate::name::{MAX_WIRE_BYTES, Name};

/// A rule: which queries it is for, and what they get.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rule {
    /// Pattern of the name: `*` is any text, case is ignored, no final dot.
    /// `None`: every name.
    pub name: Option<String>,
    /// Only queries for this type.
    pub record_type: Option<RecordType>,
    /// Only queries to this server.
    pub server: Option<IpAddr>,
    /// Only queries over this transport.
    pub transport: Option<Transport>,
    /// Only queries with (or without) an OPT record.
    pub edns: Option<bool>,
    /// Only the n-th query, from 1, that fits otherwise.
    pub nth: Option<usize>,
    /// Only the first so many queries that fit otherwise.
    pub up_to: Option<usize>,
    /// What they get.
    pub effect: Effect,
    /// How long the answer takes.
    pub delay: Duration,
    /// Whether a negative answer has an SOA record.
    pub soa: bool,
    /// Whether RA is set.
    pub recursion_available: bool,
    /// Whether a query with an OPT record gets one back.
    pub opt: bool,
    /// Whether AD is set.
    pub authentic_data: bool,
    /// Whether a response over UDP comes twice.
    pub is_doubled: bool,
    /// In what a response over UDP is none, if anything.
    pub wrong: Option<Wrong>,
}

/// What a rule does.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Effect {
    /// NOERROR with these records, as far as they are of the type asked for;
    /// a CNAME always.
    Answer {
        /// IPv4 addresses.
        a: Vec<Ipv4Addr>,
        /// IPv6 addresses.
        aaaa: Vec<Ipv6Addr>,
        /// Target of a CNAME; the addresses are then the target's.
        cname: Option<Name>,
    },
    /// A response without records.
    Status(Rcode),
    /// Nothing comes.
    Timeout,
    /// A truncated response without records.
    Truncated,
    /// The TCP connection is closed without a response (FIN).
    Fin,
    /// The TCP connection is reset (RST).
    Reset,
    /// ICMP port unreachable; with TCP the port is closed.
    Icmp,
    /// There is no route to the server.
    Unreachable,
}

/// What happens to a query that was sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// It never left: no route.
    Lost,
    /// No server listens on its port: ICMP port unreachable.
    NoServer,
    /// Nothing comes back.
    Silence,
    /// This comes back after that time.
    After(Duration, Came),
    /// This comes back after that time, twice.
    Twice(Duration, Came),
    /// This comes after that time, and is wrong so.
    Wrong(Duration, Wrong, Came),
}

/// Servers that answer by rules; the first one that fits is used. Without one
/// the answer is NXDOMAIN.
#[derive(Debug)]
pub struct World<'a> {
    rules: &'a [Rule],
    /// How many queries each rule has seen that fit it but for the count; empty
    /// if no rule counts.
    seen: Vec<usize>,
    /// How many network interfaces there are; `None`: as many as are asked for.
    interfaces: Option<usize>,
    /// Ports beside that of DNS at which servers listen.
    ports: Vec<u16>,
    /// The last name asked for, as text: most names are asked for twice.
    text: (Option<Name>, Vec<u8>),
}

impl Default for Rule {
    fn default() -> Self {
        Self {
            name: None,
            record_type: None,
            server: None,
            transport: None,
            edns: None,
            nth: None,
            up_to: None,
            effect: Effect::Status(Rcode::NxDomain),
            delay: Duration::ZERO,
            soa: true,
            recursion_available: true,
            opt: true,
            authentic_data: false,
            is_doubled: false,
            wrong: None,
        }
    }
}

impl<'a> World<'a> {
    /// The world of these rules, none of them used yet.
    pub fn new(rules: &'a [Rule]) -> Self {
        let counts = |rule: &Rule| rule.nth.is_some() || rule.up_to.is_some();
        let counted = if rules.iter().any(counts) {
            rules.len()
        } else {
            0
        };
        Self {
            rules,
            seen: vec![0; counted],
            interfaces: None,
            ports: Vec::new(),
            text: Default::default(),
        }
    }

    /// The same world seen from a machine with so many network interfaces.
    #[must_use]
    pub fn with_interfaces(self, count: usize) -> Self {
        Self {
            interfaces: Some(count),
            ..self
        }
    }

    /// The same world with servers that listen at these ports, too.
    #[must_use]
    pub fn with_ports(self, ports: Vec<u16>) -> Self {
        Self { ports, ..self }
    }

    /// Whether somebody listens at a port.
    fn has_server(&self, port: u16) -> bool {
        port == DNS_PORT || self.ports.contains(&port)
    }

    /// Whether what comes back depends on which of two queries comes first.
    pub fn counts(&self) -> bool {
        !self.seen.is_empty()
    }

    /// Whether a reply takes time, so that it counts when a query times out.
    pub fn is_late(&self) -> bool {
        self.rules.iter().any(|it| !it.delay.is_zero())
    }

    /// Whether the kernel sends to `address`: not to all machines at once, unless the
    /// program asks for that, and not to an interface that is not there.
    fn is_sent_to(&self, address: &Address) -> bool {
        match address.ip {
            IpAddr::V4(ip) => !ip.is_broadcast(),
            IpAddr::V6(ip) if ip.is_unicast_link_local() => {
                let scope = address.scope.as_deref().and_then(|it| it.parse().ok());
                let exists = |number: usize| match self.interfaces {
                    Some(count) => (1..=count).contains(&number),
                    None => number > 0,
                };
                scope.is_none_or(exists)
            }
            IpAddr::V6(_) => true,
        }
    }

    /// Whether a socket can be connected to `server`.
    ///
    /// # Errors
    ///
    /// A rule says that there is no route, or that the TCP port is closed; so
    /// is every port but that of DNS and [`World::with_ports`]. Or the kernel sends nothing to the address.
    pub fn connect(&self, server: &Server, transport: Transport) -> Result<(), ConnectError> {
        if !self.is_sent_to(&server.address) {
            return Err(ConnectError::Unreachable);
        }
        let about = |rule: &&Rule| {
            rule.server.is_none_or(|ip| ip == server.address.reached())
                && rule.transport.is_none_or(|only| only == transport)
                && rule.name.is_none()
        };
        for rule in self.rules.iter().filter(about) {
            match rule.effect {
                Effect::Unreachable if rule.record_type.is_none() => {
                    return Err(ConnectError::Unreachable);
                }
                // A port is closed before a type could be asked for.
                Effect::Icmp if transport == Transport::Tcp => return Err(ConnectError::Refused),
                _ => {}
            }
        }
        if transport == Transport::Tcp && !self.has_server(server.port) {
            return Err(ConnectError::Refused);
        }
        Ok(())
    }

    /// What happens to `query`. Counts for rules with [`Rule::nth`] and
    /// [`Rule::up_to`].
    pub fn answer(&mut self, query: &Query) -> Answer {
        if self.connect(&query.server, query.transport) == Err(ConnectError::Unreachable) {
            return Answer::Lost;
        }
        if !self.has_server(query.server.port) {
            return Answer::NoServer;
        }
        // What no server can read gets no answer.
        let Some(name) = query.name() else {
            return Answer::Silence;
        };
        if self.rules.is_empty() {
            return Rule::default().apply(query, name);
        }
        let (last, text) = &mut self.text;
        if last.as_ref() != Some(name) {
            text.clear();
            text.reserve(MAX_WIRE_BYTES);
            name.append_to(text);
            *last = Some(name.clone());
        }
        for (index, rule) in self.rules.iter().enumerate() {
            if !rule.fits(query, text) {
                continue;
            }
            let Some(seen) = self.seen.get_mut(index) else {
                return rule.apply(query, name);
            };
            *seen += 1;
            if rule.nth.is_none_or(|nth| nth == *seen)
                && rule.up_to.is_none_or(|most| *seen <= most)
            {
                return rule.apply(query, name);
            }
        }
        Rule::default().apply(query, name)
    }
}

impl Rule {
    fn fits(&self, query: &Query, name: &[u8]) -> bool {
        self.record_type
            .is_none_or(|only| query.record_type() == Some(only))
            && self
                .server
                .is_none_or(|ip| ip == query.server.address.reached())
            && self.transport.is_none_or(|only| only == query.transport)
            && self.edns.is_none_or(|with| with == query.edns.is_some())
            && self
                .name
                .as_deref()
                .is_none_or(|pattern| matches(pattern.as_bytes(), name))
    }

    fn apply(&self, query: &Query, name: &Name) -> Answer {
        let came = match &self.effect {
            Effect::Fin if query.transport == Transport::Tcp => Came::Closed,
            Effect::Reset if query.transport == Transport::Tcp => Came::Reset,
            Effect::Timeout | Effect::Fin | Effect::Reset => return Answer::Silence,
            Effect::Unreachable => return Answer::Lost,
            Effect::Icmp => Came::Refused,
            Effect::Answer { a, aaaa, cname } => {
                let answers = records(query, name, a, aaaa, cname.as_ref());
                Came::Reply(self.reply(query, Rcode::NoError, answers))
            }
            Effect::Status(rcode) => Came::Reply(self.reply(query, *rcode, Vec::new())),
            Effect::Truncated => Came::Reply(Reply {
                truncated: true,
                soa: false,
                ..self.reply(query, Rcode::NoError, Vec::new())
            }),
        };
        let is_datagram = query.transport == Transport::Udp && matches!(came, Came::Reply(_));
        match self.wrong {
            Some(wrong) if is_datagram => Answer::Wrong(self.delay, wrong, came),
            _ if is_datagram && self.is_doubled => Answer::Twice(self.delay, came),
            _ => Answer::After(self.delay, came),
        }
    }

    fn reply(&self, query: &Query, rcode: Rcode, answers: Vec<Record>) -> Reply {
        // A server that rejects a message as a whole says nothing about EDNS.
        let knows_edns = self.opt && !matches!(rcode, Rcode::FormErr | Rcode::NotImp);
        let negative = answers.is_empty() && matches!(rcode, Rcode::NoError | Rcode::NxDomain);
        Reply {
            rcode,
            soa: self.soa && negative,
            opt: knows_edns && query.edns.is_some(),
            truncated: false,
            authoritative: false,
            recursion_available: self.recursion_available,
            authentic_data: self.authentic_data,
            answers,
        }
    }
}

fn records(
    query: &Query,
    name: &Name,
    a: &[Ipv4Addr],
    aaaa: &[Ipv6Addr],
    cname: Option<&Name>,
) -> Vec<Record> {
    let alias = cname.map(|target| Record::new(name.clone(), Data::Cname(target.clone())));
    let owner = cname.unwrap_or(name);
    let address = |data| Record::new(owner.clone(), data);
    let mut answers: Vec<Record> = alias.into_iter().collect();
    match query.record_type() {
        Some(RecordType::A) => answers.extend(a.iter().map(|&ip| address(Data::A(ip)))),
        Some(RecordType::AAAA) => answers.extend(aaaa.iter().map(|&ip| address(Data::Aaaa(ip)))),
        _ => {}
    }
    answers
}

/// Whether `text` fits `pattern`, in which `*` is any text. Case is ignored.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    if memchr::memchr(b'*', pattern).is_none() {
        // Nearly always it is the same text, which is seen faster.
        return pattern == text || pattern.eq_ignore_ascii_case(text);
    }
    let mut pieces = pattern.split(|&byte| byte == b'*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = strip_prefix(text, first) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    for piece in pieces {
        // The first place is as good as any: what follows is any text again.
        let found = (0..=rest.len()).find_map(|at| strip_prefix(rest.get(at..)?, piece));
        match found {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.len()
        .checked_sub(last.len())
        .and_then(|at| rest.get(at..))
        .is_some_and(|end| end == last || end.eq_ignore_ascii_case(last))
}

fn strip_prefix<'t>(text: &'t [u8], prefix: &[u8]) -> Option<&'t [u8]> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

#[cfg(test)]
mod tests;
