//! DNS messages: what a query says, and the reply that a rule makes.
//!
//! hickory-proto reads and writes them. It refuses a name of more than 255 octets, which c-ares and others do send;
//! such a query is read here by hand, and answered with its own question and the rule's rcode.

use std::fmt::Write as _;

use hickory_proto::op::{Edns, Message, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, CNAME, SOA};
use hickory_proto::rr::{Name, RData, Record, RecordType};

use super::observation::{EdnsSeen, Query};
use super::rules::{Reply, Rule, Wrong};

const TTL: u32 = 30;
/// Of a negative answer: in the recorded vectors one is forgotten within ten seconds.
const NEGATIVE_TTL: u32 = 5;

/// A query that can be answered.
#[derive(Debug)]
pub(crate) enum Parsed {
    /// As hickory reads it.
    Whole(Box<Message>),
    /// One with an overlong name: the bytes of its header and question.
    Long(Vec<u8>),
}

/// The query in a message as it is recorded, and what a reply needs of it; `None` for a malformed one.
pub(crate) fn read(bytes: &[u8], proto: &str, server: &str, sock: u32) -> (Query, Option<Parsed>) {
    let message = Message::from_vec(bytes)
        .ok()
        .filter(|m| m.queries.len() == 1);
    let mut query = Query {
        proto: proto.to_owned(),
        server: server.to_owned(),
        qname: None,
        qtype: None,
        bad: None,
        edns: None,
        ad: None,
        cd: None,
        rd: None,
        reply: None,
        sock: Some(sock),
    };
    if let Some(message) = message {
        let question = message.queries.first();
        query.qname = question.map(|q| name_text(q.name().iter()));
        query.qtype = question.map(|q| q.query_type().to_string());
        query.edns = message.edns.as_ref().map(edns_seen);
        query.ad = message.metadata.authentic_data.then_some(true);
        query.cd = message.metadata.checking_disabled.then_some(true);
        query.rd = (!message.metadata.recursion_desired).then_some(false);
        return (query, Some(Parsed::Whole(Box::new(message))));
    }
    if let Some((labels, qtype, length)) = long_question(bytes) {
        query.qname = Some(name_text(labels.into_iter()));
        query.qtype = Some(RecordType::from(qtype).to_string());
        query.edns = long_edns(bytes, length);
        return (query, bytes.get(..length).map(|b| Parsed::Long(b.to_vec())));
    }
    query.bad = Some(hex(bytes.get(2..).unwrap_or_default()));
    (query, None)
}

/// The labels, the type and the end of the question in a message with one; `None` unless the name is overlong.
fn long_question(bytes: &[u8]) -> Option<(Vec<&[u8]>, u16, usize)> {
    const ONE: [u8; 2] = [0, 1];
    let mut at = 12;
    let mut labels = Vec::new();
    loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1;
        match length {
            0 => break,
            1..=63 => labels.push(bytes.get(at..at + length)?),
            _ => return None,
        }
        at += length;
    }
    let qtype = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
    let fits = bytes.get(4..6)? == ONE && bytes.get(at + 2..at + 4)? == ONE && at - 12 > 255;
    fits.then_some((labels, qtype, at + 4))
}

/// EDNS of a query whose only further record is an OPT.
fn long_edns(bytes: &[u8], question: usize) -> Option<EdnsSeen> {
    let record = bytes.get(question..)?;
    let [0, 0, 41, high, low, _, _, flags, _, _, _, data @ ..] = record else {
        return None;
    };
    let mut options = Vec::new();
    let mut rest = data;
    while let [c0, c1, l0, l1, tail @ ..] = rest {
        options.push(u16::from_be_bytes([*c0, *c1]));
        rest = tail
            .get(usize::from(u16::from_be_bytes([*l0, *l1]))..)
            .unwrap_or_default();
    }
    Some(EdnsSeen {
        size: u16::from_be_bytes([*high, *low]),
        dnssec_ok: (flags & 0x80 != 0).then_some(true),
        options,
    })
}

fn edns_seen(edns: &Edns) -> EdnsSeen {
    EdnsSeen {
        size: edns.max_payload(),
        dnssec_ok: edns.flags().dnssec_ok.then_some(true),
        options: edns
            .options()
            .options
            .iter()
            .map(|(code, _)| u16::from(*code))
            .collect(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, b| {
        let _ = write!(text, "{b:02x}");
        text
    })
}

/// A name as in a master file, with decimal escapes and without the final dot.
fn name_text<'a>(labels: impl Iterator<Item = &'a [u8]>) -> String {
    let mut text = String::new();
    for label in labels {
        if !text.is_empty() {
            text.push('.');
        }
        for &byte in label {
            match byte {
                b'.' | b'\\' => {
                    text.push('\\');
                    text.push(char::from(byte));
                }
                0x21..=0x7e => text.push(char::from(byte)),
                _ => {
                    let _ = write!(text, "\\{byte:03}");
                }
            }
        }
    }
    if text.is_empty() {
        text.push('.');
    }
    text
}

/// Where the type of the question stands.
fn type_at(message: &[u8]) -> Option<usize> {
    let mut at = 12;
    loop {
        let length = usize::from(*message.get(at)?);
        at += 1 + length;
        if length == 0 {
            return Some(at);
        }
    }
}

