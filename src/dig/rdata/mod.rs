//! The data of records: where their names are, and what BIND refuses.

mod parameters;
mod rules;
mod shapes;

use self::parameters::{check_options, check_parameters};
pub(crate) use self::rules::check_owner;
use self::rules::{check_digest, check_signature, check_tag, is_regular, sized};
use self::shapes::{
    chained, digits, gateway, hashed, host_identity, key, location, next, prefixes, relay,
};
use crate::dig::reader::{FORMERR, Reader, Trouble};

/// A part of a record's data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Field {
    /// A name, perhaps compressed.
    Name,
    /// So many bytes.
    Bytes(usize),
    /// A length byte and so many bytes.
    Text,
    /// One or more character strings.
    Texts,
    /// A text that replaces others (RFC 3402, section 3.2), or none.
    Pattern,
    /// A length byte and so many bytes, or nothing.
    MaybeText,
    /// All that is left.
    Rest,
    /// All that is left, at least so much.
    AtLeast(usize),
    /// All that is left, which breaks a rule if it is nothing.
    Something,
    /// Two length bytes and so many bytes.
    Long,
    /// The types that a name has (RFC 4034, section 4.1.2), at least one.
    Types,
    /// The same, perhaps none.
    MaybeTypes,
    /// The parameters of SVCB and HTTPS.
    Parameters,
    /// EDNS options.
    Options,
}

use Field::{
    AtLeast, Bytes, Long, MaybeText, MaybeTypes, Name, Options, Parameters, Pattern, Rest,
    Something, Text, Texts, Types,
};

const IN: u16 = 1;
const CH: u16 = 3;
const HS: u16 = 4;

/// The parts of a type's data; types that BIND does not know are bytes.
///
/// Source: BIND lib/dns/rdata: `fromwire_*` (9.18)
fn fields(rdtype: u16, class: u16) -> &'static [Field] {
    match (rdtype, class) {
        (1, IN | HS) => &[Bytes(4)],
        (1, CH) => &[Name, Bytes(2)],
        (2..=5 | 7..=9 | 12 | 39, _) | (23, IN) => &[Name],
        (6, _) => &[Name, Name, Bytes(20)],
        (13, _) => &[Text, Text],
        (14 | 17 | 58, _) => &[Name, Name],
        (15 | 18 | 21 | 107, _) | (36, IN) => &[Bytes(2), Name],
        (16 | 56 | 99 | 258 | 261 | 262, _) => &[Texts],
        (20, _) => &[Text, MaybeText],
        (24, _) => &[Bytes(18), Name, AtLeast(1)],
        (46, _) => &[Bytes(18), Name, Something],
        (26, IN) => &[Bytes(2), Name, Name],
        (27, _) => &[Text, Text, Text],
        (28, IN) => &[Bytes(16)],
        (22 | 31 | 32 | 49, IN) | (61 | 67 | 68, _) => &[AtLeast(1)],
        (33, IN) => &[Bytes(6), Name],
        (35, _) => &[Bytes(4), Text, Text, Pattern, Name],
        (37, _) => &[AtLeast(6)],
        (41, _) => &[Options],
        (43 | 59 | 32768 | 32769, _) => &[AtLeast(5)],
        (40, _) => &[AtLeast(3)],
        (44, _) => &[AtLeast(2)],
        (47, _) => &[Name, Types],
        (52 | 53 | 256, _) => &[AtLeast(4)],
        (62, _) => &[Bytes(6), MaybeTypes],
        (64 | 65, IN) => &[Bytes(2), Name, Parameters],
        (66, _) => &[Bytes(5), Name],
        (249, _) => &[Name, Bytes(12), Long, Long],
        (250, 255) => &[Name, Bytes(8), Long, Bytes(4), Long],
        (257, _) => &[Bytes(2), Rest],
        (259, _) => &[Bytes(9), Text, Rest],
        _ => &[Rest],
    }
}

