//! Queries as they come, and replies put together byte by byte.

/// A query.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// The whole message.
    pub(crate) wire: Vec<u8>,
    /// Whether it came over TCP.
    pub(crate) tcp: bool,
    /// The first to this server is 0, whichever way it came.
    pub(crate) count: usize,
}

/// A reply that is not written yet.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) id: u16,
    pub(crate) flags: u16,
    /// Instead of the true numbers.
    pub(crate) counts: [Option<u16>; 4],
    pub(crate) questions: Vec<Vec<u8>>,
    pub(crate) answers: Vec<Vec<u8>>,
    pub(crate) authorities: Vec<Vec<u8>>,
    pub(crate) additionals: Vec<Vec<u8>>,
    /// Behind all records.
    pub(crate) tail: Vec<u8>,
}

pub(crate) const QR: u16 = 0x8000;
pub(crate) const AA: u16 = 0x0400;
pub(crate) const TC: u16 = 0x0200;
pub(crate) const RA: u16 = 0x0080;

/// The name of the question, as a pointer.
pub(crate) const OWNER: &[u8] = &[0xc0, 12];

impl Query {
    fn word(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.wire[at], self.wire[at + 1]])
    }

    /// The question as it came.
    pub(crate) fn question(&self) -> Vec<u8> {
        let mut at = 12;
        while self.wire[at] != 0 {
            at += 1 + usize::from(self.wire[at]);
        }
        self.wire[12..at + 5].to_vec()
    }

    /// The first label of the name, as a number behind its letter.
    pub(crate) fn number(&self) -> u16 {
        let length = usize::from(self.wire[12]);
        let label = String::from_utf8_lossy(&self.wire[14..13 + length]).into_owned();
        label.parse().unwrap()
    }

    /// The second label of the name, likewise.
    pub(crate) fn second_number(&self) -> u16 {
        let at = 13 + usize::from(self.wire[12]);
        let length = usize::from(self.wire[at]);
        let label = String::from_utf8_lossy(&self.wire[at + 2..at + 1 + length]).into_owned();
        label.parse().unwrap()
    }

    pub(crate) fn has_opt(&self) -> bool {
        self.word(10) > 0
    }

    /// The EDNS version of the query.
    pub(crate) fn version(&self) -> u8 {
        self.wire[12 + self.question().len() + 6]
    }

    /// The client's cookie: eight bytes at least.
    pub(crate) fn cookie(&self) -> Option<Vec<u8>> {
        let mut rest = self.wire.get(12 + self.question().len() + 11..)?;
        while let [0, code, 0, length, data @ ..] = rest {
            let (data, after) = data.split_at(usize::from(*length));
            if *code == 10 {
                return Some(data.to_vec());
            }
            rest = after;
        }
        None
    }

    /// A reply without records but the OPT record.
    pub(crate) fn empty(&self) -> Reply {
        let opt = self.has_opt().then(|| opt(1232, 0, &[]));
        Reply {
            id: self.word(0),
            flags: QR | RA | (self.word(2) & 0x7910),
            counts: [None; 4],
            questions: vec![self.question()],
            answers: Vec::new(),
            authorities: Vec::new(),
            additionals: opt.into_iter().collect(),
            tail: Vec::new(),
        }
    }

    /// A reply with one address.
    pub(crate) fn good(&self) -> Reply {
        self.empty().answer(a(OWNER, 1))
    }

    /// A reply with these records for an answer.
    pub(crate) fn with(&self, answers: &[Vec<u8>]) -> Reply {
        let mut reply = self.empty();
        reply.answers.extend_from_slice(answers);
        reply
    }
}

impl Reply {
    pub(crate) fn answer(mut self, record: Vec<u8>) -> Self {
        self.answers.push(record);
        self
    }

    pub(crate) fn set(mut self, flags: u16) -> Self {
        self.flags |= flags;
        self
    }

    pub(crate) fn clear(mut self, flags: u16) -> Self {
        self.flags &= !flags;
        self
    }

    pub(crate) fn rcode(mut self, rcode: u16) -> Self {
        self.flags = self.flags & !15 | rcode;
        self
    }

    /// Instead of the OPT record that there is.
    pub(crate) fn opt(mut self, records: &[Vec<u8>]) -> Self {
        self.additionals = records.to_vec();
        self
    }

    pub(crate) fn asks(mut self, questions: &[Vec<u8>]) -> Self {
        self.questions = questions.to_vec();
        self
    }

    pub(crate) fn count(mut self, section: usize, count: u16) -> Self {
        self.counts[section] = Some(count);
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let sections = [
            &self.questions,
            &self.answers,
            &self.authorities,
            &self.additionals,
        ];
        let mut wire = Vec::new();
        put(&mut wire, self.id);
        put(&mut wire, self.flags);
        for (section, count) in sections.iter().zip(self.counts) {
            put(
                &mut wire,
                count.unwrap_or(u16::try_from(section.len()).unwrap()),
            );
        }
        for record in sections.into_iter().flatten() {
            wire.extend(record);
        }
        wire.extend(&self.tail);
        wire
    }
}

fn put(wire: &mut Vec<u8>, value: u16) {
    wire.extend(value.to_be_bytes());
}

/// A record; `length` stands in for the true one.
pub(crate) fn record(
    owner: &[u8],
    (rdtype, class): (u16, u16),
    ttl: u32,
    data: &[u8],
    length: Option<u16>,
) -> Vec<u8> {
    let mut wire = owner.to_vec();
    put(&mut wire, rdtype);
    put(&mut wire, class);
    wire.extend(ttl.to_be_bytes());
    put(
        &mut wire,
        length.unwrap_or(u16::try_from(data.len()).unwrap()),
    );
    wire.extend(data);
    wire
}

/// A record of the question's name with class IN.
pub(crate) fn rr(rdtype: u16, data: &[u8]) -> Vec<u8> {
    record(OWNER, (rdtype, 1), 300, data, None)
}

/// An address, 10.0.0.N.
pub(crate) fn a(owner: &[u8], last: u8) -> Vec<u8> {
    record(owner, (1, 1), 300, &[10, 0, 0, last], None)
}

/// An OPT record; `ttl` has response code, version and flags.
pub(crate) fn opt(size: u16, ttl: u32, options: &[u8]) -> Vec<u8> {
    record(&[0], (41, size), ttl, options, None)
}

/// An EDNS option.
pub(crate) fn option(code: u16, data: &[u8]) -> Vec<u8> {
    let mut wire = Vec::new();
    put(&mut wire, code);
    put(&mut wire, u16::try_from(data.len()).unwrap());
    wire.extend(data);
    wire
}

/// `a.b` as a name of the wire; any bytes but dots.
pub(crate) fn name(text: &[u8]) -> Vec<u8> {
    let mut wire = Vec::new();
    for label in text.split(|&byte| byte == b'.') {
        wire.push(u8::try_from(label.len()).unwrap());
        wire.extend(label);
    }
    wire.push(0);
    wire
}

/// Texts of TXT records.
pub(crate) fn texts(texts: &[&[u8]]) -> Vec<u8> {
    let mut data = Vec::new();
    for text in texts {
        data.push(u8::try_from(text.len()).unwrap());
        data.extend(*text);
    }
    data
}
