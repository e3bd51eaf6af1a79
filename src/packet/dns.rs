//! The beginning of a DNS message, looked at without taking all of it apart.
//!
//! Source: RFC 1035, section 4.1.

/// Bytes of a message's header.
pub const HEADER: usize = 12;

/// The longest name in a message, in bytes.
const MAX_NAME: usize = 255;

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
    /// The labels, each after its length, up to and with the root's zero; no
    /// pointers. Letters are as they were sent.
    pub name: &'a [u8],
    /// The type: 1 is A, 28 AAAA.
    pub qtype: u16,
    /// The class: 1 is IN.
    pub qclass: u16,
}

impl<'a> Header<'a> {
    /// Looks at a message; `None`: it is shorter than a header.
    pub fn parse(message: &'a [u8]) -> Option<Self> {
        let (head, rest) = message.split_at_checked(HEADER)?;
        let &[a, b, c, d, q0, q1, n0, n1, u0, u1, x0, x1] = head else {
            return None;
        };
        let counts = [[q0, q1], [n0, n1], [u0, u1], [x0, x1]].map(u16::from_be_bytes);
        Some(Self {
            id: u16::from_be_bytes([a, b]),
            flags: u16::from_be_bytes([c, d]),
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

fn question(bytes: &[u8]) -> Option<Question<'_>> {
    let mut at = 0;
    loop {
        let length = usize::from(*bytes.get(at)?);
        // Longer ones are pointers, which have nothing before them to point to.
        if length > 63 || at >= MAX_NAME {
            return None;
        }
        at += 1 + length;
        if length == 0 {
            break;
        }
    }
    let (name, rest) = bytes.split_at_checked(at)?;
    let &[a, b, c, d, ..] = rest else {
        return None;
    };
    (name.len() <= MAX_NAME).then_some(Question {
        name,
        qtype: u16::from_be_bytes([a, b]),
        qclass: u16::from_be_bytes([c, d]),
    })
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
        assert_eq!(question.name, b"\x03Www\x07example\x00");
        assert_eq!((question.qtype, question.qclass), (28, 1));
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
}
