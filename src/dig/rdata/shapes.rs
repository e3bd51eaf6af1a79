//! Data whose shape depends on what is in it.

use super::{is_type_map, put_name};
use crate::dig::reader::{FORMERR, Reader, Trouble};

/// LOC (RFC 1876).
///
/// Source: BIND `lib/dns/rdata/generic/loc_29.c`: `fromwire_loc` (9.18)
pub(super) fn location(reader: &mut Reader<'_>, data: &mut Vec<u8>) -> Result<(), Trouble> {
    let all = reader.rest();
    match all.first() {
        None => return Err(Trouble::UnexpectedEnd),
        Some(0) => {}
        Some(_) => {
            data.extend(all);
            return Ok(());
        }
    }
    let Some(fields) = all.first_chunk::<16>() else {
        return Err(Trouble::UnexpectedEnd);
    };
    let [_, size, horizontal, vertical, rest @ ..] = *fields;
    let is_size = |byte: u8| {
        let (base, power) = (byte >> 4, byte & 15);
        byte == 0 || power < 10 && (1..10).contains(&base)
    };
    let (words, _) = rest.as_chunks::<4>();
    let mut limits = words.iter().zip([90, 180]);
    let on_earth = limits.all(|(word, degrees)| {
        u32::from_be_bytes(*word).abs_diff(0x8000_0000) <= degrees * 3_600_000
    });
    if ![size, horizontal, vertical].into_iter().all(is_size) || !on_earth {
        return Err(Trouble::Bad("out of range"));
    }
    if all.len() > 16 {
        return Err(Trouble::Bad("extra input data"));
    }
    data.extend(all);
    Ok(())
}

/// Address prefixes (RFC 3123).
///
/// Source: BIND `lib/dns/rdata/in_1/apl_42.c`: `fromwire_in_apl` (9.18)
pub(super) fn prefixes(reader: &mut Reader<'_>, data: &mut Vec<u8>) -> Result<(), Trouble> {
    while reader.left() > 0 {
        let head = reader.take(4)?;
        let [family0, family1, prefix, length] =
            *head.first_chunk::<4>().ok_or(Trouble::UnexpectedEnd)?;
        let length = usize::from(length & 0x7f);
        let bytes = reader.take(length)?;
        let (most, most_bytes) = match u16::from_be_bytes([family0, family1]) {
            1 => (32, 4),
            2 => (128, 16),
            _ => (255, 127),
        };
        if prefix > most || length > most_bytes {
            return Err(Trouble::Bad("out of range"));
        }
        if bytes.last() == Some(&0) {
            return Err(FORMERR);
        }
        data.extend(head);
        data.extend(bytes);
    }
    Ok(())
}

/// IPSECKEY (RFC 4025): a key follows the gateway.
///
/// Source: BIND `lib/dns/rdata/generic/ipseckey_45.c`: `fromwire_ipseckey` (9.18)
pub(super) fn gateway(reader: &mut Reader<'_>, data: &mut Vec<u8>) -> Result<(), Trouble> {
    let mut all = *reader;
    let all = all.rest();
    let least = match all.get(..3) {
        None => return Err(Trouble::UnexpectedEnd),
        Some(&[_, 0, _]) => 4,
        Some(&[_, 1, _]) => 8,
        Some(&[_, 2, _]) => 20,
        Some(&[_, 3, _]) => {
            data.extend(reader.take(3)?);
            put_name(reader, data)?;
            let key = reader.rest();
            data.extend(key);
            let ends = key.is_empty();
            return if ends {
                Err(Trouble::UnexpectedEnd)
            } else {
                Ok(())
            };
        }
        Some(_) => return Err(Trouble::Bad("not implemented")),
    };
    if all.len() < least {
        return Err(Trouble::UnexpectedEnd);
    }
    data.extend(reader.rest());
    Ok(())
}

/// AMTRELAY (RFC 8777): nothing follows the relay; one of an unknown kind is
/// bytes to the end.
///
/// Source: BIND `lib/dns/rdata/generic/amtrelay_260.c`: `fromwire_amtrelay` (9.18)
pub(super) fn relay(reader: &mut Reader<'_>, data: &mut Vec<u8>) -> Result<(), Trouble> {
    let mut all = *reader;
    let all = all.rest();
    let length = match all.get(1) {
        None => return Err(Trouble::UnexpectedEnd),
        Some(kind) => match kind & 0x7f {
            0 => 2,
            1 => 6,
            2 => 18,
            3 => {
                data.extend(reader.take(2)?);
                return put_name(reader, data);
            }
            _ => all.len(),
        },
    };
    if all.len() != length {
        return Err(FORMERR);
    }
    data.extend(reader.rest());
    Ok(())
}

