//! A lookup that can be stopped and stepped.

use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::address::Address;
use crate::engine::chance::{Also, Chance};
use crate::engine::failure::Failure;
use crate::engine::io::{Arrival, Heard, Io, Request};
use crate::engine::message::SocketId;

/// A resolver in the middle of a lookup.
///
/// [`Machine::step`] lets it go on until it waits; [`Machine::requests`] are
/// then to be carried out, and what comes of them is told with
/// [`Machine::connected`] and [`Machine::arrived`] before the next step.
pub struct Machine<'a> {
    io: Rc<Io>,
    lookup: Pin<Box<dyn Future<Output = Outcome> + 'a>>,
}

/// Where a machine stands after a step.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step {
    /// It waits: until something arrives, or until this time. `None` means
    /// for ever.
    Waiting(Option<Duration>),
    /// It is over. No further step may be made.
    Done(Outcome),
}

/// How a lookup ends, as its caller sees it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// Addresses in the order in which the resolver holds them before any
    /// sorting by RFC 6724; can be empty.
    Found(Vec<Address>),
    /// An error, spelled as the resolver spells it: `EAI_NONAME`, `NXDOMAIN`.
    Failed(&'static str),
    /// The program was killed; a note says by which signal.
    Crashed,
    /// It has not ended and never will, or sends more than a run may have.
    Hung,
}

impl Outcome {
    /// The addresses, if that is how it ends.
    pub fn found(&self) -> Option<&[Address]> {
        match self {
            Self::Found(addresses) => Some(addresses),
            _ => None,
        }
    }

    /// The error as it is written, `CRASH` and `HANG` for those that no resolver spells.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Found(_) => None,
            Self::Failed(code) => Some(code),
            Self::Crashed => Some("CRASH"),
            Self::Hung => Some("HANG"),
        }
    }
}

impl<'a> Machine<'a> {
    /// The machine of a model: `lookup` gets the handle it talks through.
    pub fn new<F>(lookup: impl FnOnce(Rc<Io>) -> F) -> Self
    where
        F: Future<Output = Outcome> + 'a,
    {
        let io = Rc::new(Io::default());
        Self {
            lookup: Box::pin(lookup(Rc::clone(&io))),
            io,
        }
    }

    /// Does something else next, with the same sockets.
    pub fn then<F>(&mut self, lookup: impl FnOnce(Rc<Io>) -> F)
    where
        F: Future<Output = Outcome> + 'a,
    {
        self.lookup = Box::pin(lookup(Rc::clone(&self.io)));
    }

    /// Goes on at time `now`, counted from the start of the lookup.
    pub fn step(&mut self, now: Duration) -> Step {
        self.io.begin_poll(now);
        let mut context = Context::from_waker(Waker::noop());
        match self.lookup.as_mut().poll(&mut context) {
            Poll::Pending => Step::Waiting(self.io.wake_at()),
            Poll::Ready(outcome) => Step::Done(outcome),
        }
    }

    /// Moves what the steps so far want done, and was not fetched yet, to the
    /// end of `requests`, in order.
    pub fn take_requests(&self, requests: &mut Vec<Request>) {
        self.io.take_requests(requests);
    }

    /// What the steps so far want done and was not fetched yet, in order.
    pub fn requests(&self) -> Vec<Request> {
        let mut requests = Vec::new();
        self.take_requests(&mut requests);
        requests
    }

    /// What the model had to say beside the outcome and was not fetched yet.
    pub fn notes(&self) -> Vec<String> {
        self.io.take_notes()
    }

    /// Those of the notes that limit what is said of the lookup, likewise.
    pub fn limits(&self) -> Vec<String> {
        self.io.take_limits()
    }

    /// The same machine, in which lots fall like this, and then on the first.
    #[must_use]
    pub fn with_lots(self, script: Vec<usize>) -> Self {
        self.io.script(script);
        self
    }

    /// This counts here: it is a lot, too.
    pub fn draw_also(&self, also: Also) {
        self.io.draw_also(also);
    }

    /// What was left to chance; asked once, at the end.
    pub fn chance(&self) -> Option<Box<Chance>> {
        self.io.take_chance()
    }

    /// Tells how [`Request::Connect`] ended.
    pub fn connected(&self, socket: SocketId, result: Result<(), Failure>) {
        self.io.connected(socket, result);
    }

    /// Tells this side of a socket, before [`Machine::connected`].
    pub fn bound(&self, socket: SocketId, local: SocketAddr) {
        self.io.bound(socket, local);
    }

    /// Tells what came on a socket after a [`Request::Write`].
    pub fn heard(&self, socket: SocketId, heard: Heard) {
        self.io.heard(socket, heard);
    }

    /// Tells what came back for a [`Request::Send`].
    pub fn arrived(&self, arrival: Arrival) {
        self.io.arrived(arrival);
    }
}

impl fmt::Debug for Machine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("io", &self.io)
            .finish_non_exhaustive()
    }
}
