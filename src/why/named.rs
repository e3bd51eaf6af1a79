//! Whom a text says was asked, and for which name.

use std::net::SocketAddr;

use super::asked::{self, Asked};
use super::command::Command;
use super::pattern::{Hole, Match};
use crate::node::Node;

/// The first name in a hole, of the message that says the most; else the one of a
/// command that stands in the text.
pub(super) fn name(text: &str, matches: &[&Match<'_>]) -> Option<String> {
    let found = matches.iter().flat_map(|it| &it.found);
    // Stars stand around words in bold, and before a name for any part of it.
    let is_name = |it: &str| !it.contains("**") && asked::parsed(it).is_none();
    let mut names =
        found.filter(|it| matches!(it.hole, Hole::Name | Hole::Known) && is_name(it.text));
    let name = match names.next() {
        Some(it) => it.text,
        None => Command::find(text)?.name?,
    };
    let name = name.trim_end_matches('.');
    (!name.is_empty()).then(|| name.to_owned())
}

/// Whom a text says was asked: what stands in a hole for a server, else the
/// first address with port 53, on the right of an arrow if there is one, else the
/// server of a command in it.
///
/// Of several the one farthest from the client counts: in `lookup x on
/// 10.96.0.10:53: read udp 10.244.1.5:40000->10.96.0.10:53` both are the same.
pub(super) fn server(text: &str, matches: &[&Match<'_>], node: Option<&Node>) -> Option<Asked> {
    let holes = matches.iter().flat_map(|it| &it.found);
    let mut holes = holes.filter(|it| matches!(it.hole, Hole::Server(_) | Hole::Dns));
    let parsed = |word: &str| asked::parsed(word.trim_end_matches(['.', ':']));
    let address = match holes.find_map(|it| parsed(it.text)) {
        Some((address, _)) => Some(address),
        None => written(text)
            .or_else(|| Command::find(text)?.server)
            .or_else(|| alone(text)),
    };
    address.map(|it| asked::asked(it, node))
}

/// The first address in a text that is written with port 53.
fn written(text: &str) -> Option<SocketAddr> {
    let mut found = words(text).filter_map(asked::parsed);
    found
        .find(|(address, is_written)| *is_written && address.port() == 53)
        .map(|it| it.0)
}

/// The one address in a text, without a port, between nslookup's `Server:` and
/// `Address`, or of those that clusters give to DNS and to nothing else; `None`: there
/// are several, or none.
fn alone(text: &str) -> Option<SocketAddr> {
    let words: Vec<&str> = words(text).filter(|it| !it.is_empty()).collect();
    let mut found: Vec<SocketAddr> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some((address, false)) = asked::parsed(word) else {
            continue;
        };
        let before = at.checked_sub(1).and_then(|it| words.get(it));
        let is_named = before == Some(&"Server") && words.get(at + 1) == Some(&"Address");
        if (is_named || asked::is_of_dns(address.ip())) && !found.contains(&address) {
            found.push(address);
        }
    }
    match found.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

/// The words of a text, without what stands around addresses.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_around = |c: char| {
        c.is_whitespace() || matches!(c, '>' | '"' | '\'' | ',' | '(' | ')' | '=' | ';' | '@')
    };
    text.split(is_around)
        .map(|it| it.trim_end_matches(['.', ':', '-']))
}
