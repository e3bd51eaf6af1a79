//! A filter for the kernel, so that a busy node's other packets stay there.

use socket2::SockFilter;

// Source: linux/bpf_common.h.
const LOAD_BYTE: u16 = 0x30;
const LOAD_HALF: u16 = 0x28;
const LOAD_HALF_INDEXED: u16 = 0x48;
const INDEX_IS_HEADER_LENGTH: u16 = 0xb1;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

/// The whole packet.
const ALL: u32 = 0x0004_0000;
const UDP: u32 = 17;
const TCP: u32 = 6;

/// UDP and TCP packets to one of these ports, over IPv4 and over IPv6 without
/// extension headers. The packet begins with its IP header. At most 50 ports.
pub(super) fn to_ports(ports: &[u16]) -> Vec<SockFilter> {
    let ports: Vec<u32> = ports.iter().copied().map(u32::from).take(50).collect();
    let count = u8::try_from(ports.len()).unwrap_or_default();
    // Jumps count from the next instruction. After these fourteen come the
    // ports, "no" and "yes".
    let mut program = vec![
        SockFilter::new(LOAD_BYTE, 0, 0, 0),
        SockFilter::new(AND, 0, 0, 0xf0),
        SockFilter::new(JUMP_IF_EQUAL, 7, 0, 0x60),
        // IPv4.
        SockFilter::new(JUMP_IF_EQUAL, 0, 10 + count, 0x40),
        SockFilter::new(LOAD_BYTE, 0, 0, 9),
        SockFilter::new(JUMP_IF_EQUAL, 1, 0, UDP),
        SockFilter::new(JUMP_IF_EQUAL, 0, 7 + count, TCP),
        SockFilter::new(INDEX_IS_HEADER_LENGTH, 0, 0, 0),
        SockFilter::new(LOAD_HALF_INDEXED, 0, 0, 2),
        SockFilter::new(JUMP, 0, 0, 4),
        // IPv6.
        SockFilter::new(LOAD_BYTE, 0, 0, 6),
        SockFilter::new(JUMP_IF_EQUAL, 1, 0, UDP),
        SockFilter::new(JUMP_IF_EQUAL, 0, 1 + count, TCP),
        SockFilter::new(LOAD_HALF, 0, 0, 42),
    ];
    for (number, port) in (0..count).zip(ports) {
        program.push(SockFilter::new(JUMP_IF_EQUAL, count - number, 0, port));
    }
    program.push(SockFilter::new(RETURN, 0, 0, 0));
    program.push(SockFilter::new(RETURN, 0, 0, ALL));
    program
}
