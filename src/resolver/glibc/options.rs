//! The words of an `options` line and of `RES_OPTIONS`.

use std::borrow::Cow;
use std::time::Duration;

use crate::resolver::glibc::Version;
use crate::resolver::reading::{Origin, Reading, Setting};
use crate::text::Span;

/// `MAXNS` of `resolv/bits/types/res_state.h`
pub(super) const MAX_SERVERS: usize = 3;
/// `RES_TIMEOUT` of `resolv/resolv.h`
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
/// `RES_DFLRETRY`
pub(super) const DEFAULT_ATTEMPTS: u32 = 2;
/// `parser->template.ndots` of `resolv_conf_parser_init`
pub(super) const DEFAULT_NDOTS: u32 = 1;
/// `RES_MAXNDOTS`
const MAX_NDOTS: i32 = 15;
/// `RES_MAXRETRANS`
const MAX_TIMEOUT: i32 = 30;
/// `RES_MAXRETRY`
const MAX_ATTEMPTS: i32 = 5;

/// See [`Version`].
pub(super) const FLAGS: &[(&str, Option<&str>)] = &[
    ("rotate", Some("rotate")),
    ("edns0", Some("edns0")),
    ("single-request-reopen", Some("single-request-reopen")),
    ("single-request", Some("single-request")),
    ("no_tld_query", Some("no-tld-query")),
    ("no-tld-query", Some("no-tld-query")),
    ("no-reload", None),
    ("use-vc", Some("use-vc")),
];
/// Since 2.31.
pub(super) const TRUST_AD: &[(&str, Option<&str>)] = &[("trust-ad", Some("trust-ad"))];
/// Since 2.36.
pub(super) const NO_AAAA: &[(&str, Option<&str>)] = &[("no-aaaa", Some("no-aaaa"))];
/// Since 2.41.
pub(super) const STRICT_ERROR: &[(&str, Option<&str>)] = &[("strict-error", Some("strict-error"))];

/// Where options stand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// In the file, the first byte of the text at this offset.
    File(usize),
    /// In `RES_OPTIONS`.
    Environment,
}

/// Takes the options of `text`, words between blanks and TABs.
///
/// Source: glibc `resolv/res_init.c: res_setoptions` (2.36).
pub(super) fn res_setoptions(
    reading: &mut Reading<'_>,
    text: &[u8],
    place: Place,
    version: &Version,
) {
    let mut at = 0;
    // A number can stand in the word after its colon, which then is read
    // again as an option of its own, in vain.
    let mut number_ends = 0;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
        let rest = rest.get(blanks..).unwrap_or_default();
        let start = at + blanks;
        let word = rest.split(|byte| is_blank(*byte)).next().unwrap_or(rest);
        at = start + word.len();
        if word.is_empty() {
            continue;
        }
        let option = Word {
            text: word,
            start,
            place,
        };
        if let Some(length) = number(reading, rest, option) {
            number_ends = start + length;
        } else if !flag(reading, option, version) && start >= number_ends {
            option.drop(reading, "glibc knows no such option");
        }
    }
}

/// A word of the options.
#[derive(Clone, Copy)]
struct Word<'t> {
    text: &'t [u8],
    start: usize,
    place: Place,
}

/// Sets an option with a number, if `rest` begins with one: how much it takes.
fn number(reading: &mut Reading<'_>, rest: &[u8], option: Word<'_>) -> Option<usize> {
    let numbers: [(&[u8], Set); 3] = [
        (b"ndots:", set_ndots),
        (b"timeout:", set_timeout),
        (b"attempts:", set_attempts),
    ];
    let (prefix, set) = numbers
        .into_iter()
        .find(|(prefix, _)| rest.starts_with(prefix))?;
    let (value, length) = atoi(rest.get(prefix.len()..)?);
    let length = (prefix.len() + length).max(option.text.len());
    let origin = option.origin(length);
    let (old, counts_as) = set(reading, value, origin);
    if let Origin::File(span) = old {
        let by = match option.place {
            Place::File(_) => "a later word of the same name",
            Place::Environment => "`RES_OPTIONS`",
        };
        reading.drop(span, format!("{by} overrides it"));
    }
    if let Some(counts_as) = counts_as {
        option.drop(reading, counts_as);
    }
    Some(length)
}

