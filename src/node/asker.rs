//! Whose socket sent a query.

use std::net::SocketAddr;

use crate::node::Process;

/// A process whose socket sent a query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Asker {
    /// The socket.
    pub client: SocketAddr,
    /// When the query left, in nanoseconds since the epoch.
    pub time: i64,
    /// The process; without arguments.
    pub process: Process,
}

impl Asker {
    /// The same as text, on one line.
    pub fn to_text(&self) -> String {
        let (time, client, process) = (self.time, self.client, &self.process);
        format!("{time} {client} {} {}", process.pid, process.comm)
    }

    /// What [`Asker::to_text`] wrote.
    pub fn of_text(text: &str) -> Option<Self> {
        let mut words = text.splitn(4, ' ');
        Some(Self {
            time: words.next()?.parse().ok()?,
            client: words.next()?.parse().ok()?,
            process: Process {
                pid: words.next()?.parse().ok()?,
                comm: words.next()?.to_owned(),
                arguments: Vec::new(),
            },
        })
    }
}
