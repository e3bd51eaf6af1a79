//! What is walked of a lookup while it is walked.

use std::collections::BTreeMap;

use crate::dig::message::Message;
use crate::dig::printed::Times;
use crate::engine::io::Came;
use crate::engine::message::{Query, QueryId};
use crate::explain::live::MAX_STRAYS;
use crate::wire::live::Event;
use crate::wire::now;

/// What was asked and what came.
pub(super) struct Step {
    pub(super) query: Query,
    pub(super) size: usize,
    pub(super) times: Times,
    pub(super) what: Option<Came>,
    pub(super) message: Option<Box<Message>>,
}

/// What was walked of a lookup.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) steps: BTreeMap<QueryId, Step>,
    /// The last query with a reply.
    pub(super) last: Option<QueryId>,
    /// Sentences beside them.
    pub(super) notes: Vec<String>,
    /// Messages that were ignored.
    strays: usize,
}

impl Walked {
    pub(super) fn take(&mut self, event: Event) {
        match event {
            Event::Sent {
                id, query, wire, ..
            } => {
                let times = Times {
                    sent: now(),
                    ..Times::default()
                };
                let step = Step {
                    query,
                    size: wire.len(),
                    times,
                    what: None,
                    message: None,
                };
                self.steps.insert(id, step);
            }
            Event::Came {
                id,
                elapsed,
                what,
                message,
                ..
            } => {
                if message.is_some() {
                    self.last = Some(id);
                }
                if let Some(step) = self.steps.get_mut(&id) {
                    step.times.elapsed = elapsed;
                    step.times.received = now();
                    step.what = Some(what);
                    step.message = message;
                }
            }
            Event::NotConnected { server, why, .. } => {
                let to = server.address;
                self.notes.push(format!("no connection to {to}: {why}"));
            }
            Event::NotSent { why, .. } => self.notes.push(format!("a query did not leave: {why}")),
            // A server can send as many as it likes.
            Event::Stray { from, why, .. } => {
                self.strays += 1;
                if self.strays <= MAX_STRAYS {
                    self.notes
                        .push(format!("a message of {from} was ignored: {why}"));
                }
            }
        }
    }

    /// Notes that no further answer comes.
    pub(super) fn end(&mut self) {
        let more = self.strays.saturating_sub(MAX_STRAYS);
        if more > 0 {
            self.notes
                .push(format!("{more} more messages were ignored"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_sends_without_end_is_counted_and_not_kept() {
        let mut walked = Walked::default();
        for _ in 0..10_000 {
            walked.take(Event::Stray {
                at: std::time::Duration::ZERO,
                from: ([127, 0, 0, 1], 53).into(),
                why: "its id is another one".to_owned(),
            });
        }
        walked.end();
        assert_eq!(walked.notes.len(), MAX_STRAYS + 1);
        let last = walked.notes.last().map(String::as_str);
        assert_eq!(last, Some("9992 more messages were ignored"));
    }
}
