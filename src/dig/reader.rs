//! Bytes, numbers and names of a message.

use crate::name::{MAX_WIRE_BYTES, Name};

/// What is wrong with a message, in the order of how bad it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Trouble {
    /// It ends too early: what stands before the end counts.
    UnexpectedEnd,
    /// Something in it is not allowed, in BIND's words.
    Bad(&'static str),
}

/// BIND's name for a message that breaks a rule.
pub(crate) const FORMERR: Trouble = Trouble::Bad("FORMERR");

/// A place in a message; names may point to what stands before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'m> {
    message: &'m [u8],
    at: usize,
    end: usize,
}

impl<'m> Reader<'m> {
    /// From the first byte to the last.
    pub(crate) fn new(message: &'m [u8]) -> Self {
        Self {
            message,
            at: 0,
            end: message.len(),
        }
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.end.saturating_sub(self.at)
    }

    /// The next `count` bytes.
    pub(crate) fn take(&mut self, count: usize) -> Result<&'m [u8], Trouble> {
        if count > self.left() {
            return Err(Trouble::UnexpectedEnd);
        }
        let bytes = self.message.get(self.at..self.at + count);
        self.at += count;
        bytes.ok_or(Trouble::UnexpectedEnd)
    }

    /// All that is left.
    pub(crate) fn rest(&mut self) -> &'m [u8] {
        self.take(self.left()).unwrap_or_default()
    }

    /// A reader of the next `count` bytes only, which are passed over here.
    pub(crate) fn part(&mut self, count: usize) -> Result<Self, Trouble> {
        let at = self.at;
        self.take(count)?;
        Ok(Self {
            message: self.message,
            at,
            end: self.at,
        })
    }

    /// One byte.
    pub(crate) fn u8(&mut self) -> Result<u8, Trouble> {
        let byte = self.take(1)?;
        byte.first().copied().ok_or(Trouble::UnexpectedEnd)
    }

    /// Two bytes.
    pub(crate) fn u16(&mut self) -> Result<u16, Trouble> {
        let bytes = self.take(2)?.first_chunk::<2>();
        bytes
            .map(|&bytes| u16::from_be_bytes(bytes))
            .ok_or(Trouble::UnexpectedEnd)
    }

    /// Four bytes.
    pub(crate) fn u32(&mut self) -> Result<u32, Trouble> {
        let bytes = self.take(4)?.first_chunk::<4>();
        bytes
            .map(|&bytes| u32::from_be_bytes(bytes))
            .ok_or(Trouble::UnexpectedEnd)
    }

    /// A name. Every pointer must point before the one that led to it, so
    /// there are no loops.
    ///
    /// Source: BIND lib/dns/name.c: `dns_name_fromwire` (9.18)
    pub(crate) fn name(&mut self) -> Result<Name, Trouble> {
        let before = *self;
        self.labels().inspect_err(|_| *self = before)
    }

    fn labels(&mut self) -> Result<Name, Trouble> {
        let mut labels: Vec<&[u8]> = Vec::new();
        let mut used = 0;
        let mut lowest = self.at;
        let mut jumped: Option<Self> = None;
        loop {
            let reader = jumped.as_mut().unwrap_or(self);
            let length = reader.u8()?;
            match length {
                0 => break,
                1..=63 => {
                    used += 1 + usize::from(length);
                    if used + 1 > MAX_WIRE_BYTES {
                        return Err(Trouble::Bad("name too long"));
                    }
                    labels.push(reader.take(length.into())?);
                }
                0xc0.. => {
                    let low = reader.u8()?;
                    let at = usize::from(u16::from_be_bytes([length & 0x3f, low]));
                    if at >= lowest {
                        return Err(Trouble::Bad("bad compression pointer"));
                    }
                    lowest = at;
                    let end = reader.end;
                    jumped = Some(Self {
                        message: self.message,
                        at,
                        end,
                    });
                }
                _ => return Err(Trouble::Bad("bad label type")),
            }
        }
        Name::from_labels(labels).map_err(|_| Trouble::Bad("name too long"))
    }
}