/// X25 (RFC 1183): one string of digits, four at least.
///
/// Source: BIND `lib/dns/rdata/generic/x25_19.c`: `fromwire_x25` (9.18)
pub(super) fn digits(reader: &mut Reader<'_>, data: &mut Vec<u8>) -> Result<(), Trouble> {
    let all = reader.rest();
    match all.split_first() {
        Some((&length, digits))
            if digits.len() >= 4
                && digits.len() == usize::from(length)
                && digits.iter().all(u8::is_ascii_digit) =>
        {
            data.extend(all);
            Ok(())
        }
        _ => Err(FORMERR),
    }
}

/// KEY, DNSKEY, CDNSKEY and RKEY.
///
/// Source: BIND `lib/dns/rdata/generic/key_25.c`: `generic_fromwire_key` (9.18)
pub(super) fn key(rdtype: u16, reader: &mut Reader<'_>, data: &mut Vec<u8>) -> Result<(), Trouble> {
    const KEY: u16 = 25;
    const RKEY: u16 = 57;
    const PRIVATE_DNS: u8 = 253;
    let head = reader.take(4)?;
    let [flags0, flags1, _, algorithm] = *head.first_chunk::<4>().ok_or(Trouble::UnexpectedEnd)?;
    if rdtype == RKEY && (flags0, flags1) != (0, 0) {
        return Err(FORMERR);
    }
    data.extend(head);
    if rdtype == KEY && flags0 & 0xc0 == 0xc0 {
        return Ok(());
    }
    if reader.left() == 0 {
        return Err(Trouble::UnexpectedEnd);
    }
    if algorithm == PRIVATE_DNS {
        put_name(reader, data)?;
    }
    data.extend(reader.rest());
    Ok(())
}

/// NXT (RFC 2535), which NSEC has replaced.
///
/// Source: BIND `lib/dns/rdata/generic/nxt_30.c`: `fromwire_nxt` (9.18)
pub(super) fn next(reader: &mut Reader<'_>, data: &mut Vec<u8>) -> Result<(), Trouble> {
    put_name(reader, data)?;
    let map = reader.rest();
    if let (Some(first), Some(last)) = (map.first(), map.last())
        && (first & 0x80 != 0 || map.len() > 16 || *last == 0)
    {
        return Err(Trouble::Bad("bad bitmap"));
    }
    data.extend(map);
    Ok(())
}

/// A6 (RFC 2874): the last bits of an address, and the name that has the
/// first.
///
/// Source: BIND `lib/dns/rdata/in_1/a6_38.c`: `fromwire_in_a6` (9.18)
pub(super) fn chained(reader: &mut Reader<'_>, data: &mut Vec<u8>) -> Result<(), Trouble> {
    let prefix = reader.u8()?;
    if prefix > 128 {
        return Err(Trouble::Bad("out of range"));
    }
    data.push(prefix);
    let suffix = reader.take(16 - usize::from(prefix / 8))?;
    if let Some(first) = suffix.first()
        && first & !(0xff >> (prefix % 8)) != 0
    {
        return Err(FORMERR);
    }
    data.extend(suffix);
    if prefix == 0 {
        return Ok(());
    }
    put_name(reader, data)
}

/// NSEC3 and NSEC3PARAM (RFC 5155).
///
/// Source: BIND `lib/dns/rdata/generic/nsec3_50.c`: `fromwire_nsec3`,
/// `lib/dns/rdata/generic/nsec3param_51.c`: `fromwire_nsec3param` (9.18)
pub(super) fn hashed(
    rdtype: u16,
    reader: &mut Reader<'_>,
    data: &mut Vec<u8>,
) -> Result<(), Trouble> {
    const NSEC3: u16 = 50;
    const SHA1: u8 = 1;
    let all = reader.rest();
    let is_fine = || {
        let (head, rest) = all.split_at_checked(5)?;
        let salt = usize::from(*head.last()?);
        let rest = rest.get(salt..)?;
        if rdtype != NSEC3 {
            return Some(rest.is_empty());
        }
        let (&length, rest) = rest.split_first()?;
        let types = rest.get(usize::from(length)..)?;
        let lengths = if head.first() == Some(&SHA1) {
            20..=20
        } else {
            1..=155
        };
        Some(lengths.contains(&length) && is_type_map(types))
    };
    if is_fine() != Some(true) {
        return Err(FORMERR);
    }
    data.extend(all);
    Ok(())
}

/// HIP (RFC 8005).
pub(super) fn host_identity(reader: &mut Reader<'_>, data: &mut Vec<u8>) -> Result<(), Trouble> {
    let mut all = *reader;
    let all = all.rest();
    let Some(&[identity, _, key0, key1]) = all.first_chunk::<4>() else {
        return Err(FORMERR);
    };
    let key = u16::from_be_bytes([key0, key1]);
    let length = 4 + usize::from(identity) + usize::from(key);
    if identity == 0 || key == 0 || all.len() < length {
        return Err(FORMERR);
    }
    data.extend(reader.take(length)?);
    while reader.left() > 0 {
        put_name(reader, data)?;
    }
    Ok(())
}
