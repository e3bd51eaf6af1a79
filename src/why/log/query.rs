//! The line that the `log` plugin of `CoreDNS` writes for a query.
//!
//! Source: `CoreDNS`, plugin/log/log.go `CommonLogFormat`, at v1.0.0, v1.0.5,
//! v1.1.0, v1.2.6 and v1.14.7; plugin/pkg/replacer/replacer.go.

use memchr::memchr;

/// A query as its line has it. Texts are those of the line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Query<'l> {
    /// The client's address, without brackets and port.
    pub(super) client: &'l [u8],
    /// 0: the line does not say.
    pub(super) port: u16,
    pub(super) id: Option<u16>,
    pub(super) record: Record,
    /// With its final dot, if it has one.
    pub(super) name: &'l [u8],
    /// Of the query, in bytes; 0: the line does not say.
    pub(super) size: u32,
    /// What the client takes over UDP, in bytes.
    pub(super) buffer: u32,
    pub(super) rcode: Rcode,
    /// Of the reply, in bytes; `None`: the line does not say.
    pub(super) reply: Option<u32>,
    /// Whether the reply was cut to what the client takes over UDP (`tc`).
    pub(super) is_truncated: bool,
    /// In nanoseconds.
    pub(super) duration: Option<u64>,
    /// Which server answered, where a format asks for it.
    pub(super) upstream: Option<&'l [u8]>,
}

/// The types of records that lookups are made of, and all others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Record {
    A = 0,
    Aaaa = 1,
    Other = 2,
}

/// What a query came to.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Rcode {
    /// `NOERROR`
    NoError,
    /// `FORMERR`
    FormErr,
    /// `SERVFAIL`
    ServFail,
    /// `NXDOMAIN`
    NxDomain,
    /// `NOTIMP`
    NotImp,
    /// `REFUSED`
    Refused,
    /// Any other.
    Other,
    /// No reply was written: `NOERROR - 0` up to `CoreDNS` 1.8.4, then `- - 0`.
    Unanswered,
}

impl Query<'_> {
    /// Whether it is the one with which the `loop` plugin looks for a loop: for
    /// two random numbers below a zone, from a server to itself.
    ///
    /// Source: `CoreDNS`, plugin/loop/setup.go `qname`.
    pub(super) fn is_probe(&self) -> bool {
        let is_number = |label: &[u8]| label.len() > 12 && label.iter().all(u8::is_ascii_digit);
        let mut labels = self.name.split(|&byte| byte == b'.');
        self.record == Record::Other
            && labels.by_ref().take(2).filter(|it| is_number(it)).count() == 2
    }
}

impl Rcode {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::NoError,
        Self::FormErr,
        Self::ServFail,
        Self::NxDomain,
        Self::NotImp,
        Self::Refused,
        Self::Other,
        Self::Unanswered,
    ];

    /// As the field writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::NoError => "NOERROR",
            Self::FormErr => "FORMERR",
            Self::ServFail => "SERVFAIL",
            Self::NxDomain => "NXDOMAIN",
            Self::NotImp => "NOTIMP",
            Self::Refused => "REFUSED",
            Self::Other => "other",
            Self::Unanswered => "unanswered",
        }
    }

    pub(super) fn parse(word: &[u8]) -> Self {
        match word {
            b"NOERROR" => Self::NoError,
            b"NXDOMAIN" => Self::NxDomain,
            b"SERVFAIL" => Self::ServFail,
            b"-" => Self::Unanswered,
            b"REFUSED" => Self::Refused,
            b"FORMERR" => Self::FormErr,
            b"NOTIMP" => Self::NotImp,
            _ => Self::Other,
        }
    }
}

impl Record {
    pub(super) fn parse(word: &[u8]) -> Self {
        match word {
            b"A" => Self::A,
            b"AAAA" => Self::Aaaa,
            _ => Self::Other,
        }
    }
}

/// Words of a line, from the left. Most are so short that a look at each byte is faster than
/// `memchr`.
struct Words<'l>(&'l [u8]);

