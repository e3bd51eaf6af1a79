//! Names, texts, numbers and bytes as BIND writes them.

use std::fmt::Write as _;

use data_encoding::{BASE32HEX_NOPAD, BASE64, HEXUPPER};
use jiff::Timestamp;

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
                    text.extend(['\\', char::from(byte)]);
                }
                _ => octet(&mut text, byte),
            }
        }
        text.push('.');
    }
    if text.is_empty() {
        text.push('.');
    }
    text
}

/// A byte that needs no backslash, else its number behind one.
fn octet(text: &mut String, byte: u8) {
    if byte.is_ascii_graphic() {
        text.push(char::from(byte));
    } else {
        let _ = write!(text, "\\{byte:03}");
    }
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
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b'@' | b';' if !quoted => text.extend(['\\', char::from(byte)]),
            b' ' if quoted => text.push(' '),
            _ => octet(&mut text, byte),
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
            _ => octet(&mut text, byte),
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
    in_words(&HEXUPPER.encode(bytes), 2, word, breaks)
}

/// The same in base64.
///
/// Source: BIND lib/isc/base64.c: `isc_base64_totext` (9.18)
pub(super) fn base64(bytes: &[u8], word: usize, breaks: &str) -> String {
    in_words(&BASE64.encode(bytes), 4, word, breaks)
}

/// Groups of `size` characters, in words: a word ends where the next group
/// would reach its length.
fn in_words(text: &str, size: usize, word: usize, breaks: &str) -> String {
    let groups = word.div_ceil(size).saturating_sub(1).max(1);
    let words = text.as_bytes().chunks(groups * size);
    let words: Vec<_> = words.map(String::from_utf8_lossy).collect();
    words.join(breaks)
}

/// Base32 with the extended hex alphabet, without padding (RFC 4648).
pub(super) fn base32hex(bytes: &[u8]) -> String {
    BASE32HEX_NOPAD.encode(bytes)
}

/// A time of DNSSEC as `YYYYMMDDHHMMSS`. `now` decides which of two rounds
/// of 136 years is meant (RFC 4034, section 3.1.5).
///
/// Source: BIND lib/dns/time.c: `dns_time32_totext` (9.18)
pub(super) fn dnssec_time(value: u32, now: u64) -> String {
    let low = u32::try_from(now & 0xffff_ffff).unwrap_or_default();
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let ahead = value.wrapping_sub(low).cast_signed();
    utc(now.saturating_add(ahead.into()), "%Y%m%d%H%M%S")
}

/// Seconds since 1970 in the calendar, as strftime(3) has it; the last moment
/// of year 9999 stands for what is beyond.
pub(super) fn utc(seconds: i64, format: &str) -> String {
    let time = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
    time.strftime(format).to_string()
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
        assert_eq!(utc(951_782_400, "%F %T"), "2000-02-29 00:00:00");
    }

    #[test]
    fn bytes_in_words() {
        assert_eq!(base64(b"abcd", 60, " "), "YWJjZA==");
        assert_eq!(base64(&[0; 12], 10, " "), "AAAAAAAA AAAAAAAA");
        assert_eq!(hex(&[1, 2, 3], 4, "-"), "01-02-03");
        assert_eq!(base32hex(b"foobar"), "CPNMUOJ1E8");
    }
}
