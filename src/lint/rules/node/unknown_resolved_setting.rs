#![doc = include_str!("unknown_resolved_setting.md")]

use crate::config::ini::Entry;
use crate::lint::rules::prelude::*;
use crate::text::{Span, WordList, escaped};
use crate::topology::resolved::{ServerWord, Stub};

/// The keys of the section Resolve.
///
/// Source: systemd `src/resolve/resolved-gperf.gperf`.
const KEYS: WordList = WordList(
    "DNS FallbackDNS Domains LLMNR MulticastDNS DNSSEC DNSOverTLS Cache CacheFromLocalhost \
    DNSStubListener DNSStubListenerExtra ReadEtcHosts ResolveUnicastSingleLabel StaleRetentionSec RefuseRecordTypes",
);

pub(super) fn check(file: &SettingsText<'_>, context: &Context<'_>, report: &mut Report) {
    let document = file.document;
    before_a_section(file, context, report);
    let resolve = |it: &&Entry| document.bytes(it.section) == b"Resolve";
    for entry in file.entries.iter().filter(resolve) {
        let key = escaped(document.bytes(entry.key));
        if KEYS.has(&key) {
            value(file, entry, &key, report);
        } else if let Some((distance, near)) = nearest(&key) {
            let message = format!("systemd-resolved knows no {key}");
            let finding = report.add(document.at(entry.key), message);
            if distance == 1 || key.eq_ignore_ascii_case(near) {
                finding.help(format!("write {near}"));
            }
            finding.note("it passes the line over, with a message in its log");
        }
    }
}

/// Keys above the first section, of a file that is one: what is added to another stands
/// below its last, and what is put in above them can be the section.
///
/// Source: systemd `src/shared/conf-parser.c: parse_line`.
fn before_a_section(file: &SettingsText<'_>, context: &Context<'_>, report: &mut Report) {
    let document = file.document;
    let is_ours = document.path.contains("resolved.conf") && !document.is_partial;
    let is_outside =
        |it: &&Entry| it.section.is_empty() && KEYS.has(escaped(document.bytes(it.key)));
    let entries = file.entries.iter().filter(is_outside);
    let mut above = 0;
    for entry in entries.filter(|_| is_ours && context.path(document.file) == document.path) {
        let start = entry.key.start as usize;
        if has_placeholder(&escaped(document.bytes(Span::new(above, start)))) {
            return;
        }
        above = start;
        let key = escaped(document.bytes(entry.key));
        let message = format!("{key} stands above the first section");
        report
            .add(document.at(entry.key), message)
            .help("write [Resolve] above it")
            .note("systemd-resolved passes the line over, with a message in its log");
    }
}

/// The key that is meant, and how many letters are wrong. `None`: newer versions can know it.
fn nearest(key: &str) -> Option<(usize, &'static str)> {
    let keys = KEYS.iter().filter(|it| it.len().abs_diff(key.len()) <= 2);
    let all = keys.map(|it| (strsim::osa_distance(key, it), it));
    let is_near = |it: &(usize, &str)| it.0 <= 2 && it.0 * 3 <= it.1.len().max(key.len());
    all.min_by_key(|it| it.0).filter(is_near)
}

/// Judges what a key has: the first thing that is wrong.
fn value(file: &SettingsText<'_>, entry: &Entry, key: &str, report: &mut Report) {
    let document = file.document;
    let start = entry.start();
    let end = entry.value.last().map_or(start, |it| it.end);
    let whole = Span { start, end };
    let bytes = document.bytes(whole);
    if has_placeholder(&escaped(bytes)) {
        return;
    }
    // Samples have `x.x.x.x` and `NAMESERVER`.
    let is_sample = |it: &[u8]| {
        let is_name = |it: &u8| it.is_ascii_uppercase() || *it == b'_';
        it.iter()
            .all(|it| matches!(it.to_ascii_lowercase(), b'x' | b'.'))
            || it.iter().all(is_name)
    };
    let mut words = entry.words(&document.source);
    let is_wrong = |it: &(&[u8], Span)| ServerWord::parse(it.0).is_none() && !is_sample(it.0);
    let (at, help) = match key {
        "DNS" | "FallbackDNS" => match words.find(is_wrong) {
            Some((word, at)) if word.starts_with(b"#") => {
                (at, "a comment stands on a line of its own")
            }
            Some((_, at)) => (at, "write addresses, with spaces between them"),
            None => return,
        },
        // The whole value is one word.
        "DNSStubListener" => {
            let all: Vec<&[u8]> = words.map(|it| it.0).collect();
            if all.is_empty() || Stub::parse(&all.join(&b' ')).is_some() {
                return;
            }
            (whole, "write yes, no, udp or tcp")
        }
        _ => return,
    };
    let text = escaped(document.bytes(at).trim_ascii());
    report
        .add(
            document.at(at),
            format!("{text} is nothing that {key} can be"),
        )
        .help(help)
        .note("systemd-resolved passes it over, with a message in its log");
}
