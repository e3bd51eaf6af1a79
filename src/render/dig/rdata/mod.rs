//! The data of records as BIND writes it.

mod old;
mod security;
mod services;
mod transactions;

use std::net::{Ipv4Addr, Ipv6Addr};

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
        match (self.record.rdtype, self.record.rdclass) {
            (1, IN | HS) => self.ipv4(),
            (1, CH) => {
                self.name()?;
                let address = self.data.u16().ok()?;
                self.push(&format!(" {address:o}"));
                Some(())
            }
            (2..=5 | 7..=9 | 12 | 39, _) | (23, IN) => self.name(),
            (6, _) => self.soa(),
            (11, IN) => self.well_known_services(),
            (13 | 20, _) => self.strings(2),
            (14 | 17 | 58, _) => self.names(2),
            (15 | 18 | 21 | 107, _) | (36, IN) => {
                self.numbers(&[2])?;
                self.push(" ");
                self.name()
            }
            (16 | 56 | 99 | 258 | 261 | 262, _) => self.strings(usize::MAX),
            (19, _) => self.strings(1),
            (22, IN) => {
                let digits = hex(self.data.rest(), 0, "").to_ascii_lowercase();
                self.push(&format!("0x{digits}"));
                Some(())
            }
            (26, IN) => {
                self.numbers(&[2])?;
                self.push(" ");
                self.names(2)
            }
            (27, _) => self.strings(3),
            (28, IN) => self.ipv6(),
            (29, _) => self.location(),
            (31 | 32, IN) => self.in_parentheses("( ", Self::hex_rest),
            (33, IN) => {
                self.numbers(&[2, 2, 2])?;
                self.push(" ");
                self.name()
            }
            (34, IN) => self.atm(),
            (35, _) => {
                self.numbers(&[2, 2])?;
                self.push(" ");
                self.strings(3)?;
                self.push(" ");
                self.name()
            }
            (42, IN) => self.prefixes(),
            (104..=106 | 108 | 109, _) => self.identifier(),
            (256, _) => {
                self.numbers(&[2, 2])?;
                self.push(" ");
                self.quoted_rest();
                Some(())
            }
            _ => self.write_more(),
        }
    }

    /// NID, L32 and L64 (RFC 6742), EUI48 and EUI64 (RFC 7043).
    fn identifier(&mut self) -> Option<()> {
        match self.record.rdtype {
            104 | 106 => {
                self.numbers(&[2])?;
                let words: Option<Vec<String>> = (0..4)
                    .map(|_| Some(format!("{:x}", self.data.u16().ok()?)))
                    .collect();
                self.push(&format!(" {}", words?.join(":")));
                Some(())
            }
            105 => {
                self.numbers(&[2])?;
                self.push(" ");
                self.ipv4()
            }
            _ => {
                let bytes = self.data.rest();
                let digits: Vec<String> = bytes.iter().map(|it| format!("{it:02x}")).collect();
                self.push(&digits.join("-"));
                Some(())
            }
        }
    }

    fn write_more(&mut self) -> Option<()> {
        match (self.record.rdtype, self.record.rdclass) {
            (24, _) => self.old_signature(),
            (30, _) => self.next(),
            (38, IN) => self.chained(),
            (40, _) => self.kitchen_sink(),
            (46, _) => self.signature(),
            (249, _) => self.transaction_key(),
            (250, 255) => self.transaction_signature(),
            (25 | 48 | 57 | 60, _) => self.key(),
            (37, _) => self.certificate(),
            (41, _) => self.options(),
            (43 | 59 | 32768 | 32769, _) => self.delegation(),
            (44, _) => self.fingerprint(),
            (47, _) => self.next_secure(),
            (50, _) => self.next_secure3(),
            (51, _) => self.next_secure3_parameters(),
            (52 | 53, _) => self.tls_association(),
            (61, _) => self.in_parentheses("( ", Self::key_rest),
            (62, _) => self.child_sync(),
            (63, _) => self.zone_digest(),
            (67 | 68, _) => self.in_parentheses(" (", Self::base64_rest),
            (45, _) => self.ipsec_key(),
            (49, IN) => self.dhcp_id(),
            (55, _) => self.host_identity(),
            (64 | 65, IN) => self.service_binding(),
            (66, _) => {
                let rdtype = self.data.u16().ok()?;
                let scheme = match self.data.u8().ok()? {
                    1 => "NOTIFY".to_owned(),
                    scheme => scheme.to_string(),
                };
                self.push(&format!("{} {scheme} ", type_text(rdtype)));
                self.numbers(&[2])?;
                self.push(" ");
                self.name()
            }
            (257, _) => self.authorization(),
            (259, _) => self.digital_object(),
            (260, _) => self.relay(),
            _ => None,
        }
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

    fn names(&mut self, count: usize) -> Option<()> {
        for at in 0..count {
            if at > 0 {
                self.push(" ");
            }
            self.name()?;
        }
        Some(())
    }

    /// Numbers of so many bytes each, with spaces between.
    fn numbers(&mut self, sizes: &[u8]) -> Option<()> {
        for (at, size) in sizes.iter().enumerate() {
            let number = match size {
                1 => self.data.u8().ok()?.into(),
                2 => self.data.u16().ok()?.into(),
                _ => self.data.u32().ok()?,
            };
            let space = if at > 0 { " " } else { "" };
            self.push(&format!("{space}{number}"));
        }
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

    fn quoted_rest(&mut self) {
        let rest = self.data.rest();
        self.push(&character_string(rest, true));
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
        self.names(2)?;
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
