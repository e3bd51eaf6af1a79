//! What dig prints, before it is text.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use crate::dig::lookup::{Lookup, Server};
use crate::dig::message::Message;

/// Where dig prints: text for people and programs, or what a prediction keeps.
pub trait Screen {
    /// Prints.
    ///
    /// # Errors
    ///
    /// It cannot be printed, and the program ends.
    fn print(&self, printed: Printed) -> Result<(), Unprintable>;
}

/// Something cannot be printed, and that was said.
#[derive(Clone, Copy, Debug)]
pub struct Unprintable;

/// What is printed.
#[derive(Clone, Debug, PartialEq)]
pub enum Printed {
    /// The greeting, before an error that ends a lookup.
    Greeting(Vec<u8>),
    /// The query, with the size of its message where that is wanted too.
    Query(Rc<Exchange>, Box<Message>),
    /// A reply; `true`: the first of its lookup, with a header.
    Reply(Rc<Exchange>, Box<Message>, bool),
    /// Time, server and size of a reply, or of a whole transfer.
    Received(Rc<Exchange>, Total),
    /// A line as it is.
    Plain(&'static str),
    /// A message that could not be read: why, and its bytes.
    BadPacket(&'static str, Vec<u8>),
    /// `;;` and this, in spite of everything.
    Error(String),
    /// No servers could be reached.
    NoServers,
    /// `;;` and this, unless output is for machines.
    Warning(String),
    /// A warning: all servers that are left are not asked.
    NoAcceptable,
    /// A server answered SERVFAIL; whether the next one is asked.
    Servfail(String, bool),
    /// `;;` and this, where comments are wanted.
    Comment(String),
    /// `dig: ` and this, on standard error.
    Stderr(String),
    /// The same: the name, or an entry of the search list, is none.
    BadName(String),
    /// `kdns: ` and this, on standard error: what dig does not say.
    Note(String),
}

/// How much came.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Total {
    /// Bytes of the last message, or of all of a transfer.
    pub bytes: usize,
    /// Records and messages of a zone transfer.
    pub transfer: Option<(u32, u32)>,
}

/// A lookup, and whom it was put to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Exchange {
    /// The lookup.
    pub lookup: Rc<Lookup>,
    /// The server.
    pub server: Server,
    /// Whether it went over TCP.
    pub tcp: bool,
    /// Whether the reply's cookie begins with ours; `None`: there was none.
    pub cookie_ok: Option<bool>,
    /// The bytes of the query.
    pub query_size: usize,
    /// When it was sent, when the reply came, and where from.
    pub times: Times,
}

/// When an exchange was.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Times {
    /// When the query was sent, since 1970.
    pub sent: Duration,
    /// When the reply came, since 1970.
    pub received: Duration,
    /// How long that took, by a clock that never jumps.
    pub elapsed: Duration,
    /// The address and port that the query came from.
    pub local: Option<SocketAddr>,
}
