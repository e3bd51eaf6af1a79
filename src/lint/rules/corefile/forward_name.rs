#![doc = include_str!("forward_name.md")]

use std::net::Ipv4Addr;

use crate::config::corefile::{Directive, Transport, Word};
use crate::kubelet::Version;
use crate::lint::context::Known;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

/// From here on `forward` may take names of hosts: the first release after
/// coredns/coredns#7923 was merged.
const NAMES: Version = blocks::release(1, 14, 4);
/// More are not said about one file.
const MAX_FINDINGS: usize = 100;

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let version = blocks::version(file, context);
    if version.as_ref().is_some_and(|it| it.value >= NAMES) {
        return;
    }
    // Where a resolver for names is given, the version is known to take them.
    let takes_names = |it: &&Directive| it.options("resolver").next().is_some();
    let forwards = blocks::blocks(file)
        .iter()
        .flat_map(|it| blocks::named(it, "forward"))
        .filter(|it| version.is_some() || !takes_names(it));
    let mut places = blocks::Places::new(file);
    let named = forwards.flat_map(blocks::targets);
    let named = named.filter(|it| !it.has_variable());
    let named = named.filter_map(|it| Some((it, wrong(it)?, places.first(it)?)));
    for (word, wrong, at) in named.take(MAX_FINDINGS) {
        let message = match &version {
            Some(version) => format!(
                "{} does not start: forward to {} names no address",
                blocks::shown(version.value),
                word.text
            ),
            None => format!(
                "CoreDNS up to 1.14.3 does not start: forward to {} names no address",
                word.text
            ),
        };
        let finding = report
            .add(at, message)
            .help("write the server's address")
            .note("it ends with not an IP address or file");
        match &version {
            Some(Known { at: Some(at), .. }) => {
                finding.also(*at, "the version");
            }
            Some(_) => {}
            None => {
                let severity = match wrong {
                    Wrong::Digits => Severity::Warning,
                    Wrong::Name => Severity::Info,
                };
                finding
                    .severity(severity)
                    .note("--coredns-version tells which it is");
            }
        }
    }
}

/// The host of a server, without its transport and port.
fn host(word: &Word) -> &str {
    let (_, rest) = Transport::split(&word.text);
    match rest.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() => host,
        _ => rest,
    }
}

/// What a server is that is no address and no file.
enum Wrong {
    /// The name of a host.
    Name,
    /// Digits and dots, as an address is, and none.
    Digits,
}

/// What is wrong with a server. A name is letters, digits, hyphens and dots, with a letter
/// in the last label.
fn wrong(word: &Word) -> Option<Wrong> {
    let host = host(word);
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    if !host.contains('.') || !host.chars().all(is_letter) {
        return None;
    }
    let is_part = |it: char| it.is_ascii_digit() || it == '.';
    if host.starts_with(|it: char| it.is_ascii_digit()) && host.chars().all(is_part) {
        return host.parse::<Ipv4Addr>().is_err().then_some(Wrong::Digits);
    }
    let last = host.trim_end_matches('.').rsplit('.').next()?;
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    // `a27.0.0.1`: no name ends so.
    if host.split('.').count() == 4 && host.split('.').skip(1).all(is_number) {
        return Some(Wrong::Digits);
    }
    // A file in the working directory.
    let is_file = last == "conf";
    let is_name = last.contains(|c: char| c.is_ascii_alphabetic()) && !is_file;
    is_name.then_some(Wrong::Name)
}