/// Sets a value: where the old one came from, and what became of the number.
type Set = fn(&mut Reading<'_>, i32, Origin) -> (Origin, Option<String>);

fn set_ndots(reading: &mut Reading<'_>, number: i32, origin: Origin) -> (Origin, Option<String>) {
    // A field of four bits: -1 is 15.
    let value = number.min(MAX_NDOTS).cast_unsigned() & MAX_NDOTS.cast_unsigned();
    let old = reading.ndots.replace(Setting::new(value, origin));
    let old = old.map(|old| old.origin).unwrap_or_default();
    (old, changed("ndots", number, value))
}

fn set_timeout(reading: &mut Reading<'_>, number: i32, origin: Origin) -> (Origin, Option<String>) {
    // A wait is at least a second, see `send_dg`: below one, all are the same.
    let seconds = number.clamp(1, MAX_TIMEOUT).cast_unsigned();
    let value = Duration::from_secs(seconds.into());
    let old = std::mem::replace(&mut reading.timeout, Setting::new(value, origin));
    (old.origin, changed("timeout", number, seconds))
}

fn set_attempts(
    reading: &mut Reading<'_>,
    number: i32,
    origin: Origin,
) -> (Origin, Option<String>) {
    let value = number.clamp(0, MAX_ATTEMPTS).cast_unsigned();
    let old = std::mem::replace(&mut reading.attempts, Setting::new(value, origin));
    (old.origin, changed("attempts", number, value))
}

fn changed(option: &str, number: i32, value: u32) -> Option<String> {
    let same = u32::try_from(number).is_ok_and(|number| number == value);
    (!same).then(|| format!("`{option}:{number}` counts as {value}"))
}

/// Sets an option without a number, if the word begins with one; or takes it
/// back.
fn flag(reading: &mut Reading<'_>, option: Word<'_>, version: &Version) -> bool {
    let minus = option.text.strip_prefix(b"-");
    let minus = minus.filter(|_| version.minus_takes_back);
    let text = minus.unwrap_or(option.text);
    let mut flags = version.flags.iter().copied().flatten();
    let found = flags.find(|(prefix, _)| text.starts_with(prefix.as_bytes()));
    let Some((_, flag)) = found else {
        return false;
    };
    if let Some(value) = *flag {
        if minus.is_some() {
            reading.flags.retain(|old| old.value != value);
        } else if reading.flags.iter().any(|old| old.value == value) {
            option.drop(reading, format!("`{value}` is set already"));
        } else {
            let origin = option.origin(option.text.len());
            reading.flags.push(Setting::new(value, origin));
        }
    }
    true
}

impl Word<'_> {
    fn origin(self, length: usize) -> Origin {
        match self.place {
            Place::File(offset) => {
                Origin::File(Span::new(offset + self.start, offset + self.start + length))
            }
            Place::Environment => Origin::Environment("RES_OPTIONS"),
        }
    }

    /// Reports a word that does not count, if it is one of the file.
    fn drop(self, reading: &mut Reading<'_>, why: impl Into<Cow<'static, str>>) {
        if let Origin::File(span) = self.origin(self.text.len()) {
            reading.drop(span, why);
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The number at the beginning of `text` and where it ends: C's `atoi`, which
/// is `strtol` cut to 32 bits.
fn atoi(text: &[u8]) -> (i32, usize) {
    let blanks = text
        .iter()
        .take_while(|byte| super::name::isspace(**byte))
        .count();
    let (negative, sign) = match text.get(blanks) {
        Some(b'-') => (true, 1),
        Some(b'+') => (false, 1),
        _ => (false, 0),
    };
    let digits = text.get(blanks + sign..).unwrap_or_default();
    let mut value: i64 = 0;
    let mut length = 0;
    for byte in digits.iter().take_while(|byte| byte.is_ascii_digit()) {
        let digit = i64::from(byte - b'0');
        let digit = if negative { -digit } else { digit };
        value = value.saturating_mul(10).saturating_add(digit);
        length += 1;
    }
    if length == 0 {
        return (0, 0);
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "this is what the C code does"
    )]
    (value as i32, blanks + sign + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::glibc::V2_36;

    #[test]
    fn numbers_are_read_by_atoi() {
        for (text, expected) in [
            ("5", (5, 1)),
            ("2x", (2, 1)),
            ("", (0, 0)),
            ("x", (0, 0)),
            (" \t7 8", (7, 3)),
            ("-1", (-1, 2)),
            ("+3", (3, 2)),
            ("- 3", (0, 0)),
            ("4294967296", (0, 10)),
            ("99999999999999999999", (-1, 20)),
        ] {
            assert_eq!(atoi(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_word_that_lacks_its_end_is_unknown() {
        for (word, unknown) in [("no-reload", 0), ("no-reloa", 1), ("no-reloaded", 0)] {
            let mut reading = Reading::default();
            res_setoptions(&mut reading, word.as_bytes(), Place::File(0), &V2_36);
            assert_eq!(reading.dropped.first().len(), unknown, "{word}");
        }
    }

    #[test]
    fn later_words_win_and_numbers_have_limits() {
        let check = |text: &str, ndots: u32, timeout: u64, attempts: u32, flags: &[&str]| {
            let mut reading = Reading::default();
            res_setoptions(&mut reading, text.as_bytes(), Place::File(0), &V2_36);
            let found: Vec<&str> = reading.flags.iter().map(|flag| flag.value).collect();
            assert_eq!(reading.ndots.map_or(99, |it| it.value), ndots, "{text}");
            assert_eq!(reading.timeout.value.as_secs(), timeout, "{text}");
            assert_eq!(reading.attempts.value, attempts, "{text}");
            assert_eq!(found, flags, "{text}");
        };
        check("ndots:2 timeout:3 attempts:4", 2, 3, 4, &[]);
        check("ndots:16 timeout:31 attempts:6", 15, 30, 5, &[]);
        check("ndots:-1 timeout:0 attempts:-1", 15, 1, 0, &[]);
        check(" ndots: 2\tndots:3x", 3, 0, 0, &[]);
        check(
            "rotatefoo single-request-reopen edns0:1",
            99,
            0,
            0,
            &["rotate", "single-request-reopen", "edns0"],
        );
        check(
            "no_tld_query no-tld-query no-reload Rotate",
            99,
            0,
            0,
            &["no-tld-query"],
        );
    }
}
