use super::*;

/// A pcap file with this magic number, version 2.4, link type 1.
fn pcap(magic: u32, is_big_endian: bool, packets: &[(u32, u32, &[u8], u32)]) -> Vec<u8> {
    let word = |it: u32| {
        if is_big_endian {
            it.to_be_bytes()
        } else {
            it.to_le_bytes()
        }
    };
    let version = if is_big_endian {
        [0, 2, 0, 4]
    } else {
        [2, 0, 4, 0]
    };
    let mut file = [word(magic), version, [0; 4], [0; 4], word(96), word(1)].concat();
    for (seconds, fraction, bytes, original) in packets {
        let captured = u32::try_from(bytes.len()).unwrap();
        for it in [*seconds, *fraction, captured, *original] {
            file.extend(word(it));
        }
        file.extend(*bytes);
    }
    file
}

/// Number, time, interface, bytes and original length of every frame, and how the
/// capture ended.
type Read = (Vec<(u64, i64, u32, Vec<u8>, u32)>, Option<String>);

fn read(source: impl io::Read) -> Read {
    let mut frames = Vec::new();
    let mut reader = match Reader::open(source) {
        Ok(reader) => reader,
        Err(error) => return (frames, Some(error.to_string())),
    };
    loop {
        match reader.next_frame() {
            Ok(Some(it)) => {
                let bytes = it.bytes.to_vec();
                frames.push((it.number, it.time, it.interface, bytes, it.original_length));
            }
            Ok(None) => return (frames, None),
            Err(error) => return (frames, Some(error.to_string())),
        }
    }
}

#[test]
fn pcap_in_both_orders_and_resolutions() {
    for is_big_endian in [false, true] {
        for (magic, unit) in [(0xa1b2_c3d4, 1000), (0xa1b2_3c4d, 1)] {
            let packets = [(7, 5, &b"abc"[..], 60), (8, 999_999, b"", 0)];
            let file = pcap(magic, is_big_endian, &packets);
            let expected = vec![
                (1, 7_000_000_000 + 5 * unit, 0, b"abc".to_vec(), 60),
                (2, 8_000_000_000 + 999_999 * unit, 0, Vec::new(), 0),
            ];
            assert_eq!(read(file.as_slice()), (expected, None));
        }
    }
}

/// A snap length in the header that packets do not keep to, a length that is less
/// than what was captured.
#[test]
fn contradictions_that_do_no_harm() {
    let long = vec![7; 3000];
    let (frames, ended) = read(pcap(0xa1b2_c3d4, false, &[(1, 0, &long, 20)]).as_slice());
    assert_eq!((frames[0].3.len(), frames[0].4, ended), (3000, 3000, None));
}

#[test]
fn what_is_no_capture() {
    let check = |bytes: &[u8], expected: &str| {
        assert_eq!(
            read(bytes),
            (Vec::new(), Some(expected.to_owned())),
            "{bytes:02x?}"
        );
    };
    check(b"", "it is empty");
    check(b"ab", "it is no pcap and no pcapng file");
    check(
        b"nameserver 10.96.0.10\n",
        "it is no pcap and no pcapng file",
    );
    check(b"\xa1\xb2\xff\xff", "it is no pcap and no pcapng file");
    check(
        b"\xd4\xc3\xb2\xa1\x02",
        "it ends in the middle of a record, after frame 0",
    );
}

/// Blocks of pcapng.
struct Blocks {
    bytes: Vec<u8>,
    is_big_endian: bool,
}

impl Blocks {
    fn new(is_big_endian: bool) -> Self {
        let mut blocks = Self {
            bytes: Vec::new(),
            is_big_endian,
        };
        let options = blocks.option(1, b"a comment");
        let mut body = blocks.word(0x1a2b_3c4d);
        body.extend(blocks.half(1));
        body.extend([0; 2]);
        body.extend([0xff; 8]);
        body.extend(options);
        blocks.block(0x0a0d_0d0a, &body);
        blocks
    }

    fn half(&self, it: u16) -> Vec<u8> {
        if self.is_big_endian {
            it.to_be_bytes()
        } else {
            it.to_le_bytes()
        }
        .to_vec()
    }

