//! Sockets that see the packets of a network namespace.
//!
//! A mapped ring (`PACKET_RX_RING`) would save the copy of each packet, but it
//! cannot be read without unsafe code, and the library that hides that (`netring`)
//! brings fifty thousand lines of other things. A large buffer and one call for
//! each packet cost about two microseconds, less than judging what is in it.

mod filter;

pub use filter::MAX_PORTS;

use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType,
    recvmsg, setsockopt, socket, sockopt,
};
use nix::sys::time::TimeSpec;
use socket2::SockRef;

/// A packet socket that never blocks, with a filter for DNS on `ports`, opened in
/// the network namespace of this thread. It sees no packet from before the filter.
///
/// # Errors
///
/// `CAP_NET_RAW` is missing, or the system has no such socket.
pub fn open(ports: &[u16], buffer: usize) -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let family = AddressFamily::Packet;
    let descriptor = socket(family, SockType::Datagram, flags, SockProtocol::EthAll)?;
    SockRef::from(&descriptor).attach_filter(&filter::dns(ports))?;
    // A smaller one does as well as it can.
    if setsockopt(&descriptor, sockopt::RcvBufForce, &buffer).is_err() {
        let _ = setsockopt(&descriptor, sockopt::RcvBuf, &buffer);
    }
    // Between the two calls other packets may have come.
    let mut rest = [0];
    while nix::sys::socket::recv(descriptor.as_raw_fd(), &mut rest, MsgFlags::empty()).is_ok() {}
    Ok(descriptor)
}

/// A socket whose packets are received with their times, and with a header that
/// says where they were seen (`LINKTYPE_LINUX_SLL2`).
#[derive(Debug)]
pub struct Packets {
    descriptor: OwnedFd,
    buffer: Vec<u8>,
    control: Vec<u8>,
    drops: u64,
    /// The last value of the kernel's counter, which has 32 bits.
    counted: u32,
}

/// A packet as it was received.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// When the kernel saw it, in nanoseconds since the epoch.
    pub time: i64,
    /// It, with its header.
    pub bytes: &'a [u8],
    /// The length of both on the wire.
    pub length: u32,
}

/// A packet is not longer but with offloads that no DNS has.
const MAX_PACKET: usize = 65_536;

/// The header. Source: <https://www.tcpdump.org/linktypes/LINKTYPE_LINUX_SLL2.html>.
pub const HEADER: usize = 20;

impl Packets {
    /// Receives from a socket of [`open`].
    ///
    /// # Errors
    ///
    /// The system does not tell times or drops.
    pub fn from_socket(descriptor: OwnedFd) -> io::Result<Self> {
        setsockopt(&descriptor, sockopt::ReceiveTimestampns, &true)?;
        setsockopt(&descriptor, sockopt::RxqOvfl, &1)?;
        Ok(Self {
            descriptor,
            buffer: vec![0; HEADER + MAX_PACKET],
            control: cmsg_space!(TimeSpec, u32),
            drops: 0,
            counted: 0,
        })
    }

    /// Packets that the kernel had no room for, as the last packet that was
    /// received said.
    pub fn drops(&self) -> u64 {
        self.drops
    }

    /// The next packet; `None`: there is none now.
    ///
    /// # Errors
    ///
    /// As the system says: the interface is down…
    pub fn receive(&mut self) -> io::Result<Option<Received<'_>>> {
        let (header, payload) = self.buffer.split_at_mut(HEADER);
        let mut slices = [IoSliceMut::new(payload)];
        let descriptor = self.descriptor.as_raw_fd();
        let flags = MsgFlags::MSG_TRUNC | MsgFlags::MSG_DONTWAIT;
        let control = Some(self.control.as_mut_slice());
        let message = match recvmsg::<LinkAddr>(descriptor, &mut slices, control, flags) {
            Ok(message) => message,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        let length = message.bytes;
        let mut time = 0;
        for said in message.cmsgs()? {
            match said {
                ControlMessageOwned::ScmTimestampns(at) => {
                    time = at.tv_sec() * 1_000_000_000 + at.tv_nsec();
                }
                ControlMessageOwned::RxqOvfl(count) => {
                    self.drops += u64::from(count.wrapping_sub(self.counted));
                    self.counted = count;
                }
                _ => {}
            }
        }
        if let Some(link) = message.address {
            write_header(header, &link);
        }
        let captured = HEADER + length.min(MAX_PACKET);
        Ok(Some(Received {
            time,
            bytes: self.buffer.get(..captured).unwrap_or_default(),
            length: u32::try_from(HEADER + length).unwrap_or(u32::MAX),
        }))
    }
}

impl AsFd for Packets {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn write_header(header: &mut [u8], link: &LinkAddr) {
    let address = link.addr().unwrap_or_default();
    let length = u8::try_from(link.halen()).unwrap_or_default();
    let interface = u32::try_from(link.ifindex()).unwrap_or_default();
    let parts: [&[u8]; 8] = [
        &u16::from_be(link.protocol()).to_be_bytes(),
        &[0; 2],
        &interface.to_be_bytes(),
        &link.hatype().to_be_bytes(),
        &[link.pkttype()],
        &[length],
        &address,
        &[0; 2],
    ];
    let bytes = parts.into_iter().flatten();
    header
        .iter_mut()
        .zip(bytes)
        .for_each(|(to, from)| *to = *from);
}
