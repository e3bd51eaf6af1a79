//! Whose socket sent a query.

use std::net::SocketAddr;

use crate::node::Process;

/// A name of a process is no longer, in bytes: Linux gives it 15, and it can be escaped.
const MAX_COMM: usize = 64;

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
                comm: words.next().filter(|it| it.len() <= MAX_COMM)?.to_owned(),
                arguments: Vec::new(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_text_and_back() {
        let mut asker = Asker {
            client: SocketAddr::from(([10, 0, 0, 1], 4000)),
            time: 1_700_000_000_000_000_000,
            process: Process {
                pid: 7,
                comm: "tokio runtime w".to_owned(),
                arguments: Vec::new(),
            },
        };
        assert_eq!(Asker::of_text(&asker.to_text()).as_ref(), Some(&asker));
        asker.process.comm = "x".repeat(MAX_COMM + 1);
        assert_eq!(Asker::of_text(&asker.to_text()), None);
    }
}
