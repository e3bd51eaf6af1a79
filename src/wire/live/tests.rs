//! Real resolvers' machines against servers on the loopback interface.

use std::cell::RefCell;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::rc::Rc;
use std::thread;

use super::*;
use crate::dig::lookup::Lookup;
use crate::dig::translation;
use crate::engine::io::Came;
use crate::resolver;
use crate::scenario::{self, Family, Scenario};

const FILE: &str = "nameserver 10.0.0.1\nsearch one.test two.test\noptions timeout:1 attempts:2\n";

fn scenario(name: &str) -> Scenario {
    let mut scenario = Scenario::new("live", name);
    scenario.lookup = scenario::Lookup::Addresses(Family::Inet);
    scenario.resolv_conf = Some(scenario::file("/etc/resolv.conf", FILE));
    scenario
}

const LIMITS: Limits<'_> = Limits {
    time: Duration::from_secs(20),
    interrupt: None,
};

/// What is asked, what came, and how it ended.
fn play(id: &str, port: u16) -> (Vec<String>, Outcome) {
    let scenario = scenario("db");
    let mut said = Vec::new();
    let means = Means {
        destination: &|_| Some(([127, 0, 0, 1], port).into()),
        message: &|query, id| translation::message(query, &Lookup::default(), id, &[]),
        ..Means::default()
    };
    let machine = resolver::find(id).unwrap().machine(&scenario);
    let finished = run(machine, &means, LIMITS, &mut |event| {
        said.push(match event {
            Event::Sent { query, .. } => format!("{:?} {}", query.transport, query.name().unwrap()),
            Event::Came {
                what: Came::Reply(reply),
                ..
            } => reply.rcode.as_str().to_owned(),
            Event::Came { what, .. } => format!("{what:?}"),
            Event::NotConnected { why, .. }
            | Event::NotSent { why, .. }
            | Event::Stray { why, .. } => why,
        });
    });
    (said, finished.outcome)
}

/// A response to the query: code, flags behind it, and one A record.
fn response(query: &[u8], flags: u16, has_answer: bool) -> Vec<u8> {
    let end = query.len();
    let mut reply = query[..2].to_vec();
    reply.extend((0x8180 | flags).to_be_bytes());
    reply.extend([0, 1, 0, has_answer.into(), 0, 0, 0, 0]);
    reply.extend(&query[12..end]);
    if has_answer {
        reply.extend(b"\xc0\x0c\0\x01\0\x01\0\0\0\x01\0\x04\x0a\0\0\x01");
    }
    reply
}

#[test]
fn a_search_goes_on_until_there_is_an_answer() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let serving = thread::spawn(move || {
        let mut buffer = [0; 512];
        for turn in 0..2 {
            let (length, from) = server.recv_from(&mut buffer).unwrap();
            let mut wrong = response(&buffer[..length], 0, true);
            wrong[0] ^= 1;
            server.send_to(&wrong, from).unwrap();
            let flags = if turn == 0 { 3 } else { 0 };
            let reply = response(&buffer[..length], flags, turn == 1);
            server.send_to(&reply, from).unwrap();
        }
    });
    let (said, outcome) = play("glibc", port);
    serving.join().unwrap();
    let another = "its id is another one";
    let expected = [
        "Udp db.one.test",
        another,
        "NXDOMAIN",
        "Udp db.two.test",
        another,
        "NOERROR",
    ];
    assert_eq!(said, expected);
    assert_eq!(
        outcome,
        Outcome::Found(vec![std::net::IpAddr::from([10, 0, 0, 1]).into()])
    );
}

#[test]
fn a_truncated_reply_leads_to_tcp() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let serving = thread::spawn(move || {
        let mut buffer = [0; 512];
        let (length, from) = server.recv_from(&mut buffer).unwrap();
        server
            .send_to(&response(&buffer[..length], 0x200, false), from)
            .unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let length = stream.read(&mut buffer).unwrap();
        let reply = response(&buffer[2..length], 0, true);
        let count = u16::try_from(reply.len()).unwrap().to_be_bytes();
        for part in [&count[..1], &count[1..], &reply[..5], &reply[5..]] {
            stream.write_all(part).unwrap();
            thread::sleep(Duration::from_millis(2));
        }
    });
    let (said, outcome) = play("glibc", port);
    serving.join().unwrap();
    assert_eq!(
        said,
        ["Udp db.one.test", "NOERROR", "Tcp db.one.test", "NOERROR"]
    );
    assert!(matches!(outcome, Outcome::Found(found) if found.len() == 1));
}

#[test]
fn a_closed_port_is_told() {
    let gone = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = gone.local_addr().unwrap().port();
    drop(gone);
    let (said, outcome) = play("glibc", port);
    assert_eq!(said[..2], ["Udp db.one.test", "Refused"]);
    assert_eq!(outcome, Outcome::Failed("EAI_AGAIN"));
    // musl does not connect its sockets, is not told, and waits.
    let (said, outcome) = play("musl", port);
    let refused = said.iter().filter(|it| *it == "Refused").count();
    assert_eq!((said.len(), refused), (4, 2), "{said:?}");
    assert_eq!(outcome, Outcome::Failed("EAI_AGAIN"));
}

/// What a machine that writes its own messages is told.
fn heard(port: u16, transport: Transport, count: usize) -> Vec<String> {
    let told = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&told);
    let machine = Machine::new(|io| async move {
        let to = std::net::IpAddr::from([127, 0, 0, 1]).into();
        let second = Some(Duration::from_secs(1));
        let tell = |text: String| kept.borrow_mut().push(text);
        match io.open(&to, transport, None, second).await {
            Err(failure) => tell(format!("not open: {failure:?}")),
            Ok(socket) => {
                io.write(socket, b"ask".to_vec());
                for _ in 0..count {
                    let until = io.now() + Duration::from_millis(300);
                    let came = io.hear(socket, until).await;
                    tell(match came {
                        Some(Ok(wire)) => wire.escape_ascii().to_string(),
                        other => format!("{other:?}"),
                    });
                }
            }
        }
        Outcome::Failed("NODATA")
    });
    let means = Means {
        destination: &|_| Some(([127, 0, 0, 1], port).into()),
        ..Means::default()
    };
    run(machine, &means, LIMITS, &mut |_| {});
    told.take()
}

#[test]
fn a_machine_of_its_own_messages_gets_all_that_its_server_sends() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let serving = thread::spawn(move || {
        let mut buffer = [0; 9];
        let (length, from) = server.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"ask");
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        stranger.send_to(b"spoof", from).unwrap();
        server.send_to(b"", from).unwrap();
        server.send_to(b"answer", from).unwrap();
    });
    assert_eq!(heard(port, Transport::Udp, 3), ["", "answer", "None"]);
    serving.join().unwrap();
    assert_eq!(heard(port, Transport::Udp, 1), ["Some(Err(Refused))"]);
}

#[test]
fn a_connection_frames_messages() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = [0; 5];
        stream.read_exact(&mut buffer).unwrap();
        assert_eq!(&buffer, b"\0\x03ask");
        stream.write_all(b"\0\x02ok\0\x09cut").unwrap();
    });
    assert_eq!(
        heard(port, Transport::Tcp, 2),
        ["ok", "Some(Err(EndOfFile))"]
    );
    serving.join().unwrap();
    assert_eq!(heard(port, Transport::Tcp, 1), ["not open: Refused"]);
}
