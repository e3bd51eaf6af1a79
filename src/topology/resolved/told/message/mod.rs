//! D-Bus messages, as far as a caller of methods needs them.
//!
//! Source: D-Bus specification, "Type System", "Marshaling", "Message
//! Protocol".

/// A message that begins so is followed by the rest of it.
pub const HEADER: usize = 16;

const METHOD_CALL: u8 = 1;
const METHOD_RETURN: u8 = 2;
const ERROR: u8 = 3;
/// Nothing is started to get an answer.
const NO_AUTO_START: u8 = 2;
const VERSION: u8 = 1;

/// Values in values deeper than this are not followed.
const MAX_DEPTH: usize = 32;

/// A call of a method.
#[derive(Clone, Copy, Debug)]
pub struct Call<'c> {
    /// A number that the reply repeats, not 0.
    pub serial: u32,
    /// Whom it is for.
    pub destination: &'c str,
    /// The object.
    pub path: &'c str,
    /// The interface of the method.
    pub interface: &'c str,
    /// The method.
    pub member: &'c str,
    /// A text that it takes.
    pub argument: Option<&'c str>,
}

impl Call<'_> {
    /// The message.
    pub fn bytes(&self) -> Vec<u8> {
        let mut body = Writer::default();
        if let Some(argument) = self.argument {
            body.text(argument);
        }
        let mut fields = Writer::default();
        let texts = [
            (1, "o", self.path),
            (2, "s", self.interface),
            (3, "s", self.member),
            (6, "s", self.destination),
        ];
        for (code, signature, text) in texts {
            fields.align(8);
            fields.0.push(code);
            fields.signature(signature);
            fields.text(text);
        }
        if self.argument.is_some() {
            fields.align(8);
            fields.0.push(8);
            fields.signature("g");
            fields.signature("s");
        }
        let mut message = Writer(vec![b'l', METHOD_CALL, NO_AUTO_START, VERSION]);
        message.number(body.length());
        message.number(self.serial);
        message.number(fields.length());
        message.0.extend(fields.0);
        message.align(8);
        message.0.extend(body.0);
        message.0
    }
}

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn align(&mut self, to: usize) {
        self.0.resize(self.0.len().next_multiple_of(to), 0);
    }

    fn number(&mut self, number: u32) {
        self.align(4);
        self.0.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(u32::try_from(text.len()).unwrap_or(u32::MAX));
        self.0.extend(text.as_bytes());
        self.0.push(0);
    }

    fn signature(&mut self, text: &str) {
        self.0.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
        self.0.extend(text.as_bytes());
        self.0.push(0);
    }

    fn length(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }
}

/// How long the message that begins so is; `None`: it is none.
pub fn length(header: [u8; HEADER]) -> Option<usize> {
    let mut reader = Reader::of(&header)?;
    reader.at = 4;
    let body = reader.length()?;
    reader.number()?;
    let fields = reader.length()?;
    HEADER
        .checked_add(fields)?
        .checked_next_multiple_of(8)?
        .checked_add(body)
}

/// The answer to a call.
#[derive(Debug)]
pub struct Reply<'m> {
    /// The number of the call.
    pub to: u32,
    /// The name of the error, if it is one.
    pub error: Option<&'m str>,
    /// The types in the body.
    pub signature: &'m str,
    /// Its body.
    pub body: Reader<'m>,
}

/// Reads a message; `None`: it is no answer to a call, or no message.
pub fn reply(message: &[u8]) -> Option<Reply<'_>> {
    let mut reader = Reader::of(message)?;
    reader.at = 1;
    let kind = reader.byte()?;
    reader.at = HEADER - 4;
    let end = reader.array(8)?;
    let (mut to, mut error, mut signature) = (None, None, "");
    while reader.at < end {
        reader.align(8)?;
        let code = reader.byte()?;
        match (code, reader.signature()?) {
            (4, "s") => error = Some(reader.text()?),
            (5, "u") => to = Some(reader.number()?),
            (8, "g") => signature = reader.signature()?,
            (_, other) => reader.skip(other.as_bytes(), 0)?,
        }
    }
    reader.align(8)?;
    let is_answer = matches!(kind, METHOD_RETURN | ERROR);
    Some(Reply {
        to: to.filter(|_| is_answer)?,
        error: (kind == ERROR).then(|| error.unwrap_or("an error without a name")),
        signature,
        body: reader,
    })
}

/// Reads values one after the other. `None` everywhere: there is no such value.
#[derive(Clone, Debug)]
pub struct Reader<'m> {
    message: &'m [u8],
    at: usize,
    is_big_endian: bool,
}

