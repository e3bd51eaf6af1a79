//! Names of record types, classes, opcodes and response codes, as BIND
//! spells them.

use std::borrow::Cow;

use hickory_proto::rr::RecordType;

use crate::text::WordList;

/// Names and numbers of the record types that BIND 9.18 knows by name, and
/// [`RecordType`] does not read.
///
/// KEYDATA is not among them: BIND reads that name, and never writes it.
///
/// Source: BIND lib/dns/rdata (the files' names), lib/dns/gen.c: `main` (9.18)
#[rustfmt::skip]
const OTHER_TYPES: &[(&str, u16)] = &[
    ("MD", 3), ("MF", 4), ("MB", 7), ("MG", 8), ("MR", 9), ("WKS", 11), ("MINFO", 14), ("RP", 17),
    ("AFSDB", 18), ("X25", 19), ("ISDN", 20), ("RT", 21), ("NSAP", 22), ("NSAP-PTR", 23),
    ("PX", 26), ("GPOS", 27), ("LOC", 29), ("NXT", 30), ("EID", 31), ("NIMLOC", 32), ("ATMA", 34),
    ("KX", 36), ("A6", 38), ("SINK", 40), ("OPT", 41), ("APL", 42), ("IPSECKEY", 45), ("DHCID", 49),
    ("HIP", 55), ("NINFO", 56), ("RKEY", 57), ("TALINK", 58), ("ZONEMD", 63), ("DSYNC", 66),
    ("HHIT", 67), ("BRID", 68), ("SPF", 99), ("UINFO", 100), ("UID", 101), ("GID", 102),
    ("UNSPEC", 103), ("NID", 104), ("L32", 105), ("L64", 106), ("LP", 107), ("EUI48", 108),
    ("EUI64", 109), ("TKEY", 249), ("IXFR", 251), ("MAILB", 253), ("MAILA", 254), ("URI", 256),
    ("AVC", 258), ("DOA", 259), ("AMTRELAY", 260), ("RESINFO", 261), ("WALLET", 262), ("TA", 32768),
    ("DLV", 32769),
];

const KEYDATA: u16 = 65_533;

/// The opcodes from 0 to 15.
///
/// Source: BIND bin/dig/dig.c: `opcodetext` (9.18)
const OPCODES: WordList = WordList(
    "QUERY IQUERY STATUS RESERVED3 NOTIFY UPDATE RESERVED6 RESERVED7 RESERVED8 RESERVED9 \
     RESERVED10 RESERVED11 RESERVED12 RESERVED13 RESERVED14 RESERVED15",
);

/// The response codes from 0 to 16.
///
/// Source: BIND lib/dns/rcode.c: `RCODENAMES`, `ERCODENAMES` (9.18)
const RCODES: WordList = WordList(
    "NOERROR FORMERR SERVFAIL NXDOMAIN NOTIMP REFUSED YXDOMAIN YXRRSET NXRRSET NOTAUTH NOTZONE \
     RESERVED11 RESERVED12 RESERVED13 RESERVED14 RESERVED15 BADVERS",
);

/// Record type `MX`, `TYPE65280`.
pub fn type_text(rdtype: u16) -> Cow<'static, str> {
    let name = <&str>::from(RecordType::from(rdtype));
    if shared(name.as_bytes()) == Some(rdtype) {
        return name.into();
    }
    let mut others = OTHER_TYPES.iter();
    match others.find(|(_, number)| *number == rdtype) {
        Some(&(name, _)) => name.into(),
        None => format!("TYPE{rdtype}").into(),
    }
}

/// The type of a name that both [`RecordType`] and BIND read.
fn shared(text: &[u8]) -> Option<u16> {
    let name = std::str::from_utf8(text).ok()?.to_ascii_uppercase();
    let read: Option<RecordType> = name.parse().ok();
    let is_binds = |it: &RecordType| name != "*" && *it != RecordType::ANAME;
    read.filter(is_binds).map(u16::from)
}

