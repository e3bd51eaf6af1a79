//! What is seen of a lookup while it is walked.

use std::collections::BTreeMap;

use crate::dig::message::Message;
use crate::engine::io::Came;
use crate::engine::message::{Query, QueryId};
use crate::render::dig::reply::Times;
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

/// What was seen of a lookup.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) steps: BTreeMap<QueryId, Step>,
    /// The last query with a reply.
    pub(super) last: Option<QueryId>,
    /// Sentences beside them.
    pub(super) notes: Vec<String>,
}

impl Seen {
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
            Event::Stray { from, why, .. } => {
                self.notes
                    .push(format!("a message of {from} was ignored: {why}"));
            }
        }
    }
}
