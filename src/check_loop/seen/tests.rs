use std::net::SocketAddr;

use super::*;
use crate::topology::Instance;

const NAME: &str = "one-query.example.org.";

fn target(server: &str) -> Target {
    Target {
        who: ServerName {
            program: "the server".to_owned(),
            instance: Instance::Only,
        },
        network: Network::Node,
        namespace: None,
        server: server.parse().unwrap(),
        takes_any: false,
        others: Vec::new(),
        zones: vec![".".to_owned()],
    }
}

fn socket(text: &str) -> SocketAddr {
    let (address, port) = text.rsplit_once('.').unwrap();
    format!("{address}:{port}").parse().unwrap()
}

/// The queries for the name in the output of tcpdump. The first is the prober's.
fn packets(text: &str) -> Vec<Packet> {
    let mut packets = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "IP", from, ">", to, id, rest @ ..] = words.as_slice() else {
            panic!("{line}");
        };
        if !rest.contains(&NAME) {
            continue;
        }
        let id: String = id.chars().take_while(char::is_ascii_digit).collect();
        packets.push(Packet {
            at: Duration::ZERO,
            network: Network::Node,
            is_outgoing: false,
            from: socket(from),
            to: socket(to.trim_end_matches(':')),
            id: id.parse().unwrap(),
        });
    }
    packets
}

/// One question to `target`, answered with `reply`, with these packets.
fn record(packets: &[Packet], reply: Option<Reply>) -> Record {
    let own = packets.first().unwrap().clone();
    let question = |record_type| Question {
        target: 0,
        name: NAME.to_owned(),
        record_type,
        id: own.id,
        from: own.from,
        sent: Duration::ZERO,
        reply,
        packets: Vec::new(),
    };
    let mut questions = RECORD_TYPES.map(question).to_vec();
    for question in &mut questions {
        packets.iter().cloned().for_each(|it| question.saw(it));
    }
    Record {
        questions,
        ..Record::default()
    }
}

const REFUSED: Option<Reply> = Some(Reply::Response(ResponseCode::Refused));

/// What tcpdump saw of one query into servers that forward to each other.
macro_rules! check_capture {
    ($name:literal, $reply:expr, $sight:expr) => {
        let text = include_str!(concat!("../../../testdata/probe/", $name, ".packets.txt"));
        let packets = packets(text);
        let target = target(&packets.first().unwrap().to.to_string());
        let seen = judge(&[target], &record(&packets, $reply));
        assert_eq!(seen.sight, $sight, "{}: {seen:?}", $name);
    };
}

#[test]
fn loops_of_real_servers_are_seen() {
    check_capture!("bind-dnsmasq", None, Sight::Loops);
    check_capture!("bind-self", None, Sight::Loops);
    check_capture!("coredns-dnsmasq", REFUSED, Sight::Loops);
    check_capture!("coredns-loop-plugin-dnsmasq", None, Sight::Loops);
    check_capture!("coredns-self", REFUSED, Sight::Loops);
    check_capture!("dnsmasq-self", None, Sight::Loops);
    check_capture!("dnsmasq-three-mesh", None, Sight::Loops);
    check_capture!("dnsmasq-two", None, Sight::Loops);
    check_capture!("unbound-dnsmasq", None, Sight::Loops);
    check_capture!("unbound-self", None, Sight::Loops);
    check_capture!("unbound-two", None, Sight::Loops);
    // dnsmasq knows, and forwards to nobody.
    check_capture!("dnsmasq-two-loop-detect", REFUSED, Sight::Unknown);
}

/// Packets as `FROM TO ID`, one a line.
fn check(about: &str, lines: &[&str], reply: Option<Reply>, expected: Sight) {
    let mut target = target("127.0.0.1:53");
    target.takes_any = about.contains("any address");
    target.others = vec!["127.0.0.53".parse().unwrap()];
    let packets = lines.iter().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        Packet {
            at: Duration::ZERO,
            network: Network::Node,
            is_outgoing: words.contains(&"out"),
            from: words[0].parse().unwrap(),
            to: words[1].parse().unwrap(),
            id: words[2].parse().unwrap(),
        }
    });
    let mut record = record(&packets.collect::<Vec<Packet>>(), reply);
    record
        .addresses
        .push((Network::Node, vec!["172.31.0.10".parse().unwrap()]));
    let seen = judge(&[target], &record);
    assert_eq!(seen.sight, expected, "{about}: {seen:?}");
}

