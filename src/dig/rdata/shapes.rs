//! Data whose shape depends on what is in it.

use super::put_name;
use crate::dig::message::{FORMERR, Reader, Trouble};

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
    if all.len() > 16 {
        return Err(Trouble::Bad("extra input data"));
    }
    let [_, size, horizontal, vertical, rest @ ..] = *fields;
    let is_size = |byte: u8| {
        let (base, power) = (byte >> 4, byte & 15);
        power < 10 && base < 10 && (base != 0 || power == 0)
    };
    let (words, _) = rest.as_chunks::<4>();
    let mut limits = words.iter().zip([90, 180]);
    let on_earth = limits.all(|(word, degrees)| {
        u32::from_be_bytes(*word).abs_diff(0x8000_0000) <= degrees * 3_600_000
    });
    if ![size, horizontal, vertical].into_iter().all(is_size) || !on_earth {
        return Err(Trouble::Bad("out of range"));
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
        if prefix > most || length > most_bytes || bytes.last() == Some(&0) {
            return Err(FORMERR);
        }
        data.extend(head);
        data.extend(bytes);
    }
    Ok(())
}

/// IPSECKEY and AMTRELAY: a head of so many bytes that tells the kind of the
/// gateway behind it; a gateway of an unknown kind is bytes to the end.
pub(super) fn gateway(
    reader: &mut Reader<'_>,
    data: &mut Vec<u8>,
    head: usize,
    kind: impl Fn(&[u8]) -> Option<u8>,
) -> Result<(), Trouble> {
    let head = reader.take(head)?;
    data.extend(head);
    match kind(head) {
        Some(1) => data.extend(reader.take(4)?),
        Some(2) => data.extend(reader.take(16)?),
        Some(3) => put_name(reader, data)?,
        _ => {}
    }
    // A relay has nothing behind its gateway.
    if head.len() == 3 || kind(head).is_some_and(|kind| kind > 3) {
        data.extend(reader.rest());
    }
    Ok(())
}

/// HIP (RFC 8005).
pub(super) fn host_identity(reader: &mut Reader<'_>, data: &mut Vec<u8>) -> Result<(), Trouble> {
    let head = reader.take(4)?;
    let [identity, _, key0, key1] = *head.first_chunk::<4>().ok_or(Trouble::UnexpectedEnd)?;
    let key = u16::from_be_bytes([key0, key1]);
    if identity == 0 || key == 0 {
        return Err(FORMERR);
    }
    data.extend(head);
    data.extend(reader.take(usize::from(identity) + usize::from(key))?);
    while reader.left() > 0 {
        put_name(reader, data)?;
    }
    Ok(())
}
