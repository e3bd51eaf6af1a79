//! Text that was put together from several files, each byte with its place.
//!
//! A word of a command line can come from a unit, a variable in it, and a file
//! that sets the variable: what it says is then all three of them.

use std::borrow::Cow;

use crate::text::{self, Place, Source};

/// Where a byte stands: in which of the caller's files, and at which offset.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Spot {
    /// The number of the file, from 0.
    pub file: u32,
    /// The offset in it.
    pub offset: u32,
}

impl Spot {
    /// The byte at `offset` of the file with this number.
    pub fn new(file: usize, offset: usize) -> Self {
        Self {
            file: u32::try_from(file).unwrap_or(u32::MAX),
            offset: text::offset(offset),
        }
    }
}

/// Bytes, each with the spot it was taken from, if it was taken from a file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Traced {
    bytes: Vec<u8>,
    /// Where each run of them begins that stand behind each other, and its spot.
    runs: Vec<(usize, Option<Spot>)>,
}

impl Traced {
    /// Text that stands in no file.
    pub fn untraced(bytes: &[u8]) -> Self {
        Self::run(bytes, None)
    }

    fn run(bytes: &[u8], spot: Option<Spot>) -> Self {
        let is_empty = bytes.is_empty();
        Self {
            bytes: bytes.to_vec(),
            runs: (!is_empty).then_some((0, spot)).into_iter().collect(),
        }
    }

    /// Text that stands in `file` from `offset` on, byte for byte.
    pub fn in_file(bytes: &[u8], file: usize, offset: usize) -> Self {
        Self::run(bytes, Some(Spot::new(file, offset)))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes as text, what is not UTF-8 replaced.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// Each byte with its spot.
    pub fn iter(&self) -> impl Iterator<Item = (u8, Option<Spot>)> + '_ {
        let bytes = self.bytes.iter().enumerate();
        bytes.map(|(index, byte)| (*byte, self.spot(index)))
    }

    /// Appends a byte.
    pub fn push(&mut self, byte: u8, spot: Option<Spot>) {
        let index = self.bytes.len();
        if self.runs.is_empty() || self.spot(index) != spot {
            self.runs.push((index, spot));
        }
        self.bytes.push(byte);
    }

    /// Appends a text.
    pub fn append(&mut self, other: &Self) {
        other.iter().for_each(|(byte, spot)| self.push(byte, spot));
    }

    /// What follows the first `count` bytes.
    #[must_use]
    pub fn after(&self, count: usize) -> Self {
        let mut after = Self::default();
        let behind = self.iter().skip(count);
        behind.for_each(|(byte, spot)| after.push(byte, spot));
        after
    }

    /// The text without blanks at its end.
    #[must_use]
    pub fn trimmed_end(mut self) -> Self {
        let is_text = |byte: &u8| !byte.is_ascii_whitespace();
        let length = self.bytes.iter().rposition(is_text).map_or(0, |at| at + 1);
        self.bytes.truncate(length);
        self.runs.retain(|it| it.0 < length);
        self
    }

    /// Where the byte at `index` stands; for what would follow the last byte,
    /// the spot behind it.
    pub fn spot(&self, index: usize) -> Option<Spot> {
        let index = index.min(self.bytes.len());
        let run = self.runs.partition_point(|it| it.0 <= index);
        let (start, spot) = *self.runs.get(run.checked_sub(1)?)?;
        let before = u32::try_from(index - start).unwrap_or(u32::MAX);
        let spot = spot?;
        Some(Spot {
            offset: spot.offset.saturating_add(before),
            ..spot
        })
    }
}

/// The place of a spot in `files`.
pub fn place(files: &[Source], spot: Spot) -> Option<Place> {
    Some(files.get(spot.file as usize)?.place_of(spot.offset))
}
