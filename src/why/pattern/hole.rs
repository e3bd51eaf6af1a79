//! What can stand in a hole of a pattern.

use crate::address::DNS_PORT;
use crate::why::asked::{self, Kind};
use crate::why::looked::Looked;
use crate::why::plain::{RETURN, boundary};

/// Text in a hole is at most so long: an error in the words of its cause.
const LONGEST: usize = 400;

/// Where DNS servers listen: DNS itself, DNS over TLS, and pods that may not have port 53.
const DNS_PORTS: [u16; 3] = [DNS_PORT, 853, 5353];

/// What can stand in a hole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hole {
    /// A domain name, or a part of one.
    Name,
    /// A domain name that everybody knows: `github.com`.
    Known,
    /// The address of a server, perhaps with its port; `Some`: of this kind.
    Server(Option<Kind>),
    /// The address of a server with a port of DNS.
    Dns,
    /// An address with another port.
    Peer,
    /// The address of somebody else.
    Client,
    /// The name of a record type or response code, a number, a duration.
    Word,
    /// Digits.
    Number,
    /// Anything up to the words behind it, or up to the end.
    Text,
    /// The same within a sentence.
    Clause,
}

/// Words of a sentence, and names only where the pattern has words on both sides.
const SENTENCE: [&str; 16] = [
    "after", "and", "at", "but", "during", "error", "errors", "for", "from", "in", "issue", "is",
    "on", "when", "while", "with",
];

impl Hole {
    /// The hole of a word between `<` and `>`.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "name" => Self::Name,
            "known" => Self::Known,
            "server" => Self::Server(None),
            "dns" => Self::Dns,
            "peer" => Self::Peer,
            "client" => Self::Client,
            "word" | "type" | "rcode" | "time" => Self::Word,
            "number" => Self::Number,
            "text" => Self::Text,
            "clause" => Self::Clause,
            kind => Self::Server(Some(Kind::of_word(kind)?)),
        })
    }

    /// How much of the beginning of `rest` it could be. Between words a part of a name
    /// may be hidden: `sts.<region>.example.com`, `{{host}}`; a variable may not be set: `$(HOST)`.
    pub(super) fn longest(self, rest: &str, is_between: bool) -> usize {
        let is_in = |c: char| match self {
            Self::Name | Self::Known => {
                let is_mark = is_between && ("<>{}[]$@()".contains(c) || c == RETURN);
                c.is_alphanumeric() || is_mark || ".-_*".contains(c)
            }
            Self::Server(_) | Self::Dns | Self::Peer | Self::Client => {
                c.is_ascii_alphanumeric() || ".:[]#%/*".contains(c)
            }
            Self::Word => !c.is_whitespace(),
            Self::Number => c.is_ascii_digit(),
            Self::Text => true,
            Self::Clause => !"?!;".contains(c) && c != RETURN,
        };
        let cut = boundary(rest, LONGEST);
        let mut rest = rest.get(..cut).unwrap_or_default();
        if self == Self::Clause {
            rest = rest.split(". ").next().unwrap_or_default();
        }
        let end = rest.find(|c| !is_in(c)).unwrap_or(rest.len());
        // A URL in the place of a name is looked up as one.
        let behind = rest.get(end..).unwrap_or_default();
        if self == Self::Name && end > 0 && behind.starts_with("://") {
            let is_end = |c: char| c.is_whitespace() || "\"',;)".contains(c);
            return end + behind.find(is_end).unwrap_or(behind.len());
        }
        end
    }

    pub(super) fn takes(self, text: &str) -> bool {
        if text.is_empty() || self.longest(text, true) < text.len() {
            return false;
        }
        let address = text.trim_end_matches(['.', ':']);
        let parsed = asked::parsed(address);
        match self {
            // What C prints for no text.
            Self::Name => text != "(null)",
            Self::Known => Looked::of_name(text) == Some(Looked::Public),
            Self::Server(None) | Self::Client => parsed.is_some() || asked::is_masked(address),
            Self::Server(Some(kind)) => parsed.is_some_and(|(it, is_written)| {
                // The API server is a Service, too.
                let is_other = is_written && it.port() != DNS_PORT && kind == Kind::Service;
                asked::asked(it, None).kind == kind && !is_other
            }),
            Self::Dns => {
                parsed.is_some_and(|(it, is_written)| is_written && DNS_PORTS.contains(&it.port()))
            }
            Self::Peer => {
                parsed.is_some_and(|(it, is_written)| is_written && !DNS_PORTS.contains(&it.port()))
            }
            _ => true,
        }
    }

    /// Whether this, at one end of a pattern, is no name but a word of the sentence around.
    pub(super) fn is_of_sentence(self, text: &str) -> bool {
        self == Self::Name && SENTENCE.contains(&text)
    }
}
