//! Links, and where their other ends are.

use std::os::fd::{AsRawFd as _, BorrowedFd};

use netlink_packet_core::{Emitable as _, NLM_F_REQUEST, Parseable as _};
use netlink_packet_route::link::{
    InfoBridgePort, InfoPortData, LinkAttribute, LinkFlags, LinkInfo, LinkLayerType, LinkMessage,
};
use netlink_packet_route::nsid::{NsidAttribute, NsidMessage};
use nix::libc;
use nix::sys::socket::SockProtocol;

use super::{Netlink, NetlinkError, request};
use crate::path::{Link, LinkKind};

/// The other end of a link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Peer {
    /// Its number, in the network namespace where it is.
    pub index: u32,
    /// The number of that network namespace, where it is another one.
    pub namespace: Option<i32>,
}

/// The number that this thread's network namespace has for another one; `None`: it
/// has none, as no link of it leads there.
///
/// # Errors
///
/// The kernel does not say.
pub fn namespace_number(other: BorrowedFd<'_>) -> Result<Option<i32>, NetlinkError> {
    let what = "numbers of network namespaces";
    let netlink = Netlink::open(SockProtocol::NetlinkRoute, what)?;
    let mut message = NsidMessage::default();
    let descriptor = u32::try_from(other.as_raw_fd()).unwrap_or_default();
    message.attributes.push(NsidAttribute::Fd(descriptor));
    let mut body = vec![0; message.buffer_len()];
    message.emit(&mut body);
    let mut number = None;
    let request = request(libc::RTM_GETNSID, NLM_F_REQUEST, &body);
    netlink.ask(what, &request, &mut |answer| {
        let answer = answer.and_then(|(_, body)| NsidMessage::parse(body).ok());
        let mut said = answer.iter().flat_map(|it| &it.attributes);
        number = said.find_map(|it| match it {
            NsidAttribute::Id(number) => Some(*number).filter(|it| *it >= 0),
            _ => None,
        });
        false
    })?;
    Ok(number)
}

/// A link, and its other end.
pub(super) fn link(message: &LinkMessage) -> Option<(Link, Option<Peer>)> {
    let header = &message.header;
    let is_loopback = header.link_layer_type == LinkLayerType::Loopback;
    let mut link = Link {
        index: header.index,
        name: "".into(),
        kind: if is_loopback {
            LinkKind::Loopback
        } else {
            LinkKind::Device
        },
        is_up: header.flags.contains(LinkFlags::Up),
        has_carrier: header.flags.contains(LinkFlags::Running),
        mtu: 0,
        master: None,
        peer: None,
        hairpin: None,
    };
    let mut namespace = None;
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::Link(index) => link.peer = Some(*index),
            LinkAttribute::LinkNetNsId(it) => namespace = Some(*it),
            LinkAttribute::IfName(name) => link.name = name.as_str().into(),
            LinkAttribute::Mtu(mtu) => link.mtu = *mtu,
            LinkAttribute::Controller(index) => link.master = Some(*index),
            LinkAttribute::LinkInfo(infos) => infos.iter().for_each(|it| about(&mut link, it)),
            _ => {}
        }
    }
    let peer = link.peer.map(|index| Peer { index, namespace });
    (!link.name.is_empty()).then_some((link, peer))
}

/// What a link says about its kind.
fn about(link: &mut Link, info: &LinkInfo) {
    match info {
        LinkInfo::Kind(kind) => link.kind = LinkKind::Named(kind.to_string().into()),
        LinkInfo::PortData(InfoPortData::BridgePort(port)) => {
            link.hairpin = port.iter().find_map(|it| match it {
                InfoBridgePort::HairpinMode(is_on) => Some(*is_on),
                _ => None,
            });
        }
        _ => {}
    }
}
