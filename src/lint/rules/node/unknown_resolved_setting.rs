#![doc = include_str!("unknown_resolved_setting.md")]

use crate::lint::rules::prelude::*;
use crate::text::escaped;
use crate::text::nearest::nearest;
use crate::topology::resolved::{ServerWord, Stub};

/// The keys of the section Resolve.
///
/// Source: systemd `src/resolve/resolved-gperf.gperf`.
const KEYS: &str = "DNS FallbackDNS Domains LLMNR MulticastDNS DNSSEC DNSOverTLS Cache CacheFromLocalhost \
    DNSStubListener DNSStubListenerExtra ReadEtcHosts ResolveUnicastSingleLabel StaleRetentionSec RefuseRecordTypes";

pub(super) fn check(file: &SettingsText<'_>, _: &Context<'_>, report: &mut Report) {
    let document = file.document;
    let source = &document.source;
    let resolve = |it: &&crate::config::ini::Entry| document.bytes(it.section) == b"Resolve";
    for entry in file.entries.iter().filter(resolve) {
        let key = escaped(document.bytes(entry.key));
        if KEYS.split(' ').all(|it| it != key) {
            // Newer versions can know more.
            if let Some(near) = nearest(&key, KEYS.split(' ')) {
                report
                    .add(
                        document.at(entry.key),
                        format!("systemd-resolved knows no {key}"),
                    )
                    .help(format!("write {near}"))
                    .note("it passes the line over, with a message in its log");
            }
            continue;
        }
        let is_wrong = |word: &[u8]| match key.as_str() {
            "DNS" | "FallbackDNS" => ServerWord::parse(word).is_none(),
            "DNSStubListener" => Stub::parse(word).is_none(),
            _ => false,
        };
        for (word, at) in entry.words(source) {
            let text = escaped(word);
            if is_wrong(word) && !has_placeholder(&escaped(entry.first(source))) {
                report
                    .add(
                        document.at(at),
                        format!("{text} is nothing that {key} can be"),
                    )
                    .help(match key.as_str() {
                        "DNSStubListener" => "write yes, no, udp or tcp",
                        _ => "write addresses, with spaces between them",
                    })
                    .note("systemd-resolved passes it over, with a message in its log");
            }
        }
    }
}
