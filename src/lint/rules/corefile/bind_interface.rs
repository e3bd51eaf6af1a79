#![doc = include_str!("bind_interface.md")]

use std::net::IpAddr;

use crate::config::corefile::Word;
use crate::kubelet::Version;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

/// From here on `bind` takes names of interfaces.
/// Source: coredns/coredns#4522.
const NAMES: Version = blocks::release(1, 8, 4);

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let version = blocks::version(file, context);
    let mut places = blocks::Places::new(file);
    let words = blocks::blocks(file).iter().flat_map(blocks::binds);
    for word in words.filter(|it| is_interface(it)) {
        let Some(at) = places.first(word) else {
            continue;
        };
        let old = version.as_ref().filter(|it| it.value < NAMES);
        let Some(old) = old else {
            report
                .add(at, format!("bind takes the addresses that {} has when CoreDNS starts", word.text))
                .help("write the address that is to answer")
                .note("link-local ones among them are left out, taken, or end it, by version; one that comes later is not taken");
            continue;
        };
        let message = format!(
            "{} does not start: bind {} names no address",
            blocks::shown(old.value),
            word.text
        );
        report
            .add(at, message)
            .severity(Severity::Error)
            .help("write the address")
            .note("names of interfaces are known since CoreDNS 1.8.4")
            .also_each(old.at, "the version");
    }
}

/// Whether a word behind `bind` is the name of an interface: no address, and
/// nothing that a tool fills in.
fn is_interface(word: &Word) -> bool {
    let text = &word.text;
    let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.' | '@');
    let is_address = text.parse::<IpAddr>().is_ok();
    // Digits and dots alone were to be an address.
    let has_letter = text.contains(|it: char| it.is_ascii_alphabetic());
    !word.has_variable()
        && !is_address
        && has_letter
        && !text.contains("__PILLAR__")
        && text.chars().all(is_name)
}
