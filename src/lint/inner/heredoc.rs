//! Texts that scripts write: heredocs of a shell whose target can be told, and what
//! `echo` and `printf` write.
//!
//! Source: POSIX.1-2024, Shell Command Language, 2.7.4 Here-Document;
//! Dockerfile reference, Here-Documents.

use crate::lint::embedded::Layer;
use crate::lint::form::Form;
use crate::lint::inner::command::{self, Target};
use crate::lint::inner::installer;
use crate::lint::inner::printed::Printed;
use crate::lint::recognise;
use crate::text::Span;

/// A text that a script or another program's file holds.
#[derive(Clone, Debug)]
pub struct Written {
    /// The path that it is to have.
    pub path: String,
    /// What it is.
    pub form: Form,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// How they stand in the script.
    pub layer: Layer,
    /// Whether something is put into it that is not known here.
    pub is_open: bool,
    /// Whether what is put in can be more of what it says: flags of a program.
    pub is_partial: bool,
    /// Whether a program takes it for what it is, so that it must be whole.
    pub is_final: bool,
}

/// What begins an instruction of a Dockerfile that writes files.
///
/// Source: moby/buildkit `executor/oci/mounts.go: withROBind`.
const IMAGE: [&[u8]; 3] = [b"RUN ", b"COPY ", b"ADD "];

/// After so many words that look like the begin of a heredoc without an end the
/// rest of the script is not read.
const MAX_UNENDED: usize = 100;

/// The texts that a script writes. `is_template`: something is put into the
/// script itself. Total: any bytes give a result.
pub fn texts(bytes: &[u8], is_template: bool) -> Vec<Written> {
    let (mut texts, mut unended) = (Vec::new(), 0);
    let (mut at, mut command, mut first) = (0, Vec::new(), 0);
    let mut quotes = Vec::new();
    let mut printed = Printed::default();
    while let Some(line) = line_at(bytes, at).filter(|_| unended < MAX_UNENDED) {
        let begin = at;
        if command.is_empty() {
            first = at;
        }
        at += line.len();
        command.extend_from_slice(trimmed(line));
        if command.last() == Some(&b'\\') {
            command.pop();
            continue;
        }
        let words = delimiters(&command, &mut quotes);
        // While an image is built, and in each container, the file is a mount.
        let is_of_image = IMAGE
            .iter()
            .any(|it| command.trim_ascii_start().starts_with(it));
        if !is_of_image {
            printed.take(&command, Span::new(begin, begin + trimmed(line).len()));
        }
        texts.extend(installer::units(bytes, &command, Span::new(first, at)));
        // What two give one program is not known.
        let target = (words.len() == 1)
            .then(|| command::target(&String::from_utf8_lossy(&command)))
            .flatten();
        for word in words {
            let Some(end) = end(bytes, at, &word) else {
                unended += 1;
                continue;
            };
            let body = Span::new(at, end.0);
            let target = target.clone();
            let text = target.and_then(|it| written(bytes, body, &word, it, is_template));
            let is_kept = |it: &Written| !(is_of_image && it.form == Form::ResolvConf);
            texts.extend(text.filter(is_kept));
            at = end.1;
        }
        command.clear();
    }
    if !is_template {
        texts.extend(printed.texts());
    }
    texts
}

/// The word that ends a heredoc.
struct Delimiter {
    word: Vec<u8>,
    /// Whether it is quoted: nothing is put into the text.
    is_quoted: bool,
    /// `<<-`: tabs before lines are left out.
    has_tabs: bool,
    /// Whether it stands in double quotes, in a word for another shell, `ssh HOST "…"`:
    /// this one takes backslashes away, too.
    is_relayed: bool,
}

/// Opens and closes quotes, and commands in words, `$(…)`, where they begin afresh. Whether
/// a comment ends it.
fn pass_quotes(open: &mut Vec<u8>, command: &[u8]) -> bool {
    let (mut bytes, mut before) = (command.iter(), b' ');
    while let Some(&byte) = bytes.next() {
        match (open.last().copied(), byte) {
            (Some(b'\''), it) if it != b'\'' => {}
            (_, b'\\') => drop(bytes.next()),
            (None | Some(b'('), b'#') if before.is_ascii_whitespace() => return true,
            (Some(it), _) if it == byte && byte != b'(' => drop(open.pop()),
            (Some(b'('), b')') => drop(open.pop()),
            (None | Some(b'('), b'\'' | b'"') => open.push(byte),
            (Some(b'('), b'(') => open.push(byte),
            (_, b'(') if before == b'$' => open.push(byte),
            _ => {}
        }
        before = byte;
    }
    false
}