    fn word(&self, it: u32) -> Vec<u8> {
        if self.is_big_endian {
            it.to_be_bytes()
        } else {
            it.to_le_bytes()
        }
        .to_vec()
    }

    fn option(&self, code: u16, value: &[u8]) -> Vec<u8> {
        let length = u16::try_from(value.len()).unwrap();
        let mut bytes = [self.half(code), self.half(length), value.to_vec()].concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn block(&mut self, kind: u32, body: &[u8]) {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = self.word(u32::try_from(body.len() + 12).unwrap());
        self.bytes
            .extend([self.word(kind), length.clone(), body, length].concat());
    }

    fn interface(&mut self, link: u16, resolution: Option<u8>, offset: Option<i64>) {
        let mut body = [self.half(link), self.half(0), self.word(0)].concat();
        if let Some(resolution) = resolution {
            body.extend(self.option(9, &[resolution]));
        }
        if let Some(offset) = offset {
            let bytes = if self.is_big_endian {
                offset.to_be_bytes()
            } else {
                offset.to_le_bytes()
            };
            body.extend(self.option(14, &bytes));
        }
        self.block(1, &body);
    }

    fn packet(&mut self, interface: u32, units: u64, bytes: &[u8]) {
        let high = u32::try_from(units >> 32).unwrap();
        let low = u32::try_from(units & 0xffff_ffff).unwrap();
        let length = u32::try_from(bytes.len()).unwrap();
        let words = [interface, high, low, length, length].map(|it| self.word(it));
        let flags = self.word(2);
        let mut body = [words.concat(), bytes.to_vec()].concat();
        body.resize(body.len().next_multiple_of(4), 0);
        body.extend(self.option(2, &flags));
        self.block(6, &body);
    }
}

#[test]
fn resolutions_and_interfaces() {
    for is_big_endian in [false, true] {
        let mut blocks = Blocks::new(is_big_endian);
        let units = [
            (None, 1_700_000_000_123_456, 123_456_000),
            (Some(9), 1_700_000_000_123_456_789, 123_456_789),
            (Some(3), 1_700_000_000_123, 123_000_000),
            (Some(0), 1_700_000_000, 0),
            (Some(10), 17_000_000_001_234_567_891, 123_456_789),
            (Some(0x8a), 1_700_000_000 * 1024 + 512, 500_000_000),
        ];
        for (resolution, _, _) in units {
            blocks.interface(1, resolution, None);
        }
        blocks.interface(1, Some(0), Some(-1_700_000_000));
        for (interface, (_, units, _)) in (0..).zip(units) {
            blocks.packet(interface, units, b"x");
        }
        blocks.packet(6, 1_700_000_007, b"y");
        // Blocks that are not known, and another section.
        blocks.block(0xbad, b"whatever");
        blocks.bytes.extend(Blocks::new(!is_big_endian).bytes);
        blocks.is_big_endian = !is_big_endian;
        blocks.interface(101, None, None);
        blocks.packet(0, 5, b"z");
        let (frames, ended) = read(blocks.bytes.as_slice());
        assert_eq!(ended, None);
        let times: Vec<i64> = frames.iter().map(|it| it.1).collect();
        let mut expected: Vec<i64> = units
            .iter()
            .map(|it| 1_700_000_000_000_000_000 + it.2)
            .collect();
        expected.extend([7_000_000_000, 5_000]);
        assert_eq!(times, expected);
        let mut reader = Reader::open(blocks.bytes.as_slice()).unwrap();
        let frame = reader.next_frame().unwrap().unwrap();
        assert_eq!(
            (frame.outgoing, frame.link),
            (Some(true), LinkType::Ethernet)
        );
        while reader.next_frame().unwrap().is_some() {}
        assert_eq!(reader.take_comments(), ["a comment", "a comment"]);
    }
}

/// Drops of all interfaces and sections are added up; simple packets have no time.
#[test]
fn statistics_and_simple_packets() {
    let mut blocks = Blocks::new(false);
    blocks.interface(1, None, None);
    let drops = |count: u64| blocks_statistics(count);
    blocks.block(3, &[blocks.word(3), b"abc".to_vec()].concat());
    blocks.block(5, &drops(2));
    blocks.block(5, &drops(7));
    blocks.bytes.extend(Blocks::new(false).bytes);
    blocks.interface(1, None, None);
    blocks.block(5, &drops(5));
    let mut reader = Reader::open(blocks.bytes.as_slice()).unwrap();
    let frame = reader.next_frame().unwrap().unwrap();
    assert_eq!((frame.bytes, frame.time), (&b"abc"[..], 0));
    assert!(reader.next_frame().unwrap().is_none());
    assert_eq!(reader.drops(), Some(12));
}

fn blocks_statistics(drops: u64) -> Vec<u8> {
    let mut body = vec![0; 12];
    body.extend([5, 0, 8, 0]);
    body.extend(drops.to_le_bytes());
    body
}

/// One byte at a time, as the slowest pipe.
struct Slow<'b>(&'b [u8]);

