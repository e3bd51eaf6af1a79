//! A filter for the kernel, so that a busy node's other packets stay there.

use std::net::IpAddr;

use socket2::SockFilter;

use crate::packet::{HTTPS, OVER_HTTPS};

// Source: linux/bpf_common.h, linux/filter.h.
const LOAD_BYTE: u16 = 0x30;
const LOAD_HALF: u16 = 0x28;
const LOAD_WORD: u16 = 0x20;
const LOAD_BYTE_INDEXED: u16 = 0x50;
const LOAD_HALF_INDEXED: u16 = 0x48;
const INDEX_IS_HEADER_LENGTH: u16 = 0xb1;
const INDEX_IS: u16 = 0x01;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_GREATER: u16 = 0x25;
const JUMP_IF_BITS: u16 = 0x45;
const RETURN: u16 = 0x06;
/// Beyond this the kernel has what is not in the packet.
const BESIDE: u32 = 0xffff_f000;
const PACKET_TYPE: u32 = BESIDE + 4;
const HARDWARE_TYPE: u32 = BESIDE + 28;

// Source: linux/if_packet.h, linux/if_arp.h.
const PACKET_OUTGOING: u32 = 4;
const ARPHRD_LOOPBACK: u32 = 772;

/// The whole packet.
const ALL: u32 = 0x0004_0000;
const ICMP: u32 = 1;
const TCP: u32 = 6;
const UDP: u32 = 17;
const FRAGMENT: u32 = 44;
const ICMPV6: u32 = 58;
/// Hop-by-hop options, routing, fragment, destination options. Where ports are
/// behind them is not looked for here.
const EXTENSIONS: [u32; 4] = [0, 43, FRAGMENT, 60];
/// Unreachable, source quench, time exceeded, parameter problem.
const ICMP_ERRORS: [u32; 4] = [3, 4, 11, 12];
/// All errors of `ICMPv6` that there are.
const LAST_ICMPV6_ERROR: u32 = 4;
const IPV6_HEADER: u32 = 40;
/// The flags of TCP: what begins a connection is SYN without ACK.
const FLAGS: u32 = 13;
const SYN: u32 = 0x02;
const SYN_AND_ACK: u32 = 0x12;

/// More ports are not watched: a jump spans at most 255 instructions.
pub const MAX_PORTS: usize = 50;

/// What DNS on these ports, of which [`MAX_PORTS`] count, needs: UDP and TCP from
/// and to them, fragments whose ports are in another packet, ICMP errors, and
/// what begins a connection to a public server of DNS over HTTPS.
/// The packet begins with its IP header. The loopback interface shows each packet
/// twice, as it leaves and as it comes in: the first is passed over.
pub(super) fn dns(ports: &[u16]) -> Vec<SockFilter> {
    let mut program = Program::default();
    program.load(LOAD_WORD, PACKET_TYPE);
    program.jump_unless(PACKET_OUTGOING, "family");
    program.load(LOAD_WORD, HARDWARE_TYPE);
    program.jump_if(ARPHRD_LOOPBACK, "no");
    program.label("family");
    program.load(LOAD_BYTE, 0);
    program.load(AND, 0xf0);
    program.jump_if(0x60, "v6");
    program.jump_unless(0x40, "no");
    v4(&mut program);
    v6(&mut program);
    program.label("ports");
    for at in [0, 2] {
        program.load(LOAD_HALF_INDEXED, at);
        for port in ports.iter().take(MAX_PORTS) {
            program.jump_if(u32::from(*port), "yes");
        }
    }
    over_https(&mut program);
    program.label("no");
    program.load(RETURN, 0);
    program.label("yes");
    program.load(RETURN, ALL);
    program.finish()
}

fn v4(program: &mut Program) {
    const FLAGS_AND_OFFSET: u32 = 6;
    const OFFSET: u32 = 0x1fff;
    program.load(LOAD_BYTE, 9);
    program.jump_if(ICMP, "icmp");
    program.jump_if(UDP, "v4 ports");
    program.jump_unless(TCP, "no");
    program.label("v4 ports");
    program.load(LOAD_HALF, FLAGS_AND_OFFSET);
    program.jump(JUMP_IF_BITS, OFFSET, Some("yes"), None);
    program.load(INDEX_IS_HEADER_LENGTH, 0);
    program.jump(JUMP, 0, Some("ports"), None);
    program.label("icmp");
    program.load(LOAD_HALF, FLAGS_AND_OFFSET);
    program.jump(JUMP_IF_BITS, OFFSET, Some("no"), None);
    program.load(INDEX_IS_HEADER_LENGTH, 0);
    program.load(LOAD_BYTE_INDEXED, 0);
    for error in ICMP_ERRORS {
        program.jump_if(error, "yes");
    }
    program.load(RETURN, 0);
}

