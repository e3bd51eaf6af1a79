//! What matches and targets print of themselves behind the columns of
//! `iptables -L`, in the words of `iptables-save`.
//!
//! Source: iptables 1.8.9, the functions `print` of `extensions/`.

use std::borrow::Cow;

use super::row::words;
use crate::rules::rule::{Match, Test};
use crate::rules::save::{group, number};

/// The text of the matches, and the options of the target.
pub(super) fn target<'t>(name: &str, text: &'t str) -> (&'t str, Vec<Cow<'t, str>>) {
    let from = |start: &str| {
        let at = format!(" {text}").rfind(&format!(" {start}"))?;
        Some((text.get(..at)?, text.get(at..)?))
    };
    let all = |rest: &'t str| -> Vec<&'t str> { rest.split_whitespace().collect() };
    let found = match name {
        "DNAT" | "SNAT" => from("to:").map(|(matches, own)| {
            let option = if name == "DNAT" {
                "--to-destination"
            } else {
                "--to-source"
            };
            let to = all(own).first().copied().unwrap_or_default();
            let to = to.strip_prefix("to:").unwrap_or(to);
            (matches, words(&[option, to]))
        }),
        "REDIRECT" => from("redir ports ").map(|(matches, own)| {
            let ports = all(own).get(2).copied().unwrap_or_default();
            (matches, words(&["--to-ports", ports]))
        }),
        "REJECT" => from("reject-with ").map(|(matches, own)| {
            let error = all(own).get(1).copied().unwrap_or_default();
            (matches, words(&["--reject-with", error]))
        }),
        "MASQUERADE" => ["masq ports: ", "random"]
            .iter()
            .find_map(|it| from(it))
            .map(|(matches, _)| (matches, Vec::new())),
        "MARK" | "CONNMARK" => {
            from(&format!("{name} ")).map(|(matches, own)| (matches, mark(&all(own))))
        }
        "CT" | "NOTRACK" => ["CT notrack", "NOTRACK", "CT "]
            .iter()
            .find_map(|it| from(it))
            .map(|(matches, own)| {
                let own = all(own);
                let zone = own.iter().skip_while(|it| **it != "zone").nth(1);
                match zone {
                    Some(zone) => (matches, words(&["--zone", zone])),
                    None if own.iter().any(|it| it.eq_ignore_ascii_case("notrack")) => {
                        (matches, words(&["--notrack"]))
                    }
                    None => (matches, Vec::new()),
                }
            }),
        "TPROXY" => from("TPROXY redirect ").map(|(matches, own)| (matches, tproxy(&all(own)))),
        "NFQUEUE" => from("NFQUEUE ").map(|(matches, _)| (matches, Vec::new())),
        _ => None,
    };
    found.unwrap_or((text, Vec::new()))
}

/// `MARK or 0x4000`, `CONNMARK save nfmask 0xff ctmask ~0xf`.
fn mark<'t>(own: &[&'t str]) -> Vec<Cow<'t, str>> {
    let option = match own.get(1).copied().unwrap_or_default() {
        "set" => "--set-mark",
        "xset" => "--set-xmark",
        "and" => "--and-mark",
        "or" => "--or-mark",
        "xor" => "--xor-mark",
        "save" => "--save-mark",
        "restore" => "--restore-mark",
        _ => return words(own),
    };
    let value = |it: &&'t str| match *it {
        "mask" => "--mask".into(),
        "nfmask" => "--nfmask".into(),
        "ctmask" => "--ctmask".into(),
        // The list prints it so, and means the mask itself.
        other => Cow::Borrowed(other.trim_start_matches('~')),
    };
    let rest = own.iter().skip(2).map(value);
    std::iter::once(Cow::Borrowed(option)).chain(rest).collect()
}

/// `TPROXY redirect 127.0.0.1:15001 mark 0x1/0x1`.
fn tproxy<'t>(own: &[&'t str]) -> Vec<Cow<'t, str>> {
    let to = own.get(2).copied().unwrap_or_default();
    let (ip, port) = to.rsplit_once(':').unwrap_or(("", to));
    let ip = ip.trim_start_matches('[').trim_end_matches(']');
    let mark = own.get(4).copied().unwrap_or("0x0/0x0");
    words(&["--on-ip", ip, "--on-port", port, "--tproxy-mark", mark])
}

