//! One line of `iptables-save`.

use std::borrow::Cow;

use super::matches::group;
use super::target::target;
use super::words::words;
use crate::rules::View;
use crate::rules::rule::{Action, Addresses, LinkName, Match, Part, Rule, Side, Test};

/// A line `[PACKETS:BYTES] -A CHAIN …`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'t> {
    /// The counter of packets.
    pub(super) packets: Option<u64>,
    /// The chain.
    pub(super) chain: &'t str,
    /// What follows the chain.
    pub(super) rest: &'t str,
}

/// Splits a line that has a rule in it; `None`: it has none. In front of it may
/// stand what a log, a quotation or a shell puts there.
pub(super) fn split(line: &str) -> Option<Line<'_>> {
    let (before, rule) = match line.strip_prefix("-A ") {
        Some(rule) => ("", rule),
        None => {
            let at = line.find("-A ")?;
            let (before, rule) = line.split_at(at);
            let is_apart = before.ends_with([' ', '\t', ']', '>', '`', '|', '\'', ':']);
            (before, rule.get(3..).filter(|_| is_apart)?)
        }
    };
    let (chain, rest) = rule.split_once([' ', '\r']).unwrap_or((rule, ""));
    Some(Line {
        packets: counter(before.trim_end()),
        chain,
        rest,
    })
}

/// The packets of `[PACKETS:BYTES]` at the end of a text.
pub(super) fn counter(text: &str) -> Option<u64> {
    let text = text.strip_suffix(']')?;
    let (_, text) = text.rsplit_once('[')?;
    text.split_once(':')?.0.parse().ok()
}

/// The rule of a line.
pub(super) fn parse(line: &Line<'_>, view: View) -> Rule {
    let words = words(line.rest);
    let mut parser = Parser::default();
    let mut rest = words.as_slice();
    let mut is_negated = false;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        match word.as_ref() {
            "!" => is_negated = true,
            "-m" | "--match" => rest = parser.module(rest),
            "-j" | "--jump" | "-g" | "--goto" => {
                rest = parser.target(word.starts_with("-g") || word == "--goto", rest);
            }
            option => {
                rest = parser.base(option, std::mem::take(&mut is_negated), rest);
            }
        }
    }
    parser.flush();
    parser.parts.extend(parser.action.into_iter().map(Part::Do));
    Rule {
        view,
        packets: line.packets,
        parts: parser.parts,
        comment: parser.comment,
    }
}

/// Modules whose options name ports; empty: those of the protocol.
const OF_PORTS: [&str; 6] = ["", "tcp", "udp", "sctp", "udplite", "dccp"];

#[derive(Default)]
struct Parser<'w> {
    parts: Vec<Part>,
    action: Option<Action>,
    comment: Option<Box<str>>,
    /// The module whose options follow, with them.
    module: Box<str>,
    options: Vec<&'w str>,
}

impl<'w> Parser<'w> {
    fn test(&mut self, is_negated: bool, what: Match) {
        self.parts.push(Part::If(Test { is_negated, what }));
    }

