//! What BIND refuses although its shape is right.

use crate::dig::reader::{FORMERR, Reader, Trouble};
use crate::name::Name;

/// Types whose data has a length of its own; the data is taken whole.
///
/// Source: BIND lib/dns/rdata: `fromwire_in_wks`, `fromwire_in_atma`,
/// `fromwire_zonemd`, `fromwire_nid`, `fromwire_l32`, `fromwire_l64`,
/// `fromwire_eui48`, `fromwire_eui64` (9.18)
pub(super) fn sized(
    rdtype: u16,
    reader: &mut Reader<'_>,
    data: &mut Vec<u8>,
) -> Result<(), Trouble> {
    let all = reader.rest();
    let length = all.len();
    let exactly = |wanted: usize| {
        if length == wanted {
            Ok(())
        } else {
            Err(FORMERR)
        }
    };
    let at_least = |wanted: usize| {
        if length < wanted {
            return Err(Trouble::UnexpectedEnd);
        }
        Ok(())
    };
    match rdtype {
        11 => {
            at_least(5)?;
            if length > 8 * 1024 + 5 {
                return Err(Trouble::Bad("extra input data"));
            }
            if length > 5 && all.last() == Some(&0) {
                return Err(FORMERR);
            }
        }
        34 => {
            at_least(2)?;
            let digits = all.get(1..).unwrap_or_default();
            if all.first() == Some(&1) && !digits.iter().all(u8::is_ascii_digit) {
                return Err(FORMERR);
            }
        }
        63 => {
            at_least(18)?;
            let digest = match all.get(5) {
                Some(1) => 48,
                Some(2) => 64,
                _ => length - 6,
            };
            at_least(6 + digest)?;
            if length > 6 + digest {
                return Err(Trouble::Bad("extra input data"));
            }
        }
        104 | 106 => exactly(10)?,
        105 | 108 => exactly(6)?,
        _ => exactly(8)?,
    }
    data.extend(all);
    Ok(())
}

/// An RRSIG record counts no fewer labels than its signer has. BIND 9.18.49
/// as Debian has it refuses others.
pub(super) fn check_signature(data: &[u8]) -> Result<(), Trouble> {
    let counted = data.get(3).copied().unwrap_or_default();
    let mut reader = Reader::new(data);
    reader.take(18)?;
    let signer = reader.name()?.labels().count();
    if signer > usize::from(counted) {
        return Err(FORMERR);
    }
    Ok(())
}

/// A delimiter, an expression, what replaces its matches, and flags, with the
/// delimiter between them. The expression itself is not judged but for how
/// many groups it has.
///
/// Source: BIND `lib/dns/rdata/generic/naptr_35.c`: `txt_valid_regex` (9.18)
pub(super) fn is_regular(text: &[u8]) -> bool {
    let Some((&delimiter, rest)) = text.split_first() else {
        return true;
    };
    if matches!(delimiter, b'0'..=b'9' | b'\\' | b'i' | 0) || rest.contains(&0) {
        return false;
    }
    let (mut part, mut groups, mut wanted) = (0, 0, 0);
    let mut bytes = rest.iter().copied();
    while let Some(byte) = bytes.next() {
        match (part, byte) {
            (0 | 1, byte) if byte == delimiter => part += 1,
            (2, b'i') if byte != delimiter => {}
            (2, _) => return false,
            (0, b'(') => groups += 1,
            (_, b'\\') => match (part, bytes.next()) {
                (_, None) | (1, Some(b'0')) => return false,
                (1, Some(digit @ b'1'..=b'9')) => wanted = wanted.max(digit - b'0'),
                _ => {}
            },
            _ => {}
        }
    }
    part == 2 && wanted <= groups
}

/// Digests of a known kind have their length.
///
/// Source: BIND `lib/dns/rdata/generic/ds_43.c`: `generic_fromwire_ds` (9.18)
pub(super) fn check_digest(data: &[u8]) -> Result<(), Trouble> {
    let length = match data.get(3) {
        Some(1) => 20,
        Some(2) => 32,
        Some(4) => 48,
        _ => return Ok(()),
    };
    if data.len() < 4 + length {
        return Err(Trouble::UnexpectedEnd);
    }
    if data.len() > 4 + length {
        return Err(Trouble::Bad("extra input data"));
    }
    Ok(())
}

/// Source: BIND `lib/dns/rdata/generic/caa_257.c`: `fromwire_caa` (9.18)
pub(super) fn check_tag(data: &[u8]) -> Result<(), Trouble> {
    let length = data.get(1).copied().unwrap_or_default();
    let tag = data.get(2..2 + usize::from(length)).unwrap_or_default();
    if tag.is_empty() || !tag.iter().all(u8::is_ascii_alphanumeric) {
        return Err(FORMERR);
    }
    Ok(())
}

/// The owner of an NSEC3 record begins with a hash.
///
/// # Errors
///
/// It does not.
///
/// Source: BIND lib/dns/message.c: `getsection` (9.18)
pub(crate) fn check_owner(rdtype: u16, owner: &Name) -> Result<(), Trouble> {
    const NSEC3: u16 = 50;
    if rdtype == NSEC3 && !is_hashed(owner) {
        return Err(Trouble::Bad("bad owner name (check-names)"));
    }
    Ok(())
}

/// Whether the first label may be a hash (RFC 5155, section 3.3): base32 whose
/// last bits are zero.
///
/// Source: BIND `lib/dns/rdata/generic/nsec3_50.c`: `checkowner_nsec3` (9.18)
fn is_hashed(owner: &Name) -> bool {
    let label = owner.labels().next().unwrap_or_default();
    let digits = label.iter().map(|&byte| char::from(byte).to_digit(32));
    let spare = match label.len() % 8 {
        0 => 0,
        2 => 2,
        4 => 4,
        5 => 1,
        7 => 3,
        _ => return false,
    };
    let is_last_free = |digit: u32| digit.trailing_zeros() >= spare;
    let mut last = Some(0);
    for digit in digits {
        if digit.is_none() {
            return false;
        }
        last = digit;
    }
    last.is_some_and(is_last_free)
}
