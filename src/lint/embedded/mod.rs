//! Texts inside values: how their bytes stand in the file around them.
//!
//! A Corefile in a block scalar stands there line for line, each with blanks
//! before it; in a quoted scalar with escapes; in base64 not at all. A layer
//! says which bytes of the text are which of the file, and layers are put one
//! into the other: a kubelet's configuration in an Ignition file in a
//! `MachineConfig`.

mod writing;

use self::writing::Writing;
use crate::config::yaml::{Node, Style, first_line_of_block};
use crate::text::{self, Span};

/// The ways from a text to its file, the innermost first. Empty: the text is
/// the file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Layers(Vec<Layer>);

/// How a text stands in the one around it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Layer {
    /// The whole value in the outer text.
    whole: Span,
    /// Runs of bytes that are the same inside and outside, in order. Empty:
    /// nothing is the same, and every place is that of the value.
    runs: Vec<Run>,
    /// Whether lines can be added and taken away.
    has_lines: bool,
}

/// Bytes that are the same inside and outside.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Run {
    inner: u32,
    outer: u32,
    len: u32,
    /// How other text is written in place of some of them.
    writing: Writing,
}

impl Layers {
    /// The layers of a text inside this one.
    #[must_use]
    pub fn within(&self, layer: Layer) -> Self {
        let mut layers = vec![layer];
        layers.extend(self.0.iter().cloned());
        Self(layers)
    }

    /// The span of the file that a span of the text stands for.
    pub fn outer(&self, span: Span) -> Span {
        self.0.iter().fold(span, |span, layer| layer.outer(span))
    }

    /// A change of the text as one of the file, if the bytes stand there as
    /// they are.
    pub fn change(&self, span: Span, text: String) -> Option<(Span, String)> {
        let first = Some((span, text));
        self.0.iter().fold(first, |change, layer| {
            let (span, text) = change?;
            layer.change(span, text)
        })
    }

    /// A whole line with its newline as one of the file, what stands before
    /// it included.
    pub fn whole_line(&self, line: Span) -> Option<Span> {
        let first = Some(line);
        self.0.iter().fold(first, |line, layer| layer.line(line?))
    }
}

impl Layer {
    /// The layer of a scalar whose text is its value as it was read; `outer`
    /// are the bytes of the document around it.
    pub fn of_scalar(outer: &[u8], node: &Node) -> Option<Self> {
        let scalar = node.as_scalar()?;
        let span = node.span;
        let layer = match scalar.style {
            Style::Block => block(outer, span, scalar.text.as_bytes()),
            Style::DoubleQuoted => quoted(outer, span, scalar.text.as_bytes()),
            Style::Plain => plain(outer, span, scalar.text.as_bytes(), Writing::Plain),
            Style::SingleQuoted => {
                let inside = Span {
                    start: span.start + 1,
                    end: span.end.saturating_sub(1).max(span.start + 1),
                };
                plain(outer, inside, scalar.text.as_bytes(), Writing::Single)
            }
        };
        Some(layer.unwrap_or_else(|| Self::opaque(span)))
    }

    /// The layer of a text that stands in the value in another form, as base64.
    pub fn opaque(whole: Span) -> Self {
        Self {
            whole,
            runs: Vec::new(),
            has_lines: false,
        }
    }

    /// The layer of a text that is a part of the one around it as it is: whole
    /// lines of it.
    pub fn slice(whole: Span) -> Self {
        Self {
            whole,
            runs: vec![run(0, whole.start as usize, whole.len(), Writing::AS_IT_IS)],
            has_lines: true,
        }
    }

    /// The same text where nothing may be written.
    #[must_use]
    pub fn fixed(mut self) -> Self {
        for run in &mut self.runs {
            run.writing = Writing::Fixed;
        }
        self
    }

    /// The layer of a text that was put together from others: where each of
    /// them begins in it, in order, and how it stands in the text around.
    pub fn of_pieces(whole: Span, pieces: impl Iterator<Item = (usize, Self)>) -> Self {
        let runs = pieces.flat_map(|(start, layer)| {
            let start = text::offset(start);
            let runs = layer.runs.into_iter();
            runs.map(move |run| Run {
                inner: run.inner.saturating_add(start),
                ..run
            })
        });
        Self {
            whole,
            runs: runs.collect(),
            has_lines: false,
        }
    }

    fn outer(&self, span: Span) -> Span {
        let Some(start) = self.offset(span.start, false) else {
            return self.whole;
        };
        let end = self.offset(span.end, span.end > span.start);
        Span {
            start,
            end: end.unwrap_or(start).max(start),
        }
    }

    /// Where the byte at `inner` stands. `is_end`: where the one before it ends.
    fn offset(&self, inner: u32, is_end: bool) -> Option<u32> {
        let is_before = |run: &Run| run.inner + u32::from(is_end) <= inner;
        let at = self.runs.partition_point(is_before).saturating_sub(1);
        let run = self.runs.get(at)?;
        Some(run.outer + inner.saturating_sub(run.inner).min(run.len))
    }

    /// The run that has all of a span.
    fn run_of(&self, span: Span) -> Option<Run> {
        let at = self.runs.partition_point(|run| run.inner <= span.start);
        let run = *self.runs.get(at.checked_sub(1)?)?;
        (span.end <= run.inner + run.len).then_some(run)
    }

