//! What is seen of a lookup on the wire while it goes on.

use std::net::SocketAddr;
use std::time::Duration;

use crate::address::Server;
use crate::dig::message::Message;
use crate::engine::io::Came;
use crate::engine::message::{Query, QueryId, Transport};

/// What happens, when it happens. `at` counts from the start of the lookup.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A query has left, or was lost on this machine.
    Sent {
        /// When.
        at: Duration,
        /// Which: others refer to it.
        id: QueryId,
        /// What the model wants sent.
        query: Query,
        /// The bytes of the message.
        wire: Vec<u8>,
    },
    /// Something came back for a query.
    Came {
        /// When.
        at: Duration,
        /// The query that it answers.
        id: QueryId,
        /// How long after that was sent.
        elapsed: Duration,
        /// What the model is told; [`Came::Refused`] on a socket that is not
        /// connected is only for people, and a reply may follow.
        what: Came,
        /// What the kernel says, if it is an error.
        why: Option<String>,
        /// The message, if it is one.
        message: Option<Box<Message>>,
    },
    /// A socket could not be connected: why, as the kernel says.
    NotConnected {
        /// When.
        at: Duration,
        /// The server.
        server: Server,
        /// Over UDP or TCP.
        transport: Transport,
        /// As a sentence part.
        why: String,
        /// Whether there was no socket to connect.
        no_socket: bool,
        /// Whether the port is closed.
        is_refused: bool,
    },
    /// A query could not be sent, after its [`Event::Sent`].
    NotSent {
        /// The query.
        id: QueryId,
        /// As a sentence part.
        why: String,
        /// Whether there was no socket to send it from.
        no_socket: bool,
    },
    /// A message came that answers nothing: why, as a sentence.
    Stray {
        /// When.
        at: Duration,
        /// Who sent it.
        from: SocketAddr,
        /// What is wrong with it.
        why: String,
    },
}
