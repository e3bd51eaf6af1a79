//! The data of records as BIND writes it.

mod old;
mod security;
mod services;
mod transactions;

use std::net::{Ipv4Addr, Ipv6Addr};

use self::Field::{
    Algorithm, Base64, Certificate, Digest, Hex, Ipv4, Ipv6, MayEnd, Name, Rest, Salt, Scheme,
    Strings, Tag, Type, Types, U8, U16, U32,
};
use self::security::{algorithm, certificate_type};
use super::style::Style;
use super::words::{base64, character_string, hex, ttl};
use crate::dig::message::Record;
use crate::dig::mnemonic::type_text;
use crate::dig::reader::Reader;

const IN: u16 = 1;
const CH: u16 = 3;
const HS: u16 = 4;

/// The data of a record; as of an unknown type (RFC 3597) where it has no
/// form of its own.
///
/// Source: BIND lib/dns/rdata.c: `rdata_totext` (9.18)
pub(super) fn text(record: &Record, style: &Style) -> String {
    let known = if style.unknown_format {
        None
    } else {
        let mut writer = Writer::new(record, style);
        writer.write().map(|()| writer.text)
    };
    known.unwrap_or_else(|| unknown(&record.data, style))
}

/// Source: BIND lib/dns/rdata.c: `unknown_totext` (9.18)
fn unknown(data: &[u8], style: &Style) -> String {
    let mut text = format!("\\# {}", data.len());
    if !data.is_empty() {
        text.push_str(if style.multiline { " ( " } else { " " });
        text.push_str(&words(style, |word, breaks| hex(data, word, breaks)));
        text.push_str(if style.multiline { " )" } else { "" });
    }
    text
}

/// Bytes in words of the style's width.
fn words(style: &Style, write: impl Fn(usize, &str) -> String) -> String {
    match style.width {
        0 => write(0, ""),
        width => write(width.saturating_sub(2), style.line_break()),
    }
}

/// What the data of most types consist of.
#[derive(Clone, Copy)]
enum Field {
    U8,
    U16,
    U32,
    Name,
    Ipv4,
    Ipv6,
    /// A type, by its name.
    Type,
    /// Strings in quotes, as many as there are but no more than so many.
    Strings(usize),
    /// A string without quotes.
    Tag,
    /// All that is left, as a string in quotes.
    Rest,
    /// The scheme of DSYNC.
    Scheme,
    /// The type of a certificate.
    Certificate,
    /// The algorithm of a key.
    Algorithm,
    /// The salt of NSEC3.
    Salt,
    /// What follows need not be there.
    MayEnd,
    /// All that is left, on lines of its own.
    Hex,
    /// The same, left out with `+nocrypto`.
    Digest,
    Base64,
    /// Types, as a bitmap.
    Types,
}

/// The fields of a type, if it is one that has nothing else.
fn fields(rdtype: u16, rdclass: u16) -> Option<&'static [Field]> {
    Some(match (rdtype, rdclass) {
        (1, IN | HS) => &[Ipv4],
        (2..=5 | 7..=9 | 12 | 39, _) | (23, IN) => &[Name],
        (13 | 20, _) => &[Strings(2)],
        (14 | 17 | 58, _) => &[Name, Name],
        (15 | 18 | 21 | 107, _) | (36, IN) => &[U16, Name],
        (16 | 56 | 99 | 258 | 261 | 262, _) => &[Strings(usize::MAX)],
        (19, _) => &[Strings(1)],
        (26, IN) => &[U16, Name, Name],
        (27, _) => &[Strings(3)],
        (28, IN) => &[Ipv6],
        (33, IN) => &[U16, U16, U16, Name],
        (35, _) => &[U16, U16, Strings(3), Name],
        (37, _) => &[Certificate, U16, Algorithm, Base64],
        (40, _) => &[U8, U8, U8, MayEnd, Base64],
        (43 | 59 | 32768 | 32769, _) => &[U16, U8, U8, Digest],
        (44, _) => &[U8, U8, MayEnd, Hex],
        (47, _) => &[Name, Types],
        (51, _) => &[U8, U8, U16, Salt],
        (52 | 53, _) => &[U8, U8, U8, Hex],
        (62, _) => &[U32, U16, Types],
        (63, _) => &[U32, U8, U8, Digest],
        (66, _) => &[Type, Scheme, U16, Name],
        (105, _) => &[U16, Ipv4],
        (256, _) => &[U16, U16, Rest],
        (257, _) => &[U8, Tag, Rest],
        _ => return None,
    })
}

