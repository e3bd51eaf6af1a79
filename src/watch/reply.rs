//! What a response says, as far as it matters for a whole capture.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hickory_proto::rr::RecordType;

use crate::dig::translation;
use crate::engine::message::{self as engine, Data, Record};
use crate::name::Name;
use crate::packet::dns::Header;
use crate::watch::keys::{A, AAAA};
use crate::watch::lookup::Sent;

const CNAME: u16 = 5;
const SOA: u16 = 6;
const OPT: u16 = 41;

/// So many records of a message are looked at.
const MAX_RECORDS: usize = 64;

/// A response that came.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reply {
    /// When, in nanoseconds since the epoch.
    pub time: i64,
    /// Whether that is so; else it was later, before the next packet.
    pub is_time_known: bool,
    /// The number of its packet.
    pub packet: u64,
    /// Response code, without the bits that EDNS adds.
    pub rcode: u8,
    /// The second word of its header.
    pub flags: u16,
    /// Bytes of the message.
    pub size: u32,
    /// What is in its answer section.
    pub answer: Answer,
    /// Whether there is an SOA record in its authority section.
    pub soa: bool,
    /// Whether it has an OPT record.
    pub opt: bool,
    /// Whether its name is not in the case of the query's.
    pub is_other_case: bool,
}

/// The answer section of a response.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Answer {
    /// No record.
    #[default]
    Empty,
    /// Records of the type asked for: the first address, if they are addresses,
    /// and the shortest time to live, in seconds.
    Found {
        /// The first address.
        address: Option<IpAddr>,
        /// The shortest time to live of all records, in seconds.
        ttl: u32,
    },
    /// Only an alias.
    Alias,
    /// Records of other types.
    Other,
}

impl Reply {
    /// Looks at a response; `bytes` can be cut.
    pub(super) fn parse(header: &Header<'_>, bytes: &[u8], length: usize) -> Self {
        let mut reply = Self {
            time: 0,
            is_time_known: true,
            packet: 0,
            rcode: header.rcode(),
            flags: header.flags,
            size: u32::try_from(length).unwrap_or(u32::MAX),
            answer: Answer::Empty,
            soa: false,
            opt: false,
            is_other_case: false,
        };
        let Some(question) = header.question else {
            return reply;
        };
        let mut at = question.end();
        let [_, answers, authorities, additionals] = header.counts;
        let sections = [(answers, 0), (authorities, 1), (additionals, 2)];
        let mut left = MAX_RECORDS;
        let mut lives = u32::MAX;
        'records: for (count, section) in sections {
            for _ in 0..left.min(count.into()) {
                left -= 1;
                let Some(record) = Raw::at(bytes, at) else {
                    break 'records;
                };
                at = record.end;
                match (section, record.kind) {
                    (0, kind) => {
                        lives = lives.min(record.ttl);
                        reply.answer = reply.answer.with(kind, question.qtype, record.data);
                    }
                    (1, SOA) => reply.soa = true,
                    (2, OPT) => reply.opt = true,
                    _ => {}
                }
            }
        }
        // A cut message says less than its header.
        if answers > 0 && reply.answer == Answer::Empty {
            reply.answer = Answer::Other;
        }
        reply.living(lives)
    }

    fn living(mut self, lives: u32) -> Self {
        if let Answer::Found { ttl, .. } = &mut self.answer {
            *ttl = lives;
        }
        self
    }

    /// How long after this sending it came, in nanoseconds, if that is known.
    pub fn after(&self, sent: Sent) -> Option<i64> {
        let is_known = self.is_time_known && sent.is_time_known;
        is_known.then(|| self.time.saturating_sub(sent.time))
    }

    /// Whether it is truncated.
    pub fn is_truncated(&self) -> bool {
        self.flags & 0x0200 != 0
    }

    /// Whether it has records of the type that was asked for.
    pub fn is_found(&self) -> bool {
        self.rcode == 0 && matches!(self.answer, Answer::Found { .. })
    }

    /// Whether it says that there is no such name, or nothing of the type.
    pub fn is_negative(&self) -> bool {
        self.rcode == 3 || self.rcode == 0 && !self.is_found() && !self.is_truncated()
    }

    /// Whether it says that the server could or would not answer.
    pub fn is_failure(&self) -> bool {
        !matches!(self.rcode, 0 | 3)
    }

    /// The response as models of resolvers see it. Of its records there are
    /// those that tell them what there is.
    pub(super) fn as_seen_by_models(&self, name: &Name, qtype: u16) -> engine::Reply {
        let has = |bit: u16| self.flags & bit != 0;
        let data = match self.answer {
            Answer::Empty => None,
            Answer::Found { address, .. } => Some(match address {
                Some(IpAddr::V4(ip)) => Data::A(ip),
                Some(IpAddr::V6(ip)) => Data::Aaaa(ip),
                None => Data::Other(RecordType::from(qtype)),
            }),
            Answer::Alias => Some(Data::Cname(Name::root())),
            Answer::Other => Some(Data::Other(RecordType::TXT)),
        };
        let name = name.clone();
        engine::Reply {
            rcode: translation::rcode(self.rcode.into()),
            answers: data.map(|data| Record { name, data }).into_iter().collect(),
            soa: self.soa,
            opt: self.opt,
            truncated: self.is_truncated(),
            authoritative: has(0x0400),
            recursion_available: has(0x0080),
            authentic_data: has(0x0020),
        }
    }
}

