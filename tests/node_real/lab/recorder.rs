//! Counts DNS queries on the wire, apart from kdns's own watch and by other
//! means: the bytes are read here.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use nix::sys::socket::{
    AddressFamily, LinkAddr, SockFlag, SockProtocol, SockType, recvfrom, socket,
};

/// A query that came in somewhere, also through a loopback interface.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Arrival {
    /// The pod; `None`: the node.
    pub(crate) pod: Option<String>,
    pub(crate) from: SocketAddrV4,
    pub(crate) to: SocketAddrV4,
    /// The name, lower case, with its final dot.
    pub(crate) name: String,
}

/// A running recorder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder(Arc<Mutex<Vec<Arrival>>>);

impl Recorder {
    /// Also records in the network namespace of a pod, or in the node's own.
    pub(crate) fn watch(&self, pod: Option<&str>) -> Result<(), String> {
        let (this, pod) = (self.clone(), pod.map(str::to_owned));
        let (ready, is_ready) = std::sync::mpsc::channel();
        thread::spawn(move || {
            let opened = open(pod.as_deref());
            let _ = ready.send(opened.as_ref().map(|_| ()).map_err(Clone::clone));
            let Ok(descriptor) = opened else {
                return;
            };
            let mut buffer = [0; 4096];
            while let Ok((length, Some(link))) =
                recvfrom::<LinkAddr>(descriptor.as_raw_fd(), &mut buffer)
            {
                // 4: it leaves.
                let arrival = (link.pkttype() != 4)
                    .then(|| arrival(&buffer[..length], pod.as_deref()))
                    .flatten();
                let mut all = this.0.lock().unwrap_or_else(PoisonError::into_inner);
                all.extend(arrival);
            }
        });
        is_ready.recv().map_err(|e| e.to_string())?
    }

    /// The queries so far.
    pub(crate) fn arrivals(&self) -> Vec<Arrival> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.clone()
    }
}

fn open(pod: Option<&str>) -> Result<OwnedFd, String> {
    pod.map_or(Ok(()), super::enter)?;
    let flags = SockFlag::SOCK_CLOEXEC;
    let all = SockProtocol::EthAll;
    socket(AddressFamily::Packet, SockType::Datagram, flags, all).map_err(|e| e.to_string())
}

/// The query in an IPv4 packet to port 53.
fn arrival(packet: &[u8], pod: Option<&str>) -> Option<Arrival> {
    let header = usize::from(packet.first()? & 0x0f) * 4;
    if packet.first()? >> 4 != 4 {
        return None;
    }
    let rest = packet.get(header..)?;
    let number = |at: usize| Some(u16::from_be_bytes([*rest.get(at)?, *rest.get(at + 1)?]));
    let address = |at: usize| {
        let bytes: [u8; 4] = packet.get(at..at + 4)?.try_into().ok()?;
        Some(Ipv4Addr::from(bytes))
    };
    let begin = match packet.get(9)? {
        17 => 8,
        // After the message's length.
        6 => usize::from(rest.get(12)? >> 4) * 4 + 2,
        _ => return None,
    };
    let message = rest.get(begin..)?;
    if number(2)? != 53 || message.get(2)? & 0x80 != 0 {
        return None;
    }
    let mut name = String::new();
    let mut at = 12;
    loop {
        let length = usize::from(*message.get(at)?);
        if length == 0 {
            break;
        }
        let label = message.get(at + 1..at + 1 + length)?;
        name.push_str(&String::from_utf8_lossy(label).to_lowercase());
        name.push('.');
        at += 1 + length;
    }
    Some(Arrival {
        pod: pod.map(str::to_owned),
        from: SocketAddrV4::new(address(12)?, number(0)?),
        to: SocketAddrV4::new(address(16)?, 53),
        name,
    })
}
