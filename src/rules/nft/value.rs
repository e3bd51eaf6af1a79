//! Expressions and constants, from their JSON.

use serde_json::Value;

use super::expression::{Atom, Expression, Field, Kind, Operator, Values, atom, prefix};

/// The JSON of a value in one line, as far as a reader wants it.
pub(super) fn words(value: &Value) -> Box<str> {
    value.to_string().into()
}

/// The expression that `value` is; words in it are about `of`.
pub(super) fn expression(value: &Value, of: Kind) -> Expression {
    try_expression(value, of).unwrap_or_else(|| Expression::Unknown(words(value)))
}

fn try_expression(value: &Value, of: Kind) -> Option<Expression> {
    if let Some(text) = value.as_str()
        && let Some(name) = text.strip_prefix('@')
    {
        return Some(Expression::Named(name.into()));
    }
    let Some(object) = value.as_object() else {
        return Some(Expression::Values(values(value, &[of])?));
    };
    let (key, inner) = object.iter().next()?;
    Some(match key.as_str() {
        "payload" | "meta" | "ct" | "fib" => Expression::Field(field(key, inner)?),
        "concat" => {
            let parts = inner.as_array()?;
            Expression::Concat(parts.iter().map(|it| expression(it, of)).collect())
        }
        "&" | "|" | "^" | "<<" | ">>" => binary(key, inner, of)?,
        "numgen" => {
            let count = |key: &str| inner.get(key).and_then(Value::as_u64).unwrap_or(0);
            Expression::Numgen {
                modulus: u32::try_from(count("mod")).ok().filter(|it| *it > 0)?,
                offset: u32::try_from(count("offset")).ok()?,
            }
        }
        "map" => {
            let key = expression(inner.get("key")?, of);
            let data = inner.get("data")?;
            let kinds = kinds(&key);
            let data = match data.as_str().and_then(|it| it.strip_prefix('@')) {
                Some(name) => Expression::Named(name.into()),
                None => Expression::Values(values(data, &kinds)?),
            };
            Expression::Map(Box::new(key), Box::new(data))
        }
        _ => Expression::Values(values(value, &[of])?),
    })
}

fn binary(key: &str, inner: &Value, of: Kind) -> Option<Expression> {
    let operator = match key {
        "&" => Operator::And,
        "|" => Operator::Or,
        "^" => Operator::Xor,
        "<<" => Operator::Left,
        _ => Operator::Right,
    };
    let mut all = inner.as_array()?.iter();
    let first = expression(all.next()?, of);
    let of = kinds(&first).first().copied().unwrap_or(of);
    Some(all.fold(first, |left, right| {
        Expression::Binary(operator, Box::new(left), Box::new(expression(right, of)))
    }))
}

pub(super) fn field(key: &str, inner: &Value) -> Option<Field> {
    let text = |name: &str| inner.get(name).and_then(Value::as_str);
    match key {
        "payload" => payload(text("protocol")?, text("field")?),
        "meta" => Some(match text("key")? {
            "l4proto" => Field::Protocol,
            "nfproto" => Field::Family,
            "protocol" => Field::FrameType,
            "mark" => Field::Mark,
            "iifname" | "iif" => Field::InLink,
            "oifname" | "oif" => Field::OutLink,
            "length" => Field::Length,
            _ => return None,
        }),
        "ct" => {
            let is_original = text("dir").is_none_or(|it| it == "original");
            Some(match text("key")? {
                "mark" => Field::ConnectionMark,
                "state" => Field::State,
                "status" => Field::Status,
                "direction" => Field::Direction,
                "saddr" | "ip saddr" | "ip6 saddr" if is_original => Field::Original(true),
                "daddr" | "ip daddr" | "ip6 daddr" if is_original => Field::Original(false),
                "proto-src" if is_original => Field::OriginalPort(true),
                "proto-dst" if is_original => Field::OriginalPort(false),
                "protocol" | "l4proto" => Field::Protocol,
                _ => return None,
            })
        }
        _ => {
            let flags = inner.get("flags");
            let has = |name: &str| match flags {
                Some(Value::Array(all)) => all.iter().any(|it| it == name),
                Some(one) => one == name,
                None => false,
            };
            // Which link the address belongs to is another question.
            let is_plain = !has("iif") && !has("oif") && !has("mark");
            let is_type = text("result") == Some("type") && is_plain;
            is_type.then(|| Field::AddressType(has("saddr")))
        }
    }
}

