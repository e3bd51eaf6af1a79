//! The beginning of a DNS message, looked at without taking all of it apart.
//!
//! Source: RFC 1035, section 4.1.

use crate::name::MAX_WIRE_BYTES;

/// Bytes of a message's header.
pub const HEADER: usize = 12;

/// The header of a message and its first question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header<'a> {
    /// Its id.
    pub id: u16,
    /// The second word: QR, opcode, AA, TC, RD, RA, Z, AD, CD, RCODE.
    pub flags: u16,
    /// Questions, answers, authorities, additionals.
    pub counts: [u16; 4],
    /// The first question; `None`: there is none, or it is cut or broken.
    pub question: Option<Question<'a>>,
}

/// A question, as its bytes are.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Question<'a> {
    /// The labels, each after its length, without the root's zero; no pointers. Letters
    /// are as they were sent.
    pub name: &'a [u8],
    /// The type: 1 is A, 28 AAAA.
    pub qtype: u16,
}

impl<'a> Header<'a> {
    /// Looks at a message; `None`: it is shorter than a header.
    pub fn parse(message: &'a [u8]) -> Option<Self> {
        let (head, rest) = message.split_at_checked(HEADER)?;
        let &[a, b, c, d, q0, q1, n0, n1, u0, u1, x0, x1] = head else {
            return None;
        };
        let half = |high, low| u16::from_be_bytes([high, low]);
        let counts = [half(q0, q1), half(n0, n1), half(u0, u1), half(x0, x1)];
        Some(Self {
            id: half(a, b),
            flags: half(c, d),
            counts,
            question: (counts[0] > 0).then(|| question(rest)).flatten(),
        })
    }

    /// Whether it is a response.
    pub fn is_response(&self) -> bool {
        self.flags & 0x8000 != 0
    }

    /// What kind of query: 0 is a standard one.
    pub fn opcode(&self) -> u8 {
        u8::try_from(self.flags >> 11 & 0xf).unwrap_or_default()
    }

    /// The four bits of the response code; EDNS adds more in its record.
    pub fn rcode(&self) -> u8 {
        u8::try_from(self.flags & 0xf).unwrap_or_default()
    }
}

impl Question<'_> {
    /// Where the question ends in its message.
    pub fn end(&self) -> usize {
        const ROOT_TYPE_AND_CLASS: usize = 5;
        HEADER + self.name.len() + ROOT_TYPE_AND_CLASS
    }
}

fn question(bytes: &[u8]) -> Option<Question<'_>> {
    let name = whole_labels(bytes);
    let &[0, high, low, _, _, ..] = bytes.get(name.len()..)? else {
        return None;
    };
    let qtype = u16::from_be_bytes([high, low]);
    Some(Question { name, qtype })
}

/// The labels that the bytes begin with, each after its length: those that are whole,
/// and not more than a name has.
pub fn whole_labels(bytes: &[u8]) -> &[u8] {
    let room = bytes.len().min(MAX_WIRE_BYTES - 1);
    let mut at = 0;
    while let Some(length) = bytes.get(at).map(|it| usize::from(*it))
        && (1..64).contains(&length)
        && at + length < room
    {
        at += 1 + length;
    }
    bytes.get(..at).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &[u8] = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01\
        \x03Www\x07example\x00\x00\x1c\x00\x01\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00";

    #[test]
    fn header_and_question() {
        let header = Header::parse(QUERY).unwrap();
        assert_eq!((header.id, header.counts), (0x1234, [1, 0, 0, 1]));
        assert!(!header.is_response());
        assert_eq!((header.opcode(), header.rcode()), (0, 0));
        let question = header.question.unwrap();
        assert_eq!(question.name, b"\x03Www\x07example");
        assert_eq!((question.qtype, question.end()), (28, HEADER + 17));
        let mut response = QUERY.to_vec();
        response[2..4].copy_from_slice(&[0x83, 0x83]);
        let header = Header::parse(&response).unwrap();
        assert!(header.is_response());
        assert_eq!(header.rcode(), 3);
    }

    #[test]
    fn cut_and_broken_ones() {
        for length in 0..QUERY.len() {
            let header = Header::parse(&QUERY[..length]);
            assert_eq!(header.is_some(), length >= HEADER, "{length}");
            let question = header.and_then(|it| it.question);
            assert_eq!(question.is_some(), length >= HEADER + 17, "{length}");
        }
        // A pointer, and a name without end.
        let broken = |name: &[u8]| [&QUERY[..HEADER], name, &[0; 8]].concat();
        assert_eq!(Header::parse(&broken(b"\xc0\x0c")).unwrap().question, None);
        let long = broken(&b"\x3f".repeat(64 * 5));
        assert_eq!(Header::parse(&long).unwrap().question, None);
    }

    #[test]
    fn odd_bytes_end_labels() {
        let whole = |bytes: &[u8]| whole_labels(bytes).len();
        for odd in [&b""[..], b"\0", b"\x05ab", b"\xc0\x0c", &[0x40; 99]] {
            assert_eq!(whole(odd), 0, "{odd:?}");
        }
        assert_eq!((whole(&[1; 300]), whole(&[63; 255])), (254, 192));
    }
}