impl io::Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(1);
        self.0.read(&mut buffer[..length])
    }
}

/// Cut anywhere, a capture has the frames before the cut, and says so.
#[test]
fn cut_anywhere() {
    let mut blocks = Blocks::new(false);
    blocks.interface(1, None, None);
    blocks.packet(0, 1, b"abcde");
    blocks.packet(0, 2, b"fg");
    let packets = [(1, 0, &b"abcde"[..], 5), (2, 0, b"fg", 2)];
    for whole in [blocks.bytes, pcap(0xa1b2_c3d4, false, &packets)] {
        let (all, ended) = read(Slow(&whole));
        assert_eq!((all.len(), ended), (2, None));
        for length in 0..whole.len() {
            let (some, ended) = read(&whole[..length]);
            assert_eq!(some, all[..some.len()], "{length}");
            let is_said = ended.is_some_and(|it| !it.contains("damaged"));
            // Between two records nothing is missing.
            assert!(is_said || some.len() < 2, "{length}");
        }
    }
}

/// Adds something that no writer writes.
type Break = fn(&mut Blocks);

#[test]
fn damage_ends_it_with_its_place() {
    let mut blocks = Blocks::new(false);
    blocks.interface(1, None, None);
    blocks.packet(0, 1, b"abcde");
    let good = blocks.bytes.len();
    let broken: [(Break, &str); 4] = [
        (
            |it| it.packet(1, 1, b"x"),
            "a packet that is longer than its block, or of an interface without description",
        ),
        (
            |it| it.bytes.extend([6, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0]),
            "a block of a length that no block has",
        ),
        (
            |it| it.bytes.extend([6, 0, 0, 0, 12, 0, 0, 0, 13, 0, 0, 0]),
            "a block whose two lengths differ",
        ),
        (
            |it| {
                it.bytes
                    .extend([6, 0, 0, 0, 0xfc, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
            },
            "a block of more than 8 MiB",
        ),
    ];
    for (damage, what) in broken {
        let mut blocks = Blocks {
            bytes: blocks.bytes.clone(),
            is_big_endian: false,
        };
        damage(&mut blocks);
        let (frames, ended) = read(blocks.bytes.as_slice());
        let expected = format!("byte {good}, after frame 1: {what}");
        assert_eq!((frames.len(), ended), (1, Some(expected)));
    }
}

#[test]
fn odd_bytes_do_no_harm() {
    let mut blocks = Blocks::new(false);
    blocks.interface(1, Some(9), Some(i64::MIN));
    blocks.packet(0, u64::MAX, b"abcde");
    for whole in [
        blocks.bytes,
        pcap(0xa1b2_c3d4, true, &[(u32::MAX, u32::MAX, b"abc", 9)]),
    ] {
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut odd = whole.clone();
                odd[at] ^= 1 << bit;
                let _ = read(odd.as_slice());
            }
        }
    }
}

#[test]
fn of_interfaces_there_are_so_many_and_no_more() {
    let mut blocks = Blocks::new(false);
    for _ in 0..65_536 {
        blocks.interface(1, None, None);
    }
    blocks.packet(65_535, 5, b"x");
    let (frames, ended) = read(blocks.bytes.as_slice());
    assert_eq!((frames.len(), ended), (1, None));
    blocks.interface(1, None, None);
    let (_, ended) = read(blocks.bytes.as_slice());
    assert!(ended.is_some_and(|it| it.contains("an interface too many")));
}
