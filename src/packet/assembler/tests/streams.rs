use super::*;

/// Segments between the client and the server.
struct Talk {
    bench: Bench,
    time: i64,
}

const SYN: u8 = 2;
const RST: u8 = 4;
const FIN: u8 = 1;
const ACK: u8 = 16;

impl Talk {
    fn new() -> Self {
        Self {
            bench: Bench::new(&Options::default()),
            time: 0,
        }
    }

    /// A segment with these flags; without ACK it confirms nothing.
    fn segment(
        &mut self,
        is_client: bool,
        flags: u8,
        sequence: u32,
        confirmed: u32,
        payload: &[u8],
    ) {
        let packet = segment(is_client, flags, sequence, confirmed, payload);
        self.time += 1;
        self.bench.ip(self.time, &packet);
    }

    fn open(&mut self) {
        self.segment(true, SYN, 99, 0, &[]);
        self.segment(false, SYN | ACK, 499, 100, &[]);
        self.segment(true, ACK, 100, 500, &[]);
        assert_eq!(
            self.seen(),
            [
                "10.0.0.1:4000>10.0.0.53:53 tcp0 connect",
                "10.0.0.53:53>10.0.0.1:4000 tcp0 connected"
            ]
        );
    }

    /// What was seen, without numbers.
    fn seen(&mut self) -> Vec<String> {
        let lines = self.bench.take();
        lines
            .into_iter()
            .map(|it| it.split_once(' ').unwrap().1.to_owned())
            .collect()
    }

    /// What messages were seen, by id and length.
    fn messages(&mut self) -> Vec<String> {
        let seen = self.seen();
        seen.iter()
            .map(|it| it.split_once("tcp0 ").unwrap().1.to_owned())
            .collect()
    }
}

fn segment(is_client: bool, flags: u8, sequence: u32, confirmed: u32, payload: &[u8]) -> Vec<u8> {
    let ((from, source), (to, destination)) = if is_client {
        ((CLIENT, PORT), (SERVER, 53))
    } else {
        ((SERVER, 53), (CLIENT, PORT))
    };
    let mut builder = PacketBuilder::ipv4(from, to, 64).tcp(source, destination, sequence, 1000);
    if flags & SYN != 0 {
        builder = builder.syn();
    }
    if flags & FIN != 0 {
        builder = builder.fin();
    }
    if flags & RST != 0 {
        builder = builder.rst();
    }
    if flags & ACK != 0 {
        builder = builder.ack(confirmed);
    }
    let mut packet = Vec::new();
    builder.write(&mut packet, payload).unwrap();
    packet
}

/// Messages as they are on a connection.
fn prefixed(messages: &[Vec<u8>]) -> Vec<u8> {
    let with = |it: &Vec<u8>| [&u16::try_from(it.len()).unwrap().to_be_bytes()[..], it].concat();
    messages.iter().flat_map(with).collect()
}

#[test]
fn a_lookup_and_its_end() {
    let mut talk = Talk::new();
    talk.open();
    // Both queries in one segment, as glibc sends them; answers one by one.
    let asked = prefixed(&[message(1, 0), message(2, 0)]);
    talk.segment(true, ACK, 100, 500, &asked);
    assert_eq!(talk.messages(), ["message 0001 19", "message 0002 19"]);
    let answer = prefixed(&[message(2, 100)]);
    talk.segment(false, ACK, 500, 142, &answer);
    assert_eq!(talk.messages(), ["message 0002 119"]);
    talk.segment(true, ACK | FIN, 142, 621, &[]);
    talk.segment(false, ACK | FIN, 621, 143, &[]);
    talk.segment(true, ACK, 143, 622, &[]);
    assert_eq!(talk.messages(), ["closed", "closed"]);
    let counters = talk.bench.assembler.counters();
    assert_eq!(
        (counters.streams, counters.segments, counters.messages),
        (1, 8, 3)
    );
    assert_eq!((counters.stream_gaps, counters.streams_forgotten), (0, 0));
}

#[test]
fn refused_and_broken_off() {
    let mut talk = Talk::new();
    talk.segment(true, SYN, 99, 0, &[]);
    talk.segment(false, RST | ACK, 0, 100, &[]);
    assert_eq!(
        talk.seen(),
        [
            "10.0.0.1:4000>10.0.0.53:53 tcp0 connect",
            "10.0.0.53:53>10.0.0.1:4000 tcp0 reset"
        ]
    );
    // The same port again, another connection, for which the server is silent.
    talk.segment(true, SYN, 9_999, 0, &[]);
    talk.segment(true, SYN, 9_999, 0, &[]);
    let again = "10.0.0.1:4000>10.0.0.53:53 tcp1 connect";
    assert_eq!(talk.seen(), [again, again]);
}