/// Reads data and writes text; `None` at the first thing that is not as it
/// should be.
struct Writer<'r> {
    record: &'r Record,
    style: &'r Style,
    data: Reader<'r>,
    text: String,
}

impl<'r> Writer<'r> {
    fn new(record: &'r Record, style: &'r Style) -> Self {
        Self {
            record,
            style,
            data: Reader::new(&record.data),
            text: String::new(),
        }
    }

    /// Source: BIND lib/dns/rdata: `totext_*` (9.18)
    fn write(&mut self) -> Option<()> {
        if let Some(fields) = fields(self.record.rdtype, self.record.rdclass) {
            return self.fields(fields);
        }
        match (self.record.rdtype, self.record.rdclass) {
            (1, CH) => {
                self.name()?;
                let address = self.data.u16().ok()?;
                self.push(&format!(" {address:o}"));
                Some(())
            }
            (6, _) => self.soa(),
            (11, IN) => self.well_known_services(),
            (22, IN) => {
                let digits = hex(self.data.rest(), 0, "").to_ascii_lowercase();
                self.push(&format!("0x{digits}"));
                Some(())
            }
            (24, _) => self.old_signature(),
            (25 | 48 | 57 | 60, _) => self.key(),
            (29, _) => self.location(),
            (30, _) => self.next(),
            (31 | 32, IN) => self.in_parentheses("( ", Self::hex_rest),
            (34, IN) => self.atm(),
            (38, IN) => self.chained(),
            (41, _) => self.options(),
            (42, IN) => self.prefixes(),
            (45, _) => self.ipsec_key(),
            (46, _) => self.signature(),
            (49, IN) => self.dhcp_id(),
            (50, _) => self.next_secure3(),
            (55, _) => self.host_identity(),
            (61, _) => self.in_parentheses("( ", Self::key_rest),
            (64 | 65, IN) => self.service_binding(),
            (67 | 68, _) => self.in_parentheses(" (", Self::base64_rest),
            (104 | 106, _) => {
                self.fields(&[U16])?;
                let words: Option<Vec<String>> = (0..4)
                    .map(|_| Some(format!("{:x}", self.data.u16().ok()?)))
                    .collect();
                self.push(&format!(" {}", words?.join(":")));
                Some(())
            }
            (108 | 109, _) => {
                let bytes = self.data.rest();
                let digits: Vec<String> = bytes.iter().map(|it| format!("{it:02x}")).collect();
                self.push(&digits.join("-"));
                Some(())
            }
            (249, _) => self.transaction_key(),
            (250, 255) => self.transaction_signature(),
            (259, _) => self.digital_object(),
            (260, _) => self.relay(),
            _ => None,
        }
    }

    /// Fields in a row, with spaces between.
    fn fields(&mut self, fields: &[Field]) -> Option<()> {
        for (at, field) in fields.iter().enumerate() {
            let is_behind_space = !matches!(field, MayEnd | Hex | Digest | Base64 | Types);
            self.push(if at > 0 && is_behind_space { " " } else { "" });
            match field {
                U8 => self.number(1)?,
                U16 => self.number(2)?,
                U32 => self.number(4)?,
                Name => self.name()?,
                Ipv4 => self.ipv4()?,
                Ipv6 => self.ipv6()?,
                Type => {
                    let rdtype = self.data.u16().ok()?;
                    self.push(&type_text(rdtype));
                }
                Strings(most) => self.strings(*most)?,
                Tag => {
                    let tag = self.character_string()?;
                    self.push(&character_string(tag, false));
                }
                Rest => {
                    let rest = self.data.rest();
                    self.push(&character_string(rest, true));
                }
                Scheme => match self.data.u8().ok()? {
                    1 => self.push("NOTIFY"),
                    scheme => self.push(&scheme.to_string()),
                },
                Certificate => {
                    let kind = self.data.u16().ok()?;
                    self.push(&certificate_type(kind));
                }
                Algorithm => {
                    let number = self.data.u8().ok()?;
                    self.push(&algorithm(number));
                }
                Salt => match self.character_string()? {
                    [] => self.push("-"),
                    salt => self.push(&hex(salt, 0, "")),
                },
                MayEnd if self.data.left() == 0 => return Some(()),
                MayEnd => {}
                Hex => self.below_head(Self::hex_rest)?,
                Digest => self.below_head(Self::digest_rest)?,
                Base64 => self.below_head(Self::base64_rest)?,
                Types => self.types(" ")?,
            }
        }
        Some(())
    }

