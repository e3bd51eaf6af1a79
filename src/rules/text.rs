//! Texts that may be larger than memory.

use std::io;

use crate::text::Source;

/// A text that is read in pieces, at any place, more than once.
pub trait Text: std::fmt::Debug {
    /// What messages call it, safe to print: a path, `<stdin>`, `iptables-save -c`.
    fn name(&self) -> &str;

    /// Its length in bytes.
    fn length(&self) -> u64;

    /// Fills `buffer` with the bytes from `at` on, and says how many there were;
    /// fewer than `buffer` has room for only at the end.
    ///
    /// # Errors
    ///
    /// It can no longer be read.
    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize>;
}

impl Text for Source {
    fn name(&self) -> &str {
        &self.name
    }

    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let rest = self.bytes.get(at..).unwrap_or_default();
        let (from, to) = match (rest.get(..buffer.len()), buffer.get_mut(..rest.len())) {
            (Some(all), _) => (all, buffer),
            (None, Some(start)) => (rest, start),
            (None, None) => return Ok(0),
        };
        to.copy_from_slice(from);
        Ok(from.len())
    }
}

/// Bytes of a [`Text`]: from `start` to before `end`, of which the first stands
/// on `line`, counted from 1.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct View {
    /// Which text, in the order in which they were given.
    pub text: u16,
    /// Offset of the first byte.
    pub start: u64,
    /// Offset one past the last byte.
    pub end: u64,
    /// Line of the first byte.
    pub line: u32,
}
