use super::*;
use crate::engine::message::{Because, Question, SocketId};

fn query(transport: Transport) -> Query {
    Query {
        server: IpAddr::from([10, 0, 0, 1]).into(),
        question: Question::Asked(Name::from_plain(b"a").unwrap(), RecordType::A),
        transport,
        socket: SocketId(0),
        edns: None,
        authentic_data: false,
        because: Because::AsIs,
    }
}

#[test]
fn servers_listen_on_the_port_of_dns_alone() {
    let world = World::new(&[]);
    let mut server = query(Transport::Tcp).server;
    assert_eq!(world.connect(&server, Transport::Tcp), Ok(()));
    server.port = 5353;
    // A datagram can be sent to any port.
    assert_eq!(world.connect(&server, Transport::Udp), Ok(()));
    let refused = Err(ConnectError::Refused);
    assert_eq!(world.connect(&server, Transport::Tcp), refused);
}

#[test]
fn only_datagrams_come_twice() {
    let rules = [Rule {
        is_doubled: true,
        ..Rule::default()
    }];
    let mut world = World::new(&rules);
    let mut answer = |it| world.answer(&query(it));
    assert!(matches!(answer(Transport::Udp), Answer::Twice(..)));
    assert!(matches!(answer(Transport::Tcp), Answer::After(..)));
}

#[test]
fn stars_are_any_text() {
    for (pattern, text, fits) in [
        ("*", "", true),
        ("*", "a.b", true),
        ("*.example.com", "www.Example.com", true),
        ("*.example.com", "example.com", false),
        ("a*b*c", "axxbyyc", true),
        ("a*b*c", "axxbyy", false),
        ("web", "WEB", true),
        ("", ".", false),
    ] {
        assert_eq!(
            matches(pattern.as_bytes(), text.as_bytes()),
            fits,
            "{pattern} {text}"
        );
    }
}

#[test]
fn a_server_closes_or_resets_connections_and_leaves_datagrams_alone() {
    for (effect, came) in [(Effect::Fin, Came::Closed), (Effect::Reset, Came::Reset)] {
        let rules = [Rule {
            effect,
            ..Rule::default()
        }];
        let mut world = World::new(&rules);
        let over_udp = world.answer(&query(Transport::Udp));
        assert!(matches!(over_udp, Answer::Silence), "{came:?}");
        let over_tcp = world.answer(&query(Transport::Tcp));
        assert!(
            matches!(over_tcp, Answer::After(_, it) if it == came),
            "{came:?}"
        );
    }
}
