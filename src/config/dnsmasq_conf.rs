//! The syntax of dnsmasq's configuration: lines `name=value`, and the same as
//! arguments.
//!
//! Format: `dnsmasq(8)`. Source: dnsmasq `src/option.c: read_file, read_opts,
//! one_opt, one_file`.

use crate::config::settings::Setting;
use crate::text::{Source, Span};

/// More files that a setting names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Include {
    /// This file.
    File(Vec<u8>),
    /// Every file of a directory whose name fits, sorted.
    Directory(Directory),
    /// This file, in which only `server` and `rev-server` count.
    Servers(Vec<u8>),
}

/// `conf-dir=DIRECTORY[,SUFFIX…]`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Directory {
    /// Its path.
    pub path: Vec<u8>,
    /// Endings of names that do not count.
    pub without: Vec<Vec<u8>>,
    /// Endings of names that count; empty: all do.
    pub only: Vec<Vec<u8>>,
}

/// The settings of a file, which is the one with the number `file`. Total:
/// a line that dnsmasq would refuse has the name that it seems to have.
pub fn parse(source: &Source, file: usize) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut start = 0;
    for line in source.bytes.split(|&byte| byte == b'\n') {
        let code = line.get(..code_length(line)).unwrap_or_default();
        settings.extend(setting(code, start, file));
        start += line.len() + 1;
    }
    settings
}

/// A line without its comment.
fn setting(line: &[u8], start: usize, file: usize) -> Option<Setting> {
    let equals = line.iter().position(|&byte| byte == b'=');
    let (name, value) = match equals {
        Some(at) => (line.get(..at)?, Some((line.get(at + 1..)?, start + at + 1))),
        None => (line, None),
    };
    let name = Span::trimmed(name, start);
    (!name.is_empty()).then(|| Setting {
        file,
        name,
        value: value.map(|(value, start)| Span::trimmed(value, start)),
    })
}

/// How much of the line comes before a `#` that follows white space and
/// stands in no quotes.
fn code_length(line: &[u8]) -> usize {
    let mut after_blank = true;
    let mut in_quotes = false;
    let mut is_escaped = false;
    for (at, &byte) in line.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'"' => in_quotes = !in_quotes,
            b'\\' if in_quotes => is_escaped = true,
            b'#' if after_blank && !in_quotes => return at,
            _ => {}
        }
        after_blank = byte.is_ascii_whitespace();
    }
    line.len()
}

/// A value as dnsmasq takes it: without quotes, escapes in them resolved.
pub fn unquoted(value: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(value.len());
    let mut in_quotes = false;
    let mut bytes = value.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_quotes = !in_quotes,
            b'\\' if in_quotes => text.extend(bytes.next().map(escape)),
            _ => text.push(byte),
        }
    }
    text
}

fn escape(byte: u8) -> u8 {
    match byte {
        b't' => b'\t',
        b'n' => b'\n',
        b'r' => b'\r',
        b'b' => 8,
        b'e' => 27,
        other => other,
    }
}

/// The arguments of a dnsmasq as one text, an argument a line, with its
/// settings. The program's name is not one of them.
pub fn arguments(name: &str, arguments: &[String], file: usize) -> (Source, Vec<Setting>) {
    let mut source = Source::new(name, []);
    let mut settings: Vec<Setting> = Vec::new();
    let mut wants_value = false;
    for argument in arguments {
        let start = source.bytes.len();
        let whole = Span::new(start, start + argument.len());
        if wants_value {
            if let Some(last) = settings.last_mut() {
                last.value = Some(whole);
            }
            wants_value = false;
        } else if let Some(long) = argument.strip_prefix("--") {
            let found = setting(long.as_bytes(), start + 2, file);
            wants_value = found.is_some_and(|it| it.value.is_none()) && has_value(long);
            settings.extend(found);
        } else if let Some(short) = argument.strip_prefix('-') {
            wants_value = short_options(short, start + 1, file, &mut settings);
        }
        source.bytes.extend_from_slice(argument.as_bytes());
        source.bytes.push(b'\n');
    }
    (source, settings)
}

/// `kR7dir`: flags, then perhaps one with a value. Whether the next argument
/// is that value.
fn short_options(letters: &str, start: usize, file: usize, out: &mut Vec<Setting>) -> bool {
    for (at, letter) in letters.char_indices() {
        let name = Span::new(start + at, start + at + letter.len_utf8());
        let takes_value = SHORT_WITH_VALUE.contains(letter);
        let rest = name.end as usize..start + letters.len();
        let value = (takes_value && !rest.is_empty()).then(|| Span::new(rest.start, rest.end));
        out.push(Setting { file, name, value });
        if takes_value {
            return value.is_none();
        }
    }
    false
}

/// Source: dnsmasq 2.90 `src/option.c: OPTSTRING`.
const SHORT_WITH_VALUE: &str = "AaBCcFGHIiJLlMmnOPpQrSTtUuVWXxzqYgj7186s2";

/// Whether a long option without `=` takes the next argument: of those that
/// count here.
fn has_value(name: &str) -> bool {
    NAMES.iter().any(|(_, long)| *long == name)
        && !["no-resolv", "strict-order", "all-servers"].contains(&name)
        && !["bind-interfaces", "bind-dynamic", "dns-loop-detect"].contains(&name)
        && !["enable-dbus", "local-service"].contains(&name)
}

