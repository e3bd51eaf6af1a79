//! Where the value of a secret begins and ends in a line.

use std::ops::Range;

/// How far a value reaches that stands in no quotes of its own.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Reach {
    /// To the line's end.
    Line,
    /// To the quote that the name stands in, too.
    Quote(char),
    /// To this quote, or to the next flag.
    Flags(char),
    /// To the next `,` or brace.
    Flow,
    /// To the next blank, quote or brace.
    Word,
}

/// Where the value is, and the sign that ends it where its own line does not; nothing if there
/// is none, or a truth, which is no secret.
pub(super) fn value(
    line: &str,
    start: usize,
    reach: Reach,
) -> Option<(Range<usize>, Option<&'static str>)> {
    let rest = line.get(start..)?;
    let own = rest.trim_start();
    let start = start + (rest.len() - own.len());
    for (sign, end, is_text) in [
        ("\"\"\"", "\"\"\"", true),
        ("'''", "'''", true),
        ("\"", "\"", true),
        ("'", "'", true),
        ("[", "]", false),
        ("{", "}", false),
    ] {
        let is_its = matches!(reach, Reach::Quote(it) | Reach::Flags(it) if sign.starts_with(it));
        let Some(inner) = own.strip_prefix(sign).filter(|_| !is_its) else {
            continue;
        };
        let length = match is_text {
            true => end_of_quote(inner, end),
            false if reach == Reach::Line => inner.rfind(end),
            false => inner.find(end),
        };
        let begin = start + sign.len();
        let found = begin..begin + length.unwrap_or(inner.len());
        let is_none = is_text && (length == Some(0) || is_truth(line.get(found.clone())?));
        let found = match length {
            Some(_) if !is_text => start..found.end + end.len(),
            _ => found,
        };
        return (!is_none).then_some((found, length.is_none().then_some(end)));
    }
    let length = match reach {
        Reach::Line => Some(own.trim_end_matches([';', ',']).len()),
        Reach::Quote(quote) => own.find(quote),
        Reach::Flags(quote) => {
            let own = own.get(..own.find(quote).unwrap_or(own.len()))?;
            Some(own.find(" -").unwrap_or(own.len()))
        }
        Reach::Flow => own
            .char_indices()
            .find(|it| is_end(own, *it))
            .map(|it| it.0),
        Reach::Word => {
            let is_its = |it: char| it.is_whitespace() || it == '"' || it == '\'';
            let mut signs = own.char_indices();
            let found = signs.find(|it| is_its(it.1) || is_end(own, *it));
            found.map(|it| it.0)
        }
    };
    let own = own.get(..length.unwrap_or(own.len()))?;
    (!own.is_empty() && !is_truth(own)).then_some((start..start + own.len(), None))
}

/// Whether a sign ends a value: one of these is also within passwords.
fn is_end(text: &str, (at, sign): (usize, char)) -> bool {
    let after = text.get(at + sign.len_utf8()..).unwrap_or_default();
    let is_last = |it: char| it.is_whitespace() || ",;}]\"'".contains(it);
    ",;}]".contains(sign) && after.chars().next().is_none_or(is_last)
}

fn end_of_quote(text: &str, end: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, sign)| {
        let is_plain = !std::mem::take(&mut is_escaped);
        is_escaped = is_plain && sign == '\\' && end.starts_with('"');
        let is_its = is_plain && text.get(at..).is_some_and(|it| it.starts_with(end));
        is_its.then_some(at)
    })
}

fn is_truth(text: &str) -> bool {
    ["true", "false"].contains(&text)
}

/// How far a URL reaches whose scheme ends here, and where its user and password are.
pub(super) fn asker(line: &str, start: usize) -> (usize, Option<Range<usize>>) {
    let rest = line.get(start..).unwrap_or_default();
    let is_end = |it: &(usize, char)| {
        let is_next = || rest.get(it.0..).is_some_and(|it| it.starts_with("://"));
        it.1.is_whitespace() || "\"'".contains(it.1) || it.1 == ':' && is_next()
    };
    let end = rest.char_indices().find(is_end);
    let own = rest
        .get(..end.map_or(rest.len(), |it| it.0))
        .unwrap_or_default();
    // The next URL of a list begins behind a comma.
    let own = match end {
        Some((_, ':')) => own.rsplit_once(',').map_or(own, |it| it.0),
        _ => own,
    };
    let host = own.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = |(_, port): (&str, &str)| port.bytes().all(|it| it.is_ascii_digit());
    let length = match host.rfind('@') {
        Some(at) => Some(at),
        // A `/` in a password.
        None if !host.starts_with('[') && host.split_once(':').is_some_and(|it| !is_port(it)) => {
            own.rfind('@')
        }
        None => None,
    };
    let range = length.map(|it| start..start + it);
    (start + own.len(), range.filter(|it| !it.is_empty()))
}

/// What follows the first edge of a private key that begins here, to its last edge or the
/// line's end; nothing if it is no private key.
pub(super) fn pem(line: &str, at: usize) -> Option<Range<usize>> {
    let edge = "PRIVATE KEY-----";
    let rest = line.get(at..)?;
    let start = at + rest.find(edge)? + edge.len();
    let length = line.get(start..)?.find("-----END");
    Some(start..length.map_or(line.len(), |it| start + it))
}

/// Whether a line is one of a key in PEM: in base64, or a heading.
pub(super) fn is_of_key(line: &str) -> bool {
    let is_base64 = |it: u8| it.is_ascii_alphanumeric() || b"+/=".contains(&it);
    line.starts_with("Proc-Type:")
        || line.starts_with("DEK-Info:")
        || line.trim_end_matches("\\n").bytes().all(is_base64)
}
