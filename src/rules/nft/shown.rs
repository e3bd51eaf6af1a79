//! A rule of JSON in the words of `nft list ruleset`.

use serde_json::Value;

use super::listing;
use crate::text::escaped;

/// The rule, or chain, of an object.
pub(in crate::rules) fn shown(bytes: &[u8]) -> String {
    if !bytes.starts_with(b"{") {
        return listing::shown(&String::from_utf8_lossy(bytes));
    }
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return escaped(bytes.get(..80.min(bytes.len())).unwrap_or_default());
    };
    let text = match (value.get("rule"), value.get("chain")) {
        (Some(rule), _) => {
            let statements = rule.get("expr").and_then(Value::as_array);
            let words: Vec<String> = statements.into_iter().flatten().map(statement).collect();
            words.join(" ")
        }
        (_, Some(chain)) => {
            let text = |key: &str| chain.get(key).and_then(Value::as_str).unwrap_or_default();
            format!("policy {}", text("policy"))
        }
        _ => value.to_string(),
    };
    escaped(text.as_bytes())
}

/// A statement in these words.
pub(super) fn statement(value: &Value) -> String {
    let Some((key, inner)) = value.as_object().and_then(|it| it.iter().next()) else {
        return value.to_string();
    };
    match key.as_str() {
        "match" => {
            let side = |name: &str| inner.get(name).map(expression).unwrap_or_default();
            let op = match inner.get("op").and_then(Value::as_str) {
                Some("==" | "in") | None => " ".to_owned(),
                Some(op) => format!(" {op} "),
            };
            format!("{}{op}{}", side("left"), side("right"))
        }
        "jump" | "goto" => {
            let target = inner.get("target").and_then(Value::as_str);
            format!("{key} {}", target.unwrap_or_default())
        }
        "counter" => "counter".to_owned(),
        "dnat" | "snat" => {
            let part = |name: &str| inner.get(name).map(expression);
            let port = part("port").map_or_else(String::new, |it| format!(":{it}"));
            format!("{key} to {}{port}", part("addr").unwrap_or_default())
        }
        "mangle" => {
            let part = |name: &str| inner.get(name).map(expression).unwrap_or_default();
            format!("{} set {}", part("key"), part("value"))
        }
        "vmap" => {
            let part = |name: &str| inner.get(name).map(expression).unwrap_or_default();
            format!("{} vmap {}", part("key"), part("data"))
        }
        "reject" => match inner.get("type").and_then(Value::as_str) {
            Some(kind) => {
                let code = inner.get("expr").map(expression).unwrap_or_default();
                format!("reject with {kind} {code}").trim_end().to_owned()
            }
            None => key.clone(),
        },
        "xt" => {
            let text = |name: &str| inner.get(name).and_then(Value::as_str);
            let (kind, name) = (text("type").unwrap_or("match"), text("name"));
            format!("xt {kind} {}", name.unwrap_or_default())
        }
        "unknown match" | "unknown target" => inner.as_str().unwrap_or_default().to_owned(),
        _ if inner.is_null() => key.clone(),
        _ => match inner.as_str() {
            Some(text) => format!("{key} {text}"),
            None => format!("{key} {inner}"),
        },
    }
}

fn expression(value: &Value) -> String {
    match value {
        Value::String(text) => return text.clone(),
        Value::Array(all) => return joined(all, ", "),
        _ => {}
    }
    let Some((key, inner)) = value.as_object().and_then(|it| it.iter().next()) else {
        return value.to_string();
    };
    let text = |name: &str| inner.get(name).and_then(Value::as_str).unwrap_or_default();
    let list = inner.as_array().map(Vec::as_slice).unwrap_or_default();
    match key.as_str() {
        "payload" => format!("{} {}", text("protocol"), text("field")),
        "meta" => match text("key") {
            name @ ("iifname" | "oifname" | "iif" | "oif") => name.to_owned(),
            name => format!("meta {name}"),
        },
        "ct" => format!("ct {} {}", text("dir"), text("key")).replace("  ", " "),
        "fib" => {
            let flags = inner.get("flags").map(expression).unwrap_or_default();
            format!("fib {} {}", flags.replace(", ", " . "), text("result"))
        }
        "concat" => joined(list, " . "),
        "&" | "|" | "^" | "<<" | ">>" => joined(list, &format!(" {key} ")),
        "range" => joined(list, "-"),
        "prefix" => {
            let bits = inner.get("len").map(Value::to_string).unwrap_or_default();
            format!("{}/{bits}", text("addr"))
        }
        "set" => format!("{{ {} }}", elements(inner)),
        "elem" => inner.get("val").map(expression).unwrap_or_default(),
        "map" => {
            let part = |name: &str| inner.get(name).map(expression).unwrap_or_default();
            format!("{} map {}", part("key"), part("data"))
        }
        "numgen" => {
            let modulus = inner.get("mod").map(Value::to_string).unwrap_or_default();
            format!("numgen {} mod {modulus}", text("mode"))
        }
        "goto" | "jump" => format!("{key} {}", text("target")),
        _ if inner.is_null() => key.clone(),
        _ => value.to_string(),
    }
}

fn joined(all: &[Value], between: &str) -> String {
    all.iter().map(expression).collect::<Vec<_>>().join(between)
}

/// The elements of a set, or of a map with what it has for them.
fn elements(inner: &Value) -> String {
    let element = |it: &Value| match it.as_array().map(Vec::as_slice) {
        Some([key, data]) => format!("{} : {}", expression(key), expression(data)),
        _ => expression(it),
    };
    match inner.as_array() {
        Some(all) => all.iter().map(element).collect::<Vec<_>>().join(", "),
        None => expression(inner),
    }
}
