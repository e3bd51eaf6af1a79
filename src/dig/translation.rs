//! Between what the models of resolvers say and what is on the wire.

use std::net::{Ipv4Addr, Ipv6Addr};

use hickory_proto::rr::RecordType;

use crate::dig::lookup::{Edns, Lookup};
use crate::dig::message::{Message, Opt, Record, flag};
use crate::dig::reader::Reader;
use crate::dig::request::{self, Parts};
use crate::engine::message::{self as engine, Data, Query, Rcode, Reply};
use crate::name::Name;

const A: u16 = 1;
const CNAME: u16 = 5;
const SOA: u16 = 6;
const COOKIE: u16 = 10;
const AAAA: u16 = 28;

/// A resolver's query as a lookup of dig's, printed as `wanted` says.
///
/// What `wanted` says about the header's flags or the OPT record, other than
/// dig's defaults, counts more than what the resolver would send.
pub fn lookup(query: &Query, wanted: &Lookup) -> Lookup {
    let default = Lookup::default();
    let mut lookup = wanted.clone();
    if let Some(rdtype) = query.record_type() {
        lookup.rdtype = rdtype.into();
    }
    if wanted.flags == default.flags {
        lookup.flags.authentic = query.authentic_data;
    }
    if wanted.edns == default.edns {
        let edns = &mut lookup.edns;
        let asked = query.edns.as_ref();
        edns.version = asked.map(|_| 0);
        edns.size = asked.map(|it| it.size);
        edns.dnssec = asked.is_some_and(|it| it.dnssec_ok);
        let codes = asked.map(|it| it.options).unwrap_or_default();
        edns.send_cookie = codes.contains(&COOKIE);
        let others = codes.iter().filter(|&&code| code != COOKIE);
        edns.options = others.map(|&code| (code, Vec::new())).collect();
    }
    lookup
}

/// The message of a resolver's query, as `wanted` changes it.
pub fn message(query: &Query, wanted: &Lookup, id: u16, cookie: &[u8]) -> Vec<u8> {
    match &query.question {
        engine::Question::Malformed(bytes) => [&id.to_be_bytes()[..], bytes].concat(),
        engine::Question::Asked(name, _) => {
            let parts = Parts { name, id, cookie };
            request::message(&lookup(query, wanted), &parts)
        }
    }
}

/// Why a message is no response to a query with this id; `None`: it is one.
/// Some servers leave the question out of error messages.
pub fn mismatch(message: &Message, query: &Query, id: u16) -> Option<&'static str> {
    let fits = |name: &Name, record_type: RecordType| {
        let mut questions = message.questions.iter();
        message.questions.is_empty() && message.rcode != 0
            || questions.any(|it| {
                it.name.eq_ignore_case(name)
                    && it.rdtype == u16::from(record_type)
                    && it.rdclass == 1
            })
    };
    match &query.question {
        _ if message.flags & flag::QR == 0 => Some("it is a query"),
        _ if message.id != id => Some("its id is another one"),
        engine::Question::Asked(name, record_type) if !fits(name, *record_type) => {
            Some("its question is another one")
        }
        _ => None,
    }
}

/// A message as models of resolvers see it.
pub fn reply(message: &Message) -> Reply {
    let has = |bit: u16| message.flags & bit != 0;
    Reply {
        rcode: rcode(message.rcode & 15),
        answers: message.answers.iter().filter_map(record).collect(),
        soa: message.authorities.iter().any(|it| it.rdtype == SOA),
        opt: message.opt.is_some(),
        truncated: has(flag::TC),
        authoritative: has(flag::AA),
        recursion_available: has(flag::RA),
        authentic_data: has(flag::AD),
    }
}

/// A scenario's reply as a message, as far as dig, host and nslookup look at it.
pub fn message_of(reply: &Reply) -> Message {
    let bits = [
        (true, flag::QR),
        (reply.truncated, flag::TC),
        (reply.authoritative, flag::AA),
        (reply.recursion_available, flag::RA),
        (reply.authentic_data, flag::AD),
    ];
    let set = bits.iter().filter(|(is_set, _)| *is_set);
    Message {
        flags: set.map(|(_, bit)| bit).sum(),
        rcode: code(reply.rcode),
        answers: reply.answers.iter().map(written).collect(),
        opt: reply.opt.then(Opt::default),
        ..Message::default()
    }
}

/// A model's record with its data as bytes; of other types than these nobody
/// looks at it.
fn written(record: &engine::Record) -> Record {
    let data = match &record.data {
        Data::A(ip) => ip.octets().to_vec(),
        Data::Aaaa(ip) => ip.octets().to_vec(),
        Data::Cname(target) => [target.as_wire(), &[0]].concat(),
        Data::Other(_) => Vec::new(),
    };
    Record {
        owner: record.name.clone(),
        rdtype: record.data.record_type().into(),
        rdclass: 1,
        ttl: 0,
        data,
    }
}

