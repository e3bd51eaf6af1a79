//! The options of a match module.

use super::rule::protocol;
use crate::rules::Share;
use crate::rules::rule::{Addresses, Masked, Match, Side, Test, kind, state, status};

/// One option: its name, its value, and whether a `!` stands before it.
type Options<'w> = Vec<(&'w str, String, bool)>;

/// What the options of module `name` test; `None`: kdns does not know. Without
/// a module they are those of the protocol.
pub(in crate::rules) fn group(name: &str, words: &[&str]) -> Option<Vec<Test>> {
    let options = options(words);
    let all = |one: fn(&str, &str) -> Option<Match>| each(&options, one);
    match name {
        "tcp" | "udp" | "sctp" | "udplite" | "dccp" | "" => all(ports),
        "multiport" => all(multiport),
        "mark" => all(|option, value| {
            let masked = masked(value)?;
            (option == "--mark").then_some(Match::Mark(masked))
        }),
        "connmark" => all(|option, value| {
            let masked = masked(value)?;
            (option == "--mark").then_some(Match::ConnectionMark(masked))
        }),
        "state" => all(|option, value| {
            let bits = bits(value, state::named)?;
            (option == "--state").then_some(Match::State(bits))
        }),
        "conntrack" => all(conntrack),
        "addrtype" => addrtype(&options),
        "statistic" => statistic(&options),
        "iprange" => all(|option, value| {
            let side = match option {
                "--src-range" => Side::Source,
                "--dst-range" => Side::Destination,
                _ => return None,
            };
            Some(Match::Address(side, vec![Addresses::range(value)?]))
        }),
        "length" => all(|option, value| {
            let (first, last) = range(value)?;
            (option == "--length").then_some(Match::Length(first, last))
        }),
        "ttl" | "hl" => all(time_to_live),
        "set" => all(|option, value| {
            if option == "--update-counters" || option == "--update-subcounters" {
                return Some(Match::Always);
            }
            let (name, sides) = value.split_once(' ')?;
            let side = |it: &str| match it {
                "src" => Some(Side::Source),
                "dst" => Some(Side::Destination),
                _ => None,
            };
            let sides: Option<Vec<Side>> = sides.split(',').map(side).collect();
            (option == "--match-set").then_some(Match::Set(name.into(), sides?))
        }),
        "recent" => recent(&options),
        "icmp" | "icmp6" | "icmpv6" | "esp" | "ah" | "frag" => {
            Some(vec![test(false, Match::Never)])
        }
        _ => None,
    }
}

fn test(is_negated: bool, what: Match) -> Test {
    Test { is_negated, what }
}

/// Options with their values: what follows up to the next option.
fn options<'w>(words: &[&'w str]) -> Options<'w> {
    let mut options = Options::new();
    let mut is_negated = false;
    let mut index = 0;
    while let Some(word) = words.get(index) {
        index += 1;
        if *word == "!" {
            is_negated = true;
        } else if word.starts_with("--") {
            options.push((word, String::new(), std::mem::take(&mut is_negated)));
        } else if let Some(last) = options.last_mut() {
            let gap = if last.1.is_empty() { "" } else { " " };
            last.1.extend([gap, word]);
        } else {
            options.push(("", (*word).to_owned(), false));
        }
    }
    options
}

fn each(options: &Options<'_>, one: fn(&str, &str) -> Option<Match>) -> Option<Vec<Test>> {
    let tests = options
        .iter()
        .map(|(option, value, is_negated)| one(option, value).map(|what| test(*is_negated, what)));
    tests.collect()
}

/// `FIRST[:LAST]`, either of which can be missing.
fn range(value: &str) -> Option<(u16, u16)> {
    let Some((first, last)) = value.split_once(':') else {
        let one = port(value)?;
        return Some((one, one));
    };
    let first = if first.is_empty() { 0 } else { port(first)? };
    let last = if last.is_empty() {
        u16::MAX
    } else {
        port(last)?
    };
    Some((first, last))
}

/// A port by number, or by one of the names that `iptables -S` is asked for here.
fn port(value: &str) -> Option<u16> {
    match value {
        "domain" => Some(53),
        "http" => Some(80),
        "https" => Some(443),
        _ => value.parse().ok(),
    }
}

const EITHER: [Side; 2] = [Side::Source, Side::Destination];

fn ports(option: &str, value: &str) -> Option<Match> {
    let ports = |side| Some(Match::Ports(vec![side], vec![range(value)?]));
    match option {
        "--sport" | "--source-port" => ports(Side::Source),
        "--dport" | "--destination-port" => ports(Side::Destination),
        "--syn" => Some(Match::TcpFlags {
            mask: 0x17,
            set: 0x02,
        }),
        "--tcp-flags" => {
            let (mask, set) = value.split_once(' ')?;
            Some(Match::TcpFlags {
                mask: flags(mask)?,
                set: flags(set)?,
            })
        }
        "--icmp-type" | "--icmpv6-type" => Some(Match::Never),
        _ => None,
    }
}

