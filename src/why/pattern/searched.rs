//! The text in which patterns are looked for, as it is, and with what people write in many
//! ways in one.

use std::borrow::Cow;

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

    /// What begins with this byte.
    pub fn from(self, start: usize) -> Self {
        Self {
            text: self.text.get(start..).unwrap_or(self.text),
            small: self.small.get(start..).unwrap_or(self.small),
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

/// A text in which what people write in many ways stands in one: `can't` and `could not` as
/// `can not`, `don't` and `did not` as `does not`, which is no failure by itself. Programs
/// say the same words each time: theirs are looked for in the text as it is.
#[derive(Debug)]
pub(in crate::why) struct Alike {
    /// The text.
    pub text: String,
    small: String,
    /// Where a part of it begins, and the same part in the text as it was.
    places: Vec<(usize, usize)>,
}

/// What joins the parts of a name, in which nothing is replaced: `failed-jobs.shop`.
const JOINTS: [char; 4] = ['.', '-', '_', '/'];

/// What people write, and the one form of it; a star stands for the rest of a word.
const ALIKE: [(&str, &str); 49] = [
    // What is no failure, and what the API says where a budget forbids to evict.
    ("no errors", "no problem"),
    ("error budget*", "budget"),
    ("error when evicting", "evicting"),
    ("cannot evict", "keeps"),
    ("disruption budget*", "budget"),
    // Nothing was deleted to be made again.
    ("recreate this issue", "show this issue"),
    ("recreate the issue", "show the issue"),
    ("recreate this problem", "show this problem"),
    ("steps to recreate", "steps to show"),
    // What has DNS in its name and is about names of objects, certificates or settings.
    ("dns-1123", "rule 1123"),
    ("dns-1035", "rule 1035"),
    ("dns-01", "acme"),
    ("dns01", "acme"),
    ("dnsname*", "altname"),
    ("dnsconfig", "setconfig"),
    ("dnspolicy", "setpolicy"),
    ("dns_*", "set_"),
    ("dns label*", "label"),
    ("can't", "can not"),
    ("cant", "can not"),
    ("cannot", "can not"),
    ("could not", "can not"),
    ("did not", "does not"),
    ("do not", "does not"),
    ("doesnt", "does not"),
    ("dont", "does not"),
    ("will not", "does not"),
    ("won't", "does not"),
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
    ("time outs", "timeout"),
    ("times out", "timeout"),
    ("timing out", "timeout"),
    ("time-out*", "timeout"),
    ("name server*", "nameserver"),
    ("host name*", "hostname"),
    ("core dns", "coredns"),
    ("kube dns", "kube-dns"),
    ("networkpolicies.networking.k8s.io", "network policies"),
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
            let before = small.get(..at).unwrap_or_default();
            let form = form(rest).filter(|_| {
                !before
                    .strip_suffix(JOINTS)
                    .is_some_and(|it| it.ends_with(char::is_alphanumeric))
            });
            if let Some((length, form)) = form {
                out.push_str(text.get(done..at).unwrap_or_default());
                places.push((out.len(), at));
                out.push_str(&form);
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

/// The form of what a text begins with, and how long that is; of each `…n't` it is `… not`.
fn form(text: &str) -> Option<(usize, Cow<'static, str>)> {
    let listed = ALIKE.iter().find_map(|&(from, to)| {
        let words = from.strip_suffix('*').unwrap_or(from);
        let rest = text.strip_prefix(words)?;
        let behind = rest.trim_start_matches(char::is_alphanumeric);
        let next = behind.strip_prefix(JOINTS);
        let is_in_name = next.is_some_and(|it| it.starts_with(char::is_alphanumeric));
        let is_end = words != from || behind == rest;
        (is_end && !is_in_name).then_some((words.len(), Cow::Borrowed(to)))
    });
    listed.or_else(|| {
        let behind = text.trim_start_matches(char::is_alphanumeric);
        let rest = behind.strip_prefix("'t")?;
        let stem = text.strip_suffix(behind)?.strip_suffix('n')?;
        let words = format!("{stem} not");
        let length = text.len() - rest.len();
        let is_end = !rest.starts_with(char::is_alphanumeric);
        is_end.then(|| (length, form(&words).map_or(words.into(), |it| it.1)))
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
            ("DNS Doesn't work", "DNS does not work"),
            ("we couldn't, and hadn't any", "we can not, and had not any"),
            ("it did not; don't", "it does not; does not"),
            ("DNS time outs", "DNS timeout"),
            ("the time outside", "the time outside"),
            ("dig time-out.shop.svc failed", "dig time-out.shop.svc fail"),
            (
                "failed-jobs.shop and db.failed",
                "failed-jobs.shop and db.failed",
            ),
            ("it failed.", "it fail."),
            ("pods can't resolve", "pods can not resolve"),
            ("unable to reach it", "unable can not reach it"),
            ("failed to, timed out", "fail can not, timeout"),
            ("it is cantaloupe", "it is cantaloupe"),
            ("name servers", "nameservers"),
            (
                "networkpolicies.networking.k8s.io web",
                "network policies web",
            ),
            ("NetworkPolicies é don't", "network policies é does not"),
        ] {
            assert_eq!(Alike::of(text).text, expected);
        }
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = "a doesn't b can't c";
        let alike = Alike::of(text);
        assert_eq!(alike.text, "a does not b can not c");
        for (at, expected) in [
            (0, 0),
            (2, 2),
            (10, 9),
            (11, 10),
            (13, 12),
            (20, 17),
            (22, 19),
        ] {
            assert_eq!(alike.place(at), expected, "{at}");
        }
        assert_eq!(alike.place_of(text.len()), alike.text.len());
    }
}
