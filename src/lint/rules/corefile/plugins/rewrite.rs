//! What stands behind `rewrite`.
//!
//! Source: `CoreDNS` v1.14.7, plugin/rewrite/setup.go: `rewriteParse`,
//! rewrite.go: `newRule`, name.go, edns0.go, ttl.go, `cname_target.go`, rcode.go.

use std::ops::RangeInclusive;

use crate::config::corefile::{Directive, Word};
use crate::kubelet::Version;
use crate::lint::rules::corefile::plugins::grammar::Refusal;
use crate::lint::rules::corefile::plugins::kind::can_be_regexp;

/// Why the words of a rule are refused; those of its block belong to it where
/// its line has one at most.
pub(super) fn refusal(directive: &Directive, version: Option<Version>) -> Option<Refusal<'_>> {
    let is_short = directive.arguments.len() < 2;
    let lines = directive.lines.iter().flatten().filter(|_| is_short);
    let words: Vec<&Word> = directive.arguments.iter().chain(lines).collect();
    if words.iter().any(|it| it.has_variable()) {
        return None;
    }
    let has_mode = words
        .first()
        .is_some_and(|it| is_one(it, &["continue", "stop"]));
    let rest = words.get(usize::from(has_mode)..).unwrap_or_default();
    let Some((kind, behind)) = rest.split_first() else {
        return Some(Refusal::Missing("a kind of rule, as name".to_owned()));
    };
    let lower = kind.text.to_ascii_lowercase();
    let Some((_, counts)) = COUNTS.iter().find(|it| it.0 == lower) else {
        let kinds: Vec<&str> = COUNTS.iter().map(|it| it.0).collect();
        return Some(Refusal::Wrong(kind, kinds.join(", ")));
    };
    if behind.len() < *counts.start() {
        let least = counts.start();
        return Some(Refusal::Missing(format!("{least} words behind {lower}")));
    }
    if let ("name", [how, pattern, ..]) = (lower.as_str(), behind)
        && is_one(how, &["regex"])
        && !can_be_regexp(&pattern.text)
    {
        return Some(Refusal::Wrong(pattern, "a regular expression".to_owned()));
    }
    if lower == "name" && version.is_some_and(|it| it >= ANSWERS) {
        return refused_answers(behind.get(3..).unwrap_or_default());
    }
    let more = behind.get(*counts.end())?;
    Some(Refusal::TooMuch(more))
}

/// The first release in which a rule for names can have several for answers.
const ANSWERS: Version = Version::release(1, 9, 4);

/// Why rules for answers are refused.
///
/// Source: `CoreDNS` v1.9.4, plugin/rewrite/name.go: `parseAnswerRules`.
fn refused_answers<'w>(words: &[&'w Word]) -> Option<Refusal<'w>> {
    let mut rest = words;
    let is_answer = |it: &&Word| it.text == "answer";
    if let Some(first) = rest.first().filter(|it| !is_answer(it)) {
        return Some(Refusal::Wrong(first, "answer".to_owned()));
    }
    while let Some((first, behind)) = rest.split_first() {
        let of_kind = if is_answer(first) { behind } else { rest };
        let Some((kind, behind)) = of_kind.split_first() else {
            return Some(Refusal::Missing("a word behind answer".to_owned()));
        };
        let count = match kind.text.as_str() {
            "auto" => 0,
            "name" | "value" => 2,
            _ => return Some(Refusal::Wrong(kind, "auto, name or value".to_owned())),
        };
        let Some(more) = behind.get(count..) else {
            return Some(Refusal::Missing(format!(
                "{count} words behind {}",
                kind.text
            )));
        };
        rest = more;
    }
    None
}

/// How many words stand behind each kind of rule.
const COUNTS: [(&str, RangeInclusive<usize>); 7] = [
    ("name", 2..=usize::MAX),
    ("class", 2..=2),
    ("type", 2..=2),
    ("edns0", 2..=usize::MAX),
    ("ttl", 2..=3),
    ("cname", 2..=3),
    ("rcode", 3..=4),
];

fn is_one(word: &Word, of: &[&str]) -> bool {
    of.iter().any(|it| word.text.eq_ignore_ascii_case(it))
}
