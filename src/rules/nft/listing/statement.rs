//! Statements of a rule.

use serde_json::{Value, json};

use super::constant::verdict;
use super::expression::{comparison, concat, map};
use super::field::{extension, field};
use super::nat::{nat, tproxy};
use super::words::{Words, unquoted};
use crate::text::WordList;

/// Words that a statement begins with, also behind one that is not known.
const FIRST: WordList = WordList(
    "accept drop continue return jump goto counter log limit quota reject masquerade redirect \
     dnat snat notrack queue tproxy dup fwd flow synproxy add update delete meta ct xt comment \
     last",
);

/// The statements of a rule, as JSON has them, and its comment.
pub(super) fn statements(words: &[&str], is_six: Option<bool>) -> (Vec<Value>, Option<String>) {
    let mut words = Words::new(words);
    let (mut all, mut comment) = (Vec::new(), None);
    while !words.is_empty() {
        if words.take(";") {
            continue;
        }
        if words.take("comment") {
            comment = words.next().map(|it| unquoted(it).to_owned());
            continue;
        }
        let mut ahead = words;
        let found = statement(&mut ahead, is_six);
        all.push(found.unwrap_or_else(|| unknown(&words, &mut ahead)));
        words = ahead;
    }
    (all, comment)
}

/// What is not known, up to where a statement begins. In front of others it is
/// taken for a condition; at the end it can be what decides.
fn unknown<'w, 't>(from: &Words<'w, 't>, to: &mut Words<'w, 't>) -> Value {
    *to = *from;
    let mut depth = 0_u32;
    while let Some(word) = to.next() {
        match word {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && to.peek().is_some_and(|it| FIRST.has(it)) {
            break;
        }
    }
    let is_last = to.is_empty() || to.peek() == Some("comment");
    let key = if is_last {
        "unknown target"
    } else {
        "unknown match"
    };
    json!({ key: from.before(to) })
}

fn statement(words: &mut Words<'_, '_>, is_six: Option<bool>) -> Option<Value> {
    if let Some(verdict) = verdict(words) {
        return Some(verdict);
    }
    let begun = *words;
    let word = words.next()?;
    match word {
        "counter" => counter(words),
        "log" => log(words),
        "limit" => limit(words),
        "quota" => {
            let from = *words;
            while words.one_of(&["name", "over", "until"]).is_some() {}
            amount(words)?;
            if words.take("used") {
                amount(words)?;
            }
            Some(json!({ "quota": from.before(words) }))
        }
        "reject" => reject(words, is_six),
        "masquerade" | "redirect" | "dnat" | "snat" => nat(word, words),
        "notrack" => Some(json!({ "notrack": null })),
        "tproxy" => tproxy(words),
        "xt" => extension(words),
        "queue" | "dup" | "fwd" | "flow" | "synproxy" | "last" => {
            while words.peek().is_some_and(|it| !FIRST.has(it)) {
                words.next();
            }
            Some(json!({ word: null }))
        }
        "add" | "update" | "delete" => {
            words.next()?;
            skip_braces(words)?;
            Some(json!({ "set": null }))
        }
        "ct" if words.take("count") => {
            let is_over = words.take("over");
            let count = concat(words, false)?;
            Some(json!({ "ct count": { "val": count, "inv": is_over } }))
        }
        _ => {
            *words = begun;
            with_field(words)
        }
    }
}

/// A comparison, a verdict by a map, a field that gets a value.
fn with_field(words: &mut Words<'_, '_>) -> Option<Value> {
    let mut ahead = *words;
    // No statement begins with a constant.
    field(&mut ahead)?;
    if ahead.take("set") {
        let key = field(words)?;
        words.take("set");
        let value = concat(words, true)?;
        return Some(json!({ "mangle": { "key": key, "value": value } }));
    }
    let left = concat(words, true)?;
    if words.take("vmap") {
        let data = map(words)?;
        return Some(json!({ "vmap": { "key": left, "data": data } }));
    }
    comparison(&left, words)
}

/// `counter packets 3 bytes 180`, `counter name "dns"`.
fn counter(words: &mut Words<'_, '_>) -> Option<Value> {
    if words.take("name") {
        return Some(json!({ "counter": unquoted(words.next()?) }));
    }
    if !words.take("packets") {
        return Some(json!({ "counter": null }));
    }
    let packets: u64 = words.next()?.parse().ok()?;
    let bytes: u64 = words.take("bytes").then(|| words.next())??.parse().ok()?;
    Some(json!({ "counter": { "packets": packets, "bytes": bytes } }))
}

fn log(words: &mut Words<'_, '_>) -> Option<Value> {
    while let Some(option) = words.one_of(&[
        "prefix",
        "group",
        "snaplen",
        "queue-threshold",
        "level",
        "flags",
    ]) {
        let value = words.next()?;
        // flags tcp sequence,options
        if option == "flags" && ["tcp", "ip"].contains(&value) {
            words.next()?;
        }
    }
    Some(json!({ "log": null }))
}

/// `limit rate over 1 mbytes/second burst 5 packets`.
fn limit(words: &mut Words<'_, '_>) -> Option<Value> {
    let from = *words;
    if words.take("name") {
        words.next()?;
        return Some(json!({ "limit": from.before(words) }));
    }
    if !words.take("rate") {
        return None;
    }
    while words.one_of(&["over", "until"]).is_some() {}
    if !words.next()?.contains('/') {
        words.next()?;
    }
    if words.take("burst") {
        amount(words)?;
    }
    Some(json!({ "limit": from.before(words) }))
}

/// `5 mbytes`.
fn amount(words: &mut Words<'_, '_>) -> Option<()> {
    words.next()?;
    words.one_of(&["packets", "bytes", "kbytes", "mbytes", "gbytes"]);
    Some(())
}

/// `reject with icmpx admin-prohibited`; alone, what the family says.
fn reject(words: &mut Words<'_, '_>, is_six: Option<bool>) -> Option<Value> {
    if !words.take("with") {
        let kind = match is_six {
            None => "icmpx",
            Some(false) => "icmp",
            Some(true) => "icmpv6",
        };
        return Some(json!({ "reject": { "type": kind, "expr": "port-unreachable" } }));
    }
    if words.take("tcp") {
        return words
            .take("reset")
            .then(|| json!({ "reject": { "type": "tcp reset" } }));
    }
    let kind = words.one_of(&["icmp", "icmpv6", "icmpx"])?;
    // Older versions write the word.
    words.take("type");
    let code = concat(words, false)?;
    Some(json!({ "reject": { "type": kind, "expr": code } }))
}

fn skip_braces(words: &mut Words<'_, '_>) -> Option<()> {
    let mut depth = 0_u32;
    loop {
        match words.next()? {
            "{" => depth += 1,
            "}" if depth <= 1 => return Some(()),
            "}" => depth -= 1,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
}
