//! Values of Terraform's language: literals as the tree that YAML has.
//!
//! Source: hashicorp/hcl `hclsyntax/spec.md`, "Structural Elements" and
//! "Expressions".

use crate::config::yaml::{Entry, Node, Scalar, Style, Value};
use crate::text::Span;

/// Deeper values are not known.
const MAX_DEPTH: usize = 64;

/// Reads expressions of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) at: usize,
    /// Whether a value that was read has more than is known of it.
    pub(super) is_partial: bool,
}

/// A heredoc: its word, its lines and whether blanks before them are left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heredoc {
    /// The whole expression.
    pub(super) whole: Span,
    /// Its lines.
    pub(super) body: Span,
    /// `<<-`
    pub(super) is_indented: bool,
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            is_partial: false,
        }
    }

    pub(super) fn rest(&self) -> &'b [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Passes a comment, if one begins here.
    pub(super) fn comment(&mut self) -> bool {
        let rest = self.rest();
        let end = if rest.starts_with(b"#") || rest.starts_with(b"//") {
            memchr::memchr(b'\n', rest)
        } else if rest.starts_with(b"/*") {
            memchr::memmem::find(rest, b"*/").map(|it| it + 2)
        } else {
            return false;
        };
        self.at += end.unwrap_or(rest.len());
        true
    }

    /// Passes blanks, line ends, commas and comments.
    pub(super) fn blanks(&mut self) {
        while self
            .peek()
            .is_some_and(|it| it.is_ascii_whitespace() || it == b',')
            || self.comment()
        {
            if self
                .peek()
                .is_some_and(|it| it.is_ascii_whitespace() || it == b',')
            {
                self.at += 1;
            }
        }
    }

    /// A string as it is written, without its quotes.
    pub(super) fn quoted(&mut self) -> Option<&'b [u8]> {
        let begin = self.at + 1;
        self.string()?;
        self.bytes.get(begin..self.at.checked_sub(1)?)
    }

    /// A name: `yamlencode`.
    pub(super) fn word(&mut self) -> &'b [u8] {
        let is_word = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-');
        let rest = self.rest();
        let end = rest
            .iter()
            .position(|it| !is_word(it))
            .unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// The value here.
    pub(super) fn value(&mut self, depth: usize) -> Node {
        self.blanks();
        let start = self.at;
        let value = match self.peek() {
            _ if depth > MAX_DEPTH => None,
            Some(b'"') => self.string(),
            Some(b'<') => self.heredoc().map(|it| {
                let (text, _) = it.unindented(self.bytes);
                let text = String::from_utf8_lossy(&text).into_owned();
                scalar(text, Style::DoubleQuoted)
            }),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'm') if self.rest().starts_with(b"merge(") => self.merged(depth),
            Some(b'0'..=b'9' | b'-' | b'a'..=b'z') => self.constant(),
            _ => None,
        };
        let value = value.filter(|_| self.is_whole()).unwrap_or_else(|| {
            self.at = start;
            self.unknown();
            // As a tool would have it that fills texts in.
            let text = Span::new(start, self.at).slice(self.bytes);
            let text = format!("${{{}}}", String::from_utf8_lossy(text));
            scalar(text, Style::DoubleQuoted)
        });
        node(start, self.at, value)
    }

    /// Whether the value ends here: an operator or index makes another one of it.
    fn is_whole(&self) -> bool {
        let rest = self.rest();
        let blanks = rest
            .iter()
            .take_while(|it| matches!(it, b' ' | b'\t' | b'\r'));
        let rest = rest.get(blanks.count()..).unwrap_or_default();
        match rest.first() {
            None => true,
            Some(b'/') => rest.starts_with(b"//") || rest.starts_with(b"/*"),
            Some(it) => matches!(it, b',' | b'\n' | b'}' | b']' | b')' | b'#'),
        }
    }

    /// Passes what is not known: up to a comma, a line end or a bracket.
    fn unknown(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' | b'<' => {
                    self.text();
                    continue;
                }
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' if depth == 0 => return,
                b')' | b']' | b'}' => depth -= 1,
                b',' | b'\n' if depth == 0 => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Passes a text in quotes or a heredoc; behind one without an end nothing can be
    /// told.
    fn text(&mut self) {
        let is_text = match self.peek() {
            Some(b'"') => self.string().is_some(),
            _ if self.rest().starts_with(b"<<") => self.heredoc().is_some(),
            _ => {
                self.at += 1;
                true
            }
        };
        if !is_text {
            self.at = self.bytes.len();
        }
    }

    /// `true`, `null` and numbers.
    fn constant(&mut self) -> Option<Value> {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|it| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'-' | b'_'))
        {
            self.at += 1;
        }
        let text = str::from_utf8(self.bytes.get(start..self.at)?).ok()?;
        let is_known = matches!(text, "true" | "false" | "null") || text.parse::<f64>().is_ok();
        (is_known && !matches!(text, "inf" | "nan" | "infinity"))
            .then(|| scalar(text.to_owned(), Style::Plain))
    }

    /// A text in quotes; what is put into it stands there as it is written.
    pub(super) fn string(&mut self) -> Option<Value> {
        let start = self.at;
        self.at += 1;
        let (mut text, mut depth) = (Vec::new(), 0_usize);
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'"' if depth == 0 => {
                    let text = String::from_utf8_lossy(&text).into_owned();
                    return Some(scalar(text, Style::DoubleQuoted));
                }
                b'\n' if depth == 0 => break,
                b'\\' if depth == 0 => {
                    let next = self.peek()?;
                    self.at += 1;
                    text.push(match next {
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'r' => b'\r',
                        it => it,
                    });
                    continue;
                }
                b'{' if depth > 0 || matches!(text.last(), Some(b'$' | b'%')) => depth += 1,
                b'}' if depth > 0 => depth -= 1,
                _ => {}
            }
            text.push(byte);
        }
        self.at = start;
        None
    }

    /// The heredoc that begins here.
    pub(super) fn heredoc(&mut self) -> Option<Heredoc> {
        let start = self.at;
        let rest = self.rest().strip_prefix(b"<<")?;
        let is_indented = rest.first() == Some(&b'-');
        self.at += 2 + usize::from(is_indented);
        let word = self.word();
        let line = self.rest();
        let newline = memchr::memchr(b'\n', line)?;
        let is_alone = line.get(..newline)?.trim_ascii().is_empty();
        let body = self.at + newline + 1;
        let mut at = body;
        while let Some(rest) = self.bytes.get(at..).filter(|it| !it.is_empty() && is_alone) {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let line = rest.get(..end)?;
            if !word.is_empty() && line.trim_ascii() == word {
                self.at = at + end;
                return Some(Heredoc {
                    whole: Span::new(start, self.at),
                    body: Span::new(body, at),
                    is_indented,
                });
            }
            at += end + 1;
        }
        self.at = start;
        None
    }

    /// What objects make together: of a key the last one counts. What is not known can
    /// have any key.
    fn merged(&mut self, depth: usize) -> Option<Value> {
        self.at += b"merge(".len();
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            self.blanks();
            if self.peek()? == b')' {
                break;
            }
            let before = self.at;
            match self.value(depth + 1).value {
                Value::Mapping(more) => {
                    let is_new = |it: &Entry| more.iter().all(|more| !is_same(&more.key, &it.key));
                    entries.retain(is_new);
                    entries.extend(more);
                }
                _ => {
                    self.is_partial = true;
                    entries.clear();
                }
            }
            (self.at > before).then_some(())?;
        }
        self.at += 1;
        Some(Value::Mapping(entries))
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.blanks();
            match self.peek()? {
                b']' => break,
                b'}' | b')' => return None,
                _ if self.is_for() => return None,
                _ => {
                    let before = self.at;
                    items.push(self.value(depth + 1));
                    (self.at > before).then_some(())?;
                }
            }
        }
        self.at += 1;
        Some(Value::Sequence(items))
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.blanks();
            if self.peek()? == b'}' {
                break;
            }
            if self.is_for() {
                return None;
            }
            let start = self.at;
            let key = match self.peek()? {
                b'"' => self.string()?,
                _ => {
                    let word = self.word();
                    let text = String::from_utf8_lossy(word).into_owned();
                    (!word.is_empty()).then(|| scalar(text, Style::Plain))?
                }
            };
            let key = node(start, self.at, key);
            self.blanks();
            matches!(self.peek()?, b'=' | b':').then_some(())?;
            self.at += 1;
            let value = self.value(depth + 1);
            entries.push(Entry { key, value });
        }
        self.at += 1;
        Some(Value::Mapping(entries))
    }

    /// Whether a `for` expression is here, whose values are not known.
    fn is_for(&self) -> bool {
        let behind = self.rest().strip_prefix(b"for");
        behind.is_some_and(|it| it.first().is_some_and(u8::is_ascii_whitespace))
    }
}

