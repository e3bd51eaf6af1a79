//! What servers send, whatever they send: read, compared, printed in every
//! form; also while a lookup waits for it, and as a packet.

use std::rc::Rc;
use std::time::Duration;

use hickory_proto::op::Message as Hickory;
use hickory_proto::rr::RecordType;
use kdns::address::Address;
use kdns::dig::dighost::Dighost;
use kdns::dig::lookup::{Globals, Lookup, Server};
use kdns::dig::message::{self, Message, Read};
use kdns::dig::printed::{Exchange, Printed, Screen, Times, Unprintable};
use kdns::dig::settings::{Settings, Wire};
use kdns::dig::translation;
use kdns::engine::failure::Failure;
use kdns::engine::io::Request;
use kdns::engine::machine::{Machine, Outcome, Step::Done};
use kdns::engine::message::{Because, Query, Question, SocketId, Transport};
use kdns::name::Name;
use kdns::probe::frame;
use kdns::render::dig::{json, printed, reply, stats, yaml};

use super::{SEPARATOR, printable_lines};

/// More steps than this no lookup takes for the messages of one input.
const MAX_STEPS: usize = 10_000;

/// A number that chooses the form of output and the transport, then messages.
pub(crate) fn run(data: &[u8]) {
    let (&form, rest) = data.split_first().unwrap_or((&0, &[]));
    let wire = rest.split(|&byte| byte == SEPARATOR).next();
    one(wire.unwrap_or_default(), form);
    // Whole: the separator is a byte like any other in a message.
    one(rest, form);
    frame::query_of(rest);
    conversation(rest, form);
}

fn one(wire: &[u8], form: u8) {
    message::peek(wire);
    for read in [
        message::read_message(wire, false),
        message::read_message(wire, true),
        message::read_own(wire, wire.len().is_multiple_of(2)),
    ] {
        match read {
            Read::Whole(message) | Read::Part(message) => meaning(&message, wire, form),
            Read::Nothing(why) => {
                let mut out = String::new();
                stats::bad_packet(why, wire, &mut out);
                printable_lines(out.as_bytes());
            }
        }
    }
    // What both readers take whole has the same beginning.
    if let (Read::Whole(ours), Ok(theirs)) =
        (message::read_message(wire, false), Hickory::from_vec(wire))
    {
        assert_eq!(ours.id, theirs.id);
        assert_eq!(ours.questions.len(), theirs.queries.len());
        for (one, other) in ours.questions.iter().zip(&theirs.queries) {
            assert_eq!(RecordType::from(one.rdtype), other.query_type());
            let labels: Vec<&[u8]> = other.name().iter().collect();
            assert_eq!(one.name.labels().collect::<Vec<_>>(), labels);
        }
    }
}

fn meaning(message: &Message, wire: &[u8], form: u8) {
    assert_eq!(message.size, wire.len());
    assert!(message.extra <= wire.len());
    drop(translation::reply(message));
    let name = Name::from_plain(b"web.prod").unwrap();
    let query = query(name);
    let is_ours = translation::mismatch(message, &query, message.id).is_none();
    assert!(!is_ours || message.flags & message::flag::QR != 0);
    let globals = Globals {
        short: form & 1 != 0,
        ..Globals::default()
    };
    let mut lookup = Lookup::default();
    lookup.print.multiline = form & 2 != 0;
    lookup.print.unknown_format = form & 4 != 0;
    lookup.print.ttl_units = form & 8 != 0;
    lookup.print.idn_out = form & 64 != 0;
    let exchange = Exchange {
        lookup: Rc::new(lookup),
        server: server(),
        tcp: form & 16 != 0,
        cookie_ok: None,
        query_size: 12,
        times: Times::default(),
    };
    let shown = reply::Shown {
        exchange: &exchange,
        message,
        is_query: form & 32 != 0,
        first: true,
        globals: &globals,
    };
    let mut out = String::new();
    // A name may have no letters of its own.
    let _ = reply::write(&shown, &mut out);
    let _ = yaml::write(&shown, &mut out);
    printable_lines(out.as_bytes());
    out.clear();
    json::write(&shown, &mut out);
    printable_lines(out.as_bytes());
    let _: serde_json::Value = serde_json::from_str(&out).expect("JSON");
}

fn query(name: Name) -> Query {
    Query {
        server: kdns::address::Server {
            address: address(),
            port: 53,
        },
        question: Question::Asked(name, RecordType::A),
        transport: Transport::Udp,
        socket: SocketId(0),
        edns: None,
        authentic_data: false,
        because: Because::AsIs,
    }
}

fn address() -> Address {
    Address::from(std::net::IpAddr::from([192, 0, 2, 1]))
}

fn server() -> Server {
    Server {
        address: address(),
        port: None,
        word: Some(b"192.0.2.1".to_vec()),
        secure: None,
    }
}

/// A lookup that is told the messages one after the other ends. An empty one
/// is silence; the first two bytes of the others become those of the query.
fn conversation(rest: &[u8], form: u8) {
    let settings = Settings {
        servers: [server(), server()].into(),
        search: vec![b"a.test".to_vec()],
        ndots: 2,
        use_search: form & 1 != 0,
        show_search: form & 2 != 0,
        keeps_warnings: form & 4 != 0,
        keep_open: form & 8 != 0,
        wire: Some(Wire {
            ids: || 0x1234,
            began: Duration::ZERO,
        }),
        ..Settings::default()
    };
    let rdtype = [1, 252, 251, 255][usize::from(form >> 6)];
    let lookup = Lookup {
        text: b"web".to_vec(),
        tcp: form & 16 != 0,
        best_effort: form & 32 != 0,
        rdtype,
        ..Lookup::default()
    };
    let mut machine = Machine::new(|io| async move {
        let dighost = Dighost::new(io, settings, Rc::new(Shown), Rc::default());
        dighost.run([(lookup, Because::AsIs)]).await;
        Outcome::Found(Vec::new())
    });
    let mut messages = rest.split(|&byte| byte == SEPARATOR);
    let mut query = (SocketId(0), Vec::new());
    for _ in 0..MAX_STEPS {
        if let Done(_) = machine.step(Duration::ZERO) {
            return;
        }
        let requests = machine.requests();
        if requests.is_empty() {
            let heard = match messages.next() {
                None => Err(Failure::EndOfFile),
                Some([]) => Err(Failure::TimedOut),
                Some(bytes) => Ok(answer(bytes, &query.1)),
            };
            machine.heard(query.0, heard);
        }
        for request in requests {
            match request {
                Request::Connect(socket, ..) => machine.connected(socket, Ok(())),
                Request::Write(socket, wire) => query = (socket, wire),
                Request::Send(..) | Request::Close(_) => {}
            }
        }
    }
    panic!("a lookup takes more than {MAX_STEPS} steps");
}

fn answer(bytes: &[u8], query: &[u8]) -> Vec<u8> {
    let mut wire = bytes.to_vec();
    for (to, from) in wire.iter_mut().zip(query.iter().take(2)) {
        *to = *from;
    }
    wire
}

struct Shown;

impl Screen for Shown {
    fn print(&self, it: Printed) -> Result<(), Unprintable> {
        let mut out = String::new();
        let written = printed::write(&it, &Globals::default(), &mut out);
        printable_lines(out.as_bytes());
        // A name without letters of its own does not end it here.
        drop(written);
        Ok(())
    }
}
