//! Asks a Service and its endpoints many questions, several at a time, each from
//! a socket and port of its own.
//!
//! It runs in the network namespace of the calling thread.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Mutex;
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use hickory_proto::rr::RecordType;
use nix::libc::EACCES;

use super::entropy::query_id;
use super::{MAX_MESSAGE, any, errors};
use crate::order::Order as _;
use crate::path::Protocol;
use crate::path::probe::{Ask, Asked, Came, Question};
use crate::probe::message::{self, Response};

/// A resolver waits five seconds; what is lost does not come later either.
const PATIENCE: Duration = Duration::from_millis(1500);

/// All questions together take no longer.
const LIMIT: Duration = Duration::from_secs(10);

/// So many wait at the same time.
const AT_ONCE: usize = 48;

/// Between one question and the next: a burst would lose packets by itself.
const PACE: Duration = Duration::from_millis(2);

/// The name whose keys are asked for: a long answer.
const LONG: &str = ".";

/// What came of each question, in order. Those that there was no time for are
/// missing.
pub fn ask_all(asks: &[Ask]) -> Vec<Asked> {
    let end = Instant::now() + LIMIT;
    let queue = Mutex::new((0, Instant::now()));
    let workers = AT_ONCE.min(asks.len()).min(super::most_sockets());
    let mut all: Vec<(usize, Asked)> = thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            while let Some((index, ask)) = next(&queue, asks, end) {
                done.push((index, one(ask)));
            }
            done
        };
        // Where there can be no more threads, fewer do.
        let more = (1..workers).map_while(|_| Builder::new().spawn_scoped(scope, work).ok());
        let begun: Vec<_> = more.collect();
        let own = work();
        let ended = begun.into_iter().filter_map(|it| it.join().ok());
        ended.flatten().chain(own).collect()
    });
    all.order_by_key(|it| it.0);
    all.into_iter().map(|it| it.1).collect()
}

/// The next question, when it is time for it.
fn next(queue: &Mutex<(usize, Instant)>, asks: &[Ask], end: Instant) -> Option<(usize, Ask)> {
    let mut queue = queue.lock().ok()?;
    let (index, not_before) = *queue;
    let ask = *asks.get(index)?;
    thread::sleep(not_before.saturating_duration_since(Instant::now()));
    if Instant::now() >= end {
        return None;
    }
    *queue = (index + 1, Instant::now() + PACE);
    Some((index, ask))
}

fn one(ask: Ask) -> Asked {
    let begun = Instant::now();
    let mut port = None;
    let came = match ask.protocol {
        Protocol::Udp => udp(ask, begun, &mut port),
        Protocol::Tcp => tcp(ask, begun, &mut port),
    };
    let is_connected = ask.protocol == Protocol::Tcp && port.is_some();
    let came = came.unwrap_or_else(|error| match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock if is_connected => Came::Connected,
        ErrorKind::TimedOut | ErrorKind::WouldBlock => Came::Silence,
        _ => Came::Error(error.raw_os_error().unwrap_or_default()),
    });
    Asked {
        ask,
        port,
        after: begun.elapsed(),
        came,
    }
}

/// The question as bytes.
fn query(ask: Ask, id: u16) -> io::Result<Vec<u8>> {
    let made = match ask.question {
        Question::Version => message::query_version(id),
        Question::Status => message::query_status(id),
        Question::Keys(bytes) => message::query_up_to(id, LONG, bytes),
    };
    made.ok_or_else(|| ErrorKind::InvalidInput.into())
}

/// Whether it is about what was asked: resolvers drop what is not.
fn is_answer(response: &Response, ask: Ask, id: u16) -> bool {
    let (name, of) = match ask.question {
        Question::Version => ("version.bind.", RecordType::TXT),
        Question::Status => (".", RecordType::NS),
        Question::Keys(_) => (LONG, RecordType::DNSKEY),
    };
    response.id == id && response.fits(name, of)
}

