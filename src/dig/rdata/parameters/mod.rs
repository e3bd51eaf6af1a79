//! The parameters of services, and the options of EDNS.

mod template;

use crate::dig::reader::{FORMERR, Reader, Trouble};

/// Keys of RFC 9460.
const MANDATORY: u16 = 0;
const PROTOCOLS: u16 = 1;
const NO_DEFAULT_PROTOCOL: u16 = 2;

/// Source: BIND `lib/dns/rdata/in_1/svcb_64.c`: `generic_fromwire_in_svcb`,
/// `svcb_validate` (9.18)
pub(super) fn check_parameters(parameters: &[u8]) -> Result<(), Trouble> {
    let mut reader = Reader::new(parameters);
    let mut last = None;
    let mut has_protocols = false;
    // The keys that must follow, in order.
    let mut wanted = Vec::new().into_iter().peekable();
    while reader.left() > 0 {
        let key = reader.u16()?;
        if last.is_some_and(|last| last >= key) {
            return Err(FORMERR);
        }
        last = Some(key);
        if wanted.peek().is_some_and(|&wanted| key > wanted) {
            return Err(FORMERR);
        }
        wanted.next_if_eq(&key);
        has_protocols |= key == PROTOCOLS;
        if key == NO_DEFAULT_PROTOCOL && !has_protocols {
            return Err(FORMERR);
        }
        let length = reader.u16()?;
        let value = reader.take(length.into())?;
        let keys = || value.chunks_exact(2);
        let fits = match key {
            MANDATORY => {
                let rising = keys().zip(keys().skip(1)).all(|(one, next)| one < next);
                let numbers: Vec<u16> = keys()
                    .filter_map(|pair| pair.first_chunk::<2>())
                    .map(|&pair| u16::from_be_bytes(pair))
                    .collect();
                let is_fine = value.len() % 2 == 0 && rising && numbers.first() > Some(&MANDATORY);
                wanted = numbers.into_iter().peekable();
                is_fine
            }
            PROTOCOLS => is_texts(value),
            NO_DEFAULT_PROTOCOL => value.is_empty(),
            3 => value.len() == 2,
            4 => !value.is_empty() && value.len() % 4 == 0,
            6 => !value.is_empty() && value.len() % 16 == 0,
            7 => template::is_dns_path(value),
            _ => true,
        };
        if !fits {
            return Err(FORMERR);
        }
    }
    if wanted.peek().is_some() {
        return Err(FORMERR);
    }
    Ok(())
}

/// One or more texts, none of them empty.
fn is_texts(mut value: &[u8]) -> bool {
    if value.is_empty() {
        return false;
    }
    while let Some((&length, rest)) = value.split_first() {
        match rest.get(usize::from(length)..) {
            Some(after) if length > 0 => value = after,
            _ => return false,
        }
    }
    true
}

/// Source: BIND `lib/dns/rdata/generic/opt_41.c`: `fromwire_opt` (9.18)
pub(super) fn check_options(options: &[u8]) -> Result<(), Trouble> {
    let mut reader = Reader::new(options);
    while reader.left() > 0 {
        let code = reader.u16()?;
        let length = reader.u16()?;
        let value = reader.take(length.into())?;
        let fits = match code {
            1 => length == 18,
            8 => is_subnet(value),
            9 => matches!(length, 0 | 4),
            10 => matches!(length, 8 | 16..=40),
            14 => length != 0 && length % 2 == 0,
            15 => value.get(2..).is_some_and(|text| {
                !text.starts_with(b"\xef\xbb\xbf") && std::str::from_utf8(text).is_ok()
            }),
            16 | 17 => length == 2,
            _ => true,
        };
        if !fits {
            return Err(Trouble::Bad("malformed OPT option"));
        }
    }
    Ok(())
}

fn is_subnet(value: &[u8]) -> bool {
    let Some((&[family0, family1, prefix, scope], address)) = value.split_first_chunk::<4>() else {
        return false;
    };
    let most = match u16::from_be_bytes([family0, family1]) {
        0 => 0,
        1 => 32,
        2 => 128,
        _ => return false,
    };
    let bytes = usize::from(prefix).div_ceil(8);
    let beyond = match (prefix % 8, address.last()) {
        (0, _) | (_, None) => 0,
        (bits, Some(last)) => last & (0xff >> bits),
    };
    prefix <= most && scope <= most && address.len() == bytes && beyond == 0
}
