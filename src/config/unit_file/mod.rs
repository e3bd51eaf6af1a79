//! systemd's units, as far as they say how a service is started.
//!
//! Source: systemd `src/shared/conf-parser.c: config_parse`,
//! `src/basic/extract-word.c`, `src/basic/env-util.c: replace_env_argv`.

use std::collections::BTreeMap;

use crate::config::ini;
use crate::config::traced::Traced;
use crate::text::Span;

/// `KEY=VALUE` in a section.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// The section: `Service`.
    pub section: String,
    /// The key: `ExecStart`.
    pub key: String,
    /// The value, lines that a `\` continues joined with a space.
    pub value: Traced,
}

/// How a service is started.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Service {
    /// The values of `ExecStart=`, in order.
    pub exec_start: Vec<Traced>,
    /// The variables of `Environment=`, in order, repeats kept.
    pub environment: Vec<(String, Traced)>,
    /// The paths of `EnvironmentFile=`, in order, the `-` before them kept.
    pub environment_files: Vec<String>,
    /// `WorkingDirectory=`.
    pub working_directory: Option<String>,
}

/// The entries of a unit or a drop-in, in order. `file` is the number that
/// their spots get. Total: any bytes give a result.
pub fn entries(bytes: &[u8], file: usize) -> Vec<Entry> {
    let text = |span: Span| String::from_utf8_lossy(span.slice(bytes)).into_owned();
    let entries = ini::entries(bytes).into_iter().map(|entry| {
        let mut value = Traced::default();
        for piece in &entry.value {
            if !value.bytes().is_empty() {
                value.push(b' ', None);
            }
            value.append(&Traced::in_file(
                piece.slice(bytes),
                file,
                piece.start as usize,
            ));
        }
        Entry {
            section: text(entry.section),
            key: text(entry.key),
            value: value.trimmed_end(),
        }
    });
    entries.collect()
}

impl Service {
    /// What the entries of a unit and then of its drop-ins, in order, come to:
    /// an empty value takes back those before it.
    pub fn of_entries<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Self {
        let mut service = Self::default();
        for entry in entries {
            if entry.section != "Service" {
                continue;
            }
            let is_empty = entry.value.bytes().is_empty();
            match entry.key.as_str() {
                "ExecStart" if is_empty => service.exec_start.clear(),
                "ExecStart" => service.exec_start.push(entry.value.clone()),
                "Environment" if is_empty => service.environment.clear(),
                "Environment" => {
                    let words = words(&entry.value, Escapes::C);
                    service
                        .environment
                        .extend(words.iter().filter_map(assignment));
                }
                "EnvironmentFile" if is_empty => service.environment_files.clear(),
                "EnvironmentFile" => service
                    .environment_files
                    .push(entry.value.text().into_owned()),
                "WorkingDirectory" => {
                    let path = entry.value.text().trim_start_matches('-').to_owned();
                    service.working_directory = Some(path).filter(|path| !path.is_empty());
                }
                _ => {}
            }
        }
        service
    }
}

/// `NAME=VALUE` as its two parts.
fn assignment(word: &Traced) -> Option<(String, Traced)> {
    let equals = word.bytes().iter().position(|&byte| byte == b'=')?;
    let name = String::from_utf8_lossy(word.bytes().get(..equals)?).into_owned();
    Some((name, word.after(equals + 1)))
}

/// What a variable is that nothing sets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unset {
    /// Nothing, as systemd has it.
    Empty,
    /// As it is written: what sets it was not given.
    Kept,
}

/// The words of a command: the program, without the marks before it, and its
/// arguments, variables replaced by their last value in `environment`.
pub fn command(exec_start: &Traced, environment: &[(String, Traced)], unset: Unset) -> Vec<Traced> {
    let words = words(&without_doubled_percents(exec_start), Escapes::C);
    let mut arguments: Vec<Traced> = Vec::new();
    let mut length = 0;
    let mut expands = true;
    let variables = by_name(environment);
    for (index, word) in words.into_iter().enumerate() {
        // What follows is another command.
        if word.bytes() == b";" {
            break;
        }
        if index == 0 {
            let is_mark = |byte: &&u8| b"@-:+!|".contains(byte);
            let marks = word.bytes().iter().take_while(is_mark).count();
            let given = word.bytes().get(..marks).unwrap_or_default();
            expands = !given.contains(&b':');
            arguments.push(word.after(marks));
        } else if word.bytes() == b"\\;" {
            arguments.push(word.after(1));
        } else if expands && length < MAX_COMMAND {
            let more = expanded(&word, &variables, unset);
            length += more.iter().map(|it| it.bytes().len()).sum::<usize>();
            arguments.extend(more);
        } else {
            arguments.push(word);
        }
    }
    arguments
}

/// `%%` stands for `%`; what other marks stand for is not known here.
fn without_doubled_percents(text: &Traced) -> Traced {
    let mut result = Traced::default();
    let mut after_percent = false;
    for (byte, spot) in text.iter() {
        after_percent = byte == b'%' && !after_percent;
        let is_second = byte == b'%' && !after_percent;
        if !is_second {
            result.push(byte, spot);
        }
    }
    result
}

/// Longer arguments are not made: no system takes them.
/// Source: linux `include/uapi/linux/binfmts.h: MAX_ARG_STRLEN`.
pub const MAX_ARGUMENT: usize = 128 * 1024;
/// Nor are variables replaced in a command that has become longer than this.
const MAX_COMMAND: usize = 2 * MAX_ARGUMENT;