/// The reply that the rule makes; `None` where nothing is sent.
pub(crate) fn reply(asked: &Parsed, rule: &Rule, proto: &str) -> Option<Vec<u8>> {
    let mut bytes = match asked {
        Parsed::Whole(message) => whole_reply(message, rule),
        Parsed::Long(question) => long_reply(question, rule),
    }?;
    let bits = match rule.wrong.filter(|_| proto == "udp") {
        Some(Wrong::Id) => Some((0, 0x40)),
        Some(Wrong::Question) => Some((type_at(&bytes)? + 1, 0x40)),
        Some(Wrong::Source) | None => None,
    };
    if let Some((at, bits)) = bits {
        *bytes.get_mut(at)? ^= bits;
    }
    Some(bytes)
}

/// The question again with the rcode, no records.
fn long_reply(question: &[u8], rule: &Rule) -> Option<Vec<u8>> {
    let rcode = match rule.reply() {
        Reply::Timeout | Reply::Fin | Reply::Rst | Reply::Icmp | Reply::Unreachable => return None,
        Reply::Answer | Reply::NoData | Reply::Tc => 0,
        Reply::FormErr => 1,
        Reply::ServFail => 2,
        Reply::NxDomain => 3,
        Reply::NotImp => 4,
        Reply::Refused => 5,
    };
    let [i0, i1, flags, ..] = question else {
        return None;
    };
    let mut bytes = vec![
        *i0,
        *i1,
        0x80 | flags & 0x79,
        0x80 | rcode,
        0,
        1,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    if rule.reply() == Reply::Tc {
        bytes.get_mut(2).map(|b| *b |= 2)?;
    }
    bytes.extend(question.get(12..)?);
    Some(bytes)
}

fn whole_reply(asked: &Message, rule: &Rule) -> Option<Vec<u8>> {
    let question = asked.queries.first()?;
    let mut message = Message::response(asked.metadata.id, asked.metadata.op_code);
    message.queries.push(question.clone());
    message.metadata.recursion_desired = asked.metadata.recursion_desired;
    message.metadata.recursion_available = rule.ra.unwrap_or(true);
    message.metadata.authentic_data = rule.ad.unwrap_or(false);
    message.metadata.checking_disabled = asked.metadata.checking_disabled;
    let mut negative = false;
    match rule.reply() {
        Reply::Timeout | Reply::Fin | Reply::Rst | Reply::Icmp | Reply::Unreachable => return None,
        Reply::Answer => {
            message.answers = records(rule, question.name(), question.query_type())?;
            negative = message.answers.is_empty();
        }
        Reply::NoData => negative = true,
        Reply::NxDomain => {
            message.metadata.response_code = ResponseCode::NXDomain;
            negative = true;
        }
        Reply::ServFail => message.metadata.response_code = ResponseCode::ServFail,
        Reply::Refused => message.metadata.response_code = ResponseCode::Refused,
        Reply::FormErr => message.metadata.response_code = ResponseCode::FormErr,
        Reply::NotImp => message.metadata.response_code = ResponseCode::NotImp,
        Reply::Tc => message.metadata.truncation = true,
    }
    if negative && rule.soa != Some(false) {
        message.authorities.push(soa()?);
    }
    // A server that rejects a message as a whole says nothing about EDNS.
    let old = matches!(rule.reply(), Reply::FormErr | Reply::NotImp);
    if asked.edns.is_some() && rule.opt.unwrap_or(!old) {
        let mut edns = Edns::new();
        edns.set_max_payload(1232);
        message.edns = Some(edns);
    }
    message.to_vec().ok()
}

/// The labels of a name in which a `\` takes the next letter as it is; empty ones are left out.
fn labels(text: &str) -> Vec<Vec<u8>> {
    let mut labels = vec![Vec::new()];
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let own = match byte {
            b'.' => {
                labels.push(Vec::new());
                continue;
            }
            b'\\' => bytes.next(),
            _ => Some(byte),
        };
        if let Some(label) = labels.last_mut() {
            label.extend(own);
        }
    }
    labels.retain(|it| !it.is_empty());
    labels
}

fn records(rule: &Rule, name: &Name, qtype: RecordType) -> Option<Vec<Record>> {
    let mut owner = name.clone();
    let mut all = Vec::new();
    if let Some(target) = &rule.cname {
        // Label by label: it can be no host name.
        let labels = labels(target);
        let target = Name::from_labels(labels.iter().map(Vec::as_slice)).ok()?;
        all.push(Record::from_rdata(
            owner,
            TTL,
            RData::CNAME(CNAME(target.clone())),
        ));
        owner = target;
    }
    if matches!(qtype, RecordType::A | RecordType::ANY) {
        all.extend(
            rule.a
                .iter()
                .map(|a| Record::from_rdata(owner.clone(), TTL, RData::A(A(*a)))),
        );
    }
    if matches!(qtype, RecordType::AAAA | RecordType::ANY) {
        all.extend(
            rule.aaaa
                .iter()
                .map(|a| Record::from_rdata(owner.clone(), TTL, RData::AAAA(AAAA(*a)))),
        );
    }
    Some(all)
}

fn soa() -> Option<Record> {
    let name = |text: &str| Name::from_ascii(text).ok();
    let data = SOA::new(
        name("a.root-servers.net.")?,
        name("nstld.verisign-grs.com.")?,
        1,
        1800,
        900,
        604_800,
        NEGATIVE_TTL,
    );
    Some(Record::from_rdata(Name::root(), TTL, RData::SOA(data)))
}