impl<'l> Words<'l> {
    /// What stands before the next `end`, which is passed.
    #[inline]
    fn until(&mut self, end: u8) -> Option<&'l [u8]> {
        let at = self.0.iter().position(|&byte| byte == end)?;
        self.pass(at)
    }

    #[inline]
    fn pass(&mut self, at: usize) -> Option<&'l [u8]> {
        let word = self.0.get(..at)?;
        self.0 = self.0.get(at + 1..)?;
        Some(word)
    }

    /// The last word, or one with others behind it.
    fn last(&mut self) -> &'l [u8] {
        self.until(b' ')
            .unwrap_or_else(|| std::mem::take(&mut self.0))
    }
}

/// Reads what stands behind `[INFO] ` in the format `common`, also `combined`,
/// which has more at its end.
pub(super) fn common(text: &[u8]) -> Option<Query<'_>> {
    let mut words = Words(text);
    let remote = words.until(b' ')?;
    if words.until(b' ')? != b"-" {
        return None;
    }
    let mut word = words.until(b'"')?;
    // Up to 1.2.5: the time, and up to 1.0.4 no id.
    if word.first() == Some(&b'[') {
        let end = memchr(b']', word)?;
        word = word.get(end + 1..)?;
    }
    let id = number(word.trim_ascii());
    let record = Record::parse(words.until(b' ')?);
    let _class = words.until(b' ')?;
    // A name is long.
    let name = words.pass(memchr(b' ', words.0)?)?;
    let _protocol = words.until(b' ')?;
    let size = number(words.until(b' ')?)?;
    let _dnssec_ok = words.until(b' ')?;
    let buffer = number(words.until(b'"')?)?;
    words.until(b' ').filter(|it| it.is_empty())?;
    let mut rcode = Rcode::parse(words.until(b' ')?);
    let flags = words.until(b' ')?;
    let reply = number(words.until(b' ')?)?;
    if flags == b"-" && reply == 0 {
        rcode = Rcode::Unanswered;
    }
    let duration = duration(words.last())?;
    let (client, port) = address(remote);
    Some(Query {
        client,
        port,
        id: id.and_then(|it| u16::try_from(it).ok()),
        record,
        name,
        size,
        buffer,
        rcode,
        reply: Some(reply),
        is_truncated: is_truncated(flags),
        duration: Some(duration),
        upstream: None,
    })
}

/// `ADDRESS:PORT`, `[ADDRESS]:PORT`, or an address alone.
pub(super) fn address(remote: &[u8]) -> (&[u8], u16) {
    if let Some(inside) = remote.strip_prefix(b"[") {
        let Some(end) = memchr(b']', inside) else {
            return (inside, 0);
        };
        let (address, rest) = inside.split_at_checked(end).unwrap_or_default();
        let port = rest.get(2..).and_then(number);
        return (address, port.and_then(|it| it.try_into().ok()).unwrap_or(0));
    }
    let mut words = Words(remote);
    let address = words.until(b':');
    let port = number(words.0);
    // More than one colon: an address of IPv6 alone.
    match address.filter(|_| words.until(b':').is_none()) {
        Some(address) => (address, port.and_then(|it| it.try_into().ok()).unwrap_or(0)),
        None => (remote, 0),
    }
}

/// Whether `tc` is among the flags of a reply: `qr,tc,rd,ra`.
#[inline]
pub(super) fn is_truncated(flags: &[u8]) -> bool {
    flags.windows(2).any(|it| it == b"tc")
}

/// Digits.
#[inline]
pub(super) fn number(word: &[u8]) -> Option<u32> {
    if word.is_empty() || word.len() > 9 {
        return None;
    }
    let mut number = 0;
    for &byte in word {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u32::from(digit);
    }
    Some(number)
}

