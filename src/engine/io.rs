//! What a resolver model can do: open sockets, send, receive, wait.

use std::cell::RefCell;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::join;
use smallvec::SmallVec;

use crate::address::Server;
use crate::engine::chance::{Also, Chance, Order, RaceId};
pub use crate::engine::event::{Arrival, Came, Heard, Request, Wrong};
pub use crate::engine::failure::ConnectError;
use crate::engine::failure::Failure;
use crate::engine::message::{Query, QueryId, SocketId, Transport};
use crate::engine::secure::Secure;

/// The model's side of a machine. All times count from the start of the lookup.
#[derive(Debug, Default)]
pub struct Io {
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    now: Duration,
    requests: Vec<Request>,
    inbox: SmallVec<[Arrival; 1]>,
    /// Wrong replies that are put there, too.
    takes: &'static [Wrong],
    /// Whole messages as they came, and why none will.
    heard: Vec<(SocketId, Heard)>,
    connections: SmallVec<[(SocketId, Result<(), Failure>); 2]>,
    /// This side of the socket that was connected last.
    local: Option<(SocketId, SocketAddr)>,
    wake_at: Option<Duration>,
    sockets: u32,
    queries: usize,
    /// How many things have arrived.
    arrivals: usize,
    notes: Vec<String>,
    /// Those of the notes that limit what is said of the lookup.
    limits: Vec<String>,
    /// `None` as long as nothing was left to chance.
    chance: Option<Box<Chance>>,
}

impl Io {
    /// Time since the lookup began.
    pub fn now(&self) -> Duration {
        self.state.borrow().now
    }

    /// A new socket that is not connected: it can send to every server.
    pub fn socket(&self) -> SocketId {
        let mut state = self.state.borrow_mut();
        let socket = SocketId(state.sockets);
        state.sockets += 1;
        socket
    }

    /// A new socket, connected to `server`.
    ///
    /// # Errors
    ///
    /// No route, or, with TCP, a closed port.
    pub async fn connect(
        &self,
        server: &Server,
        transport: Transport,
    ) -> Result<SocketId, ConnectError> {
        (self.open(server, transport, None, None).await).map_err(ConnectError::from)
    }

    /// A new socket, connected to `server`, also behind TLS, before `until`.
    ///
    /// # Errors
    ///
    /// Whatever went wrong.
    pub async fn open(
        &self,
        server: &Server,
        transport: Transport,
        secure: Option<Box<Secure>>,
        until: Option<Duration>,
    ) -> Result<SocketId, Failure> {
        let socket = self.socket();
        let request = Request::Connect(socket, server.clone(), transport, secure);
        self.state.borrow_mut().requests.push(request);
        let taken = |state: &mut State| {
            let at = state.connections.iter().position(|(id, _)| *id == socket)?;
            Some(state.connections.swap_remove(at).1)
        };
        let Some(opened) = self.wait(taken, until).await else {
            self.close(socket);
            return Err(Failure::TimedOut);
        };
        opened.map(|()| socket)
    }

    /// This side of a socket that was just connected, if anybody wanted to know.
    pub fn local(&self, socket: SocketId) -> Option<SocketAddr> {
        let (id, local) = self.state.borrow().local?;
        (id == socket).then_some(local)
    }

    /// Sends a message as it is.
    pub fn write(&self, socket: SocketId, wire: Vec<u8>) {
        let request = Request::Write(socket, wire);
        self.state.borrow_mut().requests.push(request);
    }

    /// What comes on a socket that was written to, or `None` at `until`.
    pub async fn hear(&self, socket: SocketId, until: Duration) -> Option<Heard> {
        let taken = |state: &mut State| {
            let at = state.heard.iter().position(|(id, _)| *id == socket)?;
            Some(state.heard.remove(at).1)
        };
        self.wait(taken, Some(until)).await
    }

    /// Sends `query` from its socket. One to a server without a route is lost.
    pub fn send(&self, query: Query) -> QueryId {
        let mut state = self.state.borrow_mut();
        let id = QueryId(state.queries);
        state.queries += 1;
        if let Some(chance) = &mut state.chance {
            chance.sends(id);
        }
        state.requests.push(Request::Send(id, query));
        id
    }

    /// The first thing that arrives on one of `sockets`, or `None` at `until`.
    /// Without `until` it waits for ever, as the resolver would.
    pub async fn receive(&self, sockets: &[SocketId], until: Option<Duration>) -> Option<Arrival> {
        self.receive_any(|arrival| sockets.contains(&arrival.socket), until)
            .await
    }

