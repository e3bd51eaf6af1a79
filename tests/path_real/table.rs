//! A connection tracking table that is full, over ctnetlink, up to the machine's
//! own limit.

use std::os::fd::AsRawFd as _;

use netlink_packet_core::NetlinkBuffer;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};

use crate::Scene;
use crate::lab::{Lab, NEAR, codes, kube_proxy, path, restore};

pub(crate) const SCENES: &[Scene] = &[("table::full", full)];

/// A larger table is not filled.
const MOST: u32 = 1 << 20;

fn number(path: &str) -> u32 {
    std::fs::read_to_string(path)
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}

fn full() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    let max = number("/proc/sys/net/netfilter/nf_conntrack_max");
    assert!(
        max <= MOST,
        "a table of {max} entries is too large to fill here"
    );
    let count = || number("/proc/sys/net/netfilter/nf_conntrack_count");
    let mut made = 0;
    fill(&mut made, max * 92 / 100);
    assert!(count() >= max * 9 / 10, "{} of {max}", count());
    let (status, value) = path(&[]);
    assert_eq!(
        (codes(&value), status),
        (vec!["connections-nearly-full".to_owned()], 1),
        "{value:#}"
    );
    // Until nothing fits any more.
    let mut before = 0;
    while count() < max && count() > before {
        before = count();
        fill(&mut made, (max - before).clamp(1, 10_000));
    }
    assert!(count() >= max, "{} of {max}", count());
    let (status, value) = path(&[]);
    assert!(
        codes(&value).contains(&"connections-full".to_owned()),
        "{value:#}"
    );
    assert_eq!(status, 1);
}

fn nla(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).unwrap();
    let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

const NESTED: u16 = 0x8000;

fn tuple(kind: u16, source: [u8; 4], destination: [u8; 4], ports: (u16, u16)) -> Vec<u8> {
    let ip = [nla(1, &source), nla(2, &destination)].concat();
    let ports = [
        nla(2, &ports.0.to_be_bytes()),
        nla(3, &ports.1.to_be_bytes()),
    ]
    .concat();
    let proto = [nla(1, &[17]), ports].concat();
    nla(
        kind | NESTED,
        &[nla(1 | NESTED, &ip), nla(2 | NESTED, &proto)].concat(),
    )
}

/// `IPS_CONFIRMED`, `IPS_ASSURED`, `IPS_SEEN_REPLY`.
const CONFIRMED_ASSURED_REPLIED: u32 = 0x8 | 0x4 | 0x2;

/// An assured entry of some connection that no client of the lab has.
///
/// Source: Linux `include/uapi/linux/netfilter/nfnetlink_conntrack.h`.
fn entry(number: u32) -> Vec<u8> {
    let [_, a, b, c] = number.to_be_bytes();
    let (client, server) = ([172, a, b, c], [192, 0, 2, 1]);
    let body = [
        vec![2, 0, 0, 0],
        tuple(1, client, server, (4000, 123)),
        tuple(2, server, client, (123, 4000)),
        nla(3, &CONFIRMED_ASSURED_REPLIED.to_be_bytes()),
        nla(7, &600_u32.to_be_bytes()),
    ]
    .concat();
    let length = 16 + body.len();
    let mut message = vec![0; length];
    let mut header = NetlinkBuffer::new(&mut message);
    header.set_length(u32::try_from(length).unwrap());
    // IPCTNL_MSG_CT_NEW of NFNL_SUBSYS_CTNETLINK; request, create, acknowledge at the end.
    header.set_message_type(1 << 8);
    header.set_flags(0x1 | 0x400);
    header.payload_mut().copy_from_slice(&body);
    message
}

/// Makes so many more entries.
fn fill(made: &mut u32, more: u32) {
    let netlink = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
        SockProtocol::NetlinkNetFilter,
    )
    .unwrap();
    let end = *made + more;
    let mut errors = vec![0; 1 << 16];
    while *made < end {
        let mut batch = Vec::new();
        while *made < end && batch.len() < 16 << 10 {
            batch.extend(entry(*made));
            *made += 1;
        }
        send(netlink.as_raw_fd(), &batch, MsgFlags::empty()).unwrap();
        // Only what fails is answered.
        while recv(netlink.as_raw_fd(), &mut errors, MsgFlags::empty()).is_ok() {}
    }
}
