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

impl View {
    /// The lines of its bytes, each with its view.
    pub(super) fn lines(self, bytes: &[u8]) -> impl Iterator<Item = (&[u8], Self)> {
        let mut next = self;
        bytes.split_inclusive(|it| *it == b'\n').map(move |line| {
            let end = next.start + line.len() as u64;
            let view = Self { end, ..next };
            (next.start, next.line) = (end, next.line + 1);
            (line, view)
        })
    }
}

/// So much is read at once.
const CHUNK: usize = 1 << 20;

/// No line of rules is longer: nobody could write the file in which there is no
/// end of a line at all.
const MAX_LINE: usize = 64 << 20;

/// Gives every line to `take`, without its end.
///
/// # Errors
///
/// The text can no longer be read.
pub(super) fn lines(text: &dyn Text, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let mut reader = Lines::new(text, 0, 1);
    while reader.fill()? {
        reader.each(&mut |line, _| {
            take(line);
            true
        });
    }
    Ok(())
}

/// Whether one of the words stands in a text.
///
/// # Errors
///
/// The text can no longer be read.
pub(super) fn contains(text: &dyn Text, words: &[&str]) -> io::Result<bool> {
    let finders: Vec<_> = words.iter().map(memchr::memmem::Finder::new).collect();
    let longest = words.iter().map(|it| it.len()).max().unwrap_or_default();
    let mut buffer = vec![0; CHUNK];
    let mut at = 0;
    loop {
        let read = text.read_at(at, &mut buffer)?;
        let piece = buffer.get(..read).unwrap_or_default();
        if finders.iter().any(|it| it.find(piece).is_some()) {
            return Ok(true);
        }
        if read < CHUNK {
            return Ok(false);
        }
        // A word can lie across the end of a piece.
        at += read.saturating_sub(longest) as u64;
    }
}

/// The lines of a text, one piece after the other.
pub(super) struct Lines<'t> {
    text: &'t dyn Text,
    buffer: Vec<u8>,
    /// Where the buffer's first byte stands.
    at: u64,
    line: u32,
    is_end: bool,
}

/// Where a line stands: its first byte, the first one of the next line, its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineAt {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) line: u32,
}

impl<'t> Lines<'t> {
    /// From `at` on, which is the beginning of `line`.
    pub(super) fn new(text: &'t dyn Text, at: u64, line: u32) -> Self {
        Self {
            text,
            buffer: Vec::new(),
            at,
            line,
            is_end: false,
        }
    }

    /// Reads on; `false`: there is nothing left.
    ///
    /// # Errors
    ///
    /// The text can no longer be read, or has a line of more than [`MAX_LINE`].
    pub(super) fn fill(&mut self) -> io::Result<bool> {
        if self.is_end {
            return Ok(false);
        }
        let kept = self.buffer.len();
        if kept > MAX_LINE {
            let line = self.line;
            let mebibytes = MAX_LINE >> 20;
            let why = format!("line {line} is longer than {mebibytes} MiB, which no rule is");
            return Err(io::Error::other(why));
        }
        self.buffer.resize(kept + CHUNK, 0);
        let room = self.buffer.get_mut(kept..).unwrap_or_default();
        let read = self.text.read_at(self.at + kept as u64, room)?;
        self.buffer.truncate(kept + read);
        self.is_end = read < CHUNK;
        Ok(!self.buffer.is_empty())
    }

    /// Gives the whole lines of what was read, at the end also a last one
    /// without an end. `take` says `false` to stop: the line is left.
    pub(super) fn each(&mut self, take: &mut dyn FnMut(&[u8], LineAt) -> bool) -> bool {
        let mut start = 0;
        let mut is_stopped = false;
        for end in memchr::memchr_iter(b'\n', &self.buffer) {
            let line = self.buffer.get(start..end).unwrap_or_default();
            let at = LineAt {
                start: self.at + start as u64,
                end: self.at + end as u64 + 1,
                line: self.line,
            };
            if !take(line, at) {
                is_stopped = true;
                break;
            }
            self.line = self.line.saturating_add(1);
            start = end + 1;
        }
        if self.is_end && !is_stopped && start < self.buffer.len() {
            let line = self.buffer.get(start..).unwrap_or_default();
            let at = LineAt {
                start: self.at + start as u64,
                end: self.at + self.buffer.len() as u64,
                line: self.line,
            };
            if take(line, at) {
                start = self.buffer.len();
            } else {
                is_stopped = true;
            }
        }
        self.buffer.drain(..start);
        self.at += start as u64;
        is_stopped
    }

    /// What was read of a line that has not ended, and where it stands.
    pub(super) fn rest(&self) -> (&[u8], u64, u32) {
        (&self.buffer, self.at, self.line)
    }
}