    /// Options without a module, and options of the current one.
    fn base(
        &mut self,
        option: &'w str,
        is_negated: bool,
        rest: &'w [Cow<'w, str>],
    ) -> &'w [Cow<'w, str>] {
        let Some((value, after)) = rest.split_first() else {
            self.option(option, is_negated);
            return rest;
        };
        let what = match option {
            "-s" | "--source" | "--src" => addresses(Side::Source, value),
            "-d" | "--destination" | "--dst" => addresses(Side::Destination, value),
            "-i" | "--in-interface" => Match::InLink(link(value)),
            "-o" | "--out-interface" => Match::OutLink(link(value)),
            "-p" | "--protocol" => return self.protocol(is_negated, value, after),
            "--comment" => {
                self.comment = Some(value.as_ref().into());
                return after;
            }
            "-c" | "--set-counters" => return after.get(1..).unwrap_or_default(),
            "-f" => Match::Never,
            // `-m conntrack --ctstate NEW -p udp --dport 53`, as people type it.
            "--dport" | "--destination-port" | "--sport" | "--source-port"
                if !OF_PORTS.contains(&&*self.module) =>
            {
                self.flush();
                self.option(option, is_negated);
                return rest;
            }
            _ => {
                self.option(option, is_negated);
                return rest;
            }
        };
        self.test(is_negated, what);
        if option == "-f" { rest } else { after }
    }

    fn protocol(
        &mut self,
        is_negated: bool,
        value: &str,
        after: &'w [Cow<'w, str>],
    ) -> &'w [Cow<'w, str>] {
        match protocol(value) {
            Some(0) => self.test(is_negated, Match::Always),
            Some(number) => self.test(is_negated, Match::Protocol(number)),
            None => self.test(is_negated, Match::Unknown(format!("-p {value}").into())),
        }
        after
    }

    fn option(&mut self, option: &'w str, is_negated: bool) {
        if is_negated {
            self.options.push("!");
        }
        self.options.push(option);
    }

    fn module(&mut self, rest: &'w [Cow<'w, str>]) -> &'w [Cow<'w, str>] {
        self.flush();
        let Some((name, after)) = rest.split_first() else {
            return rest;
        };
        self.module = name.as_ref().into();
        after
    }

    fn target(&mut self, is_goto: bool, rest: &'w [Cow<'w, str>]) -> &'w [Cow<'w, str>] {
        self.flush();
        let Some((name, after)) = rest.split_first() else {
            return rest;
        };
        if is_goto {
            self.action = Some(Action::Goto(name.as_ref().into()));
            return after;
        }
        let end = after.iter().position(|it| it == "-m" || it == "--match");
        let (options, after) = after.split_at(end.unwrap_or(after.len()));
        self.action = Some(target(name, options));
        after
    }

    /// Ends the options of a module.
    fn flush(&mut self) {
        let options = std::mem::take(&mut self.options);
        let module = std::mem::take(&mut self.module);
        if module.as_ref() == "comment" {
            return;
        }
        if module.is_empty() && options.is_empty() {
            return;
        }
        let tests = group(&module, &options);
        let unknown = || {
            let name = if module.is_empty() { "" } else { "-m " };
            let words = format!("{name}{module} {}", options.join(" "));
            vec![Test {
                is_negated: false,
                what: Match::Unknown(words.trim().into()),
            }]
        };
        let tests = tests.unwrap_or_else(unknown);
        self.parts.extend(tests.into_iter().map(Part::If));
    }
}

/// The networks of `-s` and `-d`; lists with commas are what people type.
fn addresses(side: Side, value: &str) -> Match {
    let all: Option<Vec<Addresses>> = value.split(',').map(Addresses::network).collect();
    match all {
        Some(all) => Match::Address(side, all),
        None => Match::Unknown(format!("address {value}").into()),
    }
}

pub(in crate::rules) fn link(value: &str) -> LinkName {
    let name = value.strip_suffix('+');
    LinkName {
        name: name.unwrap_or(value).into(),
        is_prefix: name.is_some(),
    }
}

/// The number of a protocol; 0 is any.
pub(in crate::rules) fn protocol(name: &str) -> Option<u8> {
    Some(match name.to_ascii_lowercase().as_str() {
        "all" => 0,
        "icmp" => 1,
        "igmp" => 2,
        "ipip" | "ipencap" => 4,
        "tcp" => 6,
        "udp" => 17,
        "gre" => 47,
        "esp" => 50,
        "ah" => 51,
        "ipv6-icmp" | "icmpv6" => 58,
        "ospf" => 89,
        "pim" => 103,
        "vrrp" => 112,
        "sctp" => 132,
        "udplite" => 136,
        number => number.parse().ok()?,
    })
}
