//! The rules that decide where a packet goes, as the node's tools print them:
//! `iptables-save`, `iptables -S` and `-L`, `nft list ruleset` with `-j` or without, `ipvsadm -S -n`, `/proc/net/ip_vs`,
//! `ipset save` and lists of conntrack entries. Syntax with places; what
//! becomes of a packet is decided in [`crate::path`].
//!
//! A text may be larger than memory (20,000 Services are 150 MB): it is read
//! once for an index of what stands where, and rules are parsed when they are
//! asked for.

pub mod conntrack;
mod foreign;
pub mod ipset;
pub mod ipvs;
mod list;
pub mod nft;
mod note;
mod read;
mod reading;
pub mod rule;
mod save;
mod services;
mod share;
pub mod table;
mod text;

pub use foreign::Foreign;
pub use note::{Note, Unreadable};
pub use read::Rules;
pub use services::{LARGEST, Named, SMALLEST, is_amid};
pub use share::Share;
pub use text::{Text, View};

/// Which addresses a table is about.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// What a table was loaded through: both kinds can be there at once, and each
/// sees every packet.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Backend {
    /// `iptables-legacy`: the kernel's `ip_tables`.
    Legacy,
    /// `iptables-nft`, a table of nftables that iptables manages.
    Iptables,
    /// nftables' own.
    Nftables,
    /// A paste of iptables without the line that says which.
    Unsaid,
}
