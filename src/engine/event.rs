//! What a machine wants done, and what comes of it.

use serde::{Deserialize, Serialize};

use crate::address::Server;
use crate::engine::failure::Failure;
use crate::engine::message::{Query, QueryId, Reply, SocketId, Transport};
use crate::engine::secure::Secure;

/// Something that a machine wants done, in this order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Request {
    /// `connect(2)`, and what stands between TCP and DNS: the answer goes to
    /// [`crate::engine::io::Io::connected`].
    Connect(SocketId, Server, Transport, Option<Box<Secure>>),
    /// Send a query; what comes of it goes to [`crate::engine::io::Io::arrived`].
    Send(QueryId, Query),
    /// Send a message as it is; all that comes on the socket from then on goes
    /// to [`crate::engine::io::Io::heard`] as it is. A simulation answers none.
    Write(SocketId, Vec<u8>),
    /// `close(2)`: nothing more of this socket counts.
    Close(SocketId),
}

/// Something came back for a query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Arrival {
    /// The query that it answers.
    pub query: QueryId,
    /// The socket that it arrived on.
    pub socket: SocketId,
    /// The server that was asked.
    pub server: Server,
    /// A reply, an error of the network, or the end of a connection.
    pub what: Came,
    /// In what it is none for this query, if anything.
    pub wrong: Option<Wrong>,
}

/// In what a datagram is no reply to the query that it is sent for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Wrong {
    /// Another id.
    Id,
    /// Another question: of another type.
    Question,
    /// It comes from another address.
    Source,
}

/// What came back for a query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Came {
    /// A response.
    Reply(Reply),
    /// ICMP port unreachable. A socket that is not connected does not see it,
    /// so models of such resolvers ignore it.
    Refused,
    /// The server closed the connection without a response (FIN).
    Closed,
    /// The server reset the connection (RST).
    Reset,
}

/// A message as it came, or why none will come.
pub type Heard = Result<Vec<u8>, Failure>;
