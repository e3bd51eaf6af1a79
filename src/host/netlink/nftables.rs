//! Which tables nftables has, without their rules.
//!
//! Source: Linux `include/uapi/linux/netfilter/nf_tables.h`.

use netlink_packet_core::NlasIterator;
use nix::sys::socket::SockProtocol;

use super::{Netlink, NetlinkError};

/// `NFNL_SUBSYS_NFTABLES`, in the upper byte of a message's type, and
/// `NFT_MSG_GETTABLE`.
const GET_TABLE: u16 = (10 << 8) | 1;

/// The header of every message to netfilter: family, version, number.
const HEADER: usize = 4;

/// `NFTA_TABLE_NAME`.
const NAME: u16 = 1;

/// A table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TableSeen {
    /// `NFPROTO_IPV4`, `NFPROTO_IPV6`…
    pub family: u8,
    /// Its name.
    pub name: String,
}

/// `NFPROTO_IPV4`, `NFPROTO_IPV6`.
pub const IPV4: u8 = 2;
/// See [`IPV4`].
pub const IPV6: u8 = 10;

/// The tables in this thread's network namespace. The kernel loads nftables if
/// it is not there: whoever does not want that looks before.
///
/// # Errors
///
/// The kernel does not say: that needs `CAP_NET_ADMIN`.
pub fn tables() -> Result<Vec<TableSeen>, NetlinkError> {
    let what = "tables of nftables";
    let netlink = Netlink::open(SockProtocol::NetlinkNetFilter, what)?;
    let mut tables = Vec::new();
    netlink.dump(what, GET_TABLE, &[0; HEADER], &mut |message| {
        match message {
            None => tables.clear(),
            Some((_, body)) => tables.extend(table(body)),
        }
        true
    })?;
    Ok(tables)
}

fn table(body: &[u8]) -> Option<TableSeen> {
    let family = *body.first()?;
    let attributes = NlasIterator::new(body.get(HEADER..)?).map_while(Result::ok);
    let name = attributes.filter(|it| it.kind() == NAME).last()?;
    let name = name.value().split(|it| *it == 0).next()?;
    let name = String::from_utf8_lossy(name).into_owned();
    Some(TableSeen { family, name })
}

impl TableSeen {
    /// Whether `iptables-nft` could have made it, and shows it.
    pub fn is_of_iptables(&self) -> bool {
        const NAMES: [&str; 5] = ["filter", "nat", "mangle", "raw", "security"];
        matches!(self.family, IPV4 | IPV6) && NAMES.contains(&self.name.as_str())
    }
}