    fn change(&self, span: Span, text: String) -> Option<(Span, String)> {
        let run = self.run_of(span)?;
        let outer = |at: u32| run.outer + (at - run.inner);
        let is_behind = span.end == run.inner + run.len;
        // Runs end before a carriage return, and behind the line's newline otherwise.
        let is_last = is_behind && !matches!(run.writing, Writing::Lines { is_crlf: true, .. });
        if span.is_empty() && is_last && run.len > 0 && self.has_lines {
            // Behind the last line nothing tells whether a new one must begin.
            return None;
        }
        let is_line = matches!(run.writing, Writing::Lines { .. });
        if is_line && !self.has_lines && text.contains('\n') {
            return None;
        }
        let place = Span {
            start: outer(span.start),
            end: outer(span.end),
        };
        Some((place, run.writing.written(text, is_behind)?))
    }

    /// A line with what stands before it. Only blocks have lines of their own.
    fn line(&self, line: Span) -> Option<Span> {
        let at = self.runs.partition_point(|run| run.inner <= line.start);
        let run = self.runs.get(at.checked_sub(1)?)?;
        let Writing::Lines { indent, is_crlf } = run.writing else {
            return None;
        };
        let indent = u32::from(indent);
        if !self.has_lines || indent > 0 && run.inner != line.start {
            return None;
        }
        let start = run.outer + (line.start - run.inner);
        // What ends a line with a carriage return is one byte inside.
        let behind = line.end.saturating_sub(run.inner + run.len);
        let end = match behind {
            0 => run.outer + (line.end - run.inner),
            1 if is_crlf => run.outer + run.len + 2,
            _ => return None,
        };
        let start = start.checked_sub(indent)?;
        Some(Span { start, end })
    }
}

/// A literal block: each line of the text is one of the document, behind the
/// same number of blanks. Lines that were folded are not the same.
fn block(outer: &[u8], span: Span, text: &[u8]) -> Option<Layer> {
    let first = first_line_of_block(outer, span)?;
    let lines = || text.split_inclusive(|&byte| byte == b'\n');
    let mut at = first;
    let mut indent = None;
    let mut runs = Vec::new();
    let mut inner = 0;
    for line in lines() {
        let rest = outer.get(at..)?;
        let end = rest.iter().position(|&byte| byte == b'\n');
        let outer_line = rest.get(..end.map_or(rest.len(), |end| end + 1))?;
        let content = trimmed_newline(line);
        let outer_content = trimmed_newline(outer_line);
        if content.is_empty() {
            if !outer_content.trim_ascii().is_empty() {
                return None;
            }
        } else {
            let blanks = outer_content.strip_suffix(content)?;
            let known = *indent.get_or_insert(blanks.len());
            if blanks.len() != known || blanks.iter().any(|&byte| byte != b' ') {
                return None;
            }
        }
        let before = outer_content.len() - content.len();
        let is_same = outer_line.get(before..) == Some(line);
        let len = if is_same { line.len() } else { content.len() };
        let is_crlf = outer_line.ends_with(b"\r\n");
        runs.push((inner, at + before, len, is_crlf));
        inner += line.len();
        at += outer_line.len();
    }
    let writing = |is_crlf| match indent.and_then(|it| u16::try_from(it).ok()) {
        Some(indent) => Writing::Lines { indent, is_crlf },
        None => Writing::Plain,
    };
    let runs = runs.into_iter();
    let runs = runs.map(|(inner, outer, len, is_crlf)| run(inner, outer, len, writing(is_crlf)));
    Some(Layer {
        whole: span,
        runs: runs.collect(),
        has_lines: true,
    })
}

fn trimmed_newline(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A scalar that stands there as it is.
fn plain(outer: &[u8], span: Span, text: &[u8], writing: Writing) -> Option<Layer> {
    (span.slice(outer) == text).then(|| Layer {
        whole: span,
        runs: vec![run(0, span.start as usize, text.len(), writing)],
        has_lines: false,
    })
}

/// A text in double quotes: the bytes between escapes are the same.
fn quoted(outer: &[u8], span: Span, text: &[u8]) -> Option<Layer> {
    let start = span.start as usize + 1;
    let written = outer.get(start..(span.end as usize).checked_sub(1)?)?;
    let mut runs = Vec::new();
    let (mut at, mut inner) = (0, 0);
    while let Some(rest) = written.get(at..).filter(|it| !it.is_empty()) {
        let same = rest.iter().position(|&byte| byte == b'\\');
        let same = same.unwrap_or(rest.len());
        if text.get(inner..inner + same) != rest.get(..same) {
            return None;
        }
        runs.push(run(inner, start + at, same, Writing::Double));
        (at, inner) = (at + same, inner + same);
        let Some(escape) = written.get(at..).filter(|it| !it.is_empty()) else {
            break;
        };
        let length = match escape.get(1)? {
            b'x' => 4,
            b'u' => 6,
            b'U' => 10,
            b'\n' | b'\r' => return None,
            _ => 2,
        };
        // JSON writes what is beyond the first plane as two escapes.
        let is_pair = escape.starts_with(b"\\ud") || escape.starts_with(b"\\uD");
        if is_pair {
            return None;
        }
        let meant = text.get(inner..)?.utf8_chunks().next()?;
        let meant = meant.valid().chars().next()?.len_utf8();
        (at, inner) = (at + length, inner + meant);
    }
    (inner == text.len()).then_some(Layer {
        whole: span,
        runs,
        has_lines: false,
    })
}

fn run(inner: usize, outer: usize, len: usize, writing: Writing) -> Run {
    let inner = Span::new(inner, inner + len);
    Run {
        inner: inner.start,
        outer: text::offset(outer),
        len: inner.end - inner.start,
        writing,
    }
}

#[cfg(test)]
mod tests;
