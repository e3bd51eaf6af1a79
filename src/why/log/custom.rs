//! Formats of one's own for the `log` plugin, given or recognised.
//!
//! Source: `CoreDNS`, plugin/pkg/replacer/replacer.go; plugin/log/README.md.

use memchr::{memchr, memmem};

use super::query::{Query, Rcode, Record, address, common, duration, is_truncated, number};

/// The fields of a format, and what stands before each.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Format {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Part {
    /// Text that is there as it is.
    Text(Vec<u8>),
    Field(Field),
    /// All of the format `common`.
    Common,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Field {
    Client,
    Port,
    Id,
    Type,
    Name,
    Size,
    Buffer,
    Rcode,
    Flags,
    ReplySize,
    Duration,
    Upstream,
    /// What is not looked at.
    Other,
}

impl Field {
    fn named(word: &str) -> Self {
        match word {
            "remote" => Self::Client,
            "port" => Self::Port,
            ">id" => Self::Id,
            "type" => Self::Type,
            "name" => Self::Name,
            "size" => Self::Size,
            ">bufsize" => Self::Buffer,
            "rcode" => Self::Rcode,
            ">rflags" => Self::Flags,
            "rsize" => Self::ReplySize,
            "duration" => Self::Duration,
            "/forward/upstream" => Self::Upstream,
            _ => Self::Other,
        }
    }
}

impl Format {
    /// Reads a format as a Corefile has it: `{remote} {type} {name} {rcode}`.
    /// `None`: it does not tell client, type, name and rcode, or two of its fields
    /// have nothing between them.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts: Vec<Part> = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let field = rest.strip_prefix('{').and_then(|it| it.split_once('}'));
            let is_word = |word: &str| !word.is_empty() && !word.contains([' ', '"', '{']);
            if let Some((word, behind)) = field.filter(|(word, _)| is_word(word)) {
                parts.push(match word {
                    "common" | "combined" => Part::Common,
                    word => Part::Field(Field::named(word)),
                });
                rest = behind;
                continue;
            }
            let mut characters = rest.chars();
            let first = characters.next()?;
            let mut bytes = [0; 4];
            let bytes = first.encode_utf8(&mut bytes).as_bytes();
            match parts.last_mut() {
                Some(Part::Text(text)) => text.extend_from_slice(bytes),
                _ => parts.push(Part::Text(bytes.to_vec())),
            }
            rest = characters.as_str();
        }
        let has = |field| parts.contains(&Part::Field(field));
        let is_told = [Field::Client, Field::Type, Field::Name, Field::Rcode]
            .into_iter()
            .all(has);
        let is_clear = parts
            .windows(2)
            .all(|pair| matches!(pair, [Part::Text(_), _] | [_, Part::Text(_)]));
        (is_clear && (is_told || parts.contains(&Part::Common))).then_some(Self { parts })
    }

    /// The query of a line, behind `[INFO] `.
    pub(super) fn query<'l>(&self, text: &'l [u8]) -> Option<Query<'l>> {
        let mut found = Found::default();
        let mut rest = text;
        let mut parts = self.parts.iter().peekable();
        while let Some(part) = parts.next() {
            let field = match part {
                Part::Text(text) => {
                    rest = rest.strip_prefix(text.as_slice())?;
                    continue;
                }
                Part::Common => return common(rest),
                Part::Field(field) => field,
            };
            let is_bracketed = *field == Field::Client && rest.first() == Some(&b'[');
            let start = if is_bracketed { memchr(b']', rest)? } else { 0 };
            let end = match parts.peek() {
                Some(Part::Text(text)) => start + memmem::find(rest.get(start..)?, text)?,
                _ => rest.len(),
            };
            let (value, behind) = rest.split_at_checked(end)?;
            found.take(*field, value);
            rest = behind;
        }
        found.query()
    }
}

/// Values of fields.
#[derive(Clone, Copy, Debug, Default)]
struct Found<'l> {
    client: Option<&'l [u8]>,
    port: u16,
    id: Option<u16>,
    record: Option<Record>,
    name: Option<&'l [u8]>,
    size: Option<u32>,
    buffer: Option<u32>,
    rcode: Option<Rcode>,
    is_unflagged: bool,
    is_truncated: bool,
    reply: Option<u32>,
    duration: Option<u64>,
    upstream: Option<&'l [u8]>,
}

impl<'l> Found<'l> {
    #[expect(clippy::semicolon_if_nothing_returned, reason = "a test")]
    fn take(&mut self, field: Field, value: &'l [u8]) {
        match field {
            Field::Client => {
                let (client, port) = address(value);
                self.client = Some(client);
                self.port = self.port.max(port);
            }
            Field::Port => self.port = number(value).and_then(|it| it.try_into().ok()).unwrap_or(0),
            Field::Id => self.id = number(value).and_then(|it| it.try_into().ok()),
            Field::Type => self.record = Some(Record::parse(value)),
            Field::Name => self.name = Some(value),
            Field::Size => self.size = number(value),
            Field::Buffer => self.buffer = number(value),
            Field::Rcode => self.rcode = Some(Rcode::parse(value)),
            Field::Flags => {
                self.is_unflagged = value == b"-";
                self.is_truncated = is_truncated(value);
            }
            Field::ReplySize => self.reply = number(value),
            Field::Duration => self.duration = duration(value),
            Field::Upstream => {
                self.upstream = Some(value).filter(|it| !it.is_empty() && *it != b"-")
            }
            Field::Other => {}
        }
    }

