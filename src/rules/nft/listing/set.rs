//! Sets and maps that have names.

use serde_json::{Value, json};

use super::constant::braces;
use super::rule::undressed;
use super::words::{Words, split};
use crate::rules::nft::set::{Set, of_json};

/// The set or map of a block.
pub(in crate::rules::nft) fn set(text: &str) -> Option<Set> {
    let lines: Vec<&str> = text.lines().map(undressed).collect();
    let text = lines.join("\n");
    let all = split(&text);
    let mut words = Words::new(&all);
    let mut types = Vec::new();
    let mut elements = Value::Null;
    while let Some(word) = words.next() {
        match word {
            "type" if types.is_empty() => loop {
                types.push(words.next()?);
                if !words.take(".") {
                    break;
                }
            },
            "typeof" => types.extend(types_of(&mut words)),
            "elements" => {
                words.take("=");
                elements = braces(&mut words)?.get("set")?.clone();
            }
            // No word of it is one of the set's own.
            "comment" => {
                words.next();
            }
            _ => {}
        }
    }
    of_json(&json!({ "type": types, "elem": elements }))
}

/// The types of expressions: `typeof ip daddr . th dport`.
fn types_of(words: &mut Words<'_, '_>) -> Vec<&'static str> {
    let mut types = Vec::new();
    let mut last = None;
    while let Some(word) = words.peek() {
        let is_end = [
            "flags", "elements", "size", "comment", "timeout", ":", "counter",
        ];
        if is_end.contains(&word) {
            break;
        }
        words.next();
        if word == "." {
            types.extend(last.take().map(of_field));
        } else {
            last = Some(word);
        }
    }
    types.extend(last.map(of_field));
    types
}

/// The type of a field, by its last word.
fn of_field(name: &str) -> &'static str {
    match name {
        "saddr" | "daddr" => "ipv4_addr",
        "protocol" | "l4proto" | "nexthdr" => "inet_proto",
        "sport" | "dport" => "inet_service",
        "iifname" | "oifname" => "ifname",
        "state" => "ct_state",
        "type" => "fib_addrtype",
        _ => "integer",
    }
}
