//! A DNS server that answers every query with as many bytes as are allowed.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A name that has the Service's address, whatever follows.
const SERVICE_NAME: &[u8] = b"\x08kube-dns\x0bkube-system\x03svc";

/// Servers for UDP and TCP on port 53 of an address; they end with this.
pub(crate) struct Answerer {
    is_over: Arc<AtomicBool>,
}

impl Answerer {
    /// Starts them in the network namespace of the calling thread.
    pub(crate) fn start(address: &str) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let udp = UdpSocket::bind((address, 53)).unwrap();
        udp.set_read_timeout(Some(Duration::from_millis(100)))
            .unwrap();
        let tcp = TcpListener::bind((address, 53)).unwrap();
        tcp.set_nonblocking(true).unwrap();
        let over = Arc::clone(&is_over);
        thread::spawn(move || answer_udp(&udp, &over));
        let over = Arc::clone(&is_over);
        thread::spawn(move || answer_tcp(&tcp, &over));
        Self { is_over }
    }
}

impl Drop for Answerer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn answer_udp(socket: &UdpSocket, is_over: &AtomicBool) {
    let mut buffer = [0; 4096];
    while !is_over.load(Ordering::Relaxed) {
        if let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&reply(&buffer[..length], None), from);
        }
    }
}

fn answer_tcp(listener: &TcpListener, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let Ok((mut stream, _)) = listener.accept() else {
            thread::sleep(Duration::from_millis(5));
            continue;
        };
        let _ = stream.set_nonblocking(false);
        let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
        let mut length = [0; 2];
        if stream.read_exact(&mut length).is_err() {
            continue;
        }
        let mut query = vec![0; usize::from(u16::from_be_bytes(length))];
        if stream.read_exact(&mut query).is_ok() {
            let reply = reply(&query, Some(4096));
            let length = u16::try_from(reply.len()).unwrap().to_be_bytes();
            let _ = stream.write_all(&[&length[..], &reply].concat());
        }
    }
}

/// A reply that is so long, or as long as the query's EDNS allows; a query
/// without EDNS gets a short one.
fn reply(query: &[u8], length: Option<usize>) -> Vec<u8> {
    let mut end = 12;
    while query[end] != 0 {
        end += 1 + usize::from(query[end]);
    }
    let end = end + 5;
    let has_edns = query[11] == 1;
    let allowed = query.get(end + 3..end + 5).filter(|_| has_edns);
    let allowed = allowed.map_or(512, |it| usize::from(u16::from_be_bytes([it[0], it[1]])));
    let mut reply = query[..end].to_vec();
    (reply[2], reply[3]) = (0x84, 0);
    reply[6..12].fill(0);
    let is_service = query[12..].starts_with(SERVICE_NAME) && query[end - 4..end] == [0, 1, 0, 1];
    if is_service {
        reply[7] = 1;
        reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 10, 96, 0, 10]);
        return reply;
    }
    if has_edns {
        // TXT records with names that point at the question.
        let length = length.unwrap_or(allowed).min(allowed);
        let mut count: u16 = 0;
        while length - reply.len() > 11 {
            let rest = (length - reply.len() - 13).min(255);
            let size = u16::try_from(rest + 1).unwrap();
            reply.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 0]);
            reply.extend(size.to_be_bytes());
            reply.push(u8::try_from(rest).unwrap());
            reply.extend(vec![b'x'; rest]);
            count += 1;
        }
        reply[6..8].copy_from_slice(&count.to_be_bytes());
    }
    reply
}