fn line_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..).filter(|it| !it.is_empty())?;
    let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |it| it + 1);
    rest.get(..end)
}

fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The words behind `<<` in a command, before which these quotes are open. A shift in an
/// expression is one whose word ends nothing.
fn delimiters(command: &[u8], quotes: &mut Vec<u8>) -> Vec<Delimiter> {
    let mut found = Vec::new();
    let (mut at, mut is_comment) = (0, false);
    while let Some(next) = memchr::memmem::find(command.get(at..).unwrap_or_default(), b"<<") {
        let rest = command.get(at + next + 2..).unwrap_or_default();
        let before = command.get(at..at + next).unwrap_or_default();
        is_comment = is_comment || pass_quotes(quotes, before);
        at += next + 2;
        if rest.first() == Some(&b'<') {
            at += 1;
            continue;
        }
        let dashed = rest.strip_prefix(b"-");
        let rest = dashed.unwrap_or(rest).trim_ascii_start();
        let quote = rest
            .first()
            .copied()
            .filter(|it| matches!(it, b'\'' | b'"' | b'\\'));
        let rest = rest.get(usize::from(quote.is_some())..).unwrap_or_default();
        let is_word = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.' | b'-');
        let word: Vec<u8> = rest.iter().copied().take_while(is_word).collect();
        if word.first().is_some_and(|it| !it.is_ascii_digit()) {
            found.push(Delimiter {
                word,
                is_quoted: quote.is_some(),
                has_tabs: dashed.is_some(),
                is_relayed: quotes.last() == Some(&b'"'),
            });
        }
    }
    if !is_comment {
        pass_quotes(quotes, command.get(at..).unwrap_or_default());
    }
    found
}

/// Where the line begins that ends a heredoc, and the one behind it.
fn end(bytes: &[u8], mut at: usize, delimiter: &Delimiter) -> Option<(usize, usize)> {
    while let Some(line) = line_at(bytes, at) {
        let text = trimmed(line);
        let tabs = text.iter().take_while(|it| **it == b'\t').count();
        let text = text.get(if delimiter.has_tabs { tabs } else { 0 }..)?;
        if text == delimiter.word {
            return Some((at, at + line.len()));
        }
        at += line.len();
    }
    None
}

fn written(
    bytes: &[u8],
    body: Span,
    delimiter: &Delimiter,
    target: Target,
    is_template: bool,
) -> Option<Written> {
    let text = Text::from_body(bytes, body, delimiter);
    let is_open = text.is_open || is_template && has_mark(&text.bytes);
    let named = match target {
        Target::Objects => (String::from("manifest.yaml"), Form::Yaml, true),
        Target::Values => (String::from("values.yaml"), Form::Yaml, true),
        Target::File(path) => {
            let (path, form) = known(&path, &text.bytes)?;
            (path, form, false)
        }
    };
    let (path, form, is_final) = named;
    // What a shell puts into a unit is a word of it, or a part of one.
    let is_word = is_open
        && matches!(form, Form::Unit | Form::Environment | Form::Corefile)
        && !has_mark_of_tool(&text.bytes);
    if is_open && form != Form::Yaml && !is_word || !is_subject(form, &text.bytes) {
        return None;
    }
    Some(Written {
        path,
        form,
        layer: text.layer(body, is_open),
        bytes: text.bytes,
        is_open,
        is_partial: is_word,
        is_final,
    })
}

/// Whether something other than variables is put in: the words of a command are not
/// those of the text.
fn has_mark_of_tool(bytes: &[u8]) -> bool {
    const MARKS: [&[u8]; 5] = [b"`", b"$(", b"{{", b"%{", b"{%"];
    let has = |mark: &&[u8]| memchr::memmem::find(bytes, mark).is_some();
    MARKS.iter().any(has)
}

fn is_subject(form: Form, bytes: &[u8]) -> bool {
    form != Form::Yaml || recognise::has_subject(bytes)
}

