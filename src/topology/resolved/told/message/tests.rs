use super::*;

fn message(kind: u8, fields: &[u8], body: &[u8]) -> Vec<u8> {
    let mut message = Writer(vec![b'l', kind, 0, VERSION]);
    message.number(u32::try_from(body.len()).unwrap());
    message.number(7);
    message.number(u32::try_from(fields.len()).unwrap());
    message.0.extend(fields);
    message.align(8);
    message.0.extend(body);
    message.0
}

#[test]
fn a_call_is_as_the_bus_expects_it() {
    let call = Call {
        serial: 1,
        destination: "org.freedesktop.DBus",
        path: "/org/freedesktop/DBus",
        interface: "org.freedesktop.DBus",
        member: "Hello",
        argument: None,
    };
    // As the specification lays it out.
    let expected = b"l\x01\x02\x01\0\0\0\0\x01\0\0\0m\0\0\0\
        \x01\x01o\0\x15\0\0\0/org/freedesktop/DBus\0\0\0\
        \x02\x01s\0\x14\0\0\0org.freedesktop.DBus\0\0\0\0\
        \x03\x01s\0\x05\0\0\0Hello\0\0\0\
        \x06\x01s\0\x14\0\0\0org.freedesktop.DBus\0\0\0\0";
    assert_eq!(call.bytes(), expected);
    let header: [u8; HEADER] = expected[..HEADER].try_into().unwrap();
    assert_eq!(length(header), Some(expected.len()));
    let with = Call {
        argument: Some("abc"),
        ..call
    };
    let bytes = with.bytes();
    assert_eq!(&bytes[bytes.len() - 8..], b"\x03\0\0\0abc\0");
    let header: [u8; HEADER] = bytes[..HEADER].try_into().unwrap();
    assert_eq!(length(header), Some(bytes.len()));
    // It is no answer.
    assert!(reply(&bytes).is_none());
}

#[test]
fn answers() {
    let fields = b"\x05\x01u\0\x09\0\0\0\x08\x01g\0\x01u\0";
    let bytes = message(METHOD_RETURN, fields, &[5, 0, 0, 0]);
    let mut found = reply(&bytes).unwrap();
    assert_eq!((found.to, found.error, found.signature), (9, None, "u"));
    assert_eq!(found.body.number(), Some(5));
    assert_eq!(found.body.number(), None);
    let fields = b"\x05\x01u\0\x09\0\0\0\x04\x01s\0\x03\0\0\0a.B\0";
    let bytes = message(ERROR, fields, b"");
    assert_eq!(reply(&bytes).unwrap().error, Some("a.B"));
    // A signal; one that answers nothing.
    assert!(reply(&message(4, fields, b"")).is_none());
    assert!(reply(&message(METHOD_RETURN, b"", b"")).is_none());
}

#[test]
fn whatever_comes_is_read_to_an_end() {
    let fields = b"\x05\x01u\0\x09\0\0\0\x08\x01g\0\x05a{sv}\0";
    let good = message(
        METHOD_RETURN,
        fields,
        b"\x10\0\0\0\0\0\0\0\x01\0\0\0a\0\x01u\0\0\0\0\x07\0\0\0",
    );
    for at in 0..good.len() {
        for byte in [0, 1, 8, b'a', b'v', b'(', 0x7f, 0xff] {
            let mut bytes = good.clone();
            bytes[at] = byte;
            let _ = reply(&bytes).map(|mut it| it.body.skip(it.signature.as_bytes(), 0));
            let _ = reply(&bytes[..at]);
        }
    }
    let deep = [b'('; 200];
    assert_eq!(single(&deep, 0), None);
    let nested: Vec<u8> = b"\x01v\0".repeat(100);
    let bytes = [b"l".as_slice(), &nested].concat();
    let mut reader = Reader::of(&bytes).unwrap();
    reader.at = 1;
    assert_eq!(reader.skip(b"v", 0), None);
    for header in [
        [0; HEADER],
        [0xff; HEADER],
        *b"l\x02\0\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    ] {
        assert!(length(header).is_none_or(|it| it > 1 << 32));
    }
}