/// Reads the data of a record: `reader` ends where it ends. Names are written
/// whole to `data`.
///
/// # Errors
///
/// It ends too early, too late, or breaks a rule of its type.
///
/// Source: BIND lib/dns/rdata.c: `dns_rdata_fromwire` (9.18)
pub(crate) fn read_data(
    rdtype: u16,
    class: u16,
    reader: &mut Reader<'_>,
    data: &mut Vec<u8>,
) -> Result<(), Trouble> {
    if rdtype == 0 {
        return Err(FORMERR);
    }
    match rdtype {
        11 | 34 if class == IN => sized(rdtype, reader, data)?,
        63 | 104..=106 | 108 | 109 => sized(rdtype, reader, data)?,
        19 => digits(reader, data)?,
        25 | 48 | 57 | 60 => key(rdtype, reader, data)?,
        29 => location(reader, data)?,
        30 => next(reader, data)?,
        38 if class == IN => chained(reader, data)?,
        42 if class == IN => prefixes(reader, data)?,
        45 => gateway(reader, data)?,
        50 | 51 => hashed(rdtype, reader, data)?,
        55 => host_identity(reader, data)?,
        260 => relay(reader, data)?,
        _ => {
            for field in fields(rdtype, class) {
                read_field(*field, reader, data)?;
            }
        }
    }
    match rdtype {
        43 | 59 | 32768 | 32769 => check_digest(data)?,
        46 => check_signature(data)?,
        44 => {
            let length = match data.get(1) {
                Some(1) => 22,
                Some(2) => 34,
                _ => data.len(),
            };
            if data.len() != length {
                return Err(FORMERR);
            }
        }
        257 => check_tag(data)?,
        _ => {}
    }
    if reader.left() > 0 {
        return Err(Trouble::Bad("extra input data"));
    }
    Ok(())
}

fn read_field(field: Field, reader: &mut Reader<'_>, data: &mut Vec<u8>) -> Result<(), Trouble> {
    match field {
        Name => put_name(reader, data)?,
        Bytes(count) => data.extend(reader.take(count)?),
        Text => put_text(reader, data)?,
        Pattern => {
            let start = data.len() + 1;
            put_text(reader, data)?;
            if !is_regular(data.get(start..).unwrap_or_default()) {
                return Err(Trouble::Bad("syntax error"));
            }
        }
        Texts => {
            put_text(reader, data)?;
            while reader.left() > 0 {
                put_text(reader, data)?;
            }
        }
        MaybeText => {
            if reader.left() > 0 {
                put_text(reader, data)?;
            }
        }
        Rest => data.extend(reader.rest()),
        AtLeast(count) => {
            if reader.left() < count {
                return Err(Trouble::UnexpectedEnd);
            }
            data.extend(reader.rest());
        }
        Something => {
            if reader.left() == 0 {
                return Err(FORMERR);
            }
            data.extend(reader.rest());
        }
        Long => {
            let length = reader.u16()?;
            data.extend(length.to_be_bytes());
            data.extend(reader.take(length.into())?);
        }
        Types | MaybeTypes => {
            let types = reader.rest();
            if !is_type_map(types) || types.is_empty() && field == Types {
                return Err(FORMERR);
            }
            data.extend(types);
        }
        Parameters => {
            let parameters = reader.rest();
            check_parameters(parameters)?;
            data.extend(parameters);
        }
        Options => {
            let options = reader.rest();
            check_options(options)?;
            data.extend(options);
        }
    }
    Ok(())
}

fn put_name(reader: &mut Reader<'_>, data: &mut Vec<u8>) -> Result<(), Trouble> {
    data.extend(reader.name()?.as_wire());
    data.push(0);
    Ok(())
}

fn put_text(reader: &mut Reader<'_>, data: &mut Vec<u8>) -> Result<(), Trouble> {
    let length = reader.u8()?;
    data.push(length);
    data.extend(reader.take(length.into())?);
    Ok(())
}

/// Source: BIND lib/dns/rdata.c: `typemap_test` (9.18)
fn is_type_map(mut map: &[u8]) -> bool {
    let mut last = None;
    while let Some((&[window, length], rest)) = map.split_first_chunk::<2>() {
        let Some((bits, rest)) = rest.split_at_checked(length.into()) else {
            return false;
        };
        let ends_in_bits = bits.last().is_some_and(|&byte| byte != 0);
        if bits.len() > 32 || !ends_in_bits || last.is_some_and(|last| last >= window) {
            return false;
        }
        last = Some(window);
        map = rest;
    }
    map.is_empty()
}

#[cfg(test)]
mod tests;