/// Whether a tool puts something in.
pub fn has_mark(bytes: &[u8]) -> bool {
    const MARKS: [&[u8]; 4] = [b"${", b"{{", b"%{", b"{%"];
    let has = |mark: &&[u8]| memchr::memmem::find(bytes, mark).is_some();
    MARKS.iter().any(has)
}

/// A path and what the file is; `None`: the place or the file cannot be told.
pub(super) fn known(path: &str, bytes: &[u8]) -> Option<(String, Form)> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_unknown = |it: &str| it.contains(['$', '`', '{', '<', '*']);
    if is_unknown(path) {
        // Of YAML the text says what it is, wherever it lies, and the name of a Corefile.
        let name = if is_unknown(name) { "" } else { name };
        let form = recognise::form(name, bytes, false)?;
        return matches!(form, Form::Yaml | Form::Corefile).then(|| (name.to_owned(), form));
    }
    let form = recognise::form(path, bytes, false)?;
    let is_told = match form {
        // Only where resolvers look for it.
        Form::ResolvConf => {
            path.starts_with('/') && (name == "resolv.conf" || recognise::is_part(path))
        }
        Form::Script | Form::Terraform | Form::Mime | Form::Wide => false,
        _ => true,
    };
    is_told.then(|| (path.to_owned(), form))
}

/// The text of a heredoc, and which of its bytes stand where.
struct Text {
    bytes: Vec<u8>,
    /// Where runs begin, inside and outside, and how long they are.
    runs: Vec<(usize, Span)>,
    is_open: bool,
}

impl Text {
    fn from_body(bytes: &[u8], body: Span, delimiter: &Delimiter) -> Self {
        let mut text = Self {
            bytes: Vec::with_capacity(body.len()),
            runs: Vec::new(),
            is_open: false,
        };
        let end = body.end as usize;
        let mut at = body.start as usize;
        while let Some(line) = line_at(bytes.get(..end).unwrap_or_default(), at) {
            let tabs = line.iter().take_while(|it| **it == b'\t').count();
            let skipped = if delimiter.has_tabs { tabs } else { 0 };
            let content = Span::new(at + skipped, at + line.len());
            if delimiter.is_quoted && !delimiter.is_relayed {
                text.run(bytes, content);
            } else {
                text.expanded(bytes, content, delimiter.is_relayed);
            }
            at += line.len();
        }
        text
    }

    fn run(&mut self, bytes: &[u8], span: Span) {
        let before = self.bytes.len();
        self.bytes.extend_from_slice(span.slice(bytes));
        match self.runs.last_mut() {
            Some((_, last)) if last.end == span.start => last.end = span.end,
            _ => self.runs.push((before, span)),
        }
    }

    /// A line in which the shell puts something in, and takes backslashes away.
    fn expanded(&mut self, bytes: &[u8], line: Span, is_relayed: bool) {
        let is_taken = |it: &u8| b"$`\\\n".contains(it) || is_relayed && *it == b'"';
        let mut start = line.start as usize;
        let mut at = start;
        while at < line.end as usize {
            let (byte, next) = (bytes.get(at), bytes.get(at + 1));
            match (byte, next) {
                (Some(b'`'), _) => self.is_open = true,
                (Some(b'$'), Some(next)) => {
                    let is_special = b"_{(@*#?$!-".contains(next);
                    self.is_open |= next.is_ascii_alphanumeric() || is_special;
                }
                (Some(b'\\'), Some(next)) if is_taken(next) => {
                    self.run(bytes, Span::new(start, at));
                    // A line that goes on is one with the next.
                    start = if *next == b'\n' { at + 2 } else { at + 1 };
                    at += 1;
                }
                _ => {}
            }
            at += 1;
        }
        self.run(bytes, Span::new(start.min(at), at));
    }

    fn layer(&self, body: Span, is_open: bool) -> Layer {
        match self.runs.as_slice() {
            [(0, span)] if *span == body && !is_open => Layer::slice(body),
            runs => layer_of(body, runs),
        }
    }
}

/// The layer of a text of which only these runs stand as they are; nothing is
/// written there.
pub(super) fn layer_of(whole: Span, runs: &[(usize, Span)]) -> Layer {
    let pieces = runs
        .iter()
        .map(|(inner, span)| (*inner, Layer::slice(*span)));
    Layer::of_pieces(whole, pieces).fixed()
}
