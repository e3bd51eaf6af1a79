//! Names of record types, classes, opcodes and response codes, as BIND
//! spells them.

use std::borrow::Cow;

/// Names and numbers of the record types that BIND 9.18 knows by name.
///
/// KEYDATA is not among them, as BIND keeps it to itself.
///
/// Source: BIND lib/dns/rdata (the files' names), lib/dns/gen.c: `main` (9.18)
const TYPES: &[(&str, u16)] = &[
    ("A", 1),
    ("NS", 2),
    ("MD", 3),
    ("MF", 4),
    ("CNAME", 5),
    ("SOA", 6),
    ("MB", 7),
    ("MG", 8),
    ("MR", 9),
    ("NULL", 10),
    ("WKS", 11),
    ("PTR", 12),
    ("HINFO", 13),
    ("MINFO", 14),
    ("MX", 15),
    ("TXT", 16),
    ("RP", 17),
    ("AFSDB", 18),
    ("X25", 19),
    ("ISDN", 20),
    ("RT", 21),
    ("NSAP", 22),
    ("NSAP-PTR", 23),
    ("SIG", 24),
    ("KEY", 25),
    ("PX", 26),
    ("GPOS", 27),
    ("AAAA", 28),
    ("LOC", 29),
    ("NXT", 30),
    ("EID", 31),
    ("NIMLOC", 32),
    ("SRV", 33),
    ("ATMA", 34),
    ("NAPTR", 35),
    ("KX", 36),
    ("CERT", 37),
    ("A6", 38),
    ("DNAME", 39),
    ("SINK", 40),
    ("OPT", 41),
    ("APL", 42),
    ("DS", 43),
    ("SSHFP", 44),
    ("IPSECKEY", 45),
    ("RRSIG", 46),
    ("NSEC", 47),
    ("DNSKEY", 48),
    ("DHCID", 49),
    ("NSEC3", 50),
    ("NSEC3PARAM", 51),
    ("TLSA", 52),
    ("SMIMEA", 53),
    ("HIP", 55),
    ("NINFO", 56),
    ("RKEY", 57),
    ("TALINK", 58),
    ("CDS", 59),
    ("CDNSKEY", 60),
    ("OPENPGPKEY", 61),
    ("CSYNC", 62),
    ("ZONEMD", 63),
    ("SVCB", 64),
    ("HTTPS", 65),
    ("DSYNC", 66),
    ("HHIT", 67),
    ("BRID", 68),
    ("SPF", 99),
    ("UINFO", 100),
    ("UID", 101),
    ("GID", 102),
    ("UNSPEC", 103),
    ("NID", 104),
    ("L32", 105),
    ("L64", 106),
    ("LP", 107),
    ("EUI48", 108),
    ("EUI64", 109),
    ("TKEY", 249),
    ("TSIG", 250),
    ("IXFR", 251),
    ("AXFR", 252),
    ("MAILB", 253),
    ("MAILA", 254),
    ("ANY", 255),
    ("URI", 256),
    ("CAA", 257),
    ("AVC", 258),
    ("DOA", 259),
    ("AMTRELAY", 260),
    ("RESINFO", 261),
    ("WALLET", 262),
    ("TA", 32768),
    ("DLV", 32769),
];

/// The opcodes from 0 to 15.
///
/// Source: BIND bin/dig/dig.c: `opcodetext` (9.18)
const OPCODES: [&str; 16] = [
    "QUERY",
    "IQUERY",
    "STATUS",
    "RESERVED3",
    "NOTIFY",
    "UPDATE",
    "RESERVED6",
    "RESERVED7",
    "RESERVED8",
    "RESERVED9",
    "RESERVED10",
    "RESERVED11",
    "RESERVED12",
    "RESERVED13",
    "RESERVED14",
    "RESERVED15",
];

/// The response codes from 0 to 16.
///
/// Source: BIND lib/dns/rcode.c: `RCODENAMES`, `ERCODENAMES` (9.18)
const RCODES: [&str; 17] = [
    "NOERROR",
    "FORMERR",
    "SERVFAIL",
    "NXDOMAIN",
    "NOTIMP",
    "REFUSED",
    "YXDOMAIN",
    "YXRRSET",
    "NXRRSET",
    "NOTAUTH",
    "NOTZONE",
    "RESERVED11",
    "RESERVED12",
    "RESERVED13",
    "RESERVED14",
    "RESERVED15",
    "BADVERS",
];

/// Record type `MX`, `TYPE65280`.
pub fn type_text(rdtype: u16) -> Cow<'static, str> {
    match TYPES.binary_search_by_key(&rdtype, |&(_, number)| number) {
        Ok(at) => TYPES
            .get(at)
            .map_or(Cow::Borrowed(""), |&(name, _)| name.into()),
        Err(_) => format!("TYPE{rdtype}").into(),
    }
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
    OPCODES
        .get(usize::from(opcode & 15))
        .copied()
        .unwrap_or_default()
}

/// Response code `NXDOMAIN`, `BADCOOKIE`; a number where there is no name.
pub fn rcode_text(rcode: u16) -> Cow<'static, str> {
    match (RCODES.get(usize::from(rcode)), rcode) {
        (Some(name), _) => (*name).into(),
        (None, 23) => "BADCOOKIE".into(),
        (None, other) => other.to_string().into(),
    }
}

/// The type of this name or `TYPEnnn`, in any case.
///
/// Source: BIND lib/dns/rdata.c: `dns_rdatatype_fromtext` (9.18)
pub fn type_of(text: &[u8]) -> Option<u16> {
    let named = TYPES
        .iter()
        .find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(text));
    named
        .map(|&(_, number)| number)
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
    fn the_table_is_sorted() {
        assert!(TYPES.windows(2).all(|pair| pair[0].1 < pair[1].1));
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