const OWN: &str = "127.0.0.1:4000 127.0.0.1:53 7";
const NX: Option<Reply> = Some(Reply::Response(ResponseCode::NXDomain));

#[test]
fn only_what_comes_back_to_the_asked_server_is_a_loop() {
    let retries = [
        OWN,
        "127.0.0.1:5001 127.0.0.53:53 1",
        "127.0.0.1:5002 127.0.0.53:53 2",
        "172.31.0.10:5003 192.0.2.1:53 3 out",
        "172.31.0.10:5004 192.0.2.1:53 4 out",
    ];
    check("answered, tried again", &retries, NX, Sight::NotSeen);
    check("silent, tried again", &retries, None, Sight::Unknown);
    let nobody = Some(Reply::NobodyListens);
    check("nobody listens", &[OWN], nobody, Sight::Unknown);
    let filtered = Some(Reply::NotReached(Barrier::Filter));
    check("a firewall", &[OWN], filtered, Sight::Unknown);
    let servfail = Some(Reply::Response(ResponseCode::ServFail));
    check("an upstream is dead", &retries, servfail, Sight::Unknown);
    check("seen on two interfaces", &[OWN, OWN], NX, Sight::NotSeen);
    let back = "127.0.0.1:5001 127.0.0.1:53 9";
    check("comes back", &[OWN, back], None, Sight::Loops);
    check(
        "comes back, second server answers",
        &[OWN, back],
        NX,
        Sight::Loops,
    );
    let other_port = "127.0.0.1:5001 127.0.0.1:5353 9";
    check("another port", &[OWN, other_port], NX, Sight::NotSeen);
    let out = "127.0.0.1:5001 127.0.0.1:53 9 out";
    check(
        "leaves for another namespace",
        &[OWN, out],
        NX,
        Sight::NotSeen,
    );
}

#[test]
fn a_server_of_any_address_is_met_at_each() {
    let at = |to: &str| format!("10.0.0.1:5001 {to}:53 9");
    for (to, sight) in [
        ("127.0.1.1", Sight::Loops),
        ("172.31.0.10", Sight::Loops),
        // Another server's, and a packet that is only routed here.
        ("127.0.0.53", Sight::NotSeen),
        ("10.96.0.10", Sight::NotSeen),
    ] {
        check("any address", &[OWN, &at(to)], NX, sight);
        check("one address", &[OWN, &at(to)], NX, Sight::NotSeen);
    }
}

#[test]
fn an_unwatched_wire_proves_nothing() {
    let foreign = "127.0.0.1:4000 127.0.0.1:53 7";
    let mut record = record(&packets_of(foreign), NX);
    for question in &mut record.questions {
        question.packets.clear();
    }
    let target = target("127.0.0.1:53");
    let seen = judge(std::slice::from_ref(&target), &record);
    assert_eq!(seen.sight, Sight::Unknown);
    record.troubles.push((0, "no way in".to_owned()));
    let seen = judge(&[target], &record);
    let trouble = Unseen::Trouble("no way in".to_owned());
    assert_eq!(seen.servers[0].reason, Some(trouble));
    assert_eq!(judge(&[], &Record::default()).sight, Sight::Unknown);
}

#[test]
fn packets_are_kept_once_and_not_without_end() {
    let mut record = record(&packets_of(OWN), NX);
    let question = record.questions.first_mut().unwrap();
    question.packets.clear();
    for _ in 0..2 {
        question.saw(packets_of(OWN).remove(0));
    }
    assert_eq!(question.packets.len(), 1);
    for port in 1..=u16::MAX {
        let line = format!("127.0.0.1:{port} 127.0.0.53:53 1");
        question.saw(packets_of(&line).remove(0));
    }
    assert_eq!(question.packets.len(), MAX_PACKETS);
}

fn packets_of(line: &str) -> Vec<Packet> {
    let words: Vec<&str> = line.split_whitespace().collect();
    vec![Packet {
        at: Duration::ZERO,
        network: Network::Node,
        is_outgoing: false,
        from: words[0].parse().unwrap(),
        to: words[1].parse().unwrap(),
        id: words[2].parse().unwrap(),
    }]
}