/// Class `IN`, `CH`, `CLASS42`.
pub fn class_text(class: u16) -> Cow<'static, str> {
    match class {
        0 => "RESERVED0".into(),
        1 => "IN".into(),
        3 => "CH".into(),
        4 => "HS".into(),
        254 => "NONE".into(),
        255 => "ANY".into(),
        other => format!("CLASS{other}").into(),
    }
}

/// Opcode `QUERY`, from 0 to 15; only the lower four bits count.
pub fn opcode_text(opcode: u8) -> &'static str {
    let mut names = OPCODES.iter();
    names.nth(usize::from(opcode & 15)).unwrap_or_default()
}

/// Response code `NXDOMAIN`, `BADCOOKIE`; a number where there is no name.
pub fn rcode_text(rcode: u16) -> Cow<'static, str> {
    match (RCODES.iter().nth(usize::from(rcode)), rcode) {
        (Some(name), _) => name.into(),
        (None, 23) => "BADCOOKIE".into(),
        (None, other) => other.to_string().into(),
    }
}

/// The type of this name or `TYPEnnn`, in any case.
///
/// Source: BIND lib/dns/rdata.c: `dns_rdatatype_fromtext` (9.18)
pub fn type_of(text: &[u8]) -> Option<u16> {
    let named = OTHER_TYPES
        .iter()
        .find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(text));
    let is_keydata = text.eq_ignore_ascii_case(b"KEYDATA");
    named
        .map(|&(_, number)| number)
        .or_else(|| shared(text))
        .or(is_keydata.then_some(KEYDATA))
        .or_else(|| numbered(text, b"type"))
}

/// The class of this name or `CLASSnnn`, in any case.
///
/// Source: BIND lib/dns/rdataclass.c: `dns_rdataclass_fromtext` (9.18)
pub fn class_of(text: &[u8]) -> Option<u16> {
    let class = match text.to_ascii_lowercase().as_slice() {
        b"reserved0" => 0,
        b"in" => 1,
        b"ch" | b"chaos" => 3,
        b"hs" | b"hesiod" => 4,
        b"none" => 254,
        b"any" => 255,
        _ => return numbered(text, b"class"),
    };
    Some(class)
}

/// The opcode of this name, in any case.
pub fn opcode_of(text: &[u8]) -> Option<u8> {
    let at = OPCODES
        .iter()
        .position(|name| name.as_bytes().eq_ignore_ascii_case(text))?;
    u8::try_from(at).ok()
}

/// The number behind `word`, up to five digits as `strtoul` reads them.
fn numbered(text: &[u8], word: &[u8]) -> Option<u16> {
    let (before, number) = text.split_at_checked(word.len())?;
    if !before.eq_ignore_ascii_case(word) || number.is_empty() || number.len() > 5 {
        return None;
    }
    std::str::from_utf8(number).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_read_as_it_is_written() {
        let named = (0..=u16::MAX).filter(|number| {
            let text = type_text(*number);
            let again = type_of(text.as_bytes());
            assert_eq!(again, Some(*number), "{text}");
            !text.starts_with("TYPE")
        });
        assert_eq!(named.count(), 94);
        for other in ["ANAME", "*", "ZERO", "Unknown"] {
            assert_eq!(type_of(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn types_and_classes_are_read_in_any_case() {
        for (text, expected) in [
            ("mx", Some(15)),
            ("Type65280", Some(65280)),
            ("TYPE65536", None),
            ("type", None),
            ("type000001", None),
            ("nsap-ptr", Some(23)),
            ("keydata", Some(65533)),
            ("www", None),
        ] {
            assert_eq!(type_of(text.as_bytes()), expected, "{text}");
        }
        for (text, expected) in [
            ("ch", Some(3)),
            ("Chaos", Some(3)),
            ("class42", Some(42)),
            ("any", Some(255)),
            ("i", None),
        ] {
            assert_eq!(class_of(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn what_has_no_name_is_a_number() {
        assert_eq!(type_text(65280), "TYPE65280");
        assert_eq!(class_text(42), "CLASS42");
        assert_eq!(rcode_text(23), "BADCOOKIE");
        assert_eq!(rcode_text(24), "24");
        assert_eq!(opcode_text(5), "UPDATE");
    }
}
