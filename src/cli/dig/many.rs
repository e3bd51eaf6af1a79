//! The lines of a batch file, many of them in flight at once.
//!
//! Every line has a machine of its own. What the machines print is kept until
//! all lines before have printed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::Status;
use super::lines::{Lines, Next};
use super::output::{Output, said};
use super::run::{Run, settings, status_of};
use crate::address::DNS_PORT;
use crate::dig::lookup::{Globals, Server};
use crate::dig::machine::{Event, Machine, Printed, Step};
use crate::engine::message::Transport;
use crate::render::dig::printed::write as print;
use crate::render::dig::reply::Times;
use crate::wire::sockets::{Got, Sockets};
use crate::wire::{failure, now, query_id, socket_address};

/// So many times as many lines as are in flight may wait for those before them.
const WINDOW: usize = 16;

/// Nothing to wait for but sockets.
const LONG: Duration = Duration::from_secs(3600);

/// A line: what it has printed, and what it is about.
#[derive(Debug)]
struct Flight {
    machine: Machine,
    globals: Rc<Globals>,
    printed: Vec<(bool, String)>,
    /// The socket that is open, and the server behind a connection.
    socket: Option<(u32, Option<Server>)>,
    /// When what it waits for is too late.
    deadline: Option<Instant>,
    sent: Instant,
    times: Times,
    /// An error that is told when a reply is waited for.
    broken: Option<Event>,
    status: Option<u8>,
}

/// All lines that are not printed yet.
pub(super) struct Many<'m, 'r> {
    run: &'m mut Run<'r>,
    cookie: [u8; 8],
    sockets: Sockets,
    flights: VecDeque<Flight>,
    /// The number of the first of them.
    first: usize,
    in_flight: usize,
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
    pub(super) fn new(run: &'m mut Run<'r>, cookie: [u8; 8]) -> Self {
        let globals = Rc::new(run.parser.globals.clone());
        Self {
            run,
            cookie,
            sockets: Sockets::default(),
            flights: VecDeque::new(),
            first: 0,
            in_flight: 0,
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
            if lines.is_input() {
                output.out.flush()?;
            }
            if self.flights.is_empty() {
                if !self.is_over {
                    continue;
                }
                output.out.flush()?;
                return Ok(self.end.unwrap_or(status_of(self.status)));
            }
            let first = self.deadlines.first();
            let left = first.map(|(at, _)| at.saturating_duration_since(Instant::now()));
            let other = lines.descriptor().filter(|_| self.has_room());
            match self.sockets.wait(left.unwrap_or(LONG), other) {
                Some(got) => self.take(got),
                None => self.expire(),
            }
        }
    }

    fn has_room(&self) -> bool {
        let most = self.run.parser.globals.in_flight;
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
        let read = self.run.read(line);
        let parser = &mut self.run.parser;
        if parser.globals != *self.globals {
            self.globals = Rc::new(parser.globals.clone());
        }
        let printed: Vec<_> = said(parser).collect();
        let mut settings = settings(&self.globals, self.run.reading);
        settings.cookie = self.cookie;
        let mut machine = Machine::new(settings, query_id);
        match read {
            Ok(None) => return,
            Ok(Some(lookups)) => machine.add(lookups),
            Err(status) => {
                self.is_over = true;
                self.end = Some(status);
            }
        }
        self.flights.push_back(Flight {
            machine,
            globals: Rc::clone(&self.globals),
            printed,
            socket: None,
            deadline: None,
            sent: Instant::now(),
            times: Times::default(),
            broken: None,
            status: None,
        });
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
                return Ok(Some(status_of(self.status)));
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
            Got::Other => return,
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
            self.report(
                number,
                Event::Failed(crate::dig::machine::Failure::TimedOut),
            );
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
                Step::Receive(seconds) => {
                    if flight.broken.is_none() {
                        flight.wait(seconds, number, &mut self.deadlines);
                        return;
                    }
                    flight.broken.take()
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
                    let socket = self.next_socket;
                    self.next_socket = self.next_socket.wrapping_add(1);
                    self.owners.insert(socket, number);
                    let event = flight.open(socket, transport, server, &mut self.sockets);
                    if event.is_none() {
                        flight.wait(timeout, number, &mut self.deadlines);
                        return;
                    }
                    event
                }
            };
            if let Some(event) = event {
                if let Event::Failed(_) = event {
                    close(flight, &mut self.sockets, &mut self.owners);
                }
                flight.machine.report(event);
            }
        }
    }
}

impl Flight {
    fn print(&mut self, printed: &Printed) {
        let is_error = matches!(printed, Printed::Stderr(_));
        match self.printed.last_mut() {
            Some((before, text)) if *before == is_error => {
                print(printed, &self.globals, self.times, text);
            }
            _ => {
                let mut text = String::with_capacity(1 << 10);
                print(printed, &self.globals, self.times, &mut text);
                self.printed.push((is_error, text));
            }
        }
    }

    fn leads_to(&self, server: &Server) -> bool {
        let open = self.socket.as_ref().and_then(|(_, server)| server.as_ref());
        open.is_some_and(|open| open.address == server.address && open.port == server.port)
    }

    fn open(
        &mut self,
        socket: u32,
        transport: Transport,
        server: Server,
        sockets: &mut Sockets,
    ) -> Option<Event> {
        let peer = socket_address(&server.address, server.port.unwrap_or(DNS_PORT));
        let server = Some(server).filter(|_| transport == Transport::Tcp);
        self.socket = Some((socket, server));
        self.times = Times::default();
        match sockets.connect(socket, peer, self.globals.source, transport)? {
            Got::Failed(_, error) => return Some(Event::Failed(failure(&error))),
            _ => self.look(sockets),
        }
        Some(Event::Opened)
    }

    /// Notes the address of this side, which only YAML shows.
    fn look(&mut self, sockets: &Sockets) {
        if let Some((socket, _)) = self.socket.as_ref().filter(|_| self.globals.yaml) {
            self.times.local = sockets.local(*socket);
        }
    }

    fn send(&mut self, message: &[u8], sockets: &mut Sockets) {
        let Some((socket, stream)) = &self.socket else {
            return;
        };
        let transport = match stream {
            Some(_) => Transport::Tcp,
            None => Transport::Udp,
        };
        self.sent = Instant::now();
        self.times.sent = now();
        if let Some(Got::Failed(_, error)) = sockets.send(*socket, None, transport, message) {
            self.broken = Some(Event::Failed(failure(&error)));
        }
    }

    fn wait(&mut self, seconds: u32, number: usize, deadlines: &mut BTreeSet<(Instant, usize)>) {
        let deadline = Instant::now() + Duration::from_secs(seconds.into());
        self.deadline = Some(deadline);
        deadlines.insert((deadline, number));
    }
}

fn close(flight: &mut Flight, sockets: &mut Sockets, owners: &mut BTreeMap<u32, usize>) {
    if let Some((socket, _)) = flight.socket.take() {
        sockets.close(socket);
        owners.remove(&socket);
    }
}
