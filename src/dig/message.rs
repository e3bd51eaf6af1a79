//! A reply as BIND reads it: as far as it can be read, and in what order it
//! came.
//!
//! A library's reader stops at the first odd byte and keeps no order; dig
//! shows what stands before the odd byte, and names it. So names and records
//! are read here, and record data is kept as bytes with its names whole.

use crate::dig::rdata;
use crate::dig::reader::{FORMERR, Reader, Trouble};
use crate::name::Name;

/// A reply.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Message {
    /// Id.
    pub id: u16,
    /// The header's flags without opcode and response code; [`flag`] names them.
    pub flags: u16,
    /// Opcode, from 0 to 15.
    pub opcode: u8,
    /// Response code, with the upper bits of the OPT record.
    pub rcode: u16,
    /// How many records the header promises: question, answer, authority,
    /// additional.
    pub counts: [u16; 4],
    /// The question section.
    pub questions: Vec<Question>,
    /// The answer section, in the order of the message.
    pub answers: Vec<Record>,
    /// The authority section, in the order of the message.
    pub authorities: Vec<Record>,
    /// The additional section without OPT, TSIG and SIG(0).
    pub additionals: Vec<Record>,
    /// The OPT record.
    pub opt: Option<Opt>,
    /// The TSIG record.
    pub tsig: Option<Record>,
    /// The SIG(0) record.
    pub sig0: Option<Record>,
    /// Bytes behind the last record.
    pub extra: usize,
    /// The whole message's bytes.
    pub size: usize,
}

/// Bits of [`Message::flags`].
pub mod flag {
    /// A response.
    pub const QR: u16 = 0x8000;
    /// Authoritative.
    pub const AA: u16 = 0x0400;
    /// Truncated.
    pub const TC: u16 = 0x0200;
    /// Recursion desired.
    pub const RD: u16 = 0x0100;
    /// Recursion available.
    pub const RA: u16 = 0x0080;
    /// Reserved.
    pub const Z: u16 = 0x0040;
    /// Authentic data.
    pub const AD: u16 = 0x0020;
    /// Checking disabled.
    pub const CD: u16 = 0x0010;
}

/// A question.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Question {
    /// The name.
    pub name: Name,
    /// The type.
    pub rdtype: u16,
    /// The class.
    pub rdclass: u16,
}

/// A record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Record {
    /// The owner.
    pub owner: Name,
    /// The type.
    pub rdtype: u16,
    /// The class.
    pub rdclass: u16,
    /// Time to live in seconds.
    pub ttl: u32,
    /// The data, compressed names made whole.
    pub data: Vec<u8>,
}

/// The OPT record (RFC 6891).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Opt {
    /// UDP payload size.
    pub size: u16,
    /// Upper bits of the response code, version, flags.
    pub ttl: u32,
    /// The options: code, length, data, one behind the other.
    pub data: Vec<u8>,
}

/// How much of a message could be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Read {
    /// All of it.
    Whole(Message),
    /// A part; the rest is malformed.
    Part(Message),
    /// None: why, in BIND's words.
    Nothing(&'static str),
}

const OPT: u16 = 41;
const TSIG: u16 = 250;
const SIG: u16 = 24;
const KEY: u16 = 25;
const TKEY: u16 = 249;
const RRSIG: u16 = 46;
const NONE: u16 = 254;
const ANY: u16 = 255;
const NOTIFY: u8 = 4;
const UPDATE: u8 = 5;

impl Opt {
    /// EDNS version.
    pub fn version(&self) -> u8 {
        self.ttl.to_be_bytes()[1]
    }

    /// The options: code and data, as far as lengths fit.
    pub fn options(&self) -> impl Iterator<Item = (u16, &[u8])> {
        let mut rest = self.data.as_slice();
        std::iter::from_fn(move || {
            let (head, after) = rest.split_first_chunk::<4>()?;
            let [code0, code1, length0, length1] = *head;
            let length = u16::from_be_bytes([length0, length1]);
            let (data, after) = after.split_at_checked(length.into())?;
            rest = after;
            Some((u16::from_be_bytes([code0, code1]), data))
        })
    }

    /// Takes the data of the last option away.
    fn empty_last(&mut self) {
        let Some(length) = self.options().last().map(|(_, data)| data.len()) else {
            return;
        };
        self.data.truncate(self.data.len() - length - 2);
        self.data.extend([0, 0]);
    }
}