/// The socket is not connected, so that a reply from elsewhere is seen, too.
fn udp(ask: Ask, begun: Instant, port: &mut Option<u16>) -> io::Result<Came> {
    let socket = UdpSocket::bind(any(ask.to))?;
    errors::listen(&socket, ask.to.is_ipv4());
    let id = query_id();
    if let Err(error) = socket.send_to(&query(ask, id)?, ask.to) {
        return match error.raw_os_error() {
            Some(errno) if errno != EACCES || !is_broadcast(&socket, ask.to) => {
                Ok(Came::NotSent(errno))
            }
            _ => Err(error),
        };
    }
    *port = socket.local_addr().ok().map(|it| it.port());
    let mut buffer = vec![0; MAX_MESSAGE];
    loop {
        socket.set_read_timeout(Some(left(begun)?))?;
        let (length, from) = match socket.recv_from(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            received => received?,
        };
        let Some(response) = message::response(buffer.get(..length).unwrap_or_default()) else {
            continue;
        };
        if is_answer(&response, ask, id) {
            return Ok(came(ask, from, &response, length));
        }
    }
}

/// Whether this network has it as the address of all: the kernel refuses these with the
/// errno of a route of `prohibit`, until a socket asks for leave. Nothing is sent.
///
/// Source: linux `net/ipv4/datagram.c` `__ip4_datagram_connect`.
fn is_broadcast(socket: &UdpSocket, to: SocketAddr) -> bool {
    let allowed = socket.set_broadcast(true);
    allowed.and_then(|()| socket.connect(to)).is_ok()
}

fn came(ask: Ask, from: SocketAddr, response: &Response, bytes: usize) -> Came {
    if from.ip().to_canonical() != ask.to.ip() || from.port() != ask.to.port() {
        return Came::Elsewhere(from);
    }
    let is_cut = response.is_cut && ask.protocol == Protocol::Tcp;
    Came::Reply {
        bytes,
        rcode: response.code.into(),
        is_malformed: response.is_malformed || is_cut,
    }
}

fn tcp(ask: Ask, begun: Instant, port: &mut Option<u16>) -> io::Result<Came> {
    let mut stream = TcpStream::connect_timeout(&ask.to, PATIENCE)?;
    *port = stream.local_addr().ok().map(|it| it.port());
    let id = query_id();
    let query = query(ask, id)?;
    let length = u16::try_from(query.len()).unwrap_or_default();
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(&[&length.to_be_bytes()[..], &query].concat())?;
    let mut length = [0; 2];
    read_in_time(&mut stream, &mut length, begun)?;
    let mut reply = vec![0; usize::from(u16::from_be_bytes(length))];
    read_in_time(&mut stream, &mut reply, begun)?;
    let response = message::response(&reply).filter(|it| is_answer(it, ask, id));
    let response = response.ok_or(ErrorKind::InvalidData)?;
    Ok(came(ask, ask.to, &response, reply.len()))
}

/// Fills the buffer, also where it comes byte by byte.
fn read_in_time(stream: &mut TcpStream, mut buffer: &mut [u8], begun: Instant) -> io::Result<()> {
    while !buffer.is_empty() {
        stream.set_read_timeout(Some(left(begun)?))?;
        match stream.read(buffer) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => buffer = buffer.get_mut(read..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// How much longer it is waited for.
fn left(begun: Instant) -> io::Result<Duration> {
    let left = PATIENCE.saturating_sub(begun.elapsed());
    if left.is_zero() {
        Err(ErrorKind::TimedOut.into())
    } else {
        Ok(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_about_something_else_is_no_answer() {
        for question in [Question::Version, Question::Status, Question::Keys(512)] {
            let ask = Ask {
                to: ([192, 0, 2, 53], 53).into(),
                protocol: Protocol::Udp,
                question,
            };
            let mut reply = query(ask, 7).unwrap();
            reply[2] |= 0x80;
            let is_it = |bytes: &[u8], id| is_answer(&message::response(bytes).unwrap(), ask, id);
            assert!(is_it(&reply, 7));
            assert!(!is_it(&reply, 8));
            let mut other = message::query_up_to(7, "bad.", 512).unwrap();
            other[2] |= 0x80;
            assert!(!is_it(&other, 7), "{question:?}");
        }
    }

    /// Behind one that is cut over TCP nothing more can come.
    #[test]
    fn a_reply_that_is_cut_over_tcp_is_none_that_can_be_read() {
        let to = ([192, 0, 2, 53], 53).into();
        for (protocol, expected) in [(Protocol::Udp, false), (Protocol::Tcp, true)] {
            let ask = Ask {
                to,
                protocol,
                question: Question::Status,
            };
            let mut reply = query(ask, 7).unwrap();
            reply[2] |= 0x82;
            let response = message::response(&reply).unwrap();
            let came = came(ask, to, &response, reply.len());
            assert!(
                matches!(came, Came::Reply { is_malformed, .. } if is_malformed == expected),
                "{protocol:?}"
            );
        }
    }
}
