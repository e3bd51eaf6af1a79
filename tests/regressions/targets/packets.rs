//! Captures, whatever is in them: frames, fragments, connections, what they carry;
//! and single packets on every kind of link.

use kdns::packet::{
    Assembler, Carried, Content, Frame, Limits, LinkType, Options, Reader, SeenMessage, Writer,
    dns::Header,
};

use super::SEPARATOR;

/// Small ones, so that they are reached.
const LIMITS: Limits = Limits {
    streams: 8,
    stream_bytes: 512,
    fragmented: 4,
    bytes: 2048,
    age: 1_000_000_000,
    fragment_age: 1_000_000,
};

/// A number that chooses what is looked into, then a capture; or packets with a
/// separator between them.
pub(crate) fn run(data: &[u8]) {
    let (&form, rest) = data.split_first().unwrap_or((&0, &[]));
    capture(rest, form);
    packets(rest, form);
}

fn assembler(form: u8) -> Assembler {
    Assembler::new(&Options {
        decap: form & 1 != 0,
        limits: LIMITS,
        ..Options::default()
    })
}

fn capture(bytes: &[u8], form: u8) {
    let Ok(mut reader) = Reader::open(bytes) else {
        return;
    };
    let mut assembler = assembler(form);
    let mut writer = Writer::begin(Vec::new(), "fuzz", &[]).unwrap();
    let mut before = 0;
    while let Ok(Some(frame)) = reader.next_frame() {
        assert_eq!(frame.number, before + 1);
        assert!(frame.original_length as usize >= frame.bytes.len());
        before = frame.number;
        writer.frame(&frame).unwrap();
        push(&mut assembler, &frame);
    }
    end(&mut assembler);
    let carried = Carried::of_comments(&reader.take_comments());
    // What is carried can be carried on.
    let again = Carried::of_comments(&carried.comments());
    assert_eq!(again.things.len(), carried.things.len());
    // What was read can be written, and is read as it was.
    let written = writer.end(reader.drops(), &[]).unwrap();
    let mut again = Reader::open(written.as_slice()).unwrap();
    let mut frames = 0;
    while let Some(frame) = again.next_frame().unwrap() {
        frames = frame.number;
    }
    assert_eq!(frames, before);
}

fn packets(bytes: &[u8], form: u8) {
    let links = [
        LinkType::Raw,
        LinkType::Ethernet,
        LinkType::CookedV1,
        LinkType::CookedV2,
        LinkType::Loopback,
    ];
    let mut assembler = assembler(form);
    for (number, bytes) in (1..).zip(bytes.split(|&byte| byte == SEPARATOR)) {
        let link = links[usize::from(form >> 1) % links.len()];
        let original_length = u32::try_from(bytes.len()).unwrap();
        push(
            &mut assembler,
            &Frame {
                is_time_known: true,
                number,
                time: i64::from(form) * 10_000 * number.cast_signed(),
                interface: u32::from(form & 2),
                outgoing: None,
                link,
                bytes,
                original_length,
            },
        );
    }
    end(&mut assembler);
}

fn push(assembler: &mut Assembler, frame: &Frame<'_>) {
    assembler.push(frame, &mut |it| check(&it));
    assert!(assembler.kept() <= LIMITS.bytes + LIMITS.stream_bytes + frame.bytes.len());
}

fn end(assembler: &mut Assembler) {
    assembler.end(&mut |it| check(&it));
    assert_eq!(assembler.kept(), 0);
}

fn check(seen: &SeenMessage<'_>) {
    match seen.content {
        Content::Message => assert!(Header::parse(seen.bytes).is_some()),
        Content::Cut { length } => {
            assert!(Header::parse(seen.bytes).is_some() && seen.bytes.len() < length);
        }
        Content::Incomplete { length } => assert!(seen.bytes.len() <= length),
        _ => {}
    }
}