/// The conditions of a text, and its comment.
pub(super) fn matches(text: &str) -> (Vec<Test>, Option<Box<str>>) {
    let mut tests = Vec::new();
    let mut comment = None;
    let mut rest: Vec<&str> = text.split_whitespace().collect();
    // A comment can say what looks like conditions.
    let count = |mark: &str| text.matches(mark).count();
    if count("/*") > 1 || count("*/") > 1 {
        tests.push(unknown(&rest));
        return (tests, comment);
    }
    while !rest.is_empty() {
        if rest.first() == Some(&"/*")
            && let Some(end) = rest.iter().position(|it| *it == "*/")
        {
            comment = rest.get(1..end).map(|it| it.join(" ").into());
            rest.drain(..=end);
            continue;
        }
        let Some((found, length)) = one(&rest) else {
            // What follows may be its own.
            tests.push(unknown(&rest));
            break;
        };
        let taken: Vec<&str> = rest.drain(..length).collect();
        tests.extend(found.unwrap_or_else(|| vec![unknown(&taken)]));
    }
    (tests, comment)
}

fn unknown(words: &[&str]) -> Test {
    Test {
        is_negated: false,
        what: Match::Unknown(words.join(" ").into()),
    }
}

/// The tests of a match, which are `None` where its options are not known.
type Tests = Option<Vec<Test>>;

/// One match, and how many words it has; `None`: it is not known.
fn one(words: &[&str]) -> Option<(Tests, usize)> {
    let is_negated = words.first() == Some(&"!");
    let bare = words.get(usize::from(is_negated)..)?;
    let (found, length) = match *bare.first()? {
        "udp" | "tcp" | "sctp" | "udplite" | "dccp" if !is_negated => ports(bare),
        "multiport" => multiport(bare)?,
        it @ ("mark" | "connmark") if bare.get(1) == Some(&"match") => {
            let (no, value, length) = value(bare, 2)?;
            (group(it, &[no, &["--mark", value]].concat()), length)
        }
        "state" => single("state", is_negated, "--state", bare.get(1)?),
        it if it.starts_with("ct") => {
            single("conntrack", is_negated, &format!("--{it}"), bare.get(1)?)
        }
        "match-set" => {
            let value = format!("{} {}", bare.get(1)?, bare.get(2)?);
            let no: &[&str] = if is_negated { &["!"] } else { &[] };
            let words = [no, &["--match-set", &value]].concat();
            (group("set", &words), 3)
        }
        "ADDRTYPE" => address_type(bare),
        "length" => {
            let (no, value, length) = value(bare, 1)?;
            (
                group("length", &[no, &["--length", value]].concat()),
                length,
            )
        }
        "TTL" | "HL" => time_to_live(bare)?,
        "source" | "destination" if bare.get(1..3) == Some(&["IP", "range"]) => {
            let (no, value, length) = value(bare, 3)?;
            let option = if bare.first() == Some(&"source") {
                "--src-range"
            } else {
                "--dst-range"
            };
            (group("iprange", &[no, &[option, value]].concat()), length)
        }
        "statistic" => statistic(bare)?,
        "recent:" => recent(bare, is_negated),
        "icmptype" | "ipv6-icmptype" => (group("icmp", &[]), 2),
        _ => return None,
    };
    Some((found, length + usize::from(is_negated)))
}

fn single(module: &str, is_negated: bool, option: &str, value: &str) -> (Tests, usize) {
    let no: &[&str] = if is_negated { &["!"] } else { &[] };
    (group(module, &[no, &[option, value]].concat()), 2)
}

/// A value at `at` with `!` before it, alone or at its beginning; and how many
/// words there are up to its end.
fn value<'w>(words: &[&'w str], at: usize) -> Option<(&'static [&'static str], &'w str, usize)> {
    let first = *words.get(at)?;
    if first == "!" {
        return Some((&["!"], words.get(at + 1)?, at + 2));
    }
    Some(match first.strip_prefix('!') {
        Some(rest) => (&["!"], rest, at + 1),
        None => (&[], first, at + 1),
    })
}

