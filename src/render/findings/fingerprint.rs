//! What GitHub knows an alert by when lines move: a hash of the text from the
//! beginning of its line on.

use std::collections::{BTreeMap, BTreeSet};

/// So many characters are hashed.
const BLOCK: usize = 100;
const FACTOR: u64 = 37;
const END_OF_FILE: u16 = u16::MAX;

/// The hashes of the lines in `wanted`, which are numbered from 1, as GitHub
/// computes its `primaryLocationLineHash`: of the first 100 characters that are
/// no blanks, with the number of lines so far that have the same one.
///
/// Source: github/codeql-action src/fingerprints.ts `hash`.
pub fn of_lines(bytes: &[u8], wanted: &BTreeSet<usize>) -> BTreeMap<usize, String> {
    let mut hashes = Hashes {
        window: [0; BLOCK],
        lines: [None; BLOCK],
        // FACTOR to the power of BLOCK.
        first: (0..BLOCK).fold(1, |power: u64, _| power.wrapping_mul(FACTOR)),
        hash: 0,
        index: 0,
        counts: BTreeMap::new(),
        wanted,
        found: BTreeMap::new(),
    };
    let text = String::from_utf8_lossy(bytes);
    let (mut line, mut is_start, mut is_after_return) = (0, true, false);
    for unit in text.encode_utf16().chain([END_OF_FILE]) {
        let is_second = std::mem::take(&mut is_after_return) && unit == u16::from(b'\n');
        if is_second || unit == u16::from(b' ') || unit == u16::from(b'\t') {
            continue;
        }
        is_after_return = unit == u16::from(b'\r');
        let unit = if is_after_return {
            u16::from(b'\n')
        } else {
            unit
        };
        hashes.finish();
        if std::mem::replace(&mut is_start, unit == u16::from(b'\n')) {
            line += 1;
            hashes.begin(line);
        }
        hashes.push(unit);
    }
    for _ in 0..BLOCK {
        hashes.finish();
        hashes.push(0);
    }
    hashes.found
}

struct Hashes<'w> {
    /// The last characters.
    window: [u16; BLOCK],
    /// Which of them begin a line, and which one.
    lines: [Option<usize>; BLOCK],
    first: u64,
    hash: u64,
    index: usize,
    counts: BTreeMap<u64, usize>,
    wanted: &'w BTreeSet<usize>,
    found: BTreeMap<usize, String>,
}

impl Hashes<'_> {
    /// If a line began so many characters ago, its hash is complete.
    fn finish(&mut self) {
        let Some(line) = self.lines.get_mut(self.index).and_then(Option::take) else {
            return;
        };
        let count = self.counts.entry(self.hash).or_default();
        *count += 1;
        if self.wanted.contains(&line) {
            self.found.insert(line, format!("{:x}:{count}", self.hash));
        }
    }

    fn begin(&mut self, line: usize) {
        if let Some(slot) = self.lines.get_mut(self.index) {
            *slot = Some(line);
        }
    }

    fn push(&mut self, unit: u16) {
        let Some(slot) = self.window.get_mut(self.index) else {
            return;
        };
        let gone = std::mem::replace(slot, unit);
        let gone = self.first.wrapping_mul(u64::from(gone));
        let hash = FACTOR.wrapping_mul(self.hash);
        self.hash = hash.wrapping_add(u64::from(unit)).wrapping_sub(gone);
        self.index = (self.index + 1) % BLOCK;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let lines: BTreeSet<usize> = (1..100).collect();
        let found: Vec<String> = of_lines(text.as_bytes(), &lines).into_values().collect();
        assert_eq!(found, expected, "{text:?}");
    }

    /// Source: github/codeql-action src/fingerprints.test.ts.
    #[test]
    fn hashes_are_githubs() {
        check("", &["c129715d7a2bc9a3:1"]);
        check(
            " a\nb\n  \t\tc\n d",
            &[
                "271789c17abda88f:1",
                "54703d4cd895b18:1",
                "180aee12dab6264:1",
                "a23a3dc5e078b07b:1",
            ],
        );
        let greeting = [
            "e9496ae3ebfced30:1",
            "fb7c023a8b9ccb3f:1",
            "ce8ba1a563dcdaca:1",
            "e20e36e16fcb0cc8:1",
            "b3edc88f2938467e:1",
            "c8e28b0b4002a3a0:1",
            "c129715d7a2bc9a3:1",
        ];
        for text in [
            " hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n",
            " hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r",
            " hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n",
            " hello; \t\nworld!!!\r\n\n\r  \t\tGreetings\r End\r\n",
        ] {
            check(text, &greeting);
        }
        check(
            &"Lorem ipsum dolor sit amet.\n".repeat(10),
            &[
                "a7f2ff13bc495cf2:1",
                "a7f2ff13bc495cf2:2",
                "a7f2ff13bc495cf2:3",
                "a7f2ff13bc495cf2:4",
                "a7f2ff13bc495cf2:5",
                "a7f2ff13bc495cf2:6",
                "a7f2ff1481e87703:1",
                "a9cf91f7bbf1862b:1",
                "55ec222b86bcae53:1",
                "cc97dc7b1d7d8f7b:1",
                "c129715d7a2bc9a3:1",
            ],
        );
    }
}
