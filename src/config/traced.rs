//! Text that was put together from several files, each byte with its place.
//!
//! A word of a command line can come from a unit, a variable in it, and a file
//! that sets the variable: what it says is then all three of them.

use std::borrow::Cow;

use crate::text::{Place, Source, Span};

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
            offset: Span::new(offset, offset).start,
        }
    }
}

/// Bytes, each with the spot it was taken from, if it was taken from a file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Traced {
    bytes: Vec<u8>,
    spots: Vec<Option<Spot>>,
}

impl Traced {
    /// Text that stands in no file.
    pub fn untraced(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.to_vec(),
            spots: vec![None; bytes.len()],
        }
    }

    /// Text that stands in `file` from `offset` on, byte for byte.
    pub fn of(bytes: &[u8], file: usize, offset: usize) -> Self {
        let spot = |index| Spot::new(file, offset + index);
        Self {
            bytes: bytes.to_vec(),
            spots: (0..bytes.len()).map(|index| Some(spot(index))).collect(),
        }
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
        self.bytes.iter().copied().zip(self.spots.iter().copied())
    }

    /// Appends a byte.
    pub fn push(&mut self, byte: u8, spot: Option<Spot>) {
        self.bytes.push(byte);
        self.spots.push(spot);
    }

    /// Appends a text.
    pub fn append(&mut self, other: &Self) {
        self.bytes.extend_from_slice(&other.bytes);
        self.spots.extend_from_slice(&other.spots);
    }

    /// What follows the first `count` bytes.
    #[must_use]
    pub fn after(&self, count: usize) -> Self {
        Self {
            bytes: self.bytes.get(count..).unwrap_or_default().to_vec(),
            spots: self.spots.get(count..).unwrap_or_default().to_vec(),
        }
    }

    /// The text without blanks at its end.
    #[must_use]
    pub fn trimmed_end(mut self) -> Self {
        let is_text = |byte: &u8| !byte.is_ascii_whitespace();
        let length = self.bytes.iter().rposition(is_text).map_or(0, |at| at + 1);
        self.bytes.truncate(length);
        self.spots.truncate(length);
        self
    }

    /// Where the byte at `index` stands; for what would follow the last byte,
    /// the spot behind it.
    pub fn spot(&self, index: usize) -> Option<Spot> {
        if let Some(spot) = self.spots.get(index) {
            return *spot;
        }
        let last = (*self.spots.last()?)?;
        Some(Spot {
            offset: last.offset.saturating_add(1),
            ..last
        })
    }
}

/// The place of a spot in `files`.
pub fn place(files: &[Source], spot: Spot) -> Option<Place> {
    Some(files.get(spot.file as usize)?.place_of(spot.offset))
}
