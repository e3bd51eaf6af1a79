//! The lines of a batch file, many of them in flight at once.
//!
//! Every line has a machine of its own. What the machines print is kept until
//! all lines before have printed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::super::Status;
use super::flight::Flight;
use super::lines::{Lines, Next};
use super::output::{Output, said};
use super::session::Session;
use super::status;
use crate::dig::lookup::Globals;
use crate::dig::machine::{Event, Failure, Machine, Step};
use crate::wire::sockets::{Got, Sockets};
use crate::wire::{failure, most_sockets, now, query_id};

/// So many times as many lines as are in flight may wait for those before them.
const WINDOW: usize = 16;

/// Nothing to wait for but sockets.
const LONG: Duration = Duration::from_secs(3600);

/// All lines that are not printed yet.
pub(super) struct Many<'m, 'r> {
    session: &'m mut Session<'r>,
    cookie: [u8; 8],
    sockets: Sockets,
    flights: VecDeque<Flight>,
    /// The number of the first of them.
    first: usize,
    in_flight: usize,
    /// So many can be open at once, whatever the command line says.
    most_sockets: usize,
    /// Whose a socket is.
    owners: BTreeMap<u32, usize>,
    next_socket: u32,
    deadlines: BTreeSet<(Instant, usize)>,
    globals: Rc<Globals>,
    status: u8,
    /// No further line is read.
    is_over: bool,
    /// The status of a line that ended it.
    end: Option<Status>,
}

impl<'m, 'r> Many<'m, 'r> {
    pub(super) fn new(session: &'m mut Session<'r>, cookie: [u8; 8]) -> Self {
        let globals = Rc::new(session.parser.globals.clone());
        Self {
            session,
            cookie,
            sockets: Sockets::default(),
            flights: VecDeque::new(),
            first: 0,
            in_flight: 0,
            most_sockets: most_sockets(),
            owners: BTreeMap::new(),
            next_socket: 0,
            deadlines: BTreeSet::new(),
            globals,
            status: 0,
            is_over: false,
            end: None,
        }
    }

    /// Asks all lines, and prints in their order.
    pub(super) fn run(
        mut self,
        lines: &mut Lines<'_>,
        output: &mut Output<'_>,
    ) -> anyhow::Result<Status> {
        loop {
            self.fill(lines);
            if let Some(status) = self.print(output)? {
                return Ok(status);
            }
            // Nobody waits for what is known because something else is not.
            output.out.flush()?;
            if self.flights.is_empty() {
                if !self.is_over {
                    continue;
                }
                output.out.flush()?;
                return Ok(self.end.unwrap_or(status::of_machine(self.status)));
            }
            let first = self.deadlines.first();
            let left = first.map(|(at, _)| at.saturating_duration_since(Instant::now()));
            let has_room = self.has_room();
            let other = lines.descriptor();
            if !has_room {
                self.sockets.forget(other);
            }
            let other = has_room.then_some(other);
            if let Some(got) = self.sockets.wait(left.unwrap_or(LONG), other) {
                self.take_all(got);
            }
            self.expire();
        }
    }

    /// Takes all that is there before the next lines are sent: then a server on
    /// this machine wakes once for many.
    fn take_all(&mut self, first: Got) {
        let mut next = Some(first);
        while let Some(got) = next {
            self.take(got);
            next = self.sockets.told();
        }
    }

    fn has_room(&self) -> bool {
        let most = self.session.parser.globals.in_flight.min(self.most_sockets);
        !self.is_over && self.in_flight < most && self.flights.len() < most * WINDOW
    }

    /// Starts lines while there is room. Waits for one only if nothing else
    /// is to be done.
    fn fill(&mut self, lines: &mut Lines<'_>) {
        while self.has_room() {
            match lines.next(self.flights.is_empty()) {
                Next::Line(line) => self.start(&line),
                Next::Later => return,
                Next::End => self.is_over = true,
            }
        }
    }

    fn start(&mut self, line: &[u8]) {
        let read = self.session.read(line);
        let parser = &mut self.session.parser;
        if parser.globals != *self.globals {
            self.globals = Rc::new(parser.globals.clone());
        }
        let printed: Vec<_> = said(parser).collect();
        let settings = self.session.settings(self.cookie);
        let mut machine = Machine::new(settings, query_id);
        match read {
            Ok(None) => return,
            Ok(Some(lookups)) => machine.add(lookups),
            Err(status) => {
                self.is_over = true;
                self.end = Some(status);
            }
        }
        let flight = Flight::new(machine, &self.globals, printed);
        self.flights.push_back(flight);
        self.in_flight += 1;
        self.advance(self.first + self.flights.len() - 1);
    }

