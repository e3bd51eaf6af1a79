//! A name server that knows one name.

use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use crate::lab::Running;

const HIDDEN: &str = "--answer";

/// Answers on port 53 of `address`, where `prefix` leads: `name`, as it is
/// written, has the address `answer`, no other name exists.
pub(crate) fn server(prefix: &[&str], address: &str, name: &str, answer: &str) -> Running {
    let own = std::env::current_exe().unwrap().display().to_string();
    let ready = format!("/tmp/ready-{address}-{answer}");
    let words = [prefix, &[&own, HIDDEN, address, name, answer, &ready]].concat();
    let (program, arguments) = words.split_first().unwrap();
    let running = Running::start(Command::new(program).args(arguments));
    let until = Instant::now() + Duration::from_secs(10);
    while !fs::exists(&ready).unwrap() {
        assert!(Instant::now() < until, "no server on {address}");
        thread::sleep(Duration::from_millis(5));
    }
    running
}

/// Serves, if this process was started for that.
pub(crate) fn run_hidden() -> Option<ExitCode> {
    let words: Vec<String> = std::env::args().skip_while(|it| it != HIDDEN).collect();
    let [_, address, name, answer, ready] = words.as_slice() else {
        return None;
    };
    let socket = UdpSocket::bind((address.as_str(), 53)).unwrap();
    fs::write(ready, "").unwrap();
    let answer: Ipv4Addr = answer.parse().unwrap();
    let mut buffer = [0; 512];
    loop {
        let (length, from) = socket.recv_from(&mut buffer).unwrap();
        let reply = reply(&buffer[..length], name, answer);
        socket.send_to(&reply, from).unwrap();
    }
}

fn reply(query: &[u8], known: &str, answer: Ipv4Addr) -> Vec<u8> {
    let mut name = String::new();
    let mut at = 12;
    while query[at] != 0 {
        let end = at + 1 + usize::from(query[at]);
        name.push_str(std::str::from_utf8(&query[at + 1..end]).unwrap());
        name.push('.');
        at = end;
    }
    let question = &query[12..at + 5];
    let exists = name.trim_end_matches('.') == known;
    let is_a = query[at + 1..at + 3] == [0, 1];
    let rcode = if exists { 0 } else { 3 };
    let count = u8::from(exists && is_a);
    let head = [0x85, 0x80 | rcode, 0, 1, 0, count, 0, 0, 0, 0];
    let mut reply = [&query[..2], &head, question].concat();
    if count == 1 {
        reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        reply.extend(answer.octets());
    }
    reply
}
