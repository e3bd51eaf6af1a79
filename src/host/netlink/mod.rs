//! Asks the kernel over netlink for what it lists: links, routes, connections.
//!
//! Answers are those of the network namespace in which the socket was opened.

pub mod conntrack;
pub mod link;
pub mod nftables;
pub mod route;

use std::os::fd::{AsRawFd as _, OwnedFd};

use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NLMSG_ALIGNTO, NetlinkBuffer,
};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, setsockopt, socket,
    sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike as _};

use super::reason;

/// Types of messages that are not an item of a list.
///
/// Source: Linux `include/uapi/linux/netlink.h`.
const NLMSG_NOOP: u16 = 1;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;

/// The length of a message's header.
const HEADER: usize = 16;

/// The kernel fills so much at once, and no more where there is more room.
///
/// Source: Linux `net/netlink/af_netlink.c: netlink_dump`.
const ROOM: usize = 32 << 10;

/// The kernel answers at once: this is for one that does not.
const SECONDS: i64 = 2;

/// A list that changes while it is read is read again so many times.
const TRIES: usize = 3;

/// Why a list was not read.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetlinkError {
    /// The kernel said no, or nothing.
    #[error("the kernel does not list {what}: {}", reason(*errno))]
    System {
        /// `the routes`…
        what: &'static str,
        /// The error that the kernel gave.
        errno: Errno,
    },
    /// What it said is no answer.
    #[error("the kernel's list of {0} is not understood")]
    Garbled(&'static str),
}

/// Takes type and body of an item, or `None` where all begins anew; whether it
/// wants more.
type Each<'e> = dyn FnMut(Option<(u16, &[u8])>) -> bool + 'e;

/// A socket to a part of the kernel.
#[derive(Debug)]
pub(super) struct Netlink {
    socket: OwnedFd,
}

impl Netlink {
    /// Opens one in this thread's network namespace.
    fn open(protocol: SockProtocol, what: &'static str) -> Result<Self, NetlinkError> {
        let open = || {
            let (kind, flags) = (SockType::Raw, SockFlag::SOCK_CLOEXEC);
            let socket = socket(AddressFamily::Netlink, kind, flags, protocol)?;
            setsockopt(&socket, sockopt::ReceiveTimeout, &TimeVal::seconds(SECONDS))?;
            Ok(Self { socket })
        };
        open().map_err(|errno| NetlinkError::System { what, errno })
    }

    /// Asks for the list that a message of this type asks for, and gives type
    /// and body of each item; what an item makes the caller stop with counts.
    ///
    /// A list that changes while it is read is read again: `each` is told so
    /// with `None`.
    fn dump(
        &self,
        what: &'static str,
        kind: u16,
        body: &[u8],
        each: &mut Each<'_>,
    ) -> Result<(), NetlinkError> {
        for attempt in 1..=TRIES {
            let flags = NLM_F_REQUEST | NLM_F_DUMP;
            let is_torn = self.ask(what, &request(kind, flags, body), each)?;
            if !is_torn || attempt == TRIES {
                break;
            }
            each(None);
        }
        Ok(())
    }

    /// Asks once, and gives what comes up to its end; whether a list has changed
    /// meanwhile.
    fn ask(
        &self,
        what: &'static str,
        request: &[u8],
        each: &mut Each<'_>,
    ) -> Result<bool, NetlinkError> {
        let failed = |errno| NetlinkError::System { what, errno };
        send(self.socket.as_raw_fd(), request, MsgFlags::empty()).map_err(failed)?;
        let mut buffer = vec![0; ROOM];
        let mut is_torn = false;
        loop {
            let length = match recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
                Err(Errno::EINTR) => continue,
                Err(Errno::EAGAIN) => return Err(failed(Errno::ETIMEDOUT)),
                received => received.map_err(failed)?,
            };
            let mut rest = buffer.get(..length).unwrap_or_default();
            while !rest.is_empty() {
                let message =
                    NetlinkBuffer::new_checked(rest).map_err(|_| NetlinkError::Garbled(what))?;
                is_torn |= message.flags() & NLM_F_DUMP_INTR != 0;
                match message.message_type() {
                    NLMSG_NOOP => {}
                    NLMSG_DONE | NLMSG_ERROR => {
                        return match number(message.payload()) {
                            0 => Ok(is_torn),
                            error => Err(failed(Errno::from_raw(error.saturating_neg()))),
                        };
                    }
                    kind if each(Some((kind, message.payload()))) => {}
                    // The rest is read by nobody: the socket is not used again.
                    _ => return Ok(false),
                }
                let whole = usize::try_from(message.length()).unwrap_or(usize::MAX);
                rest = rest
                    .get(whole.next_multiple_of(usize::from(NLMSG_ALIGNTO))..)
                    .unwrap_or_default();
            }
        }
    }
}

/// A message that asks for something: for a list, by its flags.
fn request(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let length = HEADER + body.len();
    let mut message = vec![0; length];
    let mut header = NetlinkBuffer::new(&mut message);
    header.set_length(u32::try_from(length).unwrap_or_default());
    header.set_message_type(kind);
    header.set_flags(flags);
    header.set_sequence_number(1);
    header.payload_mut().copy_from_slice(body);
    message
}

/// The number at the beginning of an end: 0, or an error below 0.
fn number(payload: &[u8]) -> i32 {
    payload
        .first_chunk()
        .map_or(0, |it| i32::from_ne_bytes(*it))
}
