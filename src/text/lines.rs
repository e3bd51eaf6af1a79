//! Where the lines of a file are.

use super::{Place, Position, Source, Span, characters, is_behind_mark};

/// Where the lines of a file begin: many places of one file cost little.
#[derive(Clone, Debug)]
pub struct Lines<'s> {
    source: &'s Source,
    index: LineIndex,
}

impl<'s> Lines<'s> {
    /// Finds the lines of a file.
    pub fn new(source: &'s Source) -> Self {
        Self {
            source,
            index: LineIndex::new(&source.bytes),
        }
    }

    /// The place of the byte at `offset`, as [`Source::place_of`] says.
    pub fn place_of(&self, offset: u32) -> Place {
        let at = self.index.position(&self.source.bytes, offset);
        Place::new(self.source.name.clone(), at.line, at.column)
    }
}

/// What [`Lines`] knows, without the file.
#[derive(Clone, Debug, Default)]
pub struct LineIndex {
    /// The first byte of each line.
    starts: Vec<usize>,
    /// Offsets with the number of characters before them, for long lines.
    marks: Vec<(usize, usize)>,
}

/// Characters are counted anew from one mark to the next.
const MARK_EVERY: usize = 4096;

impl LineIndex {
    /// Finds the lines of a file.
    pub fn new(bytes: &[u8]) -> Self {
        let next = memchr::memchr_iter(b'\n', bytes).map(|at| at + 1);
        let starts = std::iter::once(0).chain(next).collect();
        let mut marks = vec![(0, 0)];
        let (mut at, mut count) = (0, 0);
        while let Some(rest) = bytes.get(at + MARK_EVERY..) {
            // No character goes over the byte that begins one.
            let Some(more) = rest.iter().position(|byte| byte & 0xc0 != 0x80) else {
                break;
            };
            let end = at + MARK_EVERY + more;
            count += characters(bytes.get(at..end).unwrap_or_default());
            at = end;
            marks.push((at, count));
        }
        Self { starts, marks }
    }

    /// Line and column of the byte at `offset`, as [`Source::position`] says.
    pub fn position(&self, bytes: &[u8], offset: u32) -> Position {
        let offset = (offset as usize).min(bytes.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        let mark = self.marks.partition_point(|mark| mark.0 <= offset);
        let mark = self.marks.get(mark.wrapping_sub(1)).copied();
        let count = match mark {
            Some((at, count)) if at > start => {
                count + characters(bytes.get(at..offset).unwrap_or_default())
                    - self.count(bytes, start)
            }
            _ => characters(bytes.get(start..offset).unwrap_or_default()),
        };
        Position {
            line,
            column: count + 1 - usize::from(is_behind_mark(bytes, start, offset)),
        }
    }

    /// The characters before the beginning of a line.
    fn count(&self, bytes: &[u8], start: usize) -> usize {
        let mark = self.marks.partition_point(|mark| mark.0 <= start);
        let mark = self.marks.get(mark.wrapping_sub(1)).copied();
        let (at, count) = mark.unwrap_or_default();
        count + characters(bytes.get(at..start).unwrap_or_default())
    }

    /// The bytes of a line, which is counted from 1, without its end.
    pub fn line(&self, bytes: &[u8], line: usize) -> Span {
        let start = self.starts.get(line.wrapping_sub(1)).copied();
        let start = start.unwrap_or(bytes.len());
        let end = self.starts.get(line).copied().unwrap_or(bytes.len());
        let text = bytes.get(start..end).unwrap_or_default();
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        Span::new(start, start + text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_counted_from_marks() {
        for unit in ["a", "é", "\u{1f4a5}", "aé\n", "€€€€€€€€€\n"] {
            let text = unit.repeat(4000).into_bytes();
            let odd = [text.as_slice(), &[0x80; 9000], b"\xf0\x9f", &text].concat();
            for bytes in [text, odd] {
                let index = LineIndex::new(&bytes);
                let source = Source::new("", bytes);
                for offset in (0..u32::try_from(source.bytes.len()).unwrap()).step_by(397) {
                    let found = index.position(&source.bytes, offset);
                    assert_eq!(found, source.position(offset), "{unit:?} at {offset}");
                }
            }
        }
    }
}
