//! Where addresses are translated to.

use std::net::IpAddr;

use serde_json::{Map, Value, json};

use super::constant::of_word;
use super::expression::concat;
use super::words::Words;

const FLAGS: [&str; 3] = ["random", "fully-random", "persistent"];

/// `dnat ip to 10.244.1.5:53`, `masquerade to :1024-65535 fully-random`, behind
/// their first word `key`.
pub(super) fn nat(key: &str, words: &mut Words<'_, '_>) -> Option<Value> {
    let mut inner = Map::new();
    if let Some(family) = words.one_of(&["ip", "ip6"]) {
        inner.insert("family".into(), family.into());
    }
    while words
        .one_of(&["interval", "prefix", "addr", ".", "port"])
        .is_some()
    {}
    if words.take("to") {
        target(&mut inner, words)?;
    }
    let is_flags = |it: &str| it.split(',').all(|it| FLAGS.contains(&it));
    if words.peek().is_some_and(is_flags) {
        words.next();
    }
    let inner = if inner.is_empty() {
        Value::Null
    } else {
        inner.into()
    };
    Some(json!({ key: inner }))
}

/// An address with a port, or one of them; either can be looked up.
fn target(inner: &mut Map<String, Value>, words: &mut Words<'_, '_>) -> Option<()> {
    if words.peek()? != ":" {
        match words.peek().and_then(with_port) {
            Some((address, port)) => {
                words.next();
                inner.insert("addr".into(), of_word(&address));
                inner.extend(port.map(|it| ("port".to_owned(), of_word(it))));
            }
            None => {
                inner.insert("addr".into(), concat(words, true)?);
            }
        }
    }
    if words.take(":") {
        inner.insert("port".into(), concat(words, true)?);
    }
    Some(())
}

/// `ADDRESS[-ADDRESS][:PORT[-PORT]]`, an IPv6 address with a port in brackets.
fn with_port(word: &str) -> Option<(String, Option<&str>)> {
    let (address, port) = match word.rsplit_once("]:") {
        Some((address, port)) => (address, Some(port)),
        None => match word.split_once(':') {
            Some((address, port)) if address.contains('.') => (address, Some(port)),
            _ => (word, None),
        },
    };
    let address = address.replace(['[', ']'], "");
    let mut ends = address.split('-');
    let is_ip = ends.all(|it| it.parse::<IpAddr>().is_ok());
    is_ip.then_some((address, port))
}

/// `tproxy ip to 127.0.0.1:1053`, behind its first word.
pub(super) fn tproxy(words: &mut Words<'_, '_>) -> Option<Value> {
    nat("tproxy", words)
}
