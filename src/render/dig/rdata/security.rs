//! Records of DNSSEC and other keys.

use super::super::words::{base32hex, base64, dnssec_time, hex, name};
use super::Field::{Name, Salt, Strings, Type, U8, U16, U32};
use super::{Writer, words};
use crate::dig::mnemonic::type_text;
use crate::dig::reader::Reader;

/// Source: BIND lib/dns/rcode.c: `SECALGNAMES` (9.18)
pub(super) fn algorithm(number: u8) -> String {
    let known = match number {
        1 => "RSAMD5",
        2 => "DH",
        3 => "DSA",
        5 => "RSASHA1",
        6 => "NSEC3DSA",
        7 => "NSEC3RSASHA1",
        8 => "RSASHA256",
        10 => "RSASHA512",
        12 => "ECCGOST",
        13 => "ECDSAP256SHA256",
        14 => "ECDSAP384SHA384",
        15 => "ED25519",
        16 => "ED448",
        252 => "INDIRECT",
        253 => "PRIVATEDNS",
        254 => "PRIVATEOID",
        _ => return number.to_string(),
    };
    known.to_owned()
}

/// Source: BIND lib/dns/rcode.c: `CERTNAMES` (9.18)
pub(super) fn certificate_type(number: u16) -> String {
    let known = match number {
        1 => "PKIX",
        2 => "SPKI",
        3 => "PGP",
        4 => "IPKIX",
        5 => "ISPKI",
        6 => "IPGP",
        7 => "ACPKIX",
        8 => "IACPKIX",
        253 => "URI",
        254 => "OID",
        _ => return number.to_string(),
    };
    known.to_owned()
}

/// The id of a key (RFC 4034, appendix B).
///
/// Source: BIND `lib/dns/dst_api.c`: `dst_region_computeid` (9.18)
fn key_id(data: &[u8]) -> u16 {
    let sum = data.chunks(2).fold(0_u32, |sum, pair| {
        let byte = |at: usize| u32::from(pair.get(at).copied().unwrap_or_default());
        sum.wrapping_add(byte(0) << 8 | byte(1))
    });
    let folded = sum.wrapping_add(sum >> 16 & 0xffff) & 0xffff;
    u16::try_from(folded).unwrap_or_default()
}

