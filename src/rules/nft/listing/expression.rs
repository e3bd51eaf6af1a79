//! Expressions: fields and constants, put together.

use serde_json::{Value, json};

use super::constant::{braces, next, of_word};
use super::field::field;
use super::words::{MOST, Words};

/// An expression: values one behind the other, perhaps looked up in a map.
/// Whether a word can be a field: on the right of a comparison and in a set
/// it is a constant.
pub(super) fn concat(words: &mut Words<'_, '_>, has_fields: bool) -> Option<Value> {
    let mut parts = vec![combined(words, has_fields, 0)?];
    while words.take(".") {
        parts.push(combined(words, has_fields, 0)?);
        if parts.len() > MOST {
            return None;
        }
    }
    let whole = match parts.as_slice() {
        [_] => parts.swap_remove(0),
        _ => json!({ "concat": parts }),
    };
    if has_fields && words.take("map") {
        let data = map(words)?;
        return Some(json!({ "map": { "key": whole, "data": data } }));
    }
    Some(whole)
}

/// The name of a map, or one in braces.
pub(super) fn map(words: &mut Words<'_, '_>) -> Option<Value> {
    match words.peek()? {
        "{" => braces(words),
        _ => next(words).filter(Value::is_string),
    }
}

/// Operands with operators that bind more strongly than `over`: `&` before `^`
/// before `|`, as in C.
fn combined(words: &mut Words<'_, '_>, has_fields: bool, over: u8) -> Option<Value> {
    let mut left = operand(words, has_fields)?;
    let mut count = 1;
    while let Some((operator, strength)) = words.peek().and_then(operator)
        && strength > over
    {
        if words.take("xor") {
            left = xor_and(&left, words, has_fields)?;
        } else {
            words.next();
            let right = combined(words, has_fields, strength)?;
            left = json!({ operator: [left, right] });
        }
        count += 1;
        if count > MOST {
            return None;
        }
    }
    Some(left)
}

/// What stands behind the word `xor`: with `and` it is of CONNMARK, which means
/// the mask first.
///
/// Source: iptables `extensions/libxt_CONNMARK.c: connmark_tg_xlate` (1.8.9)
fn xor_and(left: &Value, words: &mut Words<'_, '_>, has_fields: bool) -> Option<Value> {
    let (_, strongest_word) = operator("and")?;
    let bits = combined(words, has_fields, strongest_word)?;
    if !words.take("and") {
        return Some(json!({ "^": [left, bits] }));
    }
    let mask = combined(words, has_fields, strongest_word)?;
    Some(json!({ "^": [{ "&": [left, mask] }, bits] }))
}

/// An operator, also in the words of older versions, and how strongly it binds.
fn operator(word: &str) -> Option<(&'static str, u8)> {
    Some(match word {
        "|" | "or" => ("|", 1),
        "^" | "xor" => ("^", 2),
        "&" | "and" => ("&", 3),
        "<<" | "lshift" => ("<<", 4),
        ">>" | "rshift" => (">>", 4),
        _ => return None,
    })
}

fn operand(words: &mut Words<'_, '_>, has_fields: bool) -> Option<Value> {
    if words.take("(") {
        let inner = words.deeper(|it| combined(it, has_fields, 0))?;
        return words.take(")").then_some(inner);
    }
    if has_fields && let Some(field) = field(words) {
        return Some(field);
    }
    next(words)
}

/// A comparison behind its left side, whose operator may be left out.
pub(super) fn comparison(left: &Value, words: &mut Words<'_, '_>) -> Option<Value> {
    let written = words.one_of(&["==", "!=", "<", ">", "<=", ">=", "!"]);
    let right = match words.peek()? {
        "{" => braces(words)?,
        _ => concat(words, false)?,
    };
    if words.take("/") {
        // tcp flags syn / fin,syn,rst,ack
        let mask = of_word(words.next()?);
        let left = json!({ "&": [left, mask] });
        let op = written.unwrap_or("==");
        return Some(json!({ "match": { "op": op, "left": left, "right": right } }));
    }
    let implied = if is_of_flags(left) && right.get("set").is_none() {
        "in"
    } else {
        "=="
    };
    let op = written.unwrap_or(implied);
    Some(json!({ "match": { "op": op, "left": left, "right": right } }))
}

/// Whether a value of this field is one of several flags: without an operator
/// any of them is meant.
fn is_of_flags(left: &Value) -> bool {
    let key = |kind: &str, name: &str| left.get(kind).and_then(|it| it.get(name)?.as_str());
    let is_tcp =
        key("payload", "protocol") == Some("tcp") && key("payload", "field") == Some("flags");
    is_tcp || matches!(key("ct", "key"), Some("state" | "status" | "label"))
}
