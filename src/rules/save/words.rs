//! The words of a rule, as `iptables-save` quotes them.

use std::borrow::Cow;

/// The words of a line. A word in double quotes has `\"` and `\\` in it; in a
/// paste, an end without its quote is taken as it is.
pub(super) fn words(line: &str) -> Vec<Cow<'_, str>> {
    let mut words = Vec::with_capacity(24);
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => take_quoted(quoted),
            None => {
                let end = rest.find([' ', '\t', '\r']).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                (Cow::Borrowed(word), after)
            }
        };
        words.push(word);
        rest = after.trim_start();
    }
    words
}

/// The text up to the closing quote, and what follows it.
fn take_quoted(quoted: &str) -> (Cow<'_, str>, &str) {
    let end = quoted.find(['"', '\\']).unwrap_or(quoted.len());
    let (plain, rest) = quoted.split_at(end);
    if let Some(after) = rest.strip_prefix('"') {
        return (Cow::Borrowed(plain), after);
    }
    let mut text = plain.to_owned();
    let mut characters = rest.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (text.into(), rest.get(at + 1..).unwrap_or_default()),
            '\\' => text.extend(characters.next().map(|it| it.1)),
            other => text.push(other),
        }
    }
    (text.into(), "")
}
