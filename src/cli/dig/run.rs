//! Asks the lookups of the command line, then the lines of a batch file: one
//! after the other, or many of them in flight at once.
//!
//! Every line has a machine of its own, unless it goes on with what the one
//! before has left open. What the machines print is kept until all lines before
//! have printed.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::rc::Rc;

use super::flight::Flight;
use super::lines::{Lines, Next, Source};
use super::output::{Output, Piece, said};
use super::session::Session;
use super::{status, walk};
use crate::cli::streams::{Status, Streams};
use crate::dig::lookup::{Globals, Lookup};
use crate::host::{self, ReadError};
use crate::text::escaped;
use crate::wire::live::{Live, Told, Woken};
use crate::wire::most_sockets;

/// So many times as many lines as are in flight may wait for those before them.
const WINDOW: usize = 16;

/// So many messages are taken before what they say is shown: those of a transfer
/// without an end are never all there.
const MOST_AT_ONCE: usize = 128;

/// What is asked, and what of it is not printed yet.
struct Run<'r> {
    session: Session<'r>,
    live: Live,
    flights: VecDeque<Flight>,
    in_flight: usize,
    /// So many can be open at once, whatever the command line says.
    most_sockets: usize,
    globals: Rc<Globals>,
    /// Whether several lines can be asked at once.
    goes_together: bool,
    /// What the next line goes on with, where they cannot.
    before: Option<Flight>,
    status: Status,
    /// No further line is read.
    is_over: bool,
    /// The status of what ended it.
    end: Option<Status>,
}

/// All lookups of the command line, then those of the batch file, which
/// may be open already.
pub(super) fn all(
    mut session: Session<'_>,
    lookups: Vec<Lookup>,
    opened: Option<Result<File, ReadError>>,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    // What cannot be opened stops dig before it asks anything.
    let batch = session.parser.globals.batch.as_deref();
    let source = match batch {
        None => None,
        Some(b"-") => Some(Source::Input(streams.input, io::stdin())),
        Some(path) => match opened.unwrap_or_else(|| open(path)) {
            Ok(file) => Some(Source::File(BufReader::new(file))),
            Err(error) => {
                let error = error.to_string();
                let _ = writeln!(streams.err, "{}", escaped(error.as_bytes()));
                let _ = writeln!(streams.err, "dig: couldn't open specified batch file");
                return Ok(Status::BatchFile);
            }
        },
    };
    let mut output = Output {
        out: streams.out,
        err: streams.err,
    };
    let prepared = session.prepared(lookups);
    output.say(&mut session.parser)?;
    let lookups = match prepared {
        Ok(lookups) => lookups,
        Err(status) => return Ok(status),
    };
    let mut run = Run::new(session);
    run.start(lookups, Vec::new(), &mut output)?;
    run.finish(source.map(Lines::new), &mut output)
}

impl<'r> Run<'r> {
    fn new(session: Session<'r>) -> Self {
        let globals = Rc::new(session.parser.globals.clone());
        // Not on one connection, nor from one port.
        let has_port = globals.source.is_some_and(|it| it.port() != 0);
        Self {
            goes_together: globals.in_flight > 1
                && !globals.keep_open
                && !has_port
                && globals.search_as.is_none(),
            session,
            live: Live::default(),
            flights: VecDeque::new(),
            in_flight: 0,
            most_sockets: most_sockets(),
            globals,
            before: None,
            status: Status::Clean,
            is_over: false,
            end: None,
        }
    }

    /// Asks all lines, and prints in their order.
    fn finish(
        &mut self,
        mut lines: Option<Lines<'_>>,
        output: &mut Output<'_>,
    ) -> anyhow::Result<Status> {
        loop {
            self.fill(lines.as_mut(), output)?;
            self.print(output)?;
            // Nobody waits for what is known because something else is not.
            output.out.flush()?;
            if self.flights.is_empty() {
                if !self.is_over {
                    continue;
                }
                return Ok(self.end.unwrap_or(self.status));
            }
            let other = lines.as_ref().map(Lines::descriptor);
            let has_room = self.has_room();
            if let Some(other) = other.filter(|_| !has_room) {
                self.live.forget(other);
            }
            let woken = self.live.wait(None, other.filter(|_| has_room));
            // All that is there is taken before the next lines are sent: then a
            // server on this machine wakes once for many.
            self.take(woken);
            for _ in 0..MOST_AT_ONCE {
                let Some(woken) = self.live.told().or_else(|| self.live.late()) else {
                    break;
                };
                self.take(woken);
            }
        }
    }