/// The OPT record of a lookup of dig's as models of resolvers say it.
pub fn edns(edns: &Edns) -> Option<engine::Edns> {
    request::wants_opt(edns).then(|| engine::Edns {
        size: edns.size.unwrap_or(request::DEFAULT_SIZE),
        dnssec_ok: edns.dnssec,
        options: if edns.send_cookie { &[COOKIE] } else { &[] },
    })
}

/// The name at the end of the aliases that begin at `name`.
///
/// Source: BIND bin/dig/host.c, nslookup.c: `chase_cnamechain` (9.18)
pub fn chase_cnamechain(message: &Message, name: &Name) -> Name {
    let mut name = name.clone();
    for _ in &message.answers {
        let mut answers = message.answers.iter();
        let alias = answers.find(|it| it.rdtype == CNAME && it.owner.eq_ignore_case(&name));
        let Some(target) = alias.and_then(|it| Reader::new(&it.data).name().ok()) else {
            break;
        };
        name = target;
    }
    name
}

fn code(rcode: Rcode) -> u16 {
    match rcode {
        Rcode::NoError => 0,
        Rcode::FormErr => 1,
        Rcode::ServFail => 2,
        Rcode::NxDomain => 3,
        Rcode::NotImp => 4,
        Rcode::Refused => 5,
    }
}

/// Codes that no resolver knows are treated as FORMERR is: an error that
/// another server could not fix.
pub fn rcode(code: u16) -> Rcode {
    match code {
        0 => Rcode::NoError,
        2 => Rcode::ServFail,
        3 => Rcode::NxDomain,
        4 => Rcode::NotImp,
        5 => Rcode::Refused,
        _ => Rcode::FormErr,
    }
}

/// Records of other classes than IN are nobody's.
fn record(record: &Record) -> Option<engine::Record> {
    if record.rdclass != 1 {
        return None;
    }
    let v4 = <[u8; 4]>::try_from(record.data.as_slice()).map(Ipv4Addr::from);
    let v6 = <[u8; 16]>::try_from(record.data.as_slice()).map(Ipv6Addr::from);
    let data = match record.rdtype {
        A => Data::A(v4.ok()?),
        AAAA => Data::Aaaa(v6.ok()?),
        CNAME => Data::Cname(Reader::new(&record.data).name().ok()?),
        other => Data::Other(other.into()),
    };
    Some(engine::Record {
        name: record.owner.clone(),
        data,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dig::message::{Read, read_message};
    use crate::engine::message::{Because, Edns, SocketId, Transport};

    fn query(edns: Option<Edns>) -> Query {
        let name = Name::from_plain(b"a").unwrap();
        Query {
            server: std::net::IpAddr::from([127, 0, 0, 1]).into(),
            question: engine::Question::Asked(name, RecordType::A),
            transport: Transport::Udp,
            socket: SocketId(0),
            edns,
            authentic_data: false,
            because: Because::AsIs,
        }
    }

    #[test]
    fn a_query_is_the_resolvers_own() {
        let plain = Lookup::default();
        let wire = message(&query(None), &plain, 0x1234, &[1; 8]);
        let expected = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01a\0\0\x01\0\x01";
        assert_eq!(wire, expected);
        let edns = Edns {
            size: 1200,
            dnssec_ok: true,
            options: &[],
        };
        let wire = message(&query(Some(edns)), &plain, 1, &[1; 8]);
        assert!(
            wire.ends_with(b"\0\0\x29\x04\xb0\0\0\x80\0\0\0"),
            "{wire:x?}"
        );
        // What was said to dig counts more.
        let mut wanted = Lookup::default();
        wanted.edns.dnssec = true;
        wanted.flags.recurse = false;
        let wire = message(&query(None), &wanted, 1, &[]);
        assert!(
            wire.starts_with(b"\0\x01\0\x20") && wire.ends_with(b"\x80\0\0\0"),
            "{wire:x?}"
        );
    }

    #[test]
    fn a_reply_is_what_models_look_at() {
        let wire = b"\0\x07\x84\x03\0\x01\0\x01\0\0\0\0\x01A\0\0\x01\0\x01\
            \xc0\x0c\0\x01\0\x01\0\0\0\x01\0\x04\x0a\0\0\x01";
        let (Read::Whole(message) | Read::Part(message)) = read_message(wire, true) else {
            panic!("{wire:?}");
        };
        assert_eq!(mismatch(&message, &query(None), 7), None);
        assert_eq!(
            mismatch(&message, &query(None), 8),
            Some("its id is another one")
        );
        // Without a question it is one only where it is an error.
        for (rcode, expected) in [(b'\x85', false), (b'\x80', true)] {
            let bare = [0, 7, 0x84, rcode, 0, 0, 0, 0, 0, 0, 0, 0];
            let (Read::Whole(bare) | Read::Part(bare)) = read_message(&bare, true) else {
                panic!("{bare:?}");
            };
            let found = mismatch(&bare, &query(None), 7);
            assert_eq!(found.is_some(), expected, "{rcode}");
        }
        let found = reply(&message);
        assert_eq!((found.rcode, found.authoritative), (Rcode::NxDomain, true));
        assert_eq!(found.answers[0].data, Data::A([10, 0, 0, 1].into()));
    }
}