/// The short and the long name of the options that count here.
const NAMES: &[(&str, &str)] = &[
    ("S", "server"),
    ("", "local"),
    ("", "rev-server"),
    ("r", "resolv-file"),
    ("R", "no-resolv"),
    ("o", "strict-order"),
    ("", "all-servers"),
    ("p", "port"),
    ("a", "listen-address"),
    ("i", "interface"),
    ("I", "except-interface"),
    ("z", "bind-interfaces"),
    ("", "bind-dynamic"),
    ("C", "conf-file"),
    ("7", "conf-dir"),
    ("", "servers-file"),
    ("", "dns-loop-detect"),
    ("1", "enable-dbus"),
    ("x", "pid-file"),
    ("u", "user"),
];

/// The long name of an option by either name; `None`: it does not count here.
pub fn long_name(name: &[u8]) -> Option<&'static str> {
    let same = |it: &&(&str, &str)| it.0.as_bytes() == name || it.1.as_bytes() == name;
    let found = NAMES.iter().filter(|_| !name.is_empty()).find(same);
    found.map(|(_, long)| *long)
}

/// What a setting with that name and value includes.
pub fn include(name: &[u8], value: &[u8]) -> Option<Include> {
    let value = unquoted(value);
    match long_name(name)? {
        _ if value.is_empty() => None,
        "conf-file" => Some(Include::File(value)),
        "servers-file" => Some(Include::Servers(value)),
        "conf-dir" => Some(Include::Directory(directory(&value))),
        _ => None,
    }
}

fn directory(value: &[u8]) -> Directory {
    let mut parts = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let mut directory = Directory {
        path: parts.next().unwrap_or_default().to_vec(),
        without: Vec::new(),
        only: Vec::new(),
    };
    for part in parts {
        match part.strip_prefix(b"*") {
            // A lone asterisk says nothing.
            Some(b"") => {}
            Some(ending) => directory.only.push(ending.to_vec()),
            None if part.is_empty() => {}
            None => directory.without.push(part.to_vec()),
        }
    }
    directory
}

impl Directory {
    /// Whether a file of that name counts.
    pub fn takes(&self, name: &[u8]) -> bool {
        let ends = |ending: &Vec<u8>| name.len() > ending.len() && name.ends_with(ending);
        let is_backup = name.ends_with(b"~")
            || name.starts_with(b".")
            || (name.starts_with(b"#") && name.ends_with(b"#"));
        !is_backup
            && !self.without.iter().any(ends)
            && (self.only.is_empty() || self.only.iter().any(ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &Source, settings: &[Setting]) -> Vec<String> {
        let text = |span: Span| String::from_utf8_lossy(span.slice(&source.bytes)).into_owned();
        let show = |it: &Setting| match it.value {
            Some(value) => format!("{}={}", text(it.name), text(value)),
            None => text(it.name),
        };
        settings.iter().map(show).collect()
    }

    fn check(text: &str, expected: &[&str]) {
        let source = Source::new("f", text);
        assert_eq!(shown(&source, &parse(&source, 0)), expected, "{text:?}");
    }

    #[test]
    fn lines_are_settings() {
        check(
            "no-resolv\n server = 192.0.2.1#53 \n",
            &["no-resolv", "server=192.0.2.1#53"],
        );
        check(
            "server=/a/192.0.2.1#5353 # x\n#server=1\n  # y",
            &["server=/a/192.0.2.1#5353"],
        );
        check("conf-file=\"/a b#c\" # d\n", &["conf-file=\"/a b#c\""]);
        check(
            "#port=1\nconf-file=\"/a #b\" #c\nconf-file=\"/a\\\" #b\" # c\n",
            &["conf-file=\"/a #b\"", "conf-file=\"/a\\\" #b\""],
        );
        check("=\n\n \t\r\nport=", &["port="]);
    }

    fn check_arguments(text: &str, expected: &[&str]) {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let (source, settings) = arguments("arguments", &words, 0);
        assert_eq!(shown(&source, &settings), expected, "{text:?}");
    }

    #[test]
    fn arguments_are_settings_too() {
        check_arguments("--server=192.0.2.1 -k", &["server=192.0.2.1", "k"]);
        check_arguments(
            "--server 192.0.2.1 -S 1 -S2",
            &["server=192.0.2.1", "S=1", "S=2"],
        );
        check_arguments(
            "-kRC /dev/null --no-resolv x",
            &["k", "R", "C=/dev/null", "no-resolv"],
        );
        check_arguments(
            "-7 /etc/dnsmasq.d,.dpkg-dist --local-service",
            &["7=/etc/dnsmasq.d,.dpkg-dist", "local-service"],
        );
    }

    #[test]
    fn directories_filter_names() {
        let check = |value: &str, name: &str, expected: bool| {
            let Some(Include::Directory(it)) = include(b"conf-dir", value.as_bytes()) else {
                panic!("{value}");
            };
            assert_eq!(it.takes(name.as_bytes()), expected, "{value} {name}");
        };
        check("/d", "a", true);
        check("/d", "a~", false);
        check("/d", ".a", false);
        check("/d", "#a#", false);
        check("/d,.bak", "a.bak", false);
        check("/d,.bak", "a.conf", true);
        check("/d,*.conf", "a.conf", true);
        check("/d,*.conf", "a", false);
        check("/d/,*.conf,.old", "a.old", false);
    }

    #[test]
    fn quotes_are_taken_off() {
        assert_eq!(unquoted(b"a\"b c\\\"\"d"), b"ab c\"d");
        assert_eq!(unquoted(b"\"a"), b"a");
    }
}
