//! Expressions and statements of a rule, from their JSON.

use serde_json::{Map, Value};

use super::expression::{
    Comparison, Expression, Field, Kind, Operator, Relation, Values, atom, prefix,
};
use crate::rules::rule::{Action, Match, Part, Side, Test, Translation};

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

fn field(key: &str, inner: &Value) -> Option<Field> {
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
                super::Atom::Number(it) => Some(it),
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
            super::Atom::Number(bit) => bits |= bit,
            _ => return None,
        }
    }
    Some(Values::One(vec![super::Atom::Number(bits)]))
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
    let element = |it: &Value| match it.as_array().map(Vec::as_slice) {
        Some([key, data]) => Some((values(key, of)?, Some(data.clone()))),
        _ => Some((values(it, of)?, None)),
    };
    list.iter().map(element).collect::<Option<_>>().map(Values::Set)
}

/// The elements of a set or map that stands by itself.
pub(super) fn elements(list: &[Value], of: &[Kind]) -> Vec<Option<(Values, Option<Value>)>> {
    let element = |it: &Value| match it.as_array().map(Vec::as_slice) {
        Some([key, data]) => Some((values(key, of)?, Some(data.clone()))),
        _ => Some((values(it, of)?, None)),
    };
    list.iter().map(element).collect()
}

/// The parts that a statement makes.
pub(super) fn statement(value: &Value, is_six: Option<bool>) -> Vec<Part> {
    let Some((key, inner)) = value.as_object().and_then(|it| it.iter().next()) else {
        return vec![Part::Do(Action::Unknown(words(value)))];
    };
    let action = match key.as_str() {
        "match" => return vec![comparison(inner, value)],
        "accept" => Action::Accept,
        "drop" => Action::Drop,
        "return" => Action::Return,
        "continue" | "counter" | "log" | "set" | "last" | "ct helper" | "ct timeout"
        | "ct expectation" | "dup" | "flow" | "synproxy" | "tcp option" => Action::Nothing,
        "jump" | "goto" => {
            let Some(target) = inner.get("target").and_then(Value::as_str) else {
                return vec![Part::Do(Action::Unknown(words(value)))];
            };
            match key.as_str() {
                "jump" => Action::Jump(target.into()),
                _ => Action::Goto(target.into()),
            }
        }
        "notrack" => Action::NoTrack,
        "queue" => Action::Queue,
        "reject" => Action::Reject(error(inner, is_six)),
        "masquerade" => Action::Masquerade,
        "redirect" => match port_range(inner.get("port")) {
            Ok(ports) => Action::Redirect(ports),
            Err(()) => Action::Unknown(words(value)),
        },
        "dnat" | "snat" => nat(key, inner).unwrap_or_else(|| Action::Unknown(words(value))),
        "mangle" => mangle(inner).unwrap_or_else(|| Action::Unknown(words(value))),
        "vmap" => vmap(inner).unwrap_or_else(|| Action::Unknown(words(value))),
        "tproxy" => tproxy(inner).unwrap_or_else(|| Action::Unknown(words(value))),
        "xt" => return vec![extension(inner, value)],
        "limit" | "quota" | "ct count" | "meter" => return vec![unknown_match(value)],
        _ => Action::Unknown(words(value)),
    };
    vec![Part::Do(action)]
}

fn unknown_match(value: &Value) -> Part {
    Part::If(Test {
        is_negated: false,
        what: Match::Unknown(words(value)),
    })
}

/// An extension of iptables, of which nft shows no more than its name.
fn extension(inner: &Value, whole: &Value) -> Part {
    let text = |key: &str| inner.get(key).and_then(Value::as_str);
    let name = text("name").unwrap_or_default();
    // Targets have names in capitals.
    let is_match = name.starts_with(|it: char| it.is_ascii_lowercase());
    match text("type") {
        Some("match") => unknown_match(whole),
        None if is_match => unknown_match(whole),
        _ => Part::Do(match name {
            "MASQUERADE" => Action::Masquerade,
            "NOTRACK" => Action::NoTrack,
            "LOG" | "NFLOG" | "TCPMSS" | "CHECKSUM" | "TRACE" => Action::Nothing,
            _ => Action::Unknown(words(whole)),
        }),
    }
}

fn comparison(inner: &Value, whole: &Value) -> Part {
    let test = try_comparison(inner, whole);
    let what = test.map_or_else(
        || Match::Unknown(words(whole)),
        |it| Match::Compare(Box::new(it)),
    );
    Part::If(Test {
        is_negated: false,
        what,
    })
}

fn try_comparison(inner: &Value, whole: &Value) -> Option<Comparison> {
    let left = expression(inner.get("left")?, Kind::Number);
    let relation = match inner.get("op").and_then(Value::as_str).unwrap_or("==") {
        "==" => Relation::Is,
        "!=" => Relation::IsNot,
        "<" => Relation::Less,
        "<=" => Relation::AtMost,
        ">" => Relation::More,
        ">=" => Relation::AtLeast,
        "in" => Relation::In,
        _ => return None,
    };
    let kinds = kinds(&left);
    let right = inner.get("right")?;
    let right = match right.as_str().and_then(|it| it.strip_prefix('@')) {
        Some(name) => Expression::Named(name.into()),
        None => match values(right, &kinds) {
            Some(values) => Expression::Values(values),
            None => expression(right, kinds.first().copied()?),
        },
    };
    Some(Comparison {
        left,
        relation,
        right,
        words: words(whole),
    })
}