impl Writer<'_> {
    /// Source: BIND `lib/dns/rdata/generic/rrsig_46.c`: `totext_rrsig` (9.18)
    pub(super) fn signature(&mut self) -> Option<()> {
        let breaks = self.style.line_break();
        self.fields(&[Type, U8, U8, U32])?;
        self.push(if self.style.multiline { " (" } else { "" });
        self.push(breaks);
        let (expires, begins) = (self.data.u32().ok()?, self.data.u32().ok()?);
        let now = self.style.now;
        let times = (dnssec_time(expires, now), dnssec_time(begins, now));
        self.push(&format!("{} {} ", times.0, times.1));
        self.fields(&[U16, Name])?;
        self.push(breaks);
        self.key_rest()?;
        self.push(if self.style.multiline { " )" } else { "" });
        Some(())
    }

    /// Base64 to the end, left out with `+nocrypto`.
    pub(super) fn key_rest(&mut self) -> Option<()> {
        if self.style.crypto {
            return self.base64_rest();
        }
        self.push("[omitted]");
        Some(())
    }

    pub(super) fn digest_rest(&mut self) -> Option<()> {
        if self.style.crypto {
            return self.hex_rest();
        }
        self.push("[omitted]");
        Some(())
    }

    /// Source: BIND `lib/dns/rdata/generic/key_25.c`: `generic_totext_key` (9.18)
    pub(super) fn key(&mut self) -> Option<()> {
        let breaks = self.style.line_break();
        let flags = self.data.u16().ok()?;
        let (protocol, number) = (self.data.u8().ok()?, self.data.u8().ok()?);
        self.push(&format!("{flags} {protocol} {number}"));
        // A record without a key (RFC 2535, section 3.1.2).
        if self.record.rdtype == 25 && flags & 0xc000 == 0xc000 {
            return Some(());
        }
        let comments = self.style.record_comments;
        let id = key_id(&self.record.data);
        let algorithm = match number {
            253 if comments => {
                let mut rest = self.data;
                name(&rest.name().ok()?).trim_end_matches('.').to_owned()
            }
            number => algorithm(number),
        };
        self.push(if self.style.multiline { " (" } else { "" });
        self.push(breaks);
        if self.style.crypto {
            self.base64_rest()?;
        } else {
            self.push(&format!("[key id = {id}]"));
        }
        if comments {
            self.push(breaks);
        } else if self.style.multiline {
            self.push(" ");
        }
        self.push(if self.style.multiline { ")" } else { "" });
        if comments {
            if matches!(self.record.rdtype, 48 | 60) {
                let kind = match (flags & 1, flags & 0x80) {
                    (0, _) => "ZSK",
                    (_, 0) => "KSK",
                    _ => "revoked KSK",
                };
                self.push(&format!(" ; {kind}"));
            }
            self.push(&format!("; alg = {algorithm} ; key id = {id}"));
        }
        Some(())
    }

    /// A break and the rest behind it.
    pub(super) fn below_head(&mut self, write: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        let breaks = self.style.line_break();
        self.in_parentheses(" (", |writer| {
            writer.push(breaks);
            write(writer)
        })
    }

    /// Source: BIND `lib/dns/rdata/generic/nsec3_50.c`: `totext_nsec3` (9.18)
    pub(super) fn next_secure3(&mut self) -> Option<()> {
        self.fields(&[U8, U8, U16, Salt])?;
        let breaks = self.style.line_break();
        self.in_parentheses(" (", |writer| {
            writer.push(breaks);
            let next = writer.character_string()?;
            writer.push(&base32hex(next));
            if writer.style.multiline {
                writer.windows(breaks)
            } else {
                writer.types(" ")
            }
        })
    }

    /// The types of a name, with `before` only if there are any.
    pub(super) fn types(&mut self, before: &str) -> Option<()> {
        let types: Vec<String> = self.type_windows()?.into_iter().flatten().collect();
        if !types.is_empty() {
            self.push(&format!("{before}{}", types.join(" ")));
        }
        Some(())
    }

    /// The types of each window on a line of its own.
    fn windows(&mut self, breaks: &str) -> Option<()> {
        for types in self.type_windows()? {
            self.push(&format!("{breaks}{}", types.join(" ")));
        }
        Some(())
    }

    /// Source: BIND lib/dns/rdata.c: `typemap_totext` (9.18)
    fn type_windows(&mut self) -> Option<Vec<Vec<String>>> {
        let mut windows = Vec::new();
        while self.data.left() > 0 {
            let (window, length) = (self.data.u8().ok()?, self.data.u8().ok()?);
            let mut types = Vec::new();
            for (at, byte) in self.data.take(length.into()).ok()?.iter().enumerate() {
                let set = (0..8).filter(|bit| byte & (0x80 >> bit) != 0);
                types.extend(set.filter_map(|bit| {
                    let low = u16::try_from(at * 8 + bit).ok()?;
                    Some(type_text(u16::from(window) << 8 | low).into_owned())
                }));
            }
            windows.push(types);
        }
        Some(windows)
    }

    pub(super) fn dhcp_id(&mut self) -> Option<()> {
        self.in_parentheses("( ", Self::base64_rest)?;
        let mut head = Reader::new(&self.record.data);
        if self.style.multiline && self.record.data.len() > 2 {
            let (kind, digest) = (head.u16().ok()?, head.u8().ok()?);
            let length = self.record.data.len() - 3;
            self.push(&format!(" ; {kind} {digest} {length}"));
        }
        Some(())
    }

    /// Source: BIND `lib/dns/rdata/generic/ipseckey_45.c`: `totext_ipseckey` (9.18)
    pub(super) fn ipsec_key(&mut self) -> Option<()> {
        let kind = *self.record.data.get(1)?;
        if kind > 3 {
            return None;
        }
        let breaks = self.style.line_break();
        self.in_parentheses("( ", |writer| {
            writer.fields(&[U8, U8, U8])?;
            writer.push(" ");
            writer.gateway(kind)?;
            if writer.data.left() > 0 {
                writer.push(breaks);
                writer.base64_rest()?;
            }
            Some(())
        })
    }

    pub(super) fn gateway(&mut self, kind: u8) -> Option<()> {
        match kind {
            0 => self.push("."),
            1 => self.ipv4()?,
            2 => self.ipv6()?,
            _ => self.name()?,
        }
        Some(())
    }

    /// Source: BIND `lib/dns/rdata/generic/hip_55.c`: `totext_hip` (9.18)
    pub(super) fn host_identity(&mut self) -> Option<()> {
        let breaks = self.style.line_break();
        let (length, number) = (self.data.u8().ok()?, self.data.u8().ok()?);
        let key = self.data.u16().ok()?;
        self.in_parentheses("( ", |writer| {
            let identity = writer.data.take(length.into()).ok()?;
            let key = writer.data.take(key.into()).ok()?;
            writer.push(&format!("{number} {}", hex(identity, 1, "")));
            writer.push(breaks);
            writer.push(&base64(key, 1, ""));
            while writer.data.left() > 0 {
                writer.push(breaks);
                writer.name()?;
            }
            Some(())
        })
    }

    pub(super) fn digital_object(&mut self) -> Option<()> {
        self.fields(&[U32, U32, U8, Strings(1)])?;
        let rest = self.data.rest();
        let text = if rest.is_empty() {
            "-".to_owned()
        } else {
            words(self.style, |_, _| base64(rest, 60, ""))
        };
        self.push(&format!(" {text}"));
        Some(())
    }

    /// An OPT record where none belongs.
    ///
    /// Source: BIND `lib/dns/rdata/generic/opt_41.c`: `totext_opt` (9.18)
    pub(super) fn options(&mut self) -> Option<()> {
        while self.data.left() > 0 {
            let space = if self.text.is_empty() { "" } else { " " };
            let (code, length) = (self.data.u16().ok()?, self.data.u16().ok()?);
            let value = self.data.take(length.into()).ok()?;
            self.push(&format!("{space}{code} {length}"));
            if !value.is_empty() {
                let breaks = self.style.line_break();
                let text = words(self.style, |word, breaks| {
                    base64(value, word.max(4), breaks)
                });
                self.push(if self.style.multiline { " (" } else { "" });
                self.push(breaks);
                self.push(&text);
                self.push(if self.style.multiline { " )" } else { "" });
            }
        }
        Some(())
    }
}