/// Id and flags word of a message; `None` if it is shorter than a header.
pub fn peek(wire: &[u8]) -> Option<(u16, u16)> {
    let header = wire.first_chunk::<12>()?;
    let [id0, id1, flags0, flags1, ..] = *header;
    Some((
        u16::from_be_bytes([id0, id1]),
        u16::from_be_bytes([flags0, flags1]),
    ))
}

/// Reads a message of our own, whose options may be what the command line
/// wanted them to be. Padding of it is shown without its bytes: dig shows a
/// query as it is before it is padded.
pub fn read_own(wire: &[u8], is_padded: bool) -> Read {
    let mut parser = Parser::new(wire, true);
    parser.is_own = true;
    let mut read = parser.parse();
    if let Read::Whole(message) | Read::Part(message) = &mut read
        && let Some(opt) = message.opt.as_mut().filter(|_| is_padded)
    {
        opt.empty_last();
    }
    read
}

/// Reads a message. With `best_effort`, what breaks a rule is kept and what
/// is cut off is left out, and the reading is [`Read::Part`].
///
/// Source: BIND lib/dns/message.c: `dns_message_parse` (9.18)
pub fn read_message(wire: &[u8], best_effort: bool) -> Read {
    Parser::new(wire, best_effort).parse()
}

struct Parser<'m> {
    reader: Reader<'m>,
    message: Message,
    best_effort: bool,
    is_own: bool,
    problem: bool,
    class: Option<u16>,
    tkey: bool,
}

impl<'m> Parser<'m> {
    fn new(wire: &'m [u8], best_effort: bool) -> Self {
        Self {
            reader: Reader::new(wire),
            message: Message {
                size: wire.len(),
                ..Message::default()
            },
            best_effort,
            is_own: false,
            problem: false,
            class: None,
            tkey: false,
        }
    }

    fn parse(mut self) -> Read {
        let done = self.run();
        self.message.extra = self.reader.left();
        match done {
            Ok(()) if self.problem => Read::Part(self.message),
            Ok(()) => Read::Whole(self.message),
            Err(Trouble::UnexpectedEnd) if self.best_effort && self.message.size >= 12 => {
                Read::Part(self.message)
            }
            Err(Trouble::UnexpectedEnd) => Read::Nothing("unexpected end of input"),
            Err(Trouble::Bad(why)) => Read::Nothing(why),
        }
    }

    fn run(&mut self) -> Result<(), Trouble> {
        self.message.id = self.reader.u16()?;
        let word = self.reader.u16()?;
        self.message.opcode = u8::try_from(word >> 11 & 15).unwrap_or_default();
        self.message.rcode = word & 15;
        self.message.flags = word & 0x87f0;
        for at in 0..4 {
            let count = self.reader.u16()?;
            if let Some(place) = self.message.counts.get_mut(at) {
                *place = count;
            }
        }
        let [questions, answers, authorities, additionals] = self.message.counts;
        for _ in 0..questions {
            self.question()?;
        }
        for (section, count) in [(1, answers), (2, authorities), (3, additionals)] {
            for at in 0..count {
                self.record(section, at + 1 == count)?;
            }
        }
        Ok(())
    }

    /// Something breaks a rule: an error unless the best is made of it.
    fn error(&mut self, trouble: Trouble) -> Result<(), Trouble> {
        if !self.best_effort {
            return Err(trouble);
        }
        self.problem = true;
        Ok(())
    }

    /// Source: BIND lib/dns/message.c: `getquestions` (9.18)
    fn question(&mut self) -> Result<(), Trouble> {
        let name = self.reader.name()?;
        let mut fields = Reader::new(self.reader.take(4)?);
        let (rdtype, rdclass) = (fields.u16()?, fields.u16()?);
        let before = &self.message.questions;
        let other_name = before.iter().any(|it| !it.name.eq_ignore_case(&name));
        let twice = before
            .iter()
            .any(|it| it.rdtype == rdtype && it.rdclass == rdclass);
        let other_class = self.class.is_some_and(|class| class != rdclass);
        // What changes, or has changed, is in one class.
        let is_of_zone = matches!(self.message.opcode, NOTIFY | UPDATE);
        let no_class = is_of_zone && matches!(rdclass, NONE | ANY);
        if other_name || twice || other_class || no_class {
            self.error(FORMERR)?;
        }
        self.class.get_or_insert(rdclass);
        self.tkey |= rdtype == TKEY;
        self.message.questions.push(Question {
            name,
            rdtype,
            rdclass,
        });
        Ok(())
    }