/// Variables by name.
pub type Variables<'e> = BTreeMap<&'e [u8], &'e Traced>;

/// The variables of an environment by name, the last one of each.
pub fn by_name(environment: &[(String, Traced)]) -> Variables<'_> {
    let pairs = environment.iter();
    pairs
        .map(|(name, value)| (name.as_bytes(), value))
        .collect()
}

/// The words that a word stands for: `$NAME` for those of its value, `${NAME}`
/// inside a word for the value as it is.
fn expanded(word: &Traced, variables: &Variables<'_>, unset: Unset) -> Vec<Traced> {
    let value = |name: &[u8]| variables.get(name).copied();
    if let Some(name) = word.bytes().strip_prefix(b"$")
        && !name.starts_with(b"{")
        && !name.starts_with(b"$")
    {
        return match (value(name), unset) {
            (Some(value), _) => words(value, Escapes::Plain),
            (None, Unset::Empty) => Vec::new(),
            (None, Unset::Kept) => vec![word.clone()],
        };
    }
    let mut result = Traced::default();
    let mut at = 0;
    while let Some((&byte, after)) = word.bytes().get(at..).and_then(<[u8]>::split_first) {
        let braced = after.strip_prefix(b"{").filter(|_| byte == b'$');
        let name = braced.and_then(|it| it.split(|&byte| byte == b'}').next());
        if let (Some(braced), Some(name)) = (braced, name)
            && name.len() < braced.len()
        {
            let length = result.bytes().len();
            let fits = |value: &&Traced| length + value.bytes().len() <= MAX_ARGUMENT;
            let end = at + name.len() + b"${}".len();
            match value(name) {
                Some(value) if fits(&value) => result.append(value),
                None if unset == Unset::Kept => {
                    let written = word.iter().take(end).skip(at);
                    written.for_each(|(byte, spot)| result.push(byte, spot));
                }
                _ => {}
            }
            at = end;
        } else {
            result.push(byte, word.spot(at));
            let is_doubled = byte == b'$' && after.first() == Some(&byte);
            at += if is_doubled { 2 } else { 1 };
        }
    }
    vec![result]
}

/// A text with the marks replaced that stand for the unit's own name.
///
/// Source: systemd.unit(5), "Specifiers".
pub fn with_name(text: &str, unit: &str) -> String {
    let name = unit.rsplit_once('.').map_or(unit, |(name, _)| name);
    let prefix = name.split('@').next().unwrap_or(name);
    text.replace("%n", unit)
        .replace("%N", name)
        .replace("%p", prefix)
        .replace("%%", "%")
}

/// What `\` stands for in a word.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Escapes {
    /// As in C: `\n`, `\s` for a space; unknown ones are kept.
    C,
    /// The next byte is itself.
    Plain,
}

/// The words of a text, quotes and escapes undone.
pub fn words(text: &Traced, escapes: Escapes) -> Vec<Traced> {
    let mut words = Vec::new();
    let mut word: Option<Traced> = None;
    let mut quote = None;
    let mut is_escaped = false;
    let mut skip = 0;
    for (at, (byte, spot)) in text.iter().enumerate() {
        if skip > 0 {
            skip -= 1;
        } else if std::mem::take(&mut is_escaped) {
            let word = word.get_or_insert_default();
            let rest = text.bytes().get(at + 1..).unwrap_or_default();
            if let Some(meant) = hexadecimal(byte, rest).filter(|_| escapes == Escapes::C) {
                word.push(meant, spot);
                skip = 2;
                continue;
            }
            let meant = unescaped(byte).filter(|_| escapes == Escapes::C);
            if escapes == Escapes::C && meant.is_none() {
                word.push(b'\\', text.spot(at - 1));
            }
            word.push(meant.unwrap_or(byte), spot);
        } else if byte == b'\\' {
            is_escaped = true;
        } else if quote == Some(byte) {
            quote = None;
        } else if quote.is_some() {
            word.get_or_insert_default().push(byte, spot);
        } else if matches!(byte, b'\'' | b'"') {
            quote = Some(byte);
            word.get_or_insert_default();
        } else if byte.is_ascii_whitespace() {
            words.extend(word.take());
        } else {
            word.get_or_insert_default().push(byte, spot);
        }
    }
    words.extend(word);
    words
}

/// `\x41`: the byte after the backslash, and those after that one.
fn hexadecimal(byte: u8, rest: &[u8]) -> Option<u8> {
    let digits = rest.get(..2).filter(|_| byte == b'x')?;
    let digits = std::str::from_utf8(digits).ok()?;
    u8::from_str_radix(digits, 16).ok()
}

fn unescaped(byte: u8) -> Option<u8> {
    Some(match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b's' => b' ',
        b'\\' | b'"' | b'\'' => byte,
        _ => return None,
    })
}

/// The words of a text that blanks part, without any quotes: for texts that
/// another program splits so.
pub fn plain_words(bytes: &[u8], file: usize, offset: usize) -> Vec<Traced> {
    let mut words = Vec::new();
    let mut start = 0;
    for part in bytes.split(u8::is_ascii_whitespace) {
        if !part.is_empty() {
            words.push(Traced::in_file(part, file, offset + start));
        }
        start += part.len() + 1;
    }
    words
}

#[cfg(test)]
mod tests;
