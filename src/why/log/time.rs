//! Times as logs have them, in nanoseconds since 1970.

use jiff::civil;
use jiff::tz::TimeZone;

const SECOND: i64 = 1_000_000_000;
/// A minute in nanoseconds.
pub(super) const MINUTE: i64 = 60 * SECOND;

/// Reads times; those of one minute follow each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    /// The text of the minute that was read last, and that minute.
    text: [u8; 16],
    minute: i64,
}

impl Times {
    /// `2026-11-21T02:07:12.831987544Z`, with any offset; also with a blank or
    /// with slashes, as Go's logger writes it, which has no offset: UTC.
    pub(super) fn parse(&mut self, word: &[u8]) -> Option<i64> {
        let text: &[u8; 16] = word.first_chunk()?;
        if self.minute == 0 || *text != self.text {
            self.minute = minute(text)?;
            self.text = *text;
        }
        let rest = word.get(16..)?;
        let [b':', tens, ones, rest @ ..] = rest else {
            return None;
        };
        let seconds = digit(*tens)? * 10 + digit(*ones)?;
        let (fraction, rest) = fraction(rest);
        Some(self.minute + seconds * SECOND + fraction - offset(rest)?)
    }
}

fn digit(byte: u8) -> Option<i64> {
    byte.is_ascii_digit().then(|| i64::from(byte - b'0'))
}

fn minute(text: &[u8; 16]) -> Option<i64> {
    let is_separated = |at: usize, any: &[u8]| text.get(at).is_some_and(|it| any.contains(it));
    let has_form = is_separated(4, b"-/")
        && is_separated(7, b"-/")
        && is_separated(10, b"T ")
        && is_separated(13, b":");
    let number = |at: usize, length: usize| -> Option<i16> {
        let digits = text.get(at..at + length)?;
        digits.iter().try_fold(0i16, |sum, &byte| {
            Some(sum * 10 + i16::try_from(digit(byte)?).ok()?)
        })
    };
    let small = |at: usize| number(at, 2)?.try_into().ok();
    let date = civil::Date::new(number(0, 4)?, small(5)?, small(8)?).ok()?;
    let time = civil::Time::new(small(11)?, small(14)?, 0, 0).ok()?;
    let moment = date.to_datetime(time).to_zoned(TimeZone::UTC).ok()?;
    has_form.then(|| moment.timestamp().as_second().checked_mul(SECOND))?
}

/// `.831987544` in nanoseconds, and what stands behind it.
fn fraction(text: &[u8]) -> (i64, &[u8]) {
    let [b'.' | b',', digits @ ..] = text else {
        return (0, text);
    };
    let (mut value, mut unit, mut length) = (0, SECOND, 0);
    for &byte in digits {
        let Some(digit) = digit(byte) else {
            break;
        };
        unit /= 10;
        value += digit * unit;
        length += 1;
    }
    (value, digits.get(length..).unwrap_or_default())
}

/// `Z`, `+02:00`, `-0700`, nothing.
fn offset(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text {
        [] | [b'Z'] => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let [a, b, rest @ ..] = digits else {
        return None;
    };
    let rest = rest.strip_prefix(b":").unwrap_or(rest);
    let [c, d] = rest else {
        return None;
    };
    let hours = digit(*a)? * 10 + digit(*b)?;
    let minutes = digit(*c)? * 10 + digit(*d)?;
    Some(sign * (hours * 60 + minutes) * MINUTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let mut times = Times::default();
        let mut check = |text: &str, expected: Option<i64>| {
            assert_eq!(times.parse(text.as_bytes()), expected, "{text}");
        };
        let base = 1_795_226_832 * SECOND;
        check("2026-11-21T02:07:12Z", Some(base));
        check("2026-11-21T02:07:12.5Z", Some(base + SECOND / 2));
        check("2026-11-21T02:07:13.000000001Z", Some(base + SECOND + 1));
        check("2026-11-21T04:07:12+02:00", Some(base));
        check("2026-11-20T19:07:12-0700", Some(base));
        check("2026/11/21 02:07:12", Some(base));
        check("2026-11-21T02:07:1", None);
        check("2026-13-21T02:07:12Z", None);
        check("2026-11-21T02:07:12Zulu", None);
        check("[INFO] 10.0.0.1:53 - 7", None);
    }
}
