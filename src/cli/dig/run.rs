//! Asks the lookups of the command line, then the lines of a batch file.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::super::{Status, Streams};
use super::connection::Connection;
use super::lines::{Lines, Next, Source};
use super::many::Many;
use super::output::Output;
use super::session::Session;
use super::status;
use super::walk::{Walk, Walker};
use crate::dig::lookup::Lookup;
use crate::dig::machine::{Machine, Step};
use crate::host::{self, ReadError};
use crate::render::dig::printed::{is_error, write as print};
use crate::text::escaped;
use crate::wire::{client_cookie, query_id};

/// One machine on the wire.
struct Run<'r> {
    session: Session<'r>,
    machine: Machine,
    connection: Connection,
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
    let prepared = session.trust.prepare(&lookups);
    for trouble in session
        .trust
        .troubles
        .drain(..)
        .chain(prepared.clone().err())
    {
        let _ = writeln!(streams.err, "{trouble}");
    }
    if prepared.is_err() {
        return Ok(Status::Internal);
    }
    let mut run = Run {
        machine: Machine::new(session.settings(client_cookie()), query_id),
        connection: Connection::new(session.parser.globals.keep_open),
        session,
    };
    let lookups = run.session.prepared(lookups);
    let mut output = Output {
        out: streams.out,
        err: streams.err,
    };
    let status = run.answer(lookups, &mut output)?;
    let Some(source) = source.filter(|_| !run.machine.has_ended()) else {
        return Ok(status);
    };
    let mut lines = Lines::new(source);
    if run.goes_together() {
        let cookie = run.machine.cookie();
        return Many::new(&mut run.session, cookie).run(&mut lines, &mut output);
    }
    run.one_by_one(&mut lines, &mut output)
}

impl Run<'_> {
    /// Whether several lines can be asked at once: not on one connection, nor
    /// from one port.
    fn goes_together(&self) -> bool {
        let globals = &self.session.parser.globals;
        let has_port = globals.source.is_some_and(|it| it.port() != 0);
        globals.in_flight > 1 && !globals.keep_open && !has_port && globals.search_as.is_none()
    }

    fn one_by_one(
        &mut self,
        lines: &mut Lines<'_>,
        output: &mut Output<'_>,
    ) -> anyhow::Result<Status> {
        let mut status = Status::Clean;
        while let Next::Line(line) = lines.next(true) {
            let read = self.session.read(&line);
            output.say(&mut self.session.parser)?;
            let lookups = match read {
                Ok(None) => continue,
                Ok(Some(lookups)) => lookups,
                Err(status) => return Ok(status),
            };
            let settings = self.session.settings(self.machine.cookie());
            self.machine.configure(settings);
            status = self.answer(lookups, output)?;
            if self.machine.has_ended() {
                break;
            }
        }
        Ok(status)
    }

    /// Asks by dig's machine, or by that of the resolver of `+search=`.
    fn answer(&mut self, lookups: Vec<Lookup>, output: &mut Output<'_>) -> anyhow::Result<Status> {
        let Some(word) = &self.session.parser.globals.search_as else {
            self.machine.add(lookups);
            return self.drive(output);
        };
        let walker = match Walker::of(word, self.session.place.is_target) {
            Ok(walker) => walker,
            Err(why) => {
                let _ = writeln!(output.err, "kdns: {}", escaped(why.as_bytes()));
                return Ok(Status::Found);
            }
        };
        let walk = Walk {
            walker,
            place: self.session.place,
            globals: &self.session.parser.globals,
        };
        if lookups.iter().any(|lookup| !lookup.tls().is_empty()) {
            let why = "kdns: +search=RESOLVER asks without TLS: leave +tls and +https out\n";
            output.write(true, why)?;
            return Ok(Status::Found);
        }
        let mut status = Status::Clean;
        for lookup in &lookups {
            let Some(found) = walk.lookup(lookup, output)? else {
                self.machine.give_up();
                return Ok(Status::Found);
            };
            status = status.max(found);
        }
        Ok(status)
    }

    fn drive(&mut self, output: &mut Output<'_>) -> anyhow::Result<Status> {
        let globals = &self.session.parser.globals;
        loop {
            match self.machine.step() {
                Step::Done(status) => {
                    output.out.flush()?;
                    return Ok(status::of_machine(status));
                }
                Step::Print(printed) => {
                    let mut text = String::new();
                    let written = print(&printed, globals, self.connection.times, &mut text);
                    output.write(is_error(&printed, globals), &text)?;
                    if let Err(refused) = written {
                        output.refuse(&refused)?;
                        self.machine.give_up();
                    }
                }
                step => {
                    if let Step::Receive(_) | Step::ReceiveOn = step {
                        output.out.flush()?;
                    }
                    if let Some(event) =
                        self.connection
                            .step(step, globals, self.session.trust.roots())
                    {
                        self.machine.report(event);
                    }
                }
            }
        }
    }
}

fn open(batch: &[u8]) -> Result<File, ReadError> {
    host::open_lines(Path::new(OsStr::from_bytes(batch)))
}
