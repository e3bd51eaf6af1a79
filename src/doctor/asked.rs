//! Servers that were asked.

use std::net::SocketAddr;
use std::time::Duration;

/// An answer that takes longer is late: resolvers ask the next server or give up
/// after some seconds, people notice sooner.
const SLOW: Duration = Duration::from_millis(500);

/// A server that was asked, over UDP and over TCP.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Asked {
    /// Who it is.
    pub whom: Whom,
    /// Its address.
    pub server: SocketAddr,
    /// What came over UDP.
    pub udp: Answer,
    /// What came over TCP.
    pub tcp: Answer,
}

/// Who was asked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Whom {
    /// A server outside the node.
    Upstream,
    /// This DNS pod.
    Pod(String),
}

/// What came back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// A reply, after so long; its rcode as text.
    Reply(Duration, String),
    /// Nothing, for so long.
    Silence(Duration),
    /// The network refused it; how.
    Failed(String),
}

impl Answer {
    /// Whether a reply came, of whatever kind.
    pub fn is_reply(&self) -> bool {
        matches!(self, Self::Reply(..))
    }

    fn is_slow(&self) -> bool {
        matches!(self, Self::Reply(time, _) if *time > SLOW)
    }
}

impl Asked {
    /// Whether it does not answer over UDP, which resolvers use.
    pub fn is_silent(&self) -> bool {
        !self.udp.is_reply()
    }

    /// Whether it answers over one of the two only, or late.
    pub fn is_slow(&self) -> bool {
        self.udp.is_slow()
    }

    /// Whether it answers over UDP alone.
    pub fn is_without_tcp(&self) -> bool {
        self.udp.is_reply() && !self.tcp.is_reply()
    }
}
