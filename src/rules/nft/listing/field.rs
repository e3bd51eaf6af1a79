//! What a rule reads off a packet.

use serde_json::{Value, json};

use super::constant::{next, number};
use super::expression::concat;
use super::words::{Words, unquoted};
use crate::text::WordList;

const HEADERS: WordList =
    WordList("ip ip6 tcp udp th sctp udplite dccp esp ah comp icmp icmpv6 igmp ether vlan arp");

/// Keys of `meta` that stand without this word.
const META: WordList = WordList(
    "iif oif iifname oifname iiftype oiftype iifgroup oifgroup mark skuid skgid cgroup pkttype \
     cpu nftrace rtclassid",
);

const EXTENSIONS: [&str; 5] = ["frag", "hbh", "dst", "mh", "srh"];

/// The field that comes next; `None`: it is none, and nothing is taken.
pub(super) fn field(words: &mut Words<'_, '_>) -> Option<Value> {
    let mut ahead = *words;
    let found = taken(&mut ahead)?;
    *words = ahead;
    Some(found)
}

fn taken(words: &mut Words<'_, '_>) -> Option<Value> {
    let word = words.next()?;
    if let Some(raw) = word.strip_prefix('@') {
        return of_bits(raw);
    }
    if META.has(word) {
        return Some(json!({ "meta": { "key": word } }));
    }
    if EXTENSIONS.contains(&word) {
        return Some(json!({ "exthdr": { "name": word, "field": words.next()? } }));
    }
    match word {
        "tcp" | "ip" if words.take("option") => {
            let name = words.next()?;
            let option = match words.one_of(&["size", "kind", "length", "tsval", "tsecr"]) {
                Some(field) => json!({ "name": name, "field": field }),
                None => json!({ "name": name }),
            };
            Some(json!({ format!("{word} option"): option }))
        }
        "meta" => Some(json!({ "meta": { "key": words.next()? } })),
        "ct" => connection(words),
        "fib" => route(words),
        "rt" => {
            let family = words.one_of(&["ip", "ip6"]);
            let key = words.next()?;
            Some(match family {
                Some(family) => json!({ "rt": { "key": key, "family": family } }),
                None => json!({ "rt": { "key": key } }),
            })
        }
        "socket" | "osf" | "ipsec" => Some(json!({ word: { "key": words.next()? } })),
        "exthdr" => Some(json!({ "exthdr": { "name": words.next()? } })),
        "numgen" => numgen(words),
        "jhash" => {
            let of = words.deeper(|it| concat(it, true))?;
            hash(words, word, json!({ "expr": of }))
        }
        "symhash" => hash(words, word, json!({})),
        header if HEADERS.has(header) => {
            let field = words.next().filter(|it| is_name(it))?;
            Some(json!({ "payload": { "protocol": header, "field": field } }))
        }
        _ => None,
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|it: char| it.is_ascii_lowercase())
}

/// `@th,16,16`: bits of a header. A set's name has no commas.
fn of_bits(raw: &str) -> Option<Value> {
    let mut parts = raw.split(',');
    let (base, offset, len) = (parts.next()?, parts.next()?, parts.next()?);
    let (offset, len) = (number(offset)?, number(len)?);
    Some(json!({ "payload": { "base": base, "offset": offset, "len": len } }))
}

/// `ct state`, `ct original ip daddr`.
fn connection(words: &mut Words<'_, '_>) -> Option<Value> {
    let direction = words.one_of(&["original", "reply"]);
    let key = match words.next()? {
        family @ ("ip" | "ip6") => format!("{family} {}", words.next()?),
        "count" => return None,
        key => key.to_owned(),
    };
    Some(match direction {
        Some(direction) => json!({ "ct": { "key": key, "dir": direction } }),
        None => json!({ "ct": { "key": key } }),
    })
}

/// `fib daddr . iif type`.
fn route(words: &mut Words<'_, '_>) -> Option<Value> {
    let mut flags = vec![words.next()?];
    while words.take(".") {
        flags.push(words.next()?);
    }
    let result = words.one_of(&["type", "oif", "oifname"])?;
    Some(json!({ "fib": { "result": result, "flags": flags } }))
}

fn numgen(words: &mut Words<'_, '_>) -> Option<Value> {
    let mode = words.one_of(&["random", "inc"])?;
    if !words.take("mod") {
        return None;
    }
    let modulus = number(words.next()?)?;
    let offset = if words.take("offset") {
        number(words.next()?)?
    } else {
        0
    };
    Some(json!({ "numgen": { "mode": mode, "mod": modulus, "offset": offset } }))
}

/// `mod N`, with `seed` and `offset`, of a hash.
fn hash(words: &mut Words<'_, '_>, name: &str, mut inner: Value) -> Option<Value> {
    let all = inner.as_object_mut()?;
    while let Some(key) = words.one_of(&["mod", "seed", "offset"]) {
        all.insert(key.to_owned(), next(words)?);
    }
    Some(json!({ name: inner }))
}

/// `xt match NAME`, `xt target NAME`: an extension of iptables.
pub(super) fn extension(words: &mut Words<'_, '_>) -> Option<Value> {
    let kind = words.one_of(&["match", "target", "watcher"])?;
    Some(json!({ "xt": { "type": kind, "name": unquoted(words.next()?) } }))
}