    /// Prints what is done, from the first on; the status, if a line ended
    /// everything.
    fn print(&mut self, output: &mut Output<'_>) -> anyhow::Result<Option<Status>> {
        while let Some(flight) = self.flights.front_mut() {
            for (is_error, text) in flight.printed.drain(..) {
                output.write(is_error, &text)?;
            }
            let Some(status) = flight.status else {
                break;
            };
            self.status = self.status.max(status);
            if flight.machine.has_ended() {
                output.out.flush()?;
                return Ok(Some(status::of_machine(self.status)));
            }
            self.flights.pop_front();
            self.first += 1;
        }
        Ok(None)
    }

    fn take(&mut self, got: Got) {
        let (socket, event) = match got {
            Got::Connected(socket) => (socket, Event::Opened),
            Got::Failed(socket, error) => (socket, Event::Failed(failure(&error))),
            Got::Message(socket, _, message) => (socket, Event::Arrived(message)),
            Got::NotSent(..) | Got::Unheard(..) | Got::Other => return,
        };
        if let Some(&number) = self.owners.get(&socket) {
            self.report(number, event);
        }
    }

    /// Ends what was waited for too long.
    fn expire(&mut self) {
        while let Some((at, number)) = self.deadlines.first().copied()
            && at <= Instant::now()
        {
            self.report(number, Event::Failed(Failure::TimedOut));
        }
    }

    fn report(&mut self, number: usize, event: Event) {
        let Some(flight) = self.flights.get_mut(number - self.first) else {
            return;
        };
        if let Some(deadline) = flight.deadline.take() {
            self.deadlines.remove(&(deadline, number));
        }
        if let Event::Failed(_) = event
            && let Some((socket, _)) = flight.socket.take()
        {
            self.sockets.close(socket);
            self.owners.remove(&socket);
        }
        if let Event::Opened = event {
            flight.look(&self.sockets);
        }
        if let Event::Arrived(_) = event {
            flight.times.elapsed = flight.sent.elapsed();
            flight.times.received = now();
        }
        flight.machine.report(event);
        self.advance(number);
    }

    /// Lets a line go on until it waits.
    fn advance(&mut self, number: usize) {
        let Some(flight) = self.flights.get_mut(number - self.first) else {
            return;
        };
        loop {
            let event = match flight.machine.step() {
                Step::Done(status) => {
                    flight.status = Some(status);
                    self.in_flight -= 1;
                    close(flight, &mut self.sockets, &mut self.owners);
                    return;
                }
                Step::Print(printed) => {
                    flight.print(&printed);
                    continue;
                }
                Step::Close => {
                    close(flight, &mut self.sockets, &mut self.owners);
                    continue;
                }
                Step::Send(message) => {
                    flight.send(&message, &mut self.sockets);
                    continue;
                }
                step @ (Step::Receive(_) | Step::ReceiveOn) => {
                    if let Step::Receive(seconds) = step {
                        flight.give(seconds);
                    }
                    flight.receive(number, &mut self.deadlines)
                }
                Step::Open {
                    server,
                    reuse: true,
                    ..
                } if flight.leads_to(&server) => Some(Event::Opened),
                Step::Open {
                    transport,
                    server,
                    timeout,
                    ..
                } => {
                    close(flight, &mut self.sockets, &mut self.owners);
                    let socket = number_of(&mut self.next_socket);
                    self.owners.insert(socket, number);
                    let means = (&mut self.sockets, self.session.trust.roots());
                    let event = flight.open(socket, transport, server, timeout, means);
                    if event.is_none() {
                        flight.give(timeout);
                        flight.wait(number, &mut self.deadlines);
                    }
                    event
                }
            };
            let Some(event) = event else {
                return;
            };
            tell(flight, event, &mut self.sockets, &mut self.owners);
        }
    }
}

/// The next socket's.
fn number_of(next: &mut u32) -> u32 {
    let number = *next;
    *next = next.wrapping_add(1);
    number
}

/// Tells the machine; what has failed is closed.
fn tell(
    flight: &mut Flight,
    event: Event,
    sockets: &mut Sockets,
    owners: &mut BTreeMap<u32, usize>,
) {
    if let Event::Failed(_) = event {
        close(flight, sockets, owners);
    }
    flight.machine.report(event);
}

fn close(flight: &mut Flight, sockets: &mut Sockets, owners: &mut BTreeMap<u32, usize>) {
    flight.secure = None;
    if let Some((socket, _)) = flight.socket.take() {
        sockets.close(socket);
        owners.remove(&socket);
    }
}