    /// Whether a further line may begin. Those of the command line come first.
    fn has_room(&self) -> bool {
        let most = self.session.parser.globals.in_flight.min(self.most_sockets);
        let is_free = |first: &Flight| self.goes_together && first.player.number > 0;
        !self.is_over
            && self.flights.front().is_none_or(is_free)
            && self.in_flight < most
            && self.flights.len() < most * WINDOW
    }

    /// Starts lines while there is room. Waits for one only if nothing else
    /// is to be done.
    fn fill(
        &mut self,
        mut lines: Option<&mut Lines<'_>>,
        output: &mut Output<'_>,
    ) -> anyhow::Result<()> {
        while self.has_room() {
            let waits = self.flights.is_empty();
            match lines.as_mut().map_or(Next::End, |it| it.next(waits)) {
                Next::Line(line) => self.take_line(&line, output)?,
                Next::Later => break,
                Next::End => self.is_over = true,
            }
        }
        Ok(())
    }

    fn take_line(&mut self, line: &[u8], output: &mut Output<'_>) -> anyhow::Result<()> {
        let read = self.session.read_line(line);
        let parser = &mut self.session.parser;
        if parser.globals != *self.globals {
            self.globals = Rc::new(parser.globals.clone());
        }
        let said = said(parser).collect();
        let lookups = match read {
            Ok(None) => return Ok(()),
            Ok(Some(lookups)) => lookups,
            Err(status) => {
                self.is_over = true;
                self.end = Some(status);
                Vec::new()
            }
        };
        self.start(lookups, said, output)
    }

    /// Asks by dig's machine, or by that of the resolver of `+search=`.
    fn start(
        &mut self,
        lookups: Vec<Lookup>,
        said: Vec<Piece>,
        output: &mut Output<'_>,
    ) -> anyhow::Result<()> {
        if !self.goes_together
            && !lookups.is_empty()
            && let Some(word) = &self.globals.search_as
        {
            output.show(&said)?;
            if let Some(status) = walk::all(word, &self.session, &lookups, output)? {
                self.status = status;
            } else {
                self.is_over = true;
                self.end = Some(Status::Found);
            }
            return Ok(());
        }
        let (session, globals) = (&self.session, &self.globals);
        let flight = match self.before.take() {
            Some(before) => before.then(session, globals, lookups, said),
            None => Flight::start(&mut self.live, session, globals, lookups, said),
        };
        let number = flight.player.number;
        self.flights.push_back(flight);
        self.in_flight += 1;
        self.advance(number, None);
        Ok(())
    }

    /// Prints what is done, from the first on.
    fn print(&mut self, output: &mut Output<'_>) -> io::Result<()> {
        while let Some(flight) = self.flights.front() {
            flight.show(output)?;
            if !flight.player.is_over() {
                break;
            }
            let status = status::of_machine(flight.standing.status());
            self.status = self.status.max(status);
            if flight.standing.has_ended() {
                self.is_over = true;
                self.end = Some(self.status);
                self.flights.clear();
                break;
            }
            self.before = self.flights.pop_front().filter(|_| !self.goes_together);
        }
        Ok(())
    }

    fn take(&mut self, woken: Woken) {
        match woken {
            Woken::Socket(number, told) => self.advance(number, Some(told)),
            Woken::Late(number) => self.advance(number, None),
            Woken::Other => {}
        }
    }

    /// Lets a line go on until it waits.
    fn advance(&mut self, number: u32, told: Option<Told>) {
        let first = self.flights.front().map_or(0, |it| it.player.number);
        let at = usize::try_from(number.wrapping_sub(first)).unwrap_or(usize::MAX);
        let Some(flight) = self.flights.get_mut(at) else {
            return;
        };
        let was_over = flight.player.is_over();
        flight.advance(&mut self.live, &self.session, told);
        if flight.player.is_over() && !was_over {
            self.in_flight -= 1;
            if self.goes_together {
                self.live.end(&mut flight.player);
            }
        }
    }
}

fn open(batch: &[u8]) -> Result<File, ReadError> {
    host::open_lines(Path::new(OsStr::from_bytes(batch)))
}
