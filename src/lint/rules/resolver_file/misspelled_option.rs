#![doc = include_str!("misspelled_option.md")]

use crate::config::resolv_conf::Word;
use crate::lint::rules::is_near;
use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::is_comment;
use crate::text::Span;

/// Those that take a number behind a colon.
const NUMBERS: [&str; 5] = ["ndots", "timeout", "attempts", "retrans", "retry"];
/// Those that take nothing: of glibc, of its older versions, of Go and c-ares,
/// of the BSDs.
const FLAGS: [&str; 23] = [
    "rotate",
    "edns0",
    "edns",
    "trust-ad",
    "use-vc",
    "usevc",
    "tcp",
    "no-reload",
    "no-aaaa",
    "no-tld-query",
    "no_tld_query",
    "single-request",
    "single-request-reopen",
    "strict-error",
    "inet6",
    "ip6-bytestring",
    "ip6-dotint",
    "no-ip6-dotint",
    "no-check-names",
    "no_check_names",
    "debug",
    "insecure1",
    "insecure2",
];

/// What a line begins with that resolvers read.
const KEYWORDS: [&str; 5] = ["nameserver", "search", "options", "domain", "sortlist"];

pub(super) fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
    for word in file.entries.iter().map(|it| it.keyword) {
        let written = String::from_utf8_lossy(word.bytes);
        let lower = written.to_ascii_lowercase();
        let meant = KEYWORDS.iter().find(|it| is_near(&lower, it, 1));
        if let Some(meant) =
            meant.filter(|_| !KEYWORDS.contains(&&*written) && !has_placeholder(&written))
        {
            report
                .add(
                    file.document.at(word.span),
                    format!("no resolver knows the keyword {written}"),
                )
                .help(format!("write {meant}"))
                .note(PASSED_OVER);
        }
    }
    for entry in file.lines("options") {
        // What follows a comment's mark is KR019's.
        let words: Vec<Word<'_>> = entry
            .values()
            .take_while(|it| !is_comment(it.bytes))
            .collect();
        for (index, word) in words.iter().enumerate() {
            if let Ok(text) = std::str::from_utf8(word.bytes)
                && !has_placeholder(text)
            {
                option(file, text, word.span, words.get(index + 1), report);
            }
        }
    }
}

fn option(
    file: &ResolverFile<'_>,
    text: &str,
    span: Span,
    next: Option<&Word<'_>>,
    report: &mut Report,
) {
    let at = file.document.at(span);
    let is_number = |it: &[u8]| !it.is_empty() && it.iter().all(u8::is_ascii_digit);
    let number = next.filter(|it| is_number(it.bytes));
    let (name, value) = match text.split_once(':') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let takes_number = NUMBERS.contains(&name);
    match (value, number) {
        (Some(""), Some(number)) if takes_number => {
            let digits = String::from_utf8_lossy(number.bytes);
            let between = Span {
                start: span.end,
                end: number.span.start,
            };
            report
                .add(at, format!("a blank stands between {text} and its number"))
                .help(format!("write {text}{digits}"))
                .note("musl and Go read no number here, and the kubelet hands pods two options in any order")
                .unsafe_fix("remove the blank", [file.document.change(between, "")]);
        }
        (Some(value), _) if takes_number => {
            if !value.starts_with(|it: char| it.is_ascii_digit()) {
                report
                    .add(at, format!("no number follows {name}:"))
                    .help(format!("write {name}:NUMBER"))
                    .note(PASSED_OVER);
            }
        }
        (None, _) if takes_number => {
            let number = number.map_or("NUMBER".into(), |it| String::from_utf8_lossy(it.bytes));
            report
                .add(at, format!("{name} has no colon with a number behind it"))
                .help(format!("write {name}:{number}"))
                .note(PASSED_OVER);
        }
        _ => {
            if let Some(meant) = meant(text) {
                report
                    .add(at, format!("no resolver has an option {text}"))
                    .help(format!("write {meant}"))
                    .note(PASSED_OVER);
            }
        }
    }
}

const PASSED_OVER: &str = "resolvers pass it over, without a word";

/// The option that a misspelled one is meant to be; `None`: it is right, or like
/// none that is known.
fn meant(text: &str) -> Option<String> {
    let (name, value) = text.split_once([':', '=']).unwrap_or((text, ""));
    if NUMBERS.contains(&name) {
        return Some(format!("{name}:{value}"));
    }
    if FLAGS.contains(&name) {
        return None;
    }
    let lower = name.to_ascii_lowercase().replace('_', "-");
    let number = NUMBERS.iter().find(|it| is_near(&lower, it, 1));
    let number =
        number.map(|it| format!("{it}:{}", if value.is_empty() { "NUMBER" } else { value }));
    let flag = || {
        FLAGS
            .iter()
            .find(|it| it.len() > 3 && is_near(&lower, it, 1))
    };
    number.or_else(|| flag().map(|&it| it.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_are_nearly_right_are_misspelled() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(meant(text).as_deref(), expected, "{text}");
        };
        check("ends0", Some("edns0"));
        check("edns0", None);
        check("end0", None);
        check("rotat", Some("rotate"));
        check("ndot:2", Some("ndots:2"));
        check("ndots=2", Some("ndots:2"));
        check("NDOTS:3", Some("ndots:3"));
        check("time-out:1", Some("timeout:1"));
        check("attempt", Some("attempts:NUMBER"));
        check("single_request_reopen", Some("single-request-reopen"));
        check("singlerequest", Some("single-request"));
        check("single-request", None);
        check("no_tld_query", None);
        check("insecure1", None);
        check("tap", None);
        check("sensible", None);
        check("2", None);
    }
}