    /// What comes back for `query`, or `None` at `until`: for a connection
    /// on which several queries wait apart from each other.
    pub async fn receive_answer(&self, query: QueryId, until: Option<Duration>) -> Option<Arrival> {
        self.receive_any(|arrival| arrival.query == query, until)
            .await
    }

    /// The first thing that arrives and is `wanted`, or `None` at `until`.
    pub fn receive_any(
        &self,
        wanted: impl Fn(&Arrival) -> bool,
        until: Option<Duration>,
    ) -> impl Future<Output = Option<Arrival>> {
        let taken = move |state: &mut State| {
            let at = state.inbox.iter().position(&wanted)?;
            Some(state.inbox.remove(at))
        };
        self.wait(taken, until)
    }

    /// What `taken` finds, or `None` at `until`.
    fn wait<T>(
        &self,
        taken: impl Fn(&mut State) -> Option<T>,
        until: Option<Duration>,
    ) -> impl Future<Output = Option<T>> {
        poll_fn(move |_| {
            let mut state = self.state.borrow_mut();
            if let Some(found) = taken(&mut state) {
                return Poll::Ready(Some(found));
            }
            if until.is_some_and(|until| state.now >= until) {
                return Poll::Ready(None);
            }
            if let Some(until) = until {
                let earliest = state.wake_at.map_or(until, |other| other.min(until));
                state.wake_at = Some(earliest);
            }
            Poll::Pending
        })
    }

    /// Whether it is known before anything else is sent that nobody listens where
    /// `socket` sends to: `send(2)` then fails with ECONNREFUSED. Time does not go on.
    pub async fn is_refused(&self, socket: SocketId) -> bool {
        // What was sent gets its answers first.
        let mut polls_left = 2;
        poll_fn(|_| {
            let mut state = self.state.borrow_mut();
            let is_it = |it: &Arrival| it.socket == socket && it.what == Came::Refused;
            if let Some(at) = state.inbox.iter().position(is_it) {
                state.inbox.remove(at);
                return Poll::Ready(true);
            }
            if polls_left == 0 {
                return Poll::Ready(false);
            }
            polls_left -= 1;
            state.wake_at = Some(state.now);
            Poll::Pending
        })
        .await
    }

    /// Waits until `until`, whatever arrives.
    pub async fn sleep(&self, until: Duration) {
        self.receive(&[], Some(until)).await;
    }

    /// Replies that are wrong so are looked at from now on; without this they are as if
    /// they had not come.
    pub fn takes(&self, wrong: &'static [Wrong]) {
        self.state.borrow_mut().takes = wrong;
    }

    /// Closes `socket`: what has arrived on it, or still does, is lost.
    pub fn close(&self, socket: SocketId) {
        let mut state = self.state.borrow_mut();
        state.inbox.retain(|arrival| arrival.socket != socket);
        state.heard.retain(|(id, _)| *id != socket);
        state.requests.push(Request::Close(socket));
    }

    /// Draws one of `among` by lot, from 0; `why` is a sentence. Without a script
    /// it is the first.
    pub fn choose(&self, among: usize, why: &'static str) -> usize {
        if among < 2 {
            return 0;
        }
        let mut state = self.state.borrow_mut();
        let after = state.queries;
        state.chance.get_or_insert_default().draw(among, why, after)
    }

    /// Whether this is drawn, too.
    pub fn draws(&self, also: Also) -> bool {
        (self.state.borrow().chance.as_ref()).is_some_and(|it| it.draws(also))
    }

    /// Does both at once: what they send at the same time is sent in any order,
    /// each one's own in its own. `why` is a sentence.
    pub async fn at_once<A: Future, B: Future>(
        &self,
        why: &'static str,
        one: A,
        other: B,
    ) -> (A::Output, B::Output) {
        let race = self.race(why);
        let (one, other) = (
            self.lane(race, Order::None, one),
            self.lane(race, Order::None, other),
        );
        if self.draws(Also::Order) && self.choose(2, why) == 1 {
            let (other, one) = join(other, one).await;
            (one, other)
        } else {
            join(one, other).await
        }
    }

