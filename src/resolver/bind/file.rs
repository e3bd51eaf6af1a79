//! The file as BIND's reader takes it: words, and the bytes that stop them.

use crate::config::resolv_conf::Word;
use crate::text::Span;

/// Words are cut to one byte less. Source: lib/irs/resconf.c:
/// `RESCONFMAXLINELEN` (9.18)
const MAX_LINE: usize = 256;

/// A `FILE` and where it is read. `None` stands for `EOF`.
pub(super) struct File<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> File<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn fgetc(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += usize::from(byte.is_some());
        byte
    }

    /// Source: lib/irs/resconf.c: `eatline` (9.18)
    pub(super) fn eatline(&mut self) -> Option<u8> {
        loop {
            match self.fgetc() {
                Some(byte) if byte != b'\n' => {}
                stop => return stop,
            }
        }
    }

    /// Source: lib/irs/resconf.c: `eatwhite` (9.18)
    pub(super) fn eatwhite(&mut self) -> Option<u8> {
        loop {
            match self.fgetc() {
                Some(b';' | b'#') => return self.eatline(),
                Some(byte) if byte != b'\n' && is_space(byte) => {}
                stop => return stop,
            }
        }
    }

    /// The next word of the line as a C string, empty at its end, and the
    /// byte that stopped it.
    ///
    /// Source: lib/irs/resconf.c: `getword` (9.18)
    pub(super) fn getword(&mut self) -> (Word<'a>, Option<u8>) {
        let mut next = self.eatwhite();
        let start = self.at - usize::from(next.is_some());
        let mut end = start;
        let stop = loop {
            match next {
                Some(byte) if !is_space(byte) => {}
                stop => break stop,
            }
            if end - start == MAX_LINE - 1 {
                break None;
            }
            end += 1;
            next = self.fgetc();
        };
        let bytes = self.bytes.get(start..end).unwrap_or_default();
        let word = Word {
            bytes: bytes.split(|&byte| byte == 0).next().unwrap_or_default(),
            span: Span::new(start, end),
        };
        (word, stop)
    }
}

/// C's `isspace`.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