impl<'m> Reader<'m> {
    fn of(message: &'m [u8]) -> Option<Self> {
        let is_big_endian = match message.first()? {
            b'l' => false,
            b'B' => true,
            _ => return None,
        };
        Some(Self {
            message,
            at: 0,
            is_big_endian,
        })
    }

    fn take(&mut self, count: usize) -> Option<&'m [u8]> {
        let end = self.at.checked_add(count)?;
        let bytes = self.message.get(self.at..end)?;
        self.at = end;
        Some(bytes)
    }

    fn align(&mut self, to: usize) -> Option<()> {
        let at = self.at.checked_next_multiple_of(to)?;
        self.take(at - self.at).map(|_| ())
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    /// The next number of 32 bits: type `u` or `i`.
    pub fn number(&mut self) -> Option<u32> {
        self.align(4)?;
        let bytes = self.take(4)?.try_into().ok()?;
        Some(if self.is_big_endian {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        })
    }

    /// The next number of 16 bits: type `q`.
    pub fn short(&mut self) -> Option<u16> {
        self.align(2)?;
        let bytes = self.take(2)?.try_into().ok()?;
        Some(if self.is_big_endian {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        })
    }

    /// The next yes or no: type `b`.
    pub fn flag(&mut self) -> Option<bool> {
        self.number().map(|it| it != 0)
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// The next text: type `s` or `o`.
    pub fn text(&mut self) -> Option<&'m str> {
        let length = self.length()?;
        let text = self.take(length)?;
        self.take(1)?;
        std::str::from_utf8(text).ok()
    }

    /// The next signature: type `g`, and what begins a value of type `v`.
    pub fn signature(&mut self) -> Option<&'m str> {
        let length = usize::from(self.byte()?);
        let text = self.take(length)?;
        self.take(1)?;
        std::str::from_utf8(text).ok()
    }

    /// The next list of bytes: type `ay`.
    pub fn bytes(&mut self) -> Option<&'m [u8]> {
        let length = self.length()?;
        self.take(length)
    }

    /// Begins a list whose elements are so aligned, and gives where it ends.
    pub fn array(&mut self, alignment: usize) -> Option<usize> {
        let length = self.length()?;
        self.align(alignment)?;
        let end = self.at.checked_add(length)?;
        (end <= self.message.len()).then_some(end)
    }

    /// Begins the next structure of a list that ends at `end`; `None`: there
    /// is no more.
    pub fn next_in(&mut self, end: usize) -> Option<()> {
        if self.at >= end {
            return None;
        }
        self.align(8)
    }

    /// Leaves out the values that a signature names.
    pub fn skip(&mut self, signature: &[u8], depth: usize) -> Option<()> {
        let mut rest = signature;
        while let [kind, after @ ..] = rest {
            let (this, others) = rest.split_at_checked(single(rest, 0)?)?;
            rest = others;
            if depth > MAX_DEPTH {
                return None;
            }
            match kind {
                b'y' => drop(self.take(1)?),
                b'n' | b'q' => drop(self.short()?),
                b'b' | b'i' | b'u' | b'h' => drop(self.number()?),
                b's' | b'o' => drop(self.text()?),
                b'g' => drop(self.signature()?),
                b'x' | b't' | b'd' => {
                    self.align(8)?;
                    self.take(8)?;
                }
                b'v' => {
                    let inner = self.signature()?;
                    self.skip(inner.as_bytes(), depth + 1)?;
                }
                b'a' => self.at = self.array(alignment(*after.first()?))?,
                _ => {
                    self.align(8)?;
                    let inside = this.get(1..this.len().checked_sub(1)?)?;
                    self.skip(inside, depth + 1)?;
                }
            }
        }
        Some(())
    }
}

fn alignment(kind: u8) -> usize {
    match kind {
        b'y' | b'g' | b'v' => 1,
        b'n' | b'q' => 2,
        b'x' | b't' | b'd' | b'(' | b'{' => 8,
        _ => 4,
    }
}

/// How many bytes of the signature are its first type.
fn single(signature: &[u8], depth: usize) -> Option<usize> {
    if depth > MAX_DEPTH {
        return None;
    }
    let close = match signature.first()? {
        b'a' => return Some(1 + single(signature.get(1..)?, depth + 1)?),
        b'(' => b')',
        b'{' => b'}',
        kind => return b"ynqbiuhxtdsogv".contains(kind).then_some(1),
    };
    let mut at = 1;
    while *signature.get(at)? != close {
        at += single(signature.get(at..)?, depth + 1)?;
    }
    Some(at + 1)
}

#[cfg(test)]
mod tests;