fn payload(protocol: &str, field: &str) -> Option<Field> {
    let is_six = protocol == "ip6";
    Some(match (protocol, field) {
        ("ip" | "ip6", "saddr") => Field::Source(is_six),
        ("ip" | "ip6", "daddr") => Field::Destination(is_six),
        ("ip", "protocol") | ("ip6", "nexthdr") => Field::Protocol,
        ("ip", "ttl") | ("ip6", "hoplimit") => Field::TimeToLive,
        ("tcp", "sport") => Field::SourcePort(Some(6)),
        ("udp", "sport") => Field::SourcePort(Some(17)),
        ("th", "sport") => Field::SourcePort(None),
        ("tcp", "dport") => Field::DestinationPort(Some(6)),
        ("udp", "dport") => Field::DestinationPort(Some(17)),
        ("th", "dport") => Field::DestinationPort(None),
        ("sctp", "dport") => Field::DestinationPort(Some(132)),
        ("sctp", "sport") => Field::SourcePort(Some(132)),
        ("tcp", "flags") => Field::TcpFlags,
        _ => return None,
    })
}

/// What the parts of a value are about.
pub(super) fn kinds(expression: &Expression) -> Vec<Kind> {
    match expression {
        Expression::Field(field) => vec![field.kind()],
        Expression::Concat(parts) => parts.iter().flat_map(kinds).collect(),
        Expression::Binary(_, left, _) => kinds(left),
        _ => vec![Kind::Number],
    }
}

/// Constants; `of` says what their parts are about.
pub(super) fn values(value: &Value, of: &[Kind]) -> Option<Values> {
    let one = *of.first()?;
    if value == "*" && of.len() == 1 {
        return Some(Values::Any);
    }
    if let Value::Array(list) = value {
        // A list of flags.
        return list_of_flags(list, one);
    }
    let Value::Object(object) = value else {
        if let (Kind::Link, Some(name)) = (one, value.as_str())
            && let Some(start) = name.strip_suffix('*')
        {
            return Some(Values::Prefix(start.into()));
        }
        return Some(Values::One(vec![atom(value, one)?]));
    };
    let (key, inner) = object.iter().next()?;
    match key.as_str() {
        "prefix" => {
            let bits = inner.get("len")?.as_u64()?;
            prefix(inner.get("addr")?.as_str()?, u32::try_from(bits).ok()?)
        }
        "range" => {
            let [first, last] = inner.as_array()?.as_slice() else {
                return None;
            };
            let number = |it| match atom(it, one)? {
                Atom::Number(it) => Some(it),
                _ => None,
            };
            Some(Values::Range(number(first)?, number(last)?))
        }
        "concat" => concat(inner.as_array()?, of),
        "elem" => values(inner.get("val")?, of),
        "set" => set(inner, of),
        _ => None,
    }
}

fn list_of_flags(list: &[Value], of: Kind) -> Option<Values> {
    let mut bits = 0;
    for it in list {
        match atom(it, of)? {
            Atom::Number(bit) => bits |= bit,
            _ => return None,
        }
    }
    Some(Values::One(vec![Atom::Number(bits)]))
}

fn concat(parts: &[Value], of: &[Kind]) -> Option<Values> {
    let part = |(index, it): (usize, &Value)| {
        let kind = of.get(index).or(of.last()).copied()?;
        values(it, &[kind])
    };
    let parts: Option<Vec<Values>> = parts.iter().enumerate().map(part).collect();
    let parts = parts?;
    let plain = parts.iter().map(|it| match it {
        Values::One(atoms) => atoms.first().cloned(),
        _ => None,
    });
    match plain.collect::<Option<Vec<_>>>() {
        Some(atoms) => Some(Values::One(atoms)),
        None => Some(Values::Each(parts)),
    }
}

/// The elements of a set, or of a map with what it has for them.
fn set(inner: &Value, of: &[Kind]) -> Option<Values> {
    let list = match inner {
        Value::Array(list) => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    let elements: Option<_> = elements(list, of).into_iter().collect();
    elements.map(Values::Set)
}

/// The elements of a set or map that stands by itself.
pub(super) fn elements(list: &[Value], of: &[Kind]) -> Vec<Option<(Values, Option<Value>)>> {
    let element = |it: &Value| match it.as_array().map(Vec::as_slice) {
        Some([key, data]) => Some((values(key, of)?, Some(data.clone()))),
        _ => Some((values(it, of)?, None)),
    };
    list.iter().map(element).collect()
}