    /// A message has one class, but for records that are about the message.
    fn check_class(&mut self, rdtype: u16, rdclass: u16) -> Result<(), Trouble> {
        let class = self.class.unwrap_or_default();
        let free = matches!(rdtype, TSIG | OPT | SIG | TKEY) || rdtype == KEY && self.tkey;
        if self.message.opcode == UPDATE || free || class == ANY || class == rdclass {
            return Ok(());
        }
        self.error(FORMERR)
    }

    /// A signature that covers no type is one of the message, and stands last.
    fn check_covered(
        &mut self,
        rdtype: u16,
        rdclass: u16,
        covers_none: bool,
        is_sig0: bool,
    ) -> Result<(), Trouble> {
        let class = self.class.unwrap_or_default();
        match (rdtype, covers_none) {
            (RRSIG, true) => self.error(FORMERR),
            (SIG, true) if !is_sig0 => self.error(Trouble::Bad("SIG(0) in wrong location")),
            (SIG, false) if class != ANY && class != rdclass => self.error(FORMERR),
            _ => Ok(()),
        }
    }

    /// Source: BIND lib/dns/message.c: `getsection` (9.18)
    fn record(&mut self, section: u8, last: bool) -> Result<(), Trouble> {
        let owner = self.reader.name()?;
        let head = self.reader.take(10)?;
        let mut fields = Reader::new(head);
        let (rdtype, rdclass) = (fields.u16()?, fields.u16()?);
        let (ttl, length) = (fields.u32()?, fields.u16()?);
        if self.class.is_none() && !matches!(rdtype, OPT | TSIG | TKEY) {
            self.class = Some(rdclass);
        }
        self.check_class(rdtype, rdclass)?;
        let is_tsig = rdtype == TSIG && section == 3 && rdclass == ANY && last;
        if rdtype == TSIG && !is_tsig {
            self.error(Trouble::Bad("TSIG in wrong location"))?;
        }
        let is_reply = self.message.flags & flag::QR != 0;
        if rdtype == TKEY && section != 1 && (is_reply || section != 3) {
            self.error(FORMERR)?;
        }
        let first_opt = self.message.opt.is_none();
        let is_opt = rdtype == OPT && section == 3 && owner == Name::root() && first_opt;
        if rdtype == OPT && !is_opt {
            self.error(FORMERR)?;
        }
        let mut data = Vec::new();
        let before = self.reader;
        let mut inner = self.reader.part(length.into())?;
        if self.is_own && is_opt {
            data.extend(inner.rest());
        } else if let Err(trouble) = rdata::read_data(rdtype, rdclass, &mut inner, &mut data) {
            self.reader = before;
            return Err(trouble);
        }
        rdata::check_owner(rdtype, &owner)?;
        let covers = data.first_chunk::<2>().map(|&it| u16::from_be_bytes(it));
        let is_sig0 =
            rdtype == SIG && covers == Some(0) && section == 3 && last && owner == Name::root();
        self.check_covered(rdtype, rdclass, covers == Some(0), is_sig0)?;
        let record = Record {
            owner,
            rdtype,
            rdclass,
            ttl,
            data,
        };
        match section {
            _ if is_opt => {
                self.message.rcode |= u16::from(ttl.to_be_bytes()[0]) << 4;
                self.message.opt = Some(Opt {
                    size: rdclass,
                    ttl,
                    data: record.data,
                });
            }
            _ if is_tsig => self.message.tsig = Some(record),
            _ if is_sig0 => self.message.sig0 = Some(record),
            1 => self.message.answers.push(record),
            2 => self.message.authorities.push(record),
            _ => self.message.additionals.push(record),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tkey_is_in_an_answer_or_beside_a_query() {
        let check = |flags: u16, section: usize, is_whole: bool| {
            let mut wire = vec![0; 12];
            wire[2..4].copy_from_slice(&flags.to_be_bytes());
            wire[5 + 2 * section] = 1;
            wire.push(0);
            wire.extend([TKEY, ANY, 0, 0, 17].map(u16::to_be_bytes).concat());
            wire.extend([0; 17]);
            let is_read = matches!(read_message(&wire, true), Read::Whole(_));
            assert_eq!(is_read, is_whole, "{flags:x} {section}");
        };
        for (section, is_query_whole) in [(1, true), (2, false), (3, true)] {
            check(0, section, is_query_whole);
            check(flag::QR, section, section == 1);
        }
    }
}
