//! Constants, and the braces with several of them.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::expression::concat;
use super::words::{Words, unquoted};

/// What is written as a word of its own and is no value.
const MARKS: [&str; 18] = [
    "{", "}", "(", ")", ";", ",", ":", ".", "==", "!=", "<", ">", "<=", ">=", "=", "!", "/", "&",
];

/// The next word as a value; `None`: it is none.
pub(super) fn next(words: &mut Words<'_, '_>) -> Option<Value> {
    let word = words.peek().filter(|it| !MARKS.contains(it))?;
    words.next();
    Some(of_word(word))
}

/// A word as a value: a number, a range, a prefix, flags, a name.
pub(super) fn of_word(word: &str) -> Value {
    if let Some((first, last)) = word.split_once("\"-\"") {
        let ends = [first.trim_matches('"'), last.trim_matches('"')];
        return json!({ "range": ends });
    }
    if word.starts_with('"') {
        return unquoted(word).into();
    }
    if word.contains(',') {
        return word.split(',').map(one).collect::<Vec<_>>().into();
    }
    if let Some((first, last)) = word.split_once('-')
        && is_plain(first)
        && is_plain(last)
    {
        return json!({ "range": [one(first), one(last)] });
    }
    if let Some((ip, bits)) = word.split_once('/')
        && let (Ok(ip), Ok(bits)) = (ip.parse::<IpAddr>(), bits.parse::<u32>())
    {
        return json!({ "prefix": { "addr": ip.to_string(), "len": bits } });
    }
    one(word)
}

fn one(word: &str) -> Value {
    match (word, number(word).or_else(|| seconds(word))) {
        (_, Some(number)) => number.into(),
        ("exists", _) => true.into(),
        ("missing", _) => false.into(),
        (name, _) => name.into(),
    }
}

/// A number, in decimal or behind `0x`.
pub(super) fn number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None if word.starts_with(|it: char| it.is_ascii_digit()) => word.parse().ok(),
        None => None,
    }
}

/// A time span in seconds: `1d2h3m10s`.
fn seconds(word: &str) -> Option<u64> {
    let mut sum = 0_u64;
    let mut rest = word;
    while !rest.is_empty() {
        let end = rest.find(|it: char| !it.is_ascii_digit())?;
        let (count, unit) = rest.split_at_checked(end)?;
        let factor = match unit.chars().next()? {
            'd' => 86_400,
            'h' => 3_600,
            'm' => 60,
            's' => 1,
            _ => return None,
        };
        let count: u64 = count.parse().ok()?;
        sum = sum.checked_add(count.checked_mul(factor)?)?;
        rest = unit.get(1..)?;
    }
    Some(sum)
}

/// Whether it can be an end of a range.
fn is_plain(word: &str) -> bool {
    number(word).is_some() || word.parse::<IpAddr>().is_ok()
}

/// `{ … }`: a set, or a map with what it has for each.
pub(super) fn braces(words: &mut Words<'_, '_>) -> Option<Value> {
    if !words.take("{") {
        return None;
    }
    let mut elements = Vec::new();
    while !words.take("}") {
        elements.push(element(words)?);
        words.take(",");
    }
    Some(json!({ "set": elements }))
}

/// An element; of its time-out, counter and comment nothing depends.
fn element(words: &mut Words<'_, '_>) -> Option<Value> {
    let key = concat(words, false)?;
    while words
        .peek()
        .is_some_and(|it| !["}", ",", ":"].contains(&it))
    {
        words.next();
    }
    if !words.take(":") {
        return Some(key);
    }
    let data = match verdict(words) {
        Some(verdict) => verdict,
        None => concat(words, false)?,
    };
    while words.peek().is_some_and(|it| !["}", ","].contains(&it)) {
        words.next();
    }
    Some(json!([key, data]))
}

/// `accept`, `jump CHAIN`.
pub(super) fn verdict(words: &mut Words<'_, '_>) -> Option<Value> {
    if let Some(word) = words.one_of(&["accept", "drop", "continue", "return"]) {
        return Some(json!({ word: null }));
    }
    let word = words.one_of(&["jump", "goto"])?;
    Some(json!({ word: { "target": unquoted(words.next()?) } }))
}