/// What is missing can have been the answer.
#[test]
fn after_a_gap_a_server_is_not_said_to_end() {
    for end in [FIN | ACK, RST] {
        for missing in [0, 20] {
            let mut talk = Talk::new();
            talk.open();
            talk.segment(true, ACK, 100, 500, &prefixed(&[message(1, 0)]));
            talk.seen();
            talk.segment(false, end, 500 + missing, 121, &[]);
            assert_eq!(talk.seen().len(), usize::from(missing == 0), "{end}");
        }
        // What a client sent or not does not matter.
        let mut talk = Talk::new();
        talk.open();
        talk.segment(true, end, 120, 500, &[]);
        assert_eq!(talk.seen().len(), 1, "{end}");
    }
}

/// In pieces of every size, in order and the other way round, with repetitions.
#[test]
fn segments_of_any_size_and_order() {
    let asked = prefixed(&[message(1, 5), message(2, 0), message(3, 40)]);
    let expected = ["message 0001 24", "message 0002 19", "message 0003 59"];
    for size in 1..asked.len() {
        for mode in 0..3 {
            let mut talk = Talk::new();
            talk.open();
            let mut pieces: Vec<(usize, &[u8])> = asked.chunks(size).enumerate().collect();
            if pieces.len() > 60 && mode == 1 {
                continue;
            }
            match mode {
                1 => pieces.reverse(),
                2 => pieces = pieces.iter().flat_map(|it| [*it, *it]).collect(),
                _ => {}
            }
            for (number, piece) in pieces {
                let sequence = 100 + u32::try_from(number * size).unwrap();
                talk.segment(true, ACK, sequence, 500, piece);
            }
            assert_eq!(talk.messages(), expected, "{size} {mode}");
        }
    }
}

/// The numbers of bytes begin again at 0 after 4 GiB.
#[test]
fn sequences_that_wrap() {
    let mut talk = Talk::new();
    let asked = prefixed(&[message(1, 0), message(2, 0)]);
    let first = u32::MAX - 10;
    talk.segment(true, SYN, first.wrapping_sub(1), 0, &[]);
    talk.segment(true, ACK, first.wrapping_add(15), 0, &asked[15..]);
    talk.segment(true, ACK, first, 0, &asked[..15]);
    assert_eq!(
        talk.messages(),
        ["connect", "message 0001 19", "message 0002 19"]
    );
}

/// What the other side confirms has arrived, whether it was captured or not.
#[test]
fn segments_that_were_not_captured() {
    let mut talk = Talk::new();
    talk.open();
    let asked = prefixed(&[message(1, 0), message(2, 30), message(3, 0), message(4, 0)]);
    talk.segment(true, ACK, 100, 500, &asked[..30]);
    // Bytes 30 to 60 are missing, within the second message.
    talk.segment(true, ACK, 160, 500, &asked[60..]);
    assert_eq!(talk.messages(), ["message 0001 19"]);
    let all = 100 + u32::try_from(asked.len()).unwrap();
    talk.segment(false, ACK, 500, all, &[]);
    assert_eq!(talk.messages().last().unwrap(), "message 0004 19");
    assert_eq!(talk.bench.assembler.counters().stream_gaps, 30);
    // A message of which the first part was captured is cut.
    let mut talk = Talk::new();
    talk.open();
    let asked = prefixed(&[message(1, 100), message(2, 0)]);
    talk.segment(true, ACK, 100, 500, &asked[..50]);
    talk.segment(true, ACK, 200, 500, &asked[100..]);
    talk.segment(false, ACK, 500, 1000, &[]);
    assert_eq!(talk.messages(), ["cut 0001 48/119", "message 0002 19"]);
}

/// The same with a short snap length.
#[test]
fn segments_that_are_cut() {
    let mut talk = Talk::new();
    talk.open();
    let asked = prefixed(&[message(1, 0), message(2, 100)]);
    let packet = segment(true, ACK, 100, 500, &asked);
    let cut = packet.len() - 60;
    talk.bench
        .frame_of(LinkType::Raw, 9, 0, &packet[..cut], packet.len());
    assert_eq!(talk.messages(), ["message 0001 19", "cut 0002 59/119"]);
    let next = 100 + u32::try_from(asked.len()).unwrap();
    talk.segment(true, ACK, next, 500, &prefixed(&[message(3, 0)]));
    assert_eq!(talk.messages(), ["message 0003 19"]);
}

/// A connection that was open before the capture began.
#[test]
fn in_the_middle_of_a_connection() {
    let mut talk = Talk::new();
    talk.segment(true, ACK, 700, 900, b"the end of something");
    talk.segment(true, ACK, 720, 900, &prefixed(&[message(5, 0)]));
    talk.segment(false, ACK, 900, 741, &prefixed(&[message(5, 9)]));
    assert_eq!(talk.messages(), ["message 0005 19", "message 0005 28"]);
    assert_eq!(talk.bench.assembler.counters().stream_gaps, 20);
    // What is no DNS at all.
    let mut talk = Talk::new();
    talk.open();
    talk.segment(true, ACK, 100, 500, b"\0\x05GET / HTTP/1.1\r\n");
    assert!(talk.messages().is_empty());
    assert_eq!(talk.bench.assembler.counters().no_message, 1);
}
