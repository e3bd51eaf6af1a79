//! Names, texts, numbers and bytes as BIND writes them.

use std::fmt::Write as _;

use crate::name::Name;

/// A name with its last dot; `.` is the root.
///
/// Source: BIND lib/dns/name.c: `dns_name_totext2` (9.18)
pub(super) fn name(name: &Name) -> String {
    let mut text = String::with_capacity(name.wire_len());
    for label in name.labels() {
        for &byte in label {
            match byte {
                b'@' | b'$' | b'"' | b'(' | b')' | b'.' | b';' | b'\\' => {
                    text.push('\\');
                    text.push(char::from(byte));
                }
                0x21..=0x7e => text.push(char::from(byte)),
                _ => {
                    let _ = write!(text, "\\{byte:03}");
                }
            }
        }
        text.push('.');
    }
    if text.is_empty() {
        text.push('.');
    }
    text
}

/// A character string, in quotes or bare.
///
/// Source: BIND lib/dns/rdata.c: `commatxt_totext` (9.18)
pub(super) fn character_string(bytes: &[u8], quoted: bool) -> String {
    let mut text = String::with_capacity(bytes.len() + 2);
    if quoted {
        text.push('"');
    }
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => {
                text.push('\\');
                text.push(char::from(byte));
            }
            b'@' | b';' if !quoted => {
                text.push('\\');
                text.push(char::from(byte));
            }
            b' ' if quoted => text.push(' '),
            0x21..=0x7e => text.push(char::from(byte)),
            _ => {
                let _ = write!(text, "\\{byte:03}");
            }
        }
    }
    if quoted {
        text.push('"');
    }
    text
}

/// A protocol of ALPN in a list with commas.
///
/// Source: BIND lib/dns/rdata.c: `commatxt_totext` with `comma` (9.18)
pub(super) fn list_item(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b',' => text.push_str("\\\\,"),
            b'\\' => text.push_str("\\\\\\\\"),
            b'"' => text.push_str("\\\""),
            0x21..=0x7e => text.push(char::from(byte)),
            _ => {
                let _ = write!(text, "\\{byte:03}");
            }
        }
    }
    text
}

/// Seconds as `1 week 2 days` or `1w2d`.
///
/// Source: BIND lib/dns/ttl.c: `dns_ttl_totext` (9.18)
pub(super) fn ttl(seconds: u32, verbose: bool) -> String {
    let units = [
        (seconds / 604_800, "week"),
        (seconds / 86_400 % 7, "day"),
        (seconds / 3600 % 24, "hour"),
        (seconds / 60 % 60, "minute"),
        (seconds % 60, "second"),
    ];
    let parts = units
        .iter()
        .filter(|(count, unit)| *count != 0 || seconds == 0 && *unit == "second");
    if verbose {
        let parts = parts.map(|(count, unit)| {
            let plural = if *count == 1 { "" } else { "s" };
            format!("{count} {unit}{plural}")
        });
        return parts.collect::<Vec<_>>().join(" ");
    }
    let short = parts.map(|(count, unit)| {
        let letter = unit.get(..1).unwrap_or_default();
        format!("{count}{letter}")
    });
    short.collect::<Vec<_>>().concat()
}

/// Hexadecimal digits in words of so many; `breaks` stands between words.
///
/// Source: BIND lib/isc/hex.c: `isc_hex_totext` (9.18)
pub(super) fn hex(bytes: &[u8], word: usize, breaks: &str) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    in_words(&digits, 2, word, breaks)
}

/// The same in base64.
///
/// Source: BIND lib/isc/base64.c: `isc_base64_totext` (9.18)
pub(super) fn base64(bytes: &[u8], word: usize, breaks: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups: Vec<String> = bytes
        .chunks(3)
        .map(|chunk| {
            let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            let digit = |at: usize| {
                let index = usize::try_from(bits >> (18 - 6 * at) & 63).unwrap_or_default();
                let digit = DIGITS.get(index).copied().unwrap_or(b'=');
                char::from(if at > chunk.len() { b'=' } else { digit })
            };
            (0..4).map(digit).collect()
        })
        .collect();
    in_words(&groups, 4, word, breaks)
}