    fn query(self) -> Option<Query<'l>> {
        let is_unanswered = self.reply == Some(0) && self.is_unflagged;
        let rcode = self.rcode?;
        Some(Query {
            client: self.client?,
            port: self.port,
            id: self.id,
            record: self.record?,
            name: self.name?,
            size: self.size.unwrap_or(0),
            buffer: self.buffer.unwrap_or(0),
            rcode: if is_unanswered {
                Rcode::Unanswered
            } else {
                rcode
            },
            reply: self.reply,
            is_truncated: self.is_truncated,
            duration: self.duration,
            upstream: self.upstream,
        })
    }
}

/// The query of a line whose format nobody told: an address, a type, a name
/// with its final dot, and an rcode, in whatever order and between whatever
/// marks.
pub(super) fn recognised(text: &[u8]) -> Option<Query<'_>> {
    let mut found = Found::default();
    let is_mark = |byte: &u8| b" \t\"'=,;|{}()".contains(byte);
    for word in text.split(is_mark).filter(|it| !it.is_empty()) {
        // `name:` of JSON, and what stands behind it.
        let word = word.strip_prefix(b":").unwrap_or(word);
        if found.client.is_none() && is_address(word) {
            found.take(Field::Client, word);
        } else if found.record.is_none() && is_type(word) {
            found.take(Field::Type, word);
        } else if found.rcode.is_none() && is_rcode(word) {
            found.take(Field::Rcode, word);
        } else if found.name.is_none() && is_name(word) {
            found.take(Field::Name, word);
        } else if found.duration.is_none() && word.ends_with(b"s") && duration(word).is_some() {
            found.take(Field::Duration, word);
        }
    }
    found.query()
}

fn is_address(word: &[u8]) -> bool {
    let (host, _) = address(word);
    let text = std::str::from_utf8(host).unwrap_or_default();
    text.parse::<std::net::IpAddr>().is_ok()
}

fn is_type(word: &[u8]) -> bool {
    const TYPES: [&[u8]; 12] = [
        b"A", b"AAAA", b"SRV", b"PTR", b"CNAME", b"MX", b"TXT", b"NS", b"SOA", b"HTTPS", b"SVCB",
        b"HINFO",
    ];
    TYPES.contains(&word)
}

fn is_rcode(word: &[u8]) -> bool {
    !matches!(Rcode::parse(word), Rcode::Other | Rcode::Unanswered)
}

fn is_name(word: &[u8]) -> bool {
    let is_byte = |byte: &u8| byte.is_ascii_graphic() && !b":/\\".contains(byte);
    word.ends_with(b".") && word.len() < 256 && word.iter().all(is_byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: Option<Query<'_>>, line: &str) {
        let query = query.unwrap_or_else(|| panic!("{line}"));
        assert_eq!(query.client, b"10.0.0.7", "{line}");
        assert_eq!(query.name, b"www.example.com.", "{line}");
        assert_eq!(query.record, Record::Aaaa, "{line}");
        assert_eq!(query.rcode, Rcode::NxDomain, "{line}");
    }

    #[test]
    fn given_formats_are_read() {
        for (format, line) in [
            (
                "{remote} {type} {name} {rcode}",
                "10.0.0.7 AAAA www.example.com. NXDOMAIN",
            ),
            (
                "{name} {type}: {rcode} for {remote}:{port} in {duration}",
                "www.example.com. AAAA: NXDOMAIN for 10.0.0.7:40 in 0.1s",
            ),
            (
                r#"{"ip":"{remote}","q":"{name}","t":"{type}","r":"{rcode}","x":"{/forward/upstream}"}"#,
                r#"{"ip":"10.0.0.7","q":"www.example.com.","t":"AAAA","r":"NXDOMAIN","x":"8.8.8.8:53"}"#,
            ),
            (
                "{common} {/forward/upstream}",
                "10.0.0.7:40 - 9 \"AAAA IN www.example.com. udp 33 false 512\" NXDOMAIN qr 108 0.1s x",
            ),
        ] {
            let format = Format::parse(format).unwrap();
            check(format.query(line.as_bytes()), line);
            assert!(format.query(b"something else").is_none());
        }
        for format in [
            "{remote}{type} {name} {rcode}",
            "{remote} {name} {rcode}",
            "",
            "plain",
        ] {
            assert_eq!(Format::parse(format), None, "{format}");
        }
    }

    #[test]
    fn formats_are_recognised() {
        for line in [
            "10.0.0.7 AAAA www.example.com. NXDOMAIN",
            "client=10.0.0.7:53 name=www.example.com. type=AAAA rcode=NXDOMAIN took=0.2s",
            r#"{"ip":"10.0.0.7","q":"www.example.com.","t":"AAAA","r":"NXDOMAIN"}"#,
        ] {
            check(recognised(line.as_bytes()), line);
        }
        for line in [
            "plugin/reload: Running configuration SHA512 = 7f96b66b",
            "SIGTERM: Shutting down servers then terminating",
            "",
        ] {
            assert!(recognised(line.as_bytes()).is_none(), "{line}");
        }
    }
}
