//! The machine on the wire, and its output.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use super::super::{Status, Streams};
use super::lines::{Lines, Next, Source};
use super::many::Many;
use super::output::Output;
use super::place::Place;
use super::trust::Trust;
use super::walk::{Walk, Walker};
use super::{names, timeout};
use crate::dig::command_line::{End, Parser, Said, server_names};
use crate::dig::lookup::{Globals, Lookup, Server};
use crate::dig::machine::{Event, Machine, Settings, Step};
use crate::host::{self, ReadError};
use crate::render::dig::printed::{is_error, write as print};
use crate::render::dig::reply::Times;
use crate::resolver::reading::Reading;
use crate::text::escaped;
use crate::wire::{Conversation, Roots, client_cookie, query_id};

/// A run of the program.
pub(super) struct Run<'r> {
    pub(super) parser: Parser,
    pub(super) reading: &'r Reading<'r>,
    place: &'r Place,
    pub(super) trust: Trust,
}

/// What is open, and what it has measured.
#[derive(Debug, Default)]
pub(super) struct Wire {
    conversation: Option<Conversation>,
    /// When what is waited for is too late.
    deadline: Option<Instant>,
    /// Whether what is open is to be kept for the next query.
    keep: bool,
    times: Times,
}

impl<'r> Run<'r> {
    pub(super) fn new(
        parser: Parser,
        reading: &'r Reading<'r>,
        place: &'r Place,
        trust: Trust,
    ) -> Self {
        Self {
            parser,
            reading,
            place,
            trust,
        }
    }

