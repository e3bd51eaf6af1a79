//! What is open to a server: one connection at a time.

use std::time::{Duration, Instant};

use crate::dig::lookup::Globals;
use crate::dig::machine::{Event, Step};
use crate::render::dig::reply::Times;
use crate::wire::{Conversation, Roots};

/// What is open, and what it has measured.
#[derive(Debug, Default)]
pub(super) struct Connection {
    conversation: Option<Conversation>,
    /// When what is waited for is too late.
    deadline: Option<Instant>,
    /// Whether what is open is to be kept for the next query.
    keep: bool,
    pub(super) times: Times,
}

impl Connection {
    /// Nothing is open yet.
    pub(super) fn new(keep: bool) -> Self {
        Self {
            keep,
            ..Self::default()
        }
    }

    /// Does what the machine wants of sockets.
    pub(super) fn step(&mut self, step: Step, globals: &Globals, roots: &Roots) -> Option<Event> {
        match step {
            Step::Open {
                transport,
                server,
                timeout,
                reuse,
            } => {
                let open = self.conversation.take();
                if let Some(open) = open.filter(|open| reuse && open.leads_to(&server)) {
                    self.conversation = Some(open);
                    return Some(Event::Opened);
                }
                let timeout = Duration::from_secs(timeout.into());
                let opened = Conversation::open(transport, &server, globals.source, timeout, roots);
                self.times = Times::default();
                Some(match opened {
                    Ok(conversation) => {
                        self.times.local = conversation.local();
                        self.conversation = Some(conversation);
                        Event::Opened
                    }
                    Err(failure) => Event::Failed(failure),
                })
            }
            Step::Send(message) => {
                if let Some(open) = &mut self.conversation {
                    // What is wrong shows when the reply is waited for.
                    let _ = open.send(&message);
                    self.measure();
                }
                None
            }
            Step::Receive(timeout) => {
                let timeout = Duration::from_secs(timeout.into());
                self.deadline = Some(Instant::now() + timeout);
                self.receive(timeout)
            }
            Step::ReceiveOn => {
                let left = self.deadline?.saturating_duration_since(Instant::now());
                self.receive(left)
            }
            Step::Close => {
                if !self.keep {
                    self.conversation = None;
                }
                None
            }
            Step::Print(_) | Step::Done(_) => None,
        }
    }

    fn receive(&mut self, timeout: Duration) -> Option<Event> {
        let received = self.conversation.as_mut()?.receive(timeout);
        self.measure();
        Some(match received {
            Ok(message) => Event::Arrived(message),
            Err(failure) => {
                self.conversation = None;
                Event::Failed(failure)
            }
        })
    }

    fn measure(&mut self) {
        if let Some(open) = &self.conversation {
            let (sent, received, elapsed) = open.times();
            self.times.sent = sent;
            self.times.received = received;
            self.times.elapsed = elapsed;
        }
    }
}
