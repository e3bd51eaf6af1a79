//! Records that nobody should have any more.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use super::super::words::dnssec_time;
use super::Field::{Name, U8, U16, U32};
use super::Writer;
use crate::dig::mnemonic::type_text;

/// A type by its name, or a bare number.
fn known(rdtype: u16) -> String {
    match type_text(rdtype) {
        Cow::Borrowed(name) if rdtype != 0 => name.to_owned(),
        _ => rdtype.to_string(),
    }
}

impl Writer<'_> {
    /// SIG (RFC 2535).
    ///
    /// Source: BIND `lib/dns/rdata/generic/sig_24.c`: `totext_sig` (9.18)
    pub(super) fn old_signature(&mut self) -> Option<()> {
        let breaks = self.style.line_break();
        let rdtype = self.data.u16().ok()?;
        self.push(&format!("{} ", known(rdtype)));
        self.fields(&[U8, U8, U32])?;
        let now = self.style.now;
        let expires = dnssec_time(self.data.u32().ok()?, now);
        self.push(&format!(" {expires}"));
        self.push(if self.style.multiline { " (" } else { "" });
        self.push(breaks);
        let begins = dnssec_time(self.data.u32().ok()?, now);
        self.push(&format!("{begins} "));
        self.fields(&[U16, Name])?;
        self.push(breaks);
        self.base64_rest()?;
        self.push(if self.style.multiline { " )" } else { "" });
        Some(())
    }

    /// NXT (RFC 2535).
    ///
    /// Source: BIND `lib/dns/rdata/generic/nxt_30.c`: `totext_nxt` (9.18)
    pub(super) fn next(&mut self) -> Option<()> {
        self.name()?;
        for (at, byte) in self.data.rest().iter().enumerate() {
            for bit in (0..8).filter(|bit| byte & (0x80 >> bit) != 0) {
                let rdtype = u16::try_from(at * 8 + bit).ok()?;
                self.push(&format!(" {}", known(rdtype)));
            }
        }
        Some(())
    }

    /// A6 (RFC 2874).
    ///
    /// Source: BIND `lib/dns/rdata/in_1/a6_38.c`: `totext_in_a6` (9.18)
    pub(super) fn chained(&mut self) -> Option<()> {
        let prefix = self.data.u8().ok()?;
        self.push(&format!("{prefix} "));
        if prefix < 128 {
            let mut octets = [0; 16];
            let suffix = octets.get_mut(usize::from(prefix / 8)..)?;
            suffix.copy_from_slice(self.data.take(suffix.len()).ok()?);
            self.push_ipv6(Ipv6Addr::from(octets));
        }
        if prefix > 0 {
            self.push(" ");
            self.name()?;
        }
        Some(())
    }
}