    /// A number of so many bytes.
    fn number(&mut self, length: usize) -> Option<()> {
        let bytes = self.data.take(length).ok()?.iter();
        let number = bytes.fold(0, |number, &byte| number << 8 | u32::from(byte));
        self.push(&number.to_string());
        Some(())
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn name(&mut self) -> Option<()> {
        let read = self.data.name().ok()?;
        let text = self.style.name(&read);
        self.push(&text);
        Some(())
    }

    fn character_string(&mut self) -> Option<&'r [u8]> {
        let length = self.data.u8().ok()?;
        self.data.take(length.into()).ok()
    }

    /// Strings in quotes, as many as there are but no more than `most`.
    fn strings(&mut self, most: usize) -> Option<()> {
        for at in 0..most {
            if at > 0 && self.data.left() == 0 {
                break;
            }
            let string = self.character_string()?;
            let space = if at > 0 { " " } else { "" };
            let text = character_string(string, true);
            self.push(&format!("{space}{text}"));
        }
        Some(())
    }

    fn ipv4(&mut self) -> Option<()> {
        let octets = self.data.take(4).ok()?.first_chunk::<4>()?;
        self.push(&Ipv4Addr::from(*octets).to_string());
        Some(())
    }

    fn ipv6(&mut self) -> Option<()> {
        let octets = self.data.take(16).ok()?.first_chunk::<16>()?;
        let address = Ipv6Addr::from(*octets);
        if self.style.expand_aaaa {
            let words = address.segments().map(|word| format!("{word:04x}"));
            self.push(&words.join(":"));
            return Some(());
        }
        self.push_ipv6(address);
        Some(())
    }

    /// Source: BIND lib/dns/rdata.c: `inet_totext` (9.18)
    fn push_ipv6(&mut self, address: Ipv6Addr) {
        self.push(&ipv6_text(address));
        // What ends in a colon is a key of YAML.
        if self.style.yaml && self.text.ends_with(':') {
            self.push("0");
        }
    }

    /// Text in parentheses where records go over several lines.
    fn in_parentheses(
        &mut self,
        open: &str,
        write: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<()> {
        if self.style.multiline {
            self.push(open);
        }
        write(self)?;
        if self.style.multiline {
            self.push(" )");
        }
        Some(())
    }

    #[expect(clippy::unnecessary_wraps, reason = "one shape for all that write")]
    fn hex_rest(&mut self) -> Option<()> {
        let rest = self.data.rest();
        let text = words(self.style, |word, breaks| hex(rest, word, breaks));
        self.push(&text);
        Some(())
    }

    #[expect(clippy::unnecessary_wraps, reason = "one shape for all that write")]
    fn base64_rest(&mut self) -> Option<()> {
        let rest = self.data.rest();
        let text = words(self.style, |word, breaks| {
            base64(rest, if word == 0 { 60 } else { word }, breaks)
        });
        self.push(&text);
        Some(())
    }

    /// Source: BIND `lib/dns/rdata/generic/soa_6.c`: `totext_soa` (9.18)
    fn soa(&mut self) -> Option<()> {
        let breaks = self.style.line_break();
        self.fields(&[Name, Name])?;
        self.push(if self.style.multiline { " (" } else { "" });
        self.push(breaks);
        let comments = self.style.multiline && self.style.record_comments;
        for (at, field) in ["serial", "refresh", "retry", "expire", "minimum"]
            .into_iter()
            .enumerate()
        {
            let number = self.data.u32().ok()?;
            if comments {
                self.push(&format!("{number:<10} ; {field}"));
                if at > 0 {
                    self.push(&format!(" ({})", ttl(number, true)));
                }
                self.push(breaks);
            } else {
                self.push(&number.to_string());
                self.push(if at < 4 { breaks } else { "" });
            }
        }
        self.push(if self.style.multiline { ")" } else { "" });
        Some(())
    }
}

/// An address as `inet_ntop` of glibc writes it: unlike Rust, it shows the
/// IPv4 address in `::10.0.0.1`.
fn ipv6_text(address: Ipv6Addr) -> String {
    match address.octets() {
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d] if (a, b) != (0, 0) => {
            format!("::{}", Ipv4Addr::new(a, b, c, d))
        }
        _ => address.to_string(),
    }
}
