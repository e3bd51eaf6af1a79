//! Sockets, and what is done with them.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::Acts;
use super::message::{Query, Reply};

/// Longer than any client waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is done with a query, in this order.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// A datagram, or a message behind its length.
    Say(Vec<u8>),
    /// Bytes as they are.
    Raw(Vec<u8>),
    /// So many milliseconds.
    Wait(u64),
    /// A datagram from another address.
    Stranger(Vec<u8>),
    /// A datagram from another port.
    OtherPort(Vec<u8>),
    /// The connection ends.
    Close,
    /// The connection breaks.
    Reset,
}

/// Where somebody listens.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Listens {
    Both,
    Udp,
    Nowhere,
}

impl From<Reply> for Act {
    fn from(reply: Reply) -> Self {
        Self::Say(reply.bytes())
    }
}

impl From<&Reply> for Act {
    fn from(reply: &Reply) -> Self {
        Self::Say(reply.bytes())
    }
}

/// The servers of one behaviour, unless they are there already.
///
/// Their threads end with the process.
pub(crate) fn once(at: usize, acts: Acts, listens: Listens) {
    static STARTED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());
    let mut started = STARTED.lock().unwrap();
    if !started.insert(at) {
        return;
    }
    let address = |last| super::address(at, last);
    for last in [1, 2] {
        let stranger = UdpSocket::bind((address(last + 7), 53)).unwrap();
        serve(address(last), acts, listens, stranger);
    }
    for last in [3, 4] {
        let stranger = UdpSocket::bind((address(last + 7), 53)).unwrap();
        serve(
            address(last),
            |query| vec![query.good().into()],
            Listens::Both,
            stranger,
        );
    }
}

fn serve(address: Ipv4Addr, acts: Acts, listens: Listens, stranger: UdpSocket) {
    let count = Arc::new(AtomicUsize::new(0));
    if listens != Listens::Nowhere {
        let socket = UdpSocket::bind((address, 53)).unwrap();
        let count = Arc::clone(&count);
        std::thread::spawn(move || udp(&socket, acts, &count, &stranger));
    }
    if listens == Listens::Both {
        let listener = TcpListener::bind((address, 53)).unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, count) = (stream.unwrap(), Arc::clone(&count));
                std::thread::spawn(move || tcp(stream, acts, &count));
            }
        });
    }
}

fn udp(socket: &UdpSocket, acts: Acts, count: &AtomicUsize, stranger: &UdpSocket) {
    let mut buffer = vec![0; 65_535];
    loop {
        let (length, client) = socket.recv_from(&mut buffer).unwrap();
        let query = Query {
            wire: buffer[..length].to_vec(),
            tcp: false,
            count: count.fetch_add(1, Ordering::SeqCst),
        };
        let answers = socket.try_clone().unwrap();
        let stranger = stranger.try_clone().unwrap();
        std::thread::spawn(move || datagrams(&answers, client, acts(&query), &stranger));
    }
}

fn datagrams(socket: &UdpSocket, client: SocketAddr, acts: Vec<Act>, stranger: &UdpSocket) {
    for act in acts {
        // A client that is gone is no matter.
        let _ = match act {
            Act::Say(bytes) | Act::Raw(bytes) => socket.send_to(&bytes, client),
            Act::Stranger(bytes) => stranger.send_to(&bytes, client),
            Act::OtherPort(bytes) => {
                let here = socket.local_addr().unwrap().ip();
                UdpSocket::bind((here, 0)).unwrap().send_to(&bytes, client)
            }
            Act::Wait(milliseconds) => {
                std::thread::sleep(Duration::from_millis(milliseconds));
                Ok(0)
            }
            Act::Close | Act::Reset => Ok(0),
        };
    }
}

fn tcp(mut stream: TcpStream, acts: Acts, count: &AtomicUsize) {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    loop {
        let mut length = [0; 2];
        if stream.read_exact(&mut length).is_err() {
            return;
        }
        let mut wire = vec![0; u16::from_be_bytes(length).into()];
        if stream.read_exact(&mut wire).is_err() {
            return;
        }
        let query = Query {
            wire,
            tcp: true,
            count: count.fetch_add(1, Ordering::SeqCst),
        };
        for act in acts(&query) {
            match act {
                Act::Say(bytes) => {
                    let length = u16::try_from(bytes.len()).unwrap().to_be_bytes();
                    let _ = stream.write_all(&[&length[..], &bytes].concat());
                }
                Act::Raw(bytes) | Act::Stranger(bytes) | Act::OtherPort(bytes) => {
                    let _ = stream.write_all(&bytes);
                }
                Act::Wait(milliseconds) => {
                    std::thread::sleep(Duration::from_millis(milliseconds));
                }
                Act::Close => return,
                Act::Reset => {
                    let linger = Some(Duration::ZERO);
                    socket2::SockRef::from(&stream).set_linger(linger).unwrap();
                    return;
                }
            }
        }
    }
}