/// Groups of `size` characters, in words: a word ends where the next group
/// would reach its length.
fn in_words(groups: &[String], size: usize, word: usize, breaks: &str) -> String {
    let word = word.max(size);
    let mut text = String::with_capacity(groups.len() * size);
    let mut count = 0;
    for (at, group) in groups.iter().enumerate() {
        text.push_str(group);
        count += 1;
        if at + 1 < groups.len() && (count + 1) * size >= word {
            text.push_str(breaks);
            count = 0;
        }
    }
    text
}

/// Base32 with the extended hex alphabet, without padding (RFC 4648).
pub(super) fn base32hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHIJKLMNOPQRSTUV";
    let mut text = String::with_capacity(bytes.len() * 8 / 5 + 1);
    let (mut bits, mut count) = (0_u32, 0);
    for &byte in bytes {
        bits = bits << 8 | u32::from(byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            text.push(digit32(DIGITS, bits >> count));
        }
    }
    if count > 0 {
        text.push(digit32(DIGITS, bits << (5 - count)));
    }
    text
}

fn digit32(digits: &[u8; 32], bits: u32) -> char {
    let index = usize::try_from(bits & 31).unwrap_or_default();
    char::from(digits.get(index).copied().unwrap_or_default())
}

/// The seconds of 400 years, after which the calendar begins again.
const CENTURIES: u64 = 146_097 * 86_400;

/// A time of DNSSEC as `YYYYMMDDHHMMSS`. `now` decides which of two rounds
/// of 136 years is meant (RFC 4034, section 3.1.5).
///
/// Source: BIND lib/dns/time.c: `dns_time32_totext` (9.18)
pub(super) fn dnssec_time(value: u32, now: u64) -> String {
    let low = u32::try_from(now & 0xffff_ffff).unwrap_or_default();
    let ahead = value.wrapping_sub(low);
    // 400 years on, as the time may be before 1970.
    let now = now + CENTURIES;
    let seconds = if ahead < 1 << 31 {
        now + u64::from(ahead)
    } else {
        now.saturating_sub(u64::from(low.wrapping_sub(value)))
    };
    let (year, month, day) = date(seconds / 86_400);
    let year = year.saturating_sub(400);
    let rest = seconds % 86_400;
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}")
}

/// Year, month and day, that many days after 1970-01-01.
pub(super) fn date(days: u64) -> (u64, u64, u64) {
    // Days are counted from 0000-03-01, so that a leap day ends a year.
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_as_in_master_files() {
        let check = |labels: &[&[u8]], expected: &str| {
            let made = Name::from_labels(labels.iter().copied()).unwrap();
            assert_eq!(name(&made), expected);
        };
        check(&[], ".");
        check(&[b"a.b", b"C$"], "a\\.b.C\\$.");
        check(&[b" \x00\xff"], "\\032\\000\\255.");
    }

    #[test]
    fn times() {
        assert_eq!(ttl(0, false), "0s");
        assert_eq!(ttl(93_784, false), "1d2h3m4s");
        assert_eq!(ttl(3600, true), "1 hour");
        assert_eq!(ttl(694_861, true), "1 week 1 day 1 hour 1 minute 1 second");
        assert_eq!(dnssec_time(1_700_000_000, 1_700_000_000), "20231114221320");
        assert_eq!(dnssec_time(0, 1 << 32), "21060207062816");
        assert_eq!(dnssec_time(u32::MAX, 1_700_000_000), "19691231235959");
        assert_eq!(date(11_016), (2000, 2, 29));
    }

    #[test]
    fn bytes_in_words() {
        assert_eq!(base64(b"abcd", 60, " "), "YWJjZA==");
        assert_eq!(base64(&[0; 12], 10, " "), "AAAAAAAA AAAAAAAA");
        assert_eq!(hex(&[1, 2, 3], 4, "-"), "01-02-03");
        assert_eq!(base32hex(b"foobar"), "CPNMUOJ1E8");
    }
}