fn error(inner: &Value, is_six: Option<bool>) -> Box<str> {
    let text = |key: &str| inner.get(key).and_then(Value::as_str);
    let kind = text("type").unwrap_or("icmpx");
    let code = text("expr").unwrap_or("port-unreachable");
    if kind == "tcp reset" {
        return "tcp-reset".into();
    }
    let is_six = kind == "icmpv6" || is_six == Some(true);
    match (code, is_six) {
        // Which it is follows from the packet.
        ("port-unreachable", _) if kind == "icmpx" && is_six != true => "".into(),
        ("admin-prohibited", true) => "icmp6-adm-prohibited".into(),
        ("admin-prohibited", false) if kind == "icmpx" => "icmp-admin-prohibited".into(),
        ("no-route", true) => "icmp6-no-route".into(),
        ("no-route", false) => "icmp-net-unreachable".into(),
        ("host-unreachable", true) | ("addr-unreachable", _) => "icmp6-addr-unreachable".into(),
        ("net-unreachable", _) => "icmp-net-unreachable".into(),
        (code, true) => format!("icmp6-{code}").into(),
        (code, false) => format!("icmp-{code}").into(),
    }
}

type Ports = Option<(u16, u16)>;

fn port_range(value: Option<&Value>) -> Result<Ports, ()> {
    let Some(value) = value else { return Ok(None) };
    match values(value, &[Kind::Port]) {
        Some(Values::One(atoms)) => match atoms.as_slice() {
            [super::Atom::Number(port)] => {
                let port = u16::try_from(*port).map_err(drop)?;
                Ok(Some((port, port)))
            }
            _ => Err(()),
        },
        Some(Values::Range(first, last)) => Ok(Some((
            u16::try_from(first).map_err(drop)?,
            u16::try_from(last).map_err(drop)?,
        ))),
        _ => Err(()),
    }
}

fn nat(key: &str, inner: &Value) -> Option<Action> {
    let side = if key == "dnat" { Side::Destination } else { Side::Source };
    let part = |name: &str, of| inner.get(name).map(|it| expression(it, of));
    if let Some(translation) = constant(inner) {
        return Some(match side {
            Side::Destination => Action::Dnat(translation),
            Side::Source => Action::Snat(translation),
        });
    }
    let (address, port) = (part("addr", Kind::Address), part("port", Kind::Port));
    (address.is_some() || port.is_some()).then_some(Action::NftNat {
        side,
        address,
        port,
    })
}

/// Where nothing has to be looked up.
fn constant(inner: &Value) -> Option<Translation> {
    let addresses = match inner.get("addr") {
        None => None,
        Some(value) => {
            let range = value.get("range").and_then(Value::as_array);
            let (first, last) = match range.map(Vec::as_slice) {
                Some([first, last]) => (first, last),
                _ => (value, value),
            };
            let ip = |it: &Value| it.as_str()?.parse().ok();
            Some((ip(first)?, ip(last)?))
        }
    };
    let ports = port_range(inner.get("port")).ok()?;
    (addresses.is_some() || ports.is_some()).then_some(Translation { addresses, ports })
}

fn mangle(inner: &Value) -> Option<Action> {
    let key = inner.get("key")?.as_object()?;
    let value = expression(inner.get("value")?, Kind::Number);
    match target(key)? {
        Field::Mark => Some(Action::SetMark(value)),
        Field::ConnectionMark => Some(Action::SetConnectionMark(value)),
        _ => Some(Action::Nothing),
    }
}

fn target(key: &Map<String, Value>) -> Option<Field> {
    let (kind, inner) = key.iter().next()?;
    match (kind.as_str(), inner.get("key").and_then(Value::as_str)) {
        // Priorities and the like do not change where it goes.
        ("meta", Some("priority" | "nftrace" | "pkttype")) => Some(Field::Length),
        ("ct", Some("helper" | "label" | "event")) => Some(Field::Length),
        ("ip" | "ip6" | "tcp option", _) => Some(Field::Length),
        _ => field(kind, inner),
    }
}

fn vmap(inner: &Value) -> Option<Action> {
    let key = expression(inner.get("key")?, Kind::Number);
    let data = inner.get("data")?;
    let data = match data.as_str().and_then(|it| it.strip_prefix('@')) {
        Some(name) => Expression::Named(name.into()),
        None => Expression::Values(values(data, &kinds(&key))?),
    };
    Some(Action::VerdictMap(key, data))
}

fn tproxy(inner: &Value) -> Option<Action> {
    let port = port_range(inner.get("port")).ok()?;
    let to = inner.get("addr").and_then(Value::as_str);
    Some(Action::Tproxy {
        to: to.and_then(|it| it.parse().ok()),
        port: port.map_or(0, |it| it.0),
        mark: crate::rules::rule::Masked { value: 0, mask: 0 },
    })
}
