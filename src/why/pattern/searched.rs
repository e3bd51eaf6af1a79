//! The text in which patterns are looked for, as it is, and with what people write in many
//! ways in one.

use super::Match;

/// The text that is searched, also in small letters, whose bytes are at the
/// same places.
#[derive(Clone, Copy, Debug)]
pub struct Searched<'t> {
    /// As it is.
    pub text: &'t str,
    /// With small ASCII letters.
    pub small: &'t str,
}

impl Searched<'_> {
    /// Its first bytes.
    pub fn upto(self, end: usize) -> Self {
        Self {
            text: self.text.get(..end).unwrap_or(self.text),
            small: self.small.get(..end).unwrap_or(self.small),
        }
    }

    /// Whether nothing is said around a match, but for quotes and full stops.
    pub(super) fn is_all(self, found: &Match<'_>) -> bool {
        let around = [self.small.get(..found.start), self.small.get(found.end..)];
        let is_silent = |it: &str| !it.contains(char::is_alphanumeric);
        around.into_iter().flatten().all(is_silent)
    }

    /// Whether no word or number goes on here: `coredns error` has no `dns error` in it,
    /// `15s` no `5s`, while `RedisError` has an `Error`, and what is not printed may be
    /// written `\\nfatal`.
    pub(super) fn is_word_start(self, at: usize) -> bool {
        let bytes = self.text.as_bytes();
        let before = |by: usize| at.checked_sub(by).and_then(|it| bytes.get(it));
        let (Some(here), Some(last)) = (bytes.get(at), before(1)) else {
            return true;
        };
        let is_word = here.is_ascii_lowercase() && last.is_ascii_alphabetic();
        let is_part = |it: &u8| it.is_ascii_digit() || *it == b'.';
        let is_number = here.is_ascii_digit() && is_part(last);
        !(is_word || is_number) || before(2) == Some(&b'\\')
    }
}

/// A text in which what people write in many ways stands in one: `can't`, `does not` and
/// `could not` as `can not`. Programs say the same words each time: theirs are looked for in
/// the text as it is.
#[derive(Debug)]
pub(in crate::why) struct Alike {
    /// The text.
    pub text: String,
    small: String,
    /// Where a part of it begins, and the same part in the text as it was.
    places: Vec<(usize, usize)>,
}

/// What people write, and the one form of it; a star stands for the rest of a word.
const ALIKE: [(&str, &str); 40] = [
    ("can't", "can not"),
    ("cant", "can not"),
    ("cannot", "can not"),
    ("could not", "can not"),
    ("couldn't", "can not"),
    ("did not", "can not"),
    ("didn't", "can not"),
    ("do not", "can not"),
    ("does not", "can not"),
    ("doesn't", "can not"),
    ("doesnt", "can not"),
    ("don't", "can not"),
    ("dont", "can not"),
    ("will not", "can not"),
    ("won't", "can not"),
    ("aren't", "are not"),
    ("hasn't", "has not"),
    ("haven't", "have not"),
    ("isn't", "is not"),
    ("wasn't", "was not"),
    ("weren't", "were not"),
    ("unable to", "unable can not"),
    ("not able to", "not able can not"),
    ("fail to", "fail can not"),
    ("fails to", "fail can not"),
    ("failed to", "fail can not"),
    ("failing to", "fail can not"),
    ("fails", "fail"),
    ("failed", "fail"),
    ("failing", "fail"),
    ("timed out", "timeout"),
    ("time out", "timeout"),
    ("times out", "timeout"),
    ("timing out", "timeout"),
    ("time-out*", "timeout"),
    ("name server*", "nameserver"),
    ("host name*", "hostname"),
    ("core dns", "coredns"),
    ("kube dns", "kube-dns"),
    ("networkpolic*", "network polic"),
];

impl Alike {
    /// The text with each of these in its one form.
    pub(in crate::why) fn of(text: &str) -> Self {
        let small = text.to_ascii_lowercase();
        let (mut out, mut places) = (String::with_capacity(text.len()), Vec::new());
        let mut done = 0;
        let mut last = None;
        for (at, c) in small.char_indices() {
            let is_start = !last.replace(c).is_some_and(char::is_alphanumeric);
            let rest = small.get(at..).unwrap_or_default();
            if at < done || !is_start {
                continue;
            }
            if let Some((length, form)) = form(rest) {
                out.push_str(text.get(done..at).unwrap_or_default());
                places.push((out.len(), at));
                out.push_str(form);
                done = at + length;
                places.push((out.len(), done));
            }
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Self {
            small: out.to_ascii_lowercase(),
            text: out,
            places,
        }
    }

    /// What patterns are looked for in.
    pub(in crate::why) fn searched(&self) -> Searched<'_> {
        Searched {
            text: &self.text,
            small: &self.small,
        }
    }

    /// Where this place is in the text as it was.
    pub(in crate::why) fn place(&self, at: usize) -> usize {
        moved(at, self.places.iter().copied())
    }

    /// Where a place of the text as it was is in this one.
    pub(in crate::why) fn place_of(&self, at: usize) -> usize {
        moved(at, self.places.iter().map(|it| (it.1, it.0)))
    }
}

/// The form of what a text begins with, and how long that is.
fn form(text: &str) -> Option<(usize, &'static str)> {
    ALIKE.iter().find_map(|&(from, to)| {
        let words = from.trim_end_matches('*');
        let rest = text.strip_prefix(words)?;
        let is_end = words != from || !rest.starts_with(char::is_alphanumeric);
        is_end.then_some((words.len(), to))
    })
}

/// Where a place is that lies in one of these parts, or in what follows the last.
fn moved(at: usize, places: impl Iterator<Item = (usize, usize)>) -> usize {
    let mut moved = at;
    for (from, to) in places {
        if from > at {
            return moved.min(to);
        }
        moved = to + (at - from);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_in_many_ways_is_one() {
        for (text, expected) in [
            ("DNS Doesn't work", "DNS can not work"),
            ("pods can't resolve", "pods can not resolve"),
            ("unable to reach it", "unable can not reach it"),
            ("failed to, timed out", "fail can not, timeout"),
            ("it is cantaloupe", "it is cantaloupe"),
            ("name servers", "nameservers"),
            ("NetworkPolicies é don't", "network policies é can not"),
        ] {
            assert_eq!(Alike::of(text).text, expected);
        }
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = "a doesn't b can't c";
        let alike = Alike::of(text);
        assert_eq!(alike.text, "a can not b can not c");
        for (at, expected) in [
            (0, 0),
            (2, 2),
            (9, 9),
            (10, 10),
            (12, 12),
            (19, 17),
            (21, 19),
        ] {
            assert_eq!(alike.place(at), expected, "{at}");
        }
        assert_eq!(alike.place_of(text.len()), alike.text.len());
    }
}