impl Answer {
    /// The section with one more record.
    fn with(self, kind: u16, asked: u16, data: &[u8]) -> Self {
        match self {
            Self::Found { .. } => self,
            _ if kind == asked => Self::Found {
                address: address(kind, data),
                ttl: 0,
            },
            Self::Empty if kind == CNAME => Self::Alias,
            Self::Empty => Self::Other,
            _ => self,
        }
    }
}

fn address(kind: u16, data: &[u8]) -> Option<IpAddr> {
    match kind {
        A => Some(Ipv4Addr::from(<[u8; 4]>::try_from(data).ok()?).into()),
        AAAA => Some(Ipv6Addr::from(<[u8; 16]>::try_from(data).ok()?).into()),
        _ => None,
    }
}

/// The UDP payload size of a query's OPT record; `None`: it has none, or it is
/// cut.
pub(super) fn edns_size(header: &Header<'_>, bytes: &[u8]) -> Option<u16> {
    let question = header.question.filter(|_| header.counts[3] > 0)?;
    let mut at = question.end();
    for _ in 0..header.counts[3].min(4) {
        let record = Raw::at(bytes, at)?;
        if record.kind == OPT {
            return Some(record.class);
        }
        at = record.end;
    }
    None
}

/// A record as its bytes are.
struct Raw<'a> {
    kind: u16,
    class: u16,
    ttl: u32,
    data: &'a [u8],
    end: usize,
}

impl<'a> Raw<'a> {
    fn at(bytes: &'a [u8], at: usize) -> Option<Self> {
        let start = skip_name(bytes, at)?;
        let fixed: &[u8; 10] = bytes.get(start..)?.first_chunk()?;
        let [k0, k1, c0, c1, t0, t1, t2, t3, l0, l1] = *fixed;
        let length = usize::from(u16::from_be_bytes([l0, l1]));
        let end = start + 10 + length;
        Some(Self {
            kind: u16::from_be_bytes([k0, k1]),
            class: u16::from_be_bytes([c0, c1]),
            ttl: u32::from_be_bytes([t0, t1, t2, t3]),
            data: bytes.get(start + 10..end)?,
            end,
        })
    }
}

/// The byte after a name: a pointer ends it.
fn skip_name(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let length = usize::from(*bytes.get(at)?);
        match length {
            0 => return Some(at + 1),
            1..=63 => at += 1 + length,
            _ => return Some(at + 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::dns::HEADER;

    const ANSWER: &[u8] = b"\0\x07\x85\x80\0\x01\0\x02\0\0\0\x01\x01a\0\0\x01\0\x01\
        \xc0\x0c\0\x05\0\x01\0\0\0\x3c\0\x03\x01b\0\
        \x01b\0\0\x01\0\x01\0\0\0\x1e\0\x04\x0a\0\0\x01\
        \0\0\x29\x04\xd0\0\0\0\0\0\0";

    fn read(bytes: &[u8]) -> Reply {
        Reply::parse(&Header::parse(bytes).unwrap(), bytes, bytes.len())
    }

    #[test]
    fn what_an_answer_says() {
        let reply = read(ANSWER);
        let address = Some([10, 0, 0, 1].into());
        assert_eq!(reply.answer, Answer::Found { address, ttl: 30 });
        assert!(reply.opt && reply.is_found() && !reply.is_negative());
        let header = Header::parse(ANSWER).unwrap();
        assert_eq!(edns_size(&header, ANSWER), None);
        let query =
            b"\0\x07\x01\0\0\x01\0\0\0\0\0\x01\x01a\0\0\x01\0\x01\0\0\x29\x04\xd0\0\0\0\0\0\0";
        assert_eq!(edns_size(&Header::parse(query).unwrap(), query), Some(1232));
    }

    #[test]
    fn a_cut_answer_is_no_empty_one() {
        for length in HEADER + 7..ANSWER.len() {
            let reply = read(&ANSWER[..length]);
            assert_ne!(reply.answer, Answer::Empty, "{length}");
        }
    }
}
