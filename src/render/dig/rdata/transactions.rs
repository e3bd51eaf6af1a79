//! Records that are of one message only.

use super::super::words::base64;
use super::Field::{Name, U16, U32};
use super::{Writer, words};
use crate::dig::mnemonic::rcode_text;

/// Source: BIND lib/dns/rcode.c: `TSIGRCODENAMES` (9.18)
fn error(rcode: u16) -> String {
    let known = match rcode {
        16 => "BADSIG",
        17 => "BADKEY",
        18 => "BADTIME",
        19 => "BADMODE",
        20 => "BADNAME",
        21 => "BADALG",
        22 => "BADTRUNC",
        other => return rcode_text(other).into_owned(),
    };
    known.to_owned()
}

impl Writer<'_> {
    /// Source: BIND `lib/dns/rdata/any_255/tsig_250.c`: `totext_any_tsig` (9.18)
    pub(super) fn transaction_signature(&mut self) -> Option<()> {
        self.name()?;
        let (high, low) = (self.data.u16().ok()?, self.data.u32().ok()?);
        let time = u64::from(high) << 32 | u64::from(low);
        self.push(&format!(" {time} "));
        self.fields(&[U16])?;
        self.push(" ");
        let length = self.data.u16().ok()?;
        self.push(&length.to_string());
        if length > 0 {
            self.block(length, " ) ")?;
        } else {
            self.push(" ");
        }
        self.fields(&[U16])?;
        let code = error(self.data.u16().ok()?);
        self.push(&format!(" {code} "));
        self.fields(&[U16])?;
        self.push(" ");
        let rest = self.data.rest();
        let spaces = if self.style.width == 0 { "" } else { " " };
        self.push(&base64(rest, 60, spaces));
        Some(())
    }

    /// Source: BIND `lib/dns/rdata/generic/tkey_249.c`: `totext_tkey` (9.18)
    pub(super) fn transaction_key(&mut self) -> Option<()> {
        self.fields(&[Name, U32, U32, U16])?;
        let code = error(self.data.u16().ok()?);
        self.push(&format!(" {code} "));
        let length = self.data.u16().ok()?;
        self.push(&length.to_string());
        self.block(length, " ) ")?;
        let length = self.data.u16().ok()?;
        self.push(&length.to_string());
        if length > 0 {
            self.block(length, " )")?;
        }
        Some(())
    }

    /// So many bytes below what stands before, and a space if text goes on.
    fn block(&mut self, length: u16, close: &str) -> Option<()> {
        let bytes = self.data.take(length.into()).ok()?;
        let text = words(self.style, |word, breaks| {
            base64(bytes, if word == 0 { 60 } else { word }, breaks)
        });
        self.push(if self.style.multiline { " (" } else { "" });
        self.push(self.style.line_break());
        self.push(&text);
        if self.style.multiline {
            self.push(close);
        } else if close.ends_with(' ') {
            self.push(" ");
        }
        Some(())
    }
}
