//! A lookup of a capture as one that was played, to be drawn beside its plan.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::address::Server;
use crate::engine::io::Came;
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, Edns, Query, Question, SocketId, Transport};
use crate::explain::live::{Answer, Exchange as Drawn, Played};
use crate::name::Name;
use crate::resolver::Resolver;
use crate::watch::Judged;
use crate::watch::lookup::Exchange;

/// The lookup with every sending as a query of its own. `name` and `address`
/// say how those are written.
pub fn replay(
    judged: &Judged,
    resolver: &'static Resolver,
    name: &dyn Fn(&Name) -> Name,
    address: &dyn Fn(IpAddr) -> IpAddr,
) -> Played {
    let lookup = &judged.lookup;
    let reading = judged.plan.as_ref().map_or(0, |it| it.0);
    let asked = lookup.readings.get(reading).map(|it| it.name.clone());
    let asked = asked.unwrap_or_default();
    let start = lookup.start();
    let mut sockets: Vec<SocketAddr> = Vec::new();
    let mut entries: Vec<Vec<u8>> = Vec::new();
    let mut exchanges: Vec<Drawn> = Vec::new();
    for exchange in &lookup.exchanges {
        let socket = place(&mut sockets, exchange.client);
        let because = because(exchange, &asked, &mut entries);
        let query = Query {
            server: Server {
                address: address(exchange.server.ip()).into(),
                port: exchange.server.port(),
            },
            question: Question::Asked(name(&exchange.name), RecordType::from(exchange.qtype)),
            transport: if exchange.is_tcp() {
                Transport::Tcp
            } else {
                Transport::Udp
            },
            socket: SocketId(u32::try_from(socket).unwrap_or_default()),
            edns: exchange.edns.map(Edns::plain),
            authentic_data: exchange.flags & 0x0020 != 0,
            because,
        };
        exchanges.extend(exchange.sent().map(|sent| Drawn {
            query: query.clone(),
            at: since(start, sent.time),
            answer: answer(exchange, sent.time),
            wrong: None,
            unsent: None,
        }));
    }
    exchanges.sort_by_key(|it| it.at);
    let outcome = judged.plan.as_ref().and_then(|it| it.1.outcome.clone());
    Played {
        resolver,
        exchanges,
        unconnected: Vec::new(),
        strays: Vec::new(),
        more_strays: 0,
        outcome: outcome.unwrap_or(Outcome::Failed("no end was seen")),
        elapsed: since(start, lookup.end()),
        notes: Vec::new(),
        cut: None,
    }
}

fn place<T: PartialEq>(known: &mut Vec<T>, one: T) -> usize {
    known.iter().position(|it| *it == one).unwrap_or_else(|| {
        known.push(one);
        known.len() - 1
    })
}

fn since(start: i64, time: i64) -> Duration {
    Duration::from_nanos(u64::try_from(time.saturating_sub(start)).unwrap_or_default())
}

fn because(exchange: &Exchange, asked: &Name, entries: &mut Vec<Vec<u8>>) -> Because {
    if exchange.name.eq_ignore_case(asked) {
        return Because::AsIs;
    }
    let suffix = exchange.name.as_wire().get(asked.as_wire().len()..);
    let suffix = suffix.unwrap_or_default().to_ascii_lowercase();
    Because::Search(place(entries, suffix))
}

fn answer(exchange: &Exchange, sent: i64) -> Option<Answer> {
    let sending = exchange.sent().find(|it| it.time == sent)?;
    let (time, what, rcode) = match (exchange.reply_to(sending), exchange.unreachable()) {
        (Some(reply), _) => {
            let seen = reply.as_seen_by_models(&exchange.name, exchange.qtype);
            (reply.time, Came::Reply(seen), u16::from(reply.rcode))
        }
        (None, Some((_, error))) if exchange.last_sent().time == sent => {
            (error.time, Came::Refused, 0)
        }
        _ => return None,
    };
    Some(Answer {
        after: since(sent, time),
        what,
        why: None,
        rcode,
        extended_errors: Vec::new(),
    })
}
