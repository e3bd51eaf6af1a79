//! What has to hold for any bytes, one function for each fuzz target. `fuzz/`
//! calls them with what libFuzzer makes up; the tests beside with what it found.

pub(crate) mod corefile;
pub(crate) mod dig_words;
pub(crate) mod dns_servers;
pub(crate) mod engine;
pub(crate) mod joining;
pub(crate) mod kubelet_settings;
pub(crate) mod lint;
pub(crate) mod messages;
pub(crate) mod node_state;
pub(crate) mod packets;
pub(crate) mod resolver_files;
pub(crate) mod rules;
pub(crate) mod scenario;
pub(crate) mod yaml;

use kdns::text::{Place, Source, Span, is_unprintable};

/// A fuzz target: panics when something does not hold.
pub(crate) type Target = fn(&[u8]);

/// All targets by their names.
pub(crate) const ALL: [(&str, Target); 14] = [
    ("corefile", corefile::run),
    ("dig_words", dig_words::run),
    ("dns_servers", dns_servers::run),
    ("engine", engine::run),
    ("joining", joining::run),
    ("kubelet_settings", kubelet_settings::run),
    ("lint", lint::run),
    ("messages", messages::run),
    ("node_state", node_state::run),
    ("packets", packets::run),
    ("resolver_files", resolver_files::run),
    ("rules", rules::run),
    ("scenario", scenario::run),
    ("yaml", yaml::run),
];

/// What parts one text of an input from the next: ASCII's record separator.
pub(crate) const SEPARATOR: u8 = 0x1e;

/// The texts of an input.
pub(crate) fn texts(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    data.split(|&byte| byte == SEPARATOR)
}

/// An input's first line, and the rest.
pub(crate) fn head(data: &[u8]) -> (&[u8], &[u8]) {
    let end = data.iter().position(|&byte| byte == b'\n');
    let end = end.unwrap_or(data.len());
    (&data[..end], data.get(end + 1..).unwrap_or_default())
}

/// A file.
pub(crate) fn source(name: &str, bytes: &[u8]) -> Source {
    Source::new(name, bytes)
}

/// The span is one, and inside of the bytes.
#[track_caller]
pub(crate) fn inside(span: Span, bytes: &[u8]) {
    assert!(span.start <= span.end, "{span:?} is reversed");
    let length = bytes.len();
    assert!(span.end as usize <= length, "{span:?} of {length} bytes");
}

/// The place is one of a file with these bytes, or of none.
#[track_caller]
pub(crate) fn possible(place: &Place, bytes: &[u8]) {
    let lines = 1 + bytes.iter().filter(|&&byte| byte == b'\n').count();
    assert!(place.line <= lines, "{place} of {lines} lines");
    assert!(place.column <= bytes.len() + 1, "{place}");
    printable(&place.file);
}

/// One line that can steer no terminal.
#[track_caller]
pub(crate) fn printable(text: &str) {
    assert!(!text.contains(is_unprintable), "{text:?}");
}

/// Lines that can steer no terminal.
#[track_caller]
pub(crate) fn printable_lines(text: &[u8]) {
    let text = std::str::from_utf8(text).expect("output is UTF-8");
    let is_odd = |it: char| is_unprintable(it) && !matches!(it, '\n' | '\t');
    assert!(!text.contains(is_odd), "{text:?}");
}