/// `udp spts:1024:65535 dpt:!53`, `tcp flags:0x17/0x02`.
fn ports(words: &[&str]) -> (Tests, usize) {
    let mut tests = Some(Vec::new());
    let mut length = 1;
    for word in words.iter().skip(1) {
        let Some((name, value)) = word.split_once(':') else {
            break;
        };
        let (no, value): (&[&str], _) = match value.strip_prefix('!') {
            Some(value) => (&["!"], value),
            None => (&[], value),
        };
        let found = match name {
            "spt" | "spts" => group("udp", &[no, &["--sport", value]].concat()),
            "dpt" | "dpts" => group("udp", &[no, &["--dport", value]].concat()),
            "flags" => flags(!no.is_empty(), value),
            _ => break,
        };
        length += 1;
        tests = tests
            .zip(found)
            .map(|(tests, found)| [tests, found].concat());
    }
    (tests, length)
}

fn flags(is_negated: bool, value: &str) -> Tests {
    let (mask, set) = value.split_once('/')?;
    let byte = |it: &str| u8::try_from(number(it)?).ok();
    if let (Some(mask), Some(set)) = (byte(mask), byte(set)) {
        let what = Match::TcpFlags { mask, set };
        return Some(vec![Test { is_negated, what }]);
    }
    let no: &[&str] = if is_negated { &["!"] } else { &[] };
    group("tcp", &[no, &["--tcp-flags", mask, set]].concat())
}

/// `multiport dports 53,80`, `multiport sports  !53`.
fn multiport(words: &[&str]) -> Option<(Tests, usize)> {
    let option = format!("--{}", words.get(1)?);
    let (no, value, length) = value(words, 2)?;
    let found = group("multiport", &[no, &[&option, value]].concat());
    Some((found, length))
}

/// `ADDRTYPE match src-type !LOCAL,BROADCAST dst-type LOCAL limit-in`.
fn address_type(words: &[&str]) -> (Tests, usize) {
    let mut all: Vec<String> = Vec::new();
    let mut length = 2;
    while let Some(word) = words.get(length) {
        match *word {
            "src-type" | "dst-type" => {
                let value = words.get(length + 1).copied().unwrap_or_default();
                if value.starts_with('!') {
                    all.push("!".to_owned());
                }
                all.push(format!("--{word}"));
                all.push(value.trim_start_matches('!').to_owned());
                length += 2;
            }
            "limit-in" | "limit-out" => {
                all.push(word.replace("limit", "--limit-iface"));
                length += 1;
            }
            _ => break,
        }
    }
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    (group("addrtype", &all), length)
}

/// `TTL match TTL < 64`.
fn time_to_live(words: &[&str]) -> Option<(Tests, usize)> {
    let value = words.get(4)?;
    let all: &[&str] = match *words.get(3)? {
        "==" => &["--ttl-eq", value],
        "!=" => &["!", "--ttl-eq", value],
        "<" => &["--ttl-lt", value],
        ">" => &["--ttl-gt", value],
        _ => return None,
    };
    Some((group("ttl", all), 5))
}

/// `statistic mode random ! probability 0.25`, `statistic mode nth every 3`.
fn statistic(words: &[&str]) -> Option<(Tests, usize)> {
    let mode = *words.get(2)?;
    let at = 3 + usize::from(words.get(3) == Some(&"!"));
    let (option, value) = (format!("--{}", words.get(at)?), *words.get(at + 1)?);
    let no: &[&str] = if at == 4 { &["!"] } else { &[] };
    let all = [&["--mode", mode], no, &[&option, value]].concat();
    let has_packet = words.get(at + 2) == Some(&"packet");
    let length = at + if has_packet { 4 } else { 2 };
    Some((group("statistic", &all), length))
}

/// `recent: CHECK seconds: 10800 reap name: A side: source mask: 255.255.255.255`.
fn recent(words: &[&str], is_negated: bool) -> (Tests, usize) {
    let mut all: Vec<&str> = if is_negated { vec!["!"] } else { Vec::new() };
    all.push(match words.get(1).copied().unwrap_or_default() {
        "CHECK" => "--rcheck",
        "UPDATE" => "--update",
        "SET" => "--set",
        _ => "--remove",
    });
    let mut length = 2;
    while let Some(word) = words.get(length) {
        let value = words.get(length + 1).copied().unwrap_or_default();
        match *word {
            "reap" | "TTL-Match" => {
                length += 1;
                continue;
            }
            "seconds:" | "hit_count:" => {}
            "name:" => all.extend(["--name", value]),
            "mask:" => all.extend(["--mask", value]),
            "side:" if value == "source" => all.push("--rsource"),
            "side:" => all.push("--rdest"),
            _ => break,
        }
        length += 2;
    }
    (group("recent", &all), length)
}
