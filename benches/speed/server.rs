//! A name server on loopback that knows every name, as fast as one thread is.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A reply, when it is to be sent, and to whom.
type Late = (Instant, Vec<u8>, SocketAddr);

/// Serves on a free port of 127.0.0.1 until this program ends, and gives the
/// port. Each reply leaves so long after its query came.
pub(crate) fn start(delay: Duration) -> u16 {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = socket.local_addr().unwrap().port();
    serve(socket, delay);
    port
}

/// Serves on a socket that is bound already.
pub(crate) fn serve(socket: UdpSocket, delay: Duration) {
    if delay.is_zero() {
        thread::spawn(move || answer(&socket, |reply, to| drop(socket.send_to(&reply, to))));
        return;
    }
    let (sender, late) = channel();
    let other = socket.try_clone().unwrap();
    thread::spawn(move || send_late(&other, &late));
    thread::spawn(move || answer(&socket, |reply, to| put_off(&sender, delay, reply, to)));
}

fn put_off(sender: &Sender<Late>, delay: Duration, reply: Vec<u8>, to: SocketAddr) {
    sender.send((Instant::now() + delay, reply, to)).unwrap();
}

fn send_late(socket: &UdpSocket, late: &Receiver<Late>) {
    for (time, reply, to) in late {
        thread::sleep(time.saturating_duration_since(Instant::now()));
        // Who has gone needs no reply.
        let _ = socket.send_to(&reply, to);
    }
}

fn answer(socket: &UdpSocket, mut send: impl FnMut(Vec<u8>, SocketAddr)) {
    let mut buffer = [0; 1500];
    loop {
        // An error is one of a reply before: its receiver has gone.
        let Ok((length, from)) = socket.recv_from(&mut buffer) else {
            continue;
        };
        if let Some(reply) = buffer.get(..length).and_then(reply) {
            send(reply, from);
        }
    }
}

/// The address is made of the digits in the name: `n258.test` has `10.0.1.2`.
fn reply(query: &[u8]) -> Option<Vec<u8>> {
    let mut end = 12;
    let mut number: u32 = 0;
    while *query.get(end)? != 0 {
        let next = end + 1 + usize::from(*query.get(end)?);
        for byte in query
            .get(end + 1..next)?
            .iter()
            .filter(|it| it.is_ascii_digit())
        {
            number = number.wrapping_mul(10).wrapping_add(u32::from(byte - b'0'));
        }
        end = next;
    }
    let mut reply = query.get(..2)?.to_vec();
    reply.extend([0x85, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    reply.extend(query.get(12..end + 5)?);
    reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
    reply.extend(address(number).octets());
    Some(reply)
}

/// The address of the name with this number.
pub(crate) fn address(number: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(0x0a00_0000 | number & 0x00ff_ffff)
}
