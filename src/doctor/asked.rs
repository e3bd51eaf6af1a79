//! Servers that were asked.

use std::net::SocketAddr;
use std::time::Duration;

/// An answer that takes longer is late: resolvers ask the next server or give up
/// after some seconds, people notice sooner.
const SLOW: Duration = Duration::from_millis(500);

/// A server that was asked, over UDP and over TCP.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Asked {
    /// The server, and why it is asked.
    pub whom: Whom,
    /// Its address.
    pub server: SocketAddr,
    /// What came over UDP.
    pub udp: Answer,
    /// What came over TCP.
    pub tcp: Answer,
    /// Whether it was asked what it has to ask others for, and gave no answer to that:
    /// nothing came, or SERVFAIL or REFUSED.
    pub fails: bool,
    /// Whether packets to the cluster's DNS are known to go to others: it is a DNS pod that
    /// is not ready or is being ended, or the rules are old.
    pub is_left_out: bool,
    /// Whether a reply breaks a rule, or ends before it should.
    pub is_malformed: bool,
}

/// Who was asked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Whom {
    /// A server outside the node.
    Upstream,
    /// One that only the file of the target names: it is asked from the node's network,
    /// and not from the target's.
    Target,
    /// This DNS pod.
    Pod(String),
}

/// What came back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// A reply, after so long.
    Reply(Duration),
    /// A reply from another address than was asked, which resolvers drop.
    Elsewhere(SocketAddr),
    /// Nothing, for so long.
    Silence(Duration),
    /// The network refused it; how.
    Failed(String),
    /// This node did not let the query out: a rule of OUTPUT, a route or a rule of
    /// `ip rule` refuses it, or the table of connections has no room.
    NotSent,
    /// This node has no route to it.
    NoRoute,
    /// There was no time to ask.
    NotAsked,
}

impl Answer {
    fn is_missing(&self) -> bool {
        matches!(
            self,
            Self::Elsewhere(_) | Self::Silence(_) | Self::Failed(_) | Self::NotSent | Self::NoRoute
        )
    }
}

impl Asked {
    /// Whether it does not answer over UDP, which resolvers use.
    pub fn is_silent(&self) -> bool {
        self.udp.is_missing()
    }

    /// Whether it answers over TCP alone.
    pub fn is_without_udp(&self) -> bool {
        matches!(self.udp, Answer::Silence(_)) && matches!(self.tcp, Answer::Reply(_))
    }

    /// Whether it was not asked at all, as this node did not let the query out.
    pub fn is_not_sent(&self) -> bool {
        self.udp == Answer::NotSent
    }

    /// Whether it answers late.
    pub fn is_slow(&self) -> bool {
        matches!(self.udp, Answer::Reply(time) if time > SLOW)
    }

    /// Whether it answers over UDP alone.
    pub fn is_without_tcp(&self) -> bool {
        !self.udp.is_missing() && self.tcp.is_missing()
    }
}

/// Why no server was asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unasked {
    /// Nobody wanted it.
    NotWanted,
    /// Queries go round, or it is not known that they do not: each query could
    /// become thousands.
    Loops,
    /// No server is known.
    NoServer,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::{State, checks};

    /// One that answers that it cannot ask others can still know what is wanted of it.
    #[test]
    fn a_server_that_fails_is_not_known_to_be_right() {
        for (fails, state) in [(false, State::Ok), (true, State::Unknown)] {
            let reply = Answer::Reply(Duration::from_millis(1));
            let asked = Asked {
                whom: Whom::Upstream,
                server: ([172, 31, 0, 53], 53).into(),
                udp: reply.clone(),
                tcp: reply,
                fails,
                is_malformed: false,
                is_left_out: false,
            };
            assert_eq!(checks::servers(&[asked]).state, state);
        }
    }
}
