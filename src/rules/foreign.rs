//! Texts of other tools, which people take for one of these.

/// What a text is that says nothing about the way of packets, and what to give instead.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Foreign {
    /// A chain of `nft list` without the table that it is in.
    #[error(
        "this is a chain of nft list without the line of its table above (table ip …); give all of it"
    )]
    NftChain,
    /// A row of `iptables -L` without the chain that it is in.
    #[error(
        "this is iptables -L without the lines above its rows (Chain …, target prot …); give all of it"
    )]
    IptablesRow,
    /// `ipset list` without `save`.
    #[error("this is ipset list; give what ipset save prints")]
    IpsetList,
    /// `ipvsadm -L --stats` or `--rate`, without weights.
    #[error(
        "this is ipvsadm with --stats or --rate, which shows no weights; give what ipvsadm -S -n prints"
    )]
    IpvsCounts,
    /// No text at all.
    #[error("this is no text")]
    Binary,
}

impl Foreign {
    /// What a line shows to be.
    pub(super) fn of_line(line: &[u8]) -> Option<Self> {
        if memchr::memchr(0, line).is_some() {
            return Some(Self::Binary);
        }
        let text = line.trim_ascii();
        let starts = |word: &str| text.starts_with(word.as_bytes());
        let has = |word: &str| memchr::memmem::find(text, word.as_bytes()).is_some();
        if starts("chain ") && (text.ends_with(b"{") || has("{ # handle ")) {
            return Some(Self::NftChain);
        }
        let is_row = has(" -- ") && (has(" 0.0.0.0/0 ") || has(" anywhere ") || has(" ::/0 "));
        if is_row {
            return Some(Self::IptablesRow);
        }
        if starts("Prot LocalAddress:Port") && has("InPkts") {
            return Some(Self::IpvsCounts);
        }
        if starts("Name: ") || starts("Revision: ") {
            return Some(Self::IpsetList);
        }
        None
    }
}
