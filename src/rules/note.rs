//! What was noticed of a text, and why one says nothing.

use super::foreign::Foreign;
use crate::text::Place;

/// Something about a text that a reader of the answer must know.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Note {
    /// A table ends without its `COMMIT`, or a document without its end.
    Cut {
        /// Where the text ends.
        place: Place,
        /// The table.
        table: Box<str>,
    },
    /// A table is there twice; the last one counts.
    Twice {
        /// Where the one that counts begins.
        place: Place,
        /// The table.
        table: Box<str>,
    },
    /// `iptables-nft` says that there are legacy tables, which are not here.
    LegacyElsewhere(Place),
    /// A part of a text is of another tool, and was not read.
    Other {
        /// Where it begins.
        place: Place,
        /// What it is.
        what: Foreign,
    },
    /// Rules that can be of several tables, of which no line says which.
    Unclear {
        /// Where they begin.
        place: Place,
        /// The table that they are taken to be of; `None`: they are left out.
        taken: Option<&'static str>,
    },
    /// `iptables -L` without `-v`, which shows no interfaces.
    Blind(Place),
    /// A table of another family: no packet of ours meets it on its way through IP.
    OtherFamily(Box<str>),
}

/// A text that says nothing about the way of packets.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unreadable {
    /// It is empty.
    #[error("{name} is empty")]
    Empty {
        /// The text.
        name: String,
    },
    /// It is what another tool printed.
    #[error("{place}: {what}")]
    Foreign {
        /// Its first line that shows it.
        place: Place,
        /// What it is.
        what: Foreign,
    },
    /// It is a list of chains that can be of several tables.
    #[error(
        "{0}: these chains can be of several tables; put the command that listed them in front, such as iptables -t nat -L -n -v"
    )]
    Unclear(Place),
    /// No line is of a kind that kdns reads.
    #[error(
        "{name} has no rules: line {line} begins with \"{start}\"; kdns reads iptables-save, iptables -S or -L, nft list ruleset, ipvsadm -S -n, /proc/net/ip_vs and ipset save"
    )]
    Nothing {
        /// The text.
        name: String,
        /// Its first line that is not empty.
        line: u32,
        /// How that begins.
        start: String,
    },
    /// It can no longer be read.
    #[error("cannot read {name}: {reason}")]
    Failed {
        /// The text.
        name: String,
        /// What the system said.
        reason: String,
    },
}
