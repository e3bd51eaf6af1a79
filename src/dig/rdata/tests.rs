use super::*;

const HIP: u16 = 55;
const LOC: u16 = 29;
const NSEC: u16 = 47;
const WKS: u16 = 11;

fn is_good(rdtype: u16, data: &[u8]) -> bool {
    let mut reader = Reader::new(data);
    read_data(rdtype, IN, &mut reader, &mut Vec::new()).is_ok()
}

#[test]
fn services_have_a_bit_a_port() {
    let wks = |bytes: usize| [&[10, 0, 0, 1, 6][..], &vec![1; bytes]].concat();
    assert!(is_good(WKS, &wks(8192)));
    assert!(!is_good(WKS, &wks(8193)));
    assert!(!is_good(WKS, &wks(0)[..4]));
}

#[test]
fn windows_of_types_rise() {
    let nsec = |map: &[u8]| [&[0][..], map].concat();
    assert!(is_good(NSEC, &nsec(&[0, 1, 1, 1, 1, 1])));
    assert!(!is_good(NSEC, &nsec(&[0, 1, 1, 0, 1, 1])));
    assert!(!is_good(NSEC, &nsec(&[1, 1, 1, 0, 1, 1])));
    assert!(!is_good(NSEC, &nsec(&[0, 1, 0])));
}

/// A size is a digit and a power of ten, in centimetres.
#[test]
fn sizes_of_places_are_one_to_nine() {
    let loc = |size: u8| {
        let middle = 0x8000_0000_u32.to_be_bytes();
        [&[0, size, 0x16, 0x13][..], &middle, &middle, &[0; 4]].concat()
    };
    for (size, expected) in [
        (0x00, true),
        (0x12, true),
        (0x99, true),
        (0x02, false),
        (0xa2, false),
        (0x1a, false),
    ] {
        assert_eq!(is_good(LOC, &loc(size)), expected, "{size:#x}");
    }
}

/// Lengths of an identity and of a key, an algorithm between them, then both.
#[test]
fn hosts_have_an_identity_and_a_key() {
    for (data, expected) in [
        (&[1, 2, 0, 2, 7, 8, 9][..], true),
        (&[1, 2, 0, 2, 7, 8], false),
        (&[0, 2, 0, 2, 8, 9], false),
        (&[1, 2, 0, 0, 7], false),
        (&[1, 2, 0], false),
    ] {
        assert_eq!(is_good(HIP, data), expected, "{data:?}");
    }
}
