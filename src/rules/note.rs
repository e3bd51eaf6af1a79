//! What was noticed of a text, and why one says nothing.

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
        /// What it is, and what to give instead.
        what: String,
    },
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
        /// What it is, and what to give instead.
        what: String,
    },
    /// Nothing in it is known.
    #[error(
        "{name} has no rules: line {line} begins with \"{start}\"; kdns reads iptables-save, nft -j list ruleset, ipvsadm -S -n, /proc/net/ip_vs and ipset save"
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
