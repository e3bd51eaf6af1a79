//! One row of `iptables -L`.

use std::borrow::Cow;

use super::extensions;
use crate::rules::rule::{Action, Addresses, Match, Part, Rule, Side, Test};
use crate::rules::save::{link, protocol, target};
use crate::rules::{Family, View};
use crate::text::WordList;

/// Which columns a listing has, beside those that every one has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    has_number: bool,
    has_counters: bool,
    pub(super) has_links: bool,
}

impl Columns {
    /// Those of a heading: `num   pkts bytes target     prot opt in     out …`.
    pub(super) fn from_heading(heading: &str) -> Option<Self> {
        let words: Vec<&str> = heading.split_whitespace().collect();
        let has = |it: &str| words.contains(&it);
        let is_it = ["target", "prot", "source", "destination"];
        is_it.iter().all(|it| has(it)).then(|| Self {
            has_number: has("num"),
            has_counters: has("pkts"),
            has_links: has("in") && has("out"),
        })
    }
}

/// A row in its columns.
#[derive(Debug)]
pub(super) struct Row<'t> {
    packets: Option<u64>,
    /// Empty: none, the rule only counts.
    pub(super) target: &'t str,
    protocol: &'t str,
    is_fragment: bool,
    /// The links that the packet comes in and leaves through.
    links: Option<(&'t str, &'t str)>,
    source: &'t str,
    destination: &'t str,
    /// What matches and targets print of themselves.
    rest: &'t str,
}

impl Row<'_> {
    /// What its addresses show; names and `anywhere` show nothing.
    pub(super) fn family(&self) -> Option<Family> {
        let ends = [self.source, self.destination];
        let mut known = ends.iter().filter_map(|it| {
            let plain = it.trim_start_matches('!');
            let ip = plain.split_once('/').map_or(plain, |it| it.0);
            ip.parse::<std::net::IpAddr>().ok()
        });
        known.next().map(|it| match it {
            std::net::IpAddr::V4(_) => Family::V4,
            std::net::IpAddr::V6(_) => Family::V6,
        })
    }
}

/// The options of the IP header: `--`, or a fragment.
const OPTIONS: [&str; 4] = ["--", "-f", "!f", "-!f"];

/// The columns of a row; `None`: it is none.
pub(super) fn split(text: &str, columns: Columns) -> Option<Row<'_>> {
    let mut rest = text;
    if columns.has_number {
        word(&mut rest)?.parse::<u32>().ok()?;
    }
    let mut packets = None;
    if columns.has_counters {
        // `12K` says how many about.
        packets = word(&mut rest)?.parse().ok();
        word(&mut rest)?;
    }
    let (target, protocol, options) = first(rest, columns)?;
    // The target is empty, or its word comes first.
    if !target.is_empty() {
        word(&mut rest)?;
    }
    word(&mut rest)?;
    if options.is_some() {
        word(&mut rest)?;
    }
    let links = if columns.has_links {
        Some((word(&mut rest)?, word(&mut rest)?))
    } else {
        None
    };
    Some(Row {
        packets,
        target,
        protocol,
        is_fragment: options.is_some_and(|it| it.ends_with('f')),
        links,
        source: word(&mut rest)?,
        destination: word(&mut rest)?,
        rest,
    })
}

/// Target, protocol and options. The first can be empty, and with IPv6 old
/// versions leave the last empty.
fn first(text: &str, columns: Columns) -> Option<(&str, &str, Option<&str>)> {
    let words: Vec<&str> = text.split_whitespace().take(5).collect();
    let at = |index: usize| words.get(index).copied();
    let is_option = |it: Option<&str>| it.is_some_and(|it| OPTIONS.contains(&it));
    if is_option(at(1)) {
        return Some(("", at(0)?, at(1)));
    }
    if is_option(at(2)) {
        return Some((at(0)?, at(1)?, at(2)));
    }
    let is_address = |it: &&str| {
        let plain = it.trim_start_matches('!');
        plain == "anywhere" || Addresses::network(plain).is_some()
    };
    let source = words.iter().position(is_address)?;
    let before = source.checked_sub(if columns.has_links { 2 } else { 0 })?;
    match before {
        1 => Some(("", at(0)?, None)),
        2 => Some((at(0)?, at(1)?, None)),
        _ => None,
    }
}