    /// All lookups of the command line, then those of the batch file, which
    /// may be open already.
    pub(super) fn all(
        mut self,
        lookups: Vec<Lookup>,
        opened: Option<Result<File, ReadError>>,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<Status> {
        // What cannot be opened stops dig before it asks anything.
        let batch = self.parser.globals.batch.as_deref();
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
        if let Err(why) = self.trust.prepare(&lookups) {
            let _ = writeln!(streams.err, "{why}");
            return Ok(Status::Internal);
        }
        let mut settings = settings(&self.parser.globals, self.reading);
        settings.cookie = client_cookie();
        let mut machine = Machine::new(settings, query_id);
        let mut wire = Wire {
            keep: self.parser.globals.keep_open,
            ..Wire::default()
        };
        let lookups = self.prepared(lookups);
        let mut output = Output {
            out: streams.out,
            err: streams.err,
        };
        let status = self.answer(lookups, &mut machine, &mut wire, &mut output)?;
        let Some(source) = source.filter(|_| !machine.has_ended()) else {
            return Ok(status);
        };
        let mut lines = Lines::new(source);
        let mut output = Output {
            out: streams.out,
            err: streams.err,
        };
        if self.goes_together() {
            let cookie = machine.cookie();
            return Many::new(&mut self, cookie).run(&mut lines, &mut output);
        }
        self.one_by_one(&mut lines, &mut machine, &mut wire, &mut output)
    }

    /// Whether several lines can be asked at once: not on one connection, nor
    /// from one port.
    fn goes_together(&self) -> bool {
        let globals = &self.parser.globals;
        let has_port = globals.source.is_some_and(|it| it.port() != 0);
        globals.in_flight > 1 && !globals.keep_open && !has_port && globals.search_as.is_none()
    }

    fn one_by_one(
        &mut self,
        lines: &mut Lines<'_>,
        machine: &mut Machine,
        wire: &mut Wire,
        output: &mut Output<'_>,
    ) -> anyhow::Result<Status> {
        let mut status = Status::Clean;
        while let Next::Line(line) = lines.next(true) {
            let read = self.read(&line);
            output.say(&mut self.parser)?;
            let lookups = match read {
                Ok(None) => continue,
                Ok(Some(lookups)) => lookups,
                Err(status) => return Ok(status),
            };
            let cookie = machine.cookie();
            machine.configure(Settings {
                cookie,
                ..settings(&self.parser.globals, self.reading)
            });
            status = self.answer(lookups, machine, wire, output)?;
            if machine.has_ended() {
                break;
            }
        }
        Ok(status)
    }

    /// The lookups of a line, or the end of everything.
    pub(super) fn read(&mut self, line: &[u8]) -> Result<Option<Vec<Lookup>>, Status> {
        let words: Vec<&[u8]> = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
            .collect();
        let mut unknown = server_names(&words);
        unknown.retain(|name| !self.parser.knows(name));
        if !unknown.is_empty() {
            let found = names::addresses(&unknown, self.reading, self.place);
            self.parser.learn(found);
        }
        let lookups = self.parser.batch_line(line).map_err(|end| match end {
            End::Help | End::Version => Status::Clean,
            End::Internal => Status::Internal,
            End::Usage | End::Fatal => Status::Found,
        })?;
        if let Err(why) = self.trust.prepare(lookups.as_deref().unwrap_or_default()) {
            self.parser.said.push(Said::Err(why));
            return Err(Status::Internal);
        }
        Ok(lookups.map(|lookups| self.prepared(lookups)))
    }

    /// With the port that was said for all servers.
    fn prepared(&self, mut lookups: Vec<Lookup>) -> Vec<Lookup> {
        let port = self.parser.globals.port;
        for server in lookups.iter_mut().flat_map(|it| &mut it.servers) {
            server.port = server.port.or(port);
        }
        lookups
    }

    /// Asks by dig's machine, or by that of the resolver of `+search=`.
    fn answer(
        &self,
        lookups: Vec<Lookup>,
        machine: &mut Machine,
        wire: &mut Wire,
        output: &mut Output<'_>,
    ) -> anyhow::Result<Status> {
        let Some(word) = &self.parser.globals.search_as else {
            machine.add(lookups);
            return self.drive(machine, wire, output);
        };
        let walker = match Walker::of(word, self.place.is_target) {
            Ok(walker) => walker,
            Err(why) => {
                let _ = writeln!(output.err, "kdns: {}", escaped(why.as_bytes()));
                return Ok(Status::Found);
            }
        };
        let walk = Walk {
            walker,
            place: self.place,
            globals: &self.parser.globals,
        };
        let mut status = Status::Clean;
        for lookup in &lookups {
            status = status.max(walk.lookup(lookup, output)?);
        }
        Ok(status)
    }

    fn drive(
        &self,
        machine: &mut Machine,
        wire: &mut Wire,
        output: &mut Output<'_>,
    ) -> anyhow::Result<Status> {
        let globals = &self.parser.globals;
        loop {
            match machine.step() {
                Step::Done(status) => {
                    output.out.flush()?;
                    return Ok(status_of(status));
                }
                Step::Print(printed) => {
                    let mut text = String::new();
                    print(&printed, globals, wire.times, &mut text);
                    output.write(is_error(&printed, globals), &text)?;
                }
                step => {
                    if let Step::Receive(_) | Step::ReceiveOn = step {
                        output.out.flush()?;
                    }
                    if let Some(event) = wire.step(step, globals, self.trust.roots()) {
                        machine.report(event);
                    }
                }
            }
        }
    }
}

/// The program's, of the machine's.
pub(super) fn status_of(status: u8) -> Status {
    match status {
        0 => Status::Clean,
        9 => Status::NoReply,
        10 => Status::Internal,
        _ => Status::Found,
    }
}

impl Wire {
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

/// What the command line and `resolv.conf` say together; the cookie is the
/// caller's to make.
///
/// Source: BIND bin/dig/dighost.c: `setup_system`, bin/dig/dig.c:
/// `dig_query_setup` (9.18)
pub(super) fn settings(globals: &Globals, reading: &Reading<'_>) -> Settings {
    let server = |address: &crate::address::Address| Server {
        address: address.clone(),
        port: globals.port,
        word: address.to_string().into_bytes(),
        secure: None,
    };
    let allowed = |server: &&crate::address::Server| match server.address.ip {
        std::net::IpAddr::V4(_) => !globals.ipv6_only,
        std::net::IpAddr::V6(_) => !globals.ipv4_only,
    };
    let servers = reading.servers.iter().map(|setting| &setting.value);
    let mut servers: Vec<Server> = servers
        .filter(allowed)
        .map(|it| server(&it.address))
        .collect();
    if servers.is_empty() {
        let loopback = if globals.ipv4_only {
            std::net::IpAddr::from(std::net::Ipv4Addr::LOCALHOST)
        } else {
            std::net::Ipv6Addr::LOCALHOST.into()
        };
        servers.push(server(&loopback.into()));
    }
    let search = reading.search.iter().map(|it| it.value.to_vec()).collect();
    Settings {
        servers,
        search: globals.domain.clone().map_or(search, |domain| vec![domain]),
        ndots: globals
            .ndots
            .unwrap_or(reading.ndots.unwrap_or_default().value),
        use_search: globals.search || globals.domain.is_some(),
        show_search: globals.show_search,
        timeout: globals.timeout.or_else(|| timeout(reading)),
        keep_open: globals.keep_open,
        keeps_warnings: globals.yaml,
        cookie: [0; 8],
    }
}

fn open(batch: &[u8]) -> Result<File, ReadError> {
    host::open_lines(Path::new(OsStr::from_bytes(batch)))
}
