//! Records of services and places.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::super::words::{base64, character_string, hex, list_item};
use super::Field::{Name, U16};
use super::{Writer, ipv6_text};
use crate::dig::reader::Reader;

impl Writer<'_> {
    /// Source: BIND `lib/dns/rdata/in_1/svcb_64.c`: `generic_totext_in_svcb` (9.18)
    pub(super) fn service_binding(&mut self) -> Option<()> {
        self.fields(&[U16, Name])?;
        while self.data.left() > 0 {
            let (key, length) = (self.data.u16().ok()?, self.data.u16().ok()?);
            let value = self.data.take(length.into()).ok()?;
            self.push(&format!(" {}", parameter(key)));
            if !value.is_empty() {
                let text = parameter_value(key, value)?;
                self.push(&text);
            }
        }
        Some(())
    }

    /// Source: BIND `lib/dns/rdata/generic/amtrelay_260.c`: `totext_amtrelay` (9.18)
    pub(super) fn relay(&mut self) -> Option<()> {
        let (precedence, kind) = (self.data.u8().ok()?, self.data.u8().ok()?);
        let (discovery, kind) = (kind >> 7, kind & 0x7f);
        if kind > 3 {
            return None;
        }
        self.push(&format!("{precedence} {discovery} {kind} "));
        self.gateway(kind)
    }

    /// Source: BIND `lib/dns/rdata/in_1/apl_42.c`: `totext_in_apl` (9.18)
    pub(super) fn prefixes(&mut self) -> Option<()> {
        while self.data.left() > 0 {
            let space = if self.text.is_empty() { "" } else { " " };
            let (family, prefix) = (self.data.u16().ok()?, self.data.u8().ok()?);
            let length = self.data.u8().ok()?;
            let bytes = self.data.take(usize::from(length & 0x7f)).ok()?;
            let mut octets = [0; 16];
            octets.get_mut(..bytes.len())?.copy_from_slice(bytes);
            let negated = if length & 0x80 == 0 { "" } else { "!" };
            self.push(&format!("{space}{negated}{family}:"));
            match family {
                1 => self.push(&Ipv4Addr::from(*octets.first_chunk::<4>()?).to_string()),
                2 => self.push_ipv6(Ipv6Addr::from(octets)),
                _ => return None,
            }
            self.push(&format!("/{prefix}"));
        }
        Some(())
    }

    /// Source: BIND `lib/dns/rdata/in_1/wks_11.c`: `totext_in_wks` (9.18)
    pub(super) fn well_known_services(&mut self) -> Option<()> {
        self.ipv4()?;
        let protocol = self.data.u8().ok()?;
        self.push(&format!(" {protocol}"));
        for (at, byte) in self.data.rest().iter().enumerate() {
            for bit in (0..8).filter(|bit| byte & (0x80 >> bit) != 0) {
                self.push(&format!(" {}", at * 8 + bit));
            }
        }
        Some(())
    }

    /// Source: BIND `lib/dns/rdata/in_1/atma_34.c`: `totext_in_atma` (9.18)
    pub(super) fn atm(&mut self) -> Option<()> {
        match self.data.u8().ok()? {
            0 => {
                let digits = hex(self.data.rest(), 0, "").to_ascii_lowercase();
                self.push(&digits);
            }
            1 => {
                let digits = self.data.rest();
                if !digits.iter().all(u8::is_ascii_digit) {
                    return None;
                }
                let digits = String::from_utf8_lossy(digits);
                self.push(&format!("+{digits}"));
            }
            _ => return None,
        }
        Some(())
    }

    /// Source: BIND `lib/dns/rdata/generic/loc_29.c`: `totext_loc` (9.18)
    pub(super) fn location(&mut self) -> Option<()> {
        if self.data.u8().ok()? != 0 {
            return None;
        }
        let mut sizes = Vec::with_capacity(3);
        for _ in 0..3 {
            let byte = self.data.u8().ok()?;
            sizes.push(centimetres(byte)?);
        }
        let latitude = angle(self.data.u32().ok()?, "N", "S");
        let longitude = angle(self.data.u32().ok()?, "E", "W");
        let altitude = i64::from(self.data.u32().ok()?) - 10_000_000;
        let sign = if altitude < 0 { "-" } else { "" };
        let (metres, rest) = (altitude.abs() / 100, altitude.abs() % 100);
        let sizes = sizes.join(" ");
        self.push(&format!(
            "{latitude} {longitude} {sign}{metres}.{rest:02}m {sizes}"
        ));
        Some(())
    }
}

/// A size of LOC: base and power of ten, in centimetres.
fn centimetres(byte: u8) -> Option<String> {
    let (base, power) = (u64::from(byte >> 4), u32::from(byte & 15));
    if base > 9 || power > 9 {
        return None;
    }
    Some(match power.checked_sub(2) {
        Some(power) => format!("{}m", base * 10_u64.pow(power)),
        None => format!("0.{:02}m", base * 10_u64.pow(power)),
    })
}

/// Thousandths of a second of arc from the middle of the range.
fn angle(word: u32, above: &str, below: &str) -> String {
    let side = if word >= 1 << 31 { above } else { below };
    let rest = word.abs_diff(1 << 31);
    let (thousandths, rest) = (rest % 1000, rest / 1000);
    let (seconds, rest) = (rest % 60, rest / 60);
    let (minutes, degrees) = (rest % 60, rest / 60);
    format!("{degrees} {minutes} {seconds}.{thousandths:03} {side}")
}

/// Source: BIND `lib/dns/rdata/in_1/svcb_64.c`: `svcparamkey` (9.18)
fn parameter(key: u16) -> String {
    let known = match key {
        0 => "mandatory",
        1 => "alpn",
        2 => "no-default-alpn",
        3 => "port",
        4 => "ipv4hint",
        5 => "ech",
        6 => "ipv6hint",
        _ => return format!("key{key}"),
    };
    known.to_owned()
}

/// The value of a parameter with the sign before it.
fn parameter_value(key: u16, value: &[u8]) -> Option<String> {
    let list = |items: Vec<String>| format!("={}", items.join(","));
    let mut reader = Reader::new(value);
    Some(match key {
        0 => {
            let mut keys = Vec::new();
            while reader.left() > 0 {
                keys.push(parameter(reader.u16().ok()?));
            }
            list(keys)
        }
        1 => {
            let mut protocols = Vec::new();
            while reader.left() > 0 {
                let length = reader.u8().ok()?;
                protocols.push(list_item(reader.take(length.into()).ok()?));
            }
            format!("=\"{}\"", protocols.join(","))
        }
        2 => String::new(),
        3 => format!("={}", reader.u16().ok()?),
        4 => {
            let addresses = value.chunks_exact(4).filter_map(<[u8]>::first_chunk::<4>);
            list(
                addresses
                    .map(|&it| Ipv4Addr::from(it).to_string())
                    .collect(),
            )
        }
        5 => format!("={}", base64(value, usize::MAX, "")),
        6 => {
            let addresses = value.chunks_exact(16).filter_map(<[u8]>::first_chunk::<16>);
            list(addresses.map(|&it| ipv6_text(Ipv6Addr::from(it))).collect())
        }
        _ => format!("={}", character_string(value, true)),
    })
}