fn word<'t>(rest: &mut &'t str) -> Option<&'t str> {
    let text = rest.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    *rest = after;
    (!word.is_empty()).then_some(word)
}

/// The rule of a row; `None`: it is none.
pub(super) fn rule(text: &str, columns: Columns, chain: &str, view: View) -> Option<Rule> {
    let row = split(text, columns)?;
    let mut rest = row.rest.trim();
    let goto = rest.strip_prefix("[goto]");
    rest = goto.unwrap_or(rest).trim();
    let (matches, options) = extensions::target(row.target, rest);
    let (tests, comment) = extensions::matches(matches);
    let action = match (row.target, goto) {
        ("", _) => None,
        (name, Some(_)) => Some(Action::Goto(name.into())),
        (name, None) => Some(target(name, &options)),
    };
    let does_nothing = action.as_ref().is_none_or(|it| *it == Action::Nothing);
    let mut parts = Vec::new();
    let mut test = |is_negated, what| parts.push(Part::If(Test { is_negated, what }));
    if does_nothing {
        // It makes no difference whether it matches.
        test(false, Match::Never);
    }
    if row.links.is_none() && !is_of_kube_proxy(chain, row.target) {
        test(false, Match::Unknown(HIDDEN.into()));
    }
    ends(&row, &mut test);
    parts.extend(tests.into_iter().map(Part::If));
    parts.extend(action.map(Part::Do));
    Some(Rule {
        view,
        packets: row.packets,
        parts,
        comment,
    })
}

/// What a listing without `-v` leaves out of every rule.
const HIDDEN: &str = "the interface of this rule, which only iptables -L -v shows,";

/// How chains of kube-proxy begin.
const OF_KUBE_PROXY: WordList = WordList(
    "KUBE-SERVICES KUBE-NODEPORTS KUBE-SVC- KUBE-SVL- KUBE-SEP- KUBE-EXT- KUBE-XLB- KUBE-FW- \
     KUBE-MARK- KUBE-POSTROUTING KUBE-FORWARD KUBE-EXTERNAL-SERVICES",
);

/// kube-proxy names interfaces only where it decides whom to masquerade
/// (`--detect-local-mode`).
fn is_of_kube_proxy(chain: &str, target: &str) -> bool {
    (OF_KUBE_PROXY.begins(chain) || OF_KUBE_PROXY.begins(target)) && target != "KUBE-MARK-MASQ"
}

fn plain(it: &str) -> &str {
    it.trim_start_matches('!')
}

/// Protocol, links and addresses.
fn ends(row: &Row<'_>, test: &mut impl FnMut(bool, Match)) {
    let negated = |it: &str| it.starts_with('!');
    match protocol(plain(row.protocol)) {
        Some(0) => {}
        Some(number) => test(negated(row.protocol), Match::Protocol(number)),
        None => test(false, Match::Unknown(format!("-p {}", row.protocol).into())),
    }
    if row.is_fragment {
        test(false, Match::Never);
    }
    if let Some((inward, outward)) = row.links {
        let is_any = |it: &str| it == "*" || it == "any";
        if !is_any(inward) {
            test(negated(inward), Match::InLink(link(plain(inward))));
        }
        if !is_any(outward) {
            test(negated(outward), Match::OutLink(link(plain(outward))));
        }
    }
    for (side, text) in [
        (Side::Source, row.source),
        (Side::Destination, row.destination),
    ] {
        let network = plain(text);
        if ["anywhere", "0.0.0.0/0", "::/0"].contains(&network) {
            continue;
        }
        match Addresses::network(network) {
            Some(network) => test(negated(text), Match::Address(side, vec![network])),
            // A name that stands for an address there.
            None => test(false, Match::Unknown(format!("address {text}").into())),
        }
    }
}

/// Words that `iptables-save` would have in place of those of a listing.
pub(super) fn words<'w>(words: &[&'w str]) -> Vec<Cow<'w, str>> {
    words.iter().map(|it| Cow::Borrowed(*it)).collect()
}