    /// Begins one, then the other; each goes on when a reply or a timer wakes it, in any
    /// order. `why` is a sentence.
    pub async fn as_woken<A: Future, B: Future>(
        &self,
        why: &'static str,
        one: A,
        other: B,
    ) -> (A::Output, B::Output) {
        let race = self.race(why);
        let one = self.lane(race, Order::AtFirst, one);
        join(one, self.lane(race, Order::AtFirst, other)).await
    }

    /// Begins something that is done at once, in parts that [`Io::lane`] runs.
    fn race(&self, why: &'static str) -> RaceId {
        (self.state.borrow_mut().chance.get_or_insert_default()).race(why)
    }

    /// Runs `part` as one of the parts of `race`.
    async fn lane<F: Future>(&self, race: RaceId, order: Order, part: F) -> F::Output {
        let enter = |lane| (self.state.borrow_mut().chance.get_or_insert_default()).enter(lane);
        let lane = (self.state.borrow_mut().chance.get_or_insert_default()).lane(race);
        let mut part = pin!(part);
        let since = || {
            let state = self.state.borrow();
            (state.now, state.arrivals)
        };
        // A socket that opens is no reason for another order.
        let first = (order == Order::AtFirst).then(since);
        poll_fn(|context| {
            if first == Some(since()) {
                return part.as_mut().poll(context);
            }
            let before = enter(lane);
            let polled = part.as_mut().poll(context);
            enter(before);
            polled
        })
        .await
    }

    /// Says something about the lookup that the outcome cannot say: a bug that
    /// was met. Shown with the prediction, once.
    pub fn note(&self, note: impl Into<String>) {
        let note = note.into();
        let mut state = self.state.borrow_mut();
        if !state.notes.contains(&note) {
            state.notes.push(note);
        }
    }

    /// The same where the outcome may be another for a reason that was not seen:
    /// said with every explanation.
    pub fn limit(&self, note: impl Into<String>) {
        let note = note.into();
        self.note(note.clone());
        let mut state = self.state.borrow_mut();
        if !state.limits.contains(&note) {
            state.limits.push(note);
        }
    }

    /// Tells that `socket` is now connected, or why not.
    pub fn connected(&self, socket: SocketId, result: Result<(), Failure>) {
        self.state.borrow_mut().connections.push((socket, result));
    }

    /// Tells this side of a socket, before it is told to be connected.
    pub fn bound(&self, socket: SocketId, local: SocketAddr) {
        self.state.borrow_mut().local = Some((socket, local));
    }

    /// Delivers what came on a socket, as it came.
    pub fn heard(&self, socket: SocketId, heard: Heard) {
        self.state.borrow_mut().heard.push((socket, heard));
    }

    /// Delivers `arrival`, if it is right or the model looks at such wrong ones.
    pub fn arrived(&self, arrival: Arrival) {
        let mut state = self.state.borrow_mut();
        if arrival.wrong.is_some_and(|it| !state.takes.contains(&it)) {
            return;
        }
        state.arrivals += 1;
        state.inbox.push(arrival);
    }

    /// Sets the time, before a poll; forgets until when anyone waited.
    pub(super) fn begin_poll(&self, now: Duration) {
        let mut state = self.state.borrow_mut();
        state.now = now;
        state.wake_at = None;
    }

    /// When the model wants to be polled again at the latest.
    pub(super) fn wake_at(&self) -> Option<Duration> {
        self.state.borrow().wake_at
    }

    /// Moves the requests since the last call to the end of `requests`.
    pub(super) fn take_requests(&self, requests: &mut Vec<Request>) {
        let new = &mut self.state.borrow_mut().requests;
        if requests.is_empty() {
            // Both keep what they have allocated.
            std::mem::swap(requests, new);
        } else {
            requests.append(new);
        }
    }

    /// Lots fall like this from now on.
    pub(super) fn script(&self, script: Vec<usize>) {
        self.state.borrow_mut().chance = Some(Box::new(Chance::scripted(script)));
    }

    /// This is drawn from now on, too.
    pub(super) fn draw_also(&self, also: Also) {
        (self.state.borrow_mut().chance.get_or_insert_default()).draw_also(also);
    }

    /// What was left to chance so far.
    pub(super) fn take_chance(&self) -> Option<Box<Chance>> {
        self.state.borrow_mut().chance.take()
    }

    /// The notes since the last call.
    pub(super) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.state.borrow_mut().notes)
    }

    /// Those that limit it, likewise.
    pub(super) fn take_limits(&self) -> Vec<String> {
        std::mem::take(&mut self.state.borrow_mut().limits)
    }
}