/// `0.000312799s` in nanoseconds; up to 1.1.3 as Go writes it: `312.799µs`.
pub(super) fn duration(word: &[u8]) -> Option<u64> {
    let mut value = 0u64;
    let mut decimals = None;
    let mut at = 0;
    for &byte in word {
        match byte {
            b'0'..=b'9' => {
                value = value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
                decimals = decimals.map(|it: u32| it + 1);
            }
            b'.' if decimals.is_none() => decimals = Some(0),
            _ => break,
        }
        at += 1;
    }
    let unit: u32 = match word.get(at..)? {
        b"s" => 9,
        b"ms" => 6,
        // In both of the ways in which a micro sign is written.
        b"us" | b"\xc2\xb5s" | b"\xce\xbcs" => 3,
        b"ns" => 0,
        _ => return None,
    };
    let decimals = decimals.unwrap_or(0);
    if at == 0 {
        return None;
    }
    Some(match unit.checked_sub(decimals) {
        Some(more) => value.checked_mul(10u64.checked_pow(more)?)?,
        None => value / 10u64.checked_pow(decimals - unit)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, rcode: Rcode, duration: u64) {
        let found = common(line.as_bytes()).unwrap_or_else(|| panic!("{line}"));
        assert_eq!(found.name, b"www.corp.example.", "{line}");
        assert_eq!(found.record, Record::A, "{line}");
        assert_eq!(found.rcode, rcode, "{line}");
        assert_eq!(found.duration, Some(duration), "{line}");
    }

    #[test]
    fn lines_of_every_version() {
        let query = "\"A IN www.corp.example. udp 57 false 1232\"";
        for (head, tail, rcode) in [
            (
                "10.1.1.1:40 - 12",
                "NOERROR qr,rd 66 0.000312799s",
                Rcode::NoError,
            ),
            (
                "[::1]:40 - 12",
                "NXDOMAIN qr,rd 66 0.000312799s",
                Rcode::NxDomain,
            ),
            (
                "10.1.1.1:40 - 12",
                "NOERROR - 0 0.000312799s",
                Rcode::Unanswered,
            ),
            ("10.1.1.1:40 - 12", "- - 0 0.000312799s", Rcode::Unanswered),
            (
                "10.1.1.1:40 - 12",
                "SERVFAIL qr,rd 35 0.000312799s",
                Rcode::ServFail,
            ),
            (
                "10.1.1.1 - [22/Feb/2018:09:02:00 +0000] 9",
                "REFUSED qr 6 312.799µs",
                Rcode::Refused,
            ),
            (
                "10.1.1.1 - [22/Feb/2018:09:02:00 +0000]",
                "BADVERS qr 6 312.799us",
                Rcode::Other,
            ),
            // combined
            (
                "10.1.1.1:40 - 12",
                "NOERROR qr 66 0.000312799s \"0\"",
                Rcode::NoError,
            ),
        ] {
            check(&format!("{head} {query} {tail}"), rcode, 312_799);
        }
        let tail = "\"A IN a. udp 57 false 1232\" NOERROR qr 66 2s";
        let found = |line: String| common(line.as_bytes()).map(|it| it.duration);
        assert_eq!(
            found(format!("1.1.1.1:4 - 1 {tail}")),
            Some(Some(2_000_000_000))
        );
        assert_eq!(found(format!("1.1.1.1:4 - 1 {tail}x")), None);
        assert_eq!(found(format!("1.1.1.1:4 1 {tail}")), None);
    }

    #[test]
    fn a_reply_that_was_cut_is_seen() {
        for (flags, expected) in [("qr,tc,rd,ra", true), ("qr,aa,rd", false), ("-", false)] {
            let line = format!("1.1.1.1:4 - 1 \"A IN a. udp 57 false 512\" NOERROR {flags} 66 2s");
            let found = common(line.as_bytes()).map(|it| it.is_truncated);
            assert_eq!(found, Some(expected), "{flags}");
        }
    }

    #[test]
    fn addresses_with_and_without_port() {
        let check = |remote: &str, host: &str, port| {
            assert_eq!(address(remote.as_bytes()), (host.as_bytes(), port));
        };
        check("10.0.0.1:53", "10.0.0.1", 53);
        check("10.0.0.1", "10.0.0.1", 0);
        check("[fd00::1]:65535", "fd00::1", 65535);
        check("[fd00::1]", "fd00::1", 0);
        check("fd00::1", "fd00::1", 0);
        check("[fd00", "fd00", 0);
        check("a:99999", "a", 0);
    }
}
