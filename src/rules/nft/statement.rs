//! Statements of a rule, from their JSON.

use serde_json::{Map, Value};

use super::expression::{Atom, Comparison, Expression, Field, Kind, Relation, Values};
use super::shown::statement as words;
use super::value::{expression, field, kinds, values};
use crate::rules::Share;
use crate::rules::rule::{Action, Match, Part, Side, Test, Translation};

/// The parts that a statement makes.
pub(super) fn statement(value: &Value, is_six: Option<bool>) -> Vec<Part> {
    let Some((key, inner)) = value.as_object().and_then(|it| it.iter().next()) else {
        return vec![Part::Do(Action::Unknown(words(value).into()))];
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
                return vec![Part::Do(Action::Unknown(words(value).into()))];
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
            Err(()) => Action::Unknown(words(value).into()),
        },
        "dnat" | "snat" => nat(key, inner).unwrap_or_else(|| Action::Unknown(words(value).into())),
        "mangle" => mangle(inner).unwrap_or_else(|| Action::Unknown(words(value).into())),
        "vmap" => vmap(inner).unwrap_or_else(|| Action::Unknown(words(value).into())),
        "tproxy" => tproxy(inner).unwrap_or_else(|| Action::Unknown(words(value).into())),
        "xt" => return vec![extension(inner, value)],
        "limit" | "quota" | "ct count" | "meter" | "unknown match" => {
            return vec![unknown_match(value)];
        }
        _ => Action::Unknown(words(value).into()),
    };
    vec![Part::Do(action)]
}

fn unknown_match(value: &Value) -> Part {
    Part::If(Test {
        is_negated: false,
        what: Match::Unknown(words(value).into()),
    })
}

/// An extension of iptables, of which nft shows no more than its name.
fn extension(inner: &Value, whole: &Value) -> Part {
    let text = |key: &str| inner.get(key).and_then(Value::as_str);
    let name = text("name").unwrap_or_default();
    // Targets have names in capitals.
    let is_match = name.starts_with(|it: char| it.is_ascii_lowercase());
    match text("type") {
        // It says something to people alone.
        Some("match") if name == "comment" => Part::Do(Action::Nothing),
        Some("match") => unknown_match(whole),
        None if is_match => unknown_match(whole),
        _ => Part::Do(match name {
            "MASQUERADE" => Action::Masquerade,
            "NOTRACK" => Action::NoTrack,
            "LOG" | "NFLOG" | "TCPMSS" | "CHECKSUM" | "TRACE" => Action::Nothing,
            _ => Action::Unknown(words(whole).into()),
        }),
    }
}

fn comparison(inner: &Value, whole: &Value) -> Part {
    let what = match (lot(inner), try_comparison(inner, whole)) {
        (Some(share), _) => Match::Chance(share),
        (None, Some(comparison)) => Match::Compare(Box::new(comparison)),
        (None, None) => Match::Unknown(words(whole).into()),
    };
    Part::If(Test {
        is_negated: false,
        what,
    })
}

/// `meta random & 2147483647 < 536870912`, which nft makes of iptables'
/// `statistic`: such a share of packets.
fn lot(inner: &Value) -> Option<Share> {
    let [random, mask] = inner.get("left")?.get("&")?.as_array()?.as_slice() else {
        return None;
    };
    let is_random = random.get("meta")?.get("key")? == "random";
    let is_whole = mask.as_u64()?.checked_add(1)? == Share::STATISTIC_PARTS;
    let parts = inner.get("right")?.as_u64()?;
    let share = (is_random && is_whole).then(|| Share::of_parts(parts))?;
    match inner.get("op")?.as_str()? {
        "<" => Some(share),
        ">=" => Some(share.rest()),
        _ => None,
    }
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
        words: words(whole).into(),
    })
}

fn error(inner: &Value, is_six: Option<bool>) -> Box<str> {
    let text = |key: &str| inner.get(key).and_then(Value::as_str);
    let kind = text("type").unwrap_or("icmpx");
    let number = inner.get("expr").and_then(Value::as_u64);
    let code = match number {
        Some(number) => error_code(kind, number),
        None => text("expr").unwrap_or("port-unreachable"),
    };
    if kind == "tcp reset" {
        return "tcp-reset".into();
    }
    let is_six = kind == "icmpv6" || is_six == Some(true);
    match (code, is_six) {
        // Which it is follows from the packet.
        ("port-unreachable", _) if kind == "icmpx" && !is_six => "".into(),
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

/// The word of a code, which `nft --numeric` does not give.
///
/// Source: Linux `include/uapi/linux/icmp.h`, `icmpv6.h`, `netfilter/nf_tables.h`.
fn error_code(kind: &str, number: u64) -> &'static str {
    match (kind, number) {
        ("icmp", 0) => "net-unreachable",
        ("icmp", 1) | ("icmpx", 2) => "host-unreachable",
        ("icmp", 2) => "prot-unreachable",
        ("icmp", 9) => "net-prohibited",
        ("icmp", 10) => "host-prohibited",
        ("icmp", 13) | ("icmpv6", 1) | ("icmpx", 3) => "admin-prohibited",
        ("icmpv6" | "icmpx", 0) => "no-route",
        ("icmpv6", 3) => "addr-unreachable",
        ("icmpv6", 5) => "policy-fail",
        ("icmpv6", 6) => "reject-route",
        _ => "port-unreachable",
    }
}

type Ports = Option<(u16, u16)>;

fn port_range(value: Option<&Value>) -> Result<Ports, ()> {
    let Some(value) = value else { return Ok(None) };
    match values(value, &[Kind::Port]) {
        Some(Values::One(atoms)) => match atoms.as_slice() {
            [Atom::Number(port)] => {
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
    let side = if key == "dnat" {
        Side::Destination
    } else {
        Side::Source
    };
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