fn flags(list: &str) -> Option<u8> {
    let mut bits = 0;
    for name in list.split(',') {
        bits |= match name {
            "FIN" => 0x01,
            "SYN" => 0x02,
            "RST" => 0x04,
            "PSH" => 0x08,
            "ACK" => 0x10,
            "URG" => 0x20,
            "ALL" => 0x3f,
            "NONE" => 0,
            _ => return None,
        };
    }
    Some(bits)
}

fn multiport(option: &str, value: &str) -> Option<Match> {
    let sides = match option {
        "--sports" | "--source-ports" => vec![Side::Source],
        "--dports" | "--destination-ports" => vec![Side::Destination],
        "--ports" => EITHER.to_vec(),
        _ => return None,
    };
    let ranges: Option<Vec<(u16, u16)>> = value.split(',').map(range).collect();
    Some(Match::Ports(sides, ranges?))
}

/// `VALUE[/MASK]`, in any base.
pub(super) fn masked(value: &str) -> Option<Masked> {
    let (value, mask) = value.split_once('/').unwrap_or((value, "0xffffffff"));
    Some(Masked {
        value: number(value)?,
        mask: number(mask)?,
    })
}

pub(in crate::rules) fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn bits(list: &str, of: fn(&str) -> Option<u16>) -> Option<u16> {
    list.split(',')
        .try_fold(0, |bits, name| Some(bits | of(name)?))
}

fn conntrack(option: &str, value: &str) -> Option<Match> {
    let network = || Addresses::network(value);
    let ports = |side| Some(Match::OriginalPort(side, range(value)?));
    Some(match option {
        "--ctstate" => Match::State(bits(value, state::named)?),
        "--ctstatus" => Match::Status(bits(value, status::named)?),
        "--ctproto" => Match::Protocol(protocol(value)?),
        "--ctorigsrc" => Match::Original(Side::Source, network()?),
        "--ctorigdst" => Match::Original(Side::Destination, network()?),
        "--ctreplsrc" => Match::ReplyAddress(Side::Source, network()?),
        "--ctrepldst" => Match::ReplyAddress(Side::Destination, network()?),
        "--ctorigsrcport" => ports(Side::Source)?,
        "--ctorigdstport" => ports(Side::Destination)?,
        "--ctdir" if value == "ORIGINAL" => Match::IsOriginalDirection,
        _ => return None,
    })
}

/// `--limit-iface-in` asks whether the address is one of that link: only for
/// those of the node it makes a difference, and then it is not known which.
fn addrtype(options: &Options<'_>) -> Option<Vec<Test>> {
    if options.iter().any(|it| it.0.starts_with("--limit-iface")) {
        return None;
    }
    let mut tests = Vec::new();
    for (option, value, is_negated) in options {
        let side = match *option {
            "--src-type" => Side::Source,
            "--dst-type" => Side::Destination,
            _ => return None,
        };
        let types = value
            .split(',')
            .fold(0, |bits, name| bits | kind::named(name));
        tests.push(test(*is_negated, Match::AddressType(side, types)));
    }
    Some(tests)
}

fn value<'o>(options: &'o Options<'_>, name: &str) -> Option<&'o str> {
    options
        .iter()
        .find(|it| it.0 == name)
        .map(|it| it.1.as_str())
}

fn statistic(options: &Options<'_>) -> Option<Vec<Test>> {
    let (chance, option) = match value(options, "--mode")? {
        "random" => {
            let text = value(options, "--probability")?;
            (Share::of_probability(text)?, "--probability")
        }
        // By turns: of many packets the same share.
        "nth" => {
            let every = value(options, "--every")?.parse().ok()?;
            (Share::new(1, every), "--every")
        }
        _ => return None,
    };
    let is_negated = options.iter().any(|it| it.0 == option && it.2);
    Some(vec![test(is_negated, Match::Chance(chance))])
}

fn time_to_live(option: &str, value: &str) -> Option<Match> {
    let value: u8 = value.parse().ok()?;
    Some(match option {
        "--ttl-eq" | "--ttl" | "--hl-eq" => Match::TimeToLive(value, value),
        "--ttl-lt" | "--hl-lt" => Match::TimeToLive(0, value.checked_sub(1)?),
        "--ttl-gt" | "--hl-gt" => Match::TimeToLive(value.checked_add(1)?, u8::MAX),
        _ => return None,
    })
}

/// `--set` puts the asker on the list and always matches.
fn recent(options: &Options<'_>) -> Option<Vec<Test>> {
    let name = value(options, "--name").unwrap_or("DEFAULT");
    let action = options
        .iter()
        .find(|it| matches!(it.0, "--set" | "--rcheck" | "--update" | "--remove"))?;
    let is_whole =
        |it: &str| ["255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"].contains(&it);
    let is_of_sender = value(options, "--rdest").is_none();
    if !is_of_sender || !value(options, "--mask").is_none_or(is_whole) {
        return None;
    }
    let what = match action.0 {
        "--set" => Match::Always,
        _ => Match::Recent(name.into()),
    };
    Some(vec![test(action.2, what)])
}