impl Heredoc {
    /// The text without the blanks that all its lines begin with, where they are
    /// left out, and where its runs stand.
    pub(super) fn unindented(&self, bytes: &[u8]) -> (Vec<u8>, Vec<(usize, Span)>) {
        let body = self.body.slice(bytes);
        if !self.is_indented {
            return (body.to_vec(), vec![(0, self.body)]);
        }
        let lines = || body.split_inclusive(|&it| it == b'\n');
        let indent = |line: &[u8]| {
            line.iter()
                .take_while(|it| matches!(it, b' ' | b'\t'))
                .count()
        };
        let is_said = |line: &&[u8]| !line.trim_ascii().is_empty();
        let least = lines().filter(is_said).map(indent).min().unwrap_or(0);
        let (mut text, mut runs) = (Vec::with_capacity(body.len()), Vec::new());
        let mut at = self.body.start as usize;
        for line in lines() {
            let skipped = least.min(indent(line));
            let kept = line.get(skipped..).unwrap_or_default();
            runs.push((text.len(), Span::new(at + skipped, at + line.len())));
            text.extend_from_slice(kept);
            at += line.len();
        }
        (text, runs)
    }
}

fn is_same(one: &Node, other: &Node) -> bool {
    let text = |it: &Node| it.as_scalar().map(|it| it.text.clone());
    text(one) == text(other)
}

fn scalar(text: String, style: Style) -> Value {
    Value::Scalar(Scalar { text, style })
}

fn node(start: usize, end: usize, value: Value) -> Node {
    Node::new(Span::new(start, end), value)
}