fn v6(program: &mut Program) {
    program.label("v6");
    program.load(LOAD_BYTE, 6);
    for extension in EXTENSIONS {
        program.jump_if(extension, "extension");
    }
    program.jump_if(ICMPV6, "icmp6");
    program.jump_if(UDP, "v6 ports");
    program.jump_unless(TCP, "no");
    program.label("v6 ports");
    program.load(INDEX_IS, IPV6_HEADER);
    program.jump(JUMP, 0, Some("ports"), None);
    program.label("extension");
    program.load(LOAD_BYTE, IPV6_HEADER);
    for behind in [UDP, TCP, FRAGMENT] {
        program.jump_if(behind, "yes");
    }
    program.load(RETURN, 0);
    program.label("icmp6");
    program.load(LOAD_BYTE, IPV6_HEADER);
    program.jump(JUMP_IF_GREATER, LAST_ICMPV6_ERROR, Some("no"), Some("yes"));
}

/// Falls through to "no". An IPv6 address that is put together from those of two
/// servers is let through as well: who counts looks again.
fn over_https(program: &mut Program) {
    program.load(LOAD_HALF_INDEXED, 2);
    program.jump_unless(u32::from(HTTPS), "no");
    program.load(LOAD_BYTE_INDEXED, FLAGS);
    program.load(AND, SYN_AND_ACK);
    program.jump_unless(SYN, "no");
    program.load(LOAD_BYTE, 0);
    program.load(AND, 0xf0);
    program.jump_if(0x60, "https 6");
    program.load(LOAD_BYTE, 9);
    program.jump_unless(TCP, "no");
    program.load(LOAD_WORD, 16);
    for ip in OVER_HTTPS {
        if let IpAddr::V4(ip) = ip {
            program.jump_if(ip.to_bits(), "yes");
        }
    }
    program.load(RETURN, 0);
    program.label("https 6");
    program.load(LOAD_BYTE, 6);
    program.jump_unless(TCP, "no");
    for (label, at, shift, next) in [
        ("first word", 24, 96, "second word"),
        ("second word", 28, 64, "third word"),
        ("third word", 32, 32, "last word"),
        ("last word", 36, 0, "yes"),
    ] {
        program.label(label);
        program.load(LOAD_WORD, at);
        for ip in OVER_HTTPS {
            if let IpAddr::V6(ip) = ip {
                let word = ip.to_bits() >> shift & u128::from(u32::MAX);
                program.jump_if(u32::try_from(word).unwrap_or_default(), next);
            }
        }
        program.load(RETURN, 0);
    }
}

/// Instructions with names to jump to, which all are further down.
#[derive(Debug, Default)]
struct Program {
    lines: Vec<Line>,
    labels: Vec<(&'static str, usize)>,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    code: u16,
    value: u32,
    then: Option<&'static str>,
    otherwise: Option<&'static str>,
}

impl Program {
    fn label(&mut self, name: &'static str) {
        self.labels.push((name, self.lines.len()));
    }

    /// An instruction that does not jump.
    fn load(&mut self, code: u16, value: u32) {
        self.jump(code, value, None, None);
    }

    fn jump_if(&mut self, value: u32, label: &'static str) {
        self.jump(JUMP_IF_EQUAL, value, Some(label), None);
    }

    fn jump_unless(&mut self, value: u32, label: &'static str) {
        self.jump(JUMP_IF_EQUAL, value, None, Some(label));
    }

    fn jump(
        &mut self,
        code: u16,
        value: u32,
        then: Option<&'static str>,
        otherwise: Option<&'static str>,
    ) {
        self.lines.push(Line {
            code,
            value,
            then,
            otherwise,
        });
    }

    fn finish(self) -> Vec<SockFilter> {
        // Jumps count from the next instruction.
        let distance = |from: usize, label: Option<&str>| {
            let known = self.labels.iter().find(|it| Some(it.0) == label);
            known.map_or(0, |it| it.1.saturating_sub(from + 1))
        };
        let short = |it: usize| u8::try_from(it).unwrap_or(u8::MAX);
        let line = |(at, line): (usize, &Line)| {
            let (then, otherwise) = (distance(at, line.then), distance(at, line.otherwise));
            if line.code == JUMP {
                let far = u32::try_from(then).unwrap_or_default();
                return SockFilter::new(JUMP, 0, 0, far);
            }
            SockFilter::new(line.code, short(then), short(otherwise), line.value)
        };
        self.lines.iter().enumerate().map(line).collect()
    }
}
