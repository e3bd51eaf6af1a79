//! The machine on the wire, and its output.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use super::super::{Status, Streams};
use super::place::Place;
use super::walk::{Walk, Walker};
use super::{names, say, timeout};
use crate::dig::command_line::{End, Parser, server_names};
use crate::dig::lookup::{Globals, Lookup, Server};
use crate::dig::machine::{Event, Machine, Printed, Settings, Step};
use crate::host::{self, ReadError};
use crate::render::dig::reply::{self, Shown, Times};
use crate::render::dig::{json, stats, yaml};
use crate::resolver::reading::Reading;
use crate::text::escaped;
use crate::wire::{Conversation, client_cookie, query_id};

/// A run of the program.
pub(super) struct Run<'r> {
    parser: Parser,
    reading: &'r Reading<'r>,
    place: &'r Place,
}

/// What is open, and what it has measured.
#[derive(Debug, Default)]
pub(super) struct Wire {
    conversation: Option<Conversation>,
    /// Whether what is open is to be kept for the next query.
    keep: bool,
    times: Times,
}

impl<'r> Run<'r> {
    pub(super) fn new(parser: Parser, reading: &'r Reading<'r>, place: &'r Place) -> Self {
        Self {
            parser,
            reading,
            place,
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
        let settings = settings(&self.parser.globals, self.reading);
        let mut machine = Machine::new(settings, query_id);
        let mut wire = Wire {
            keep: self.parser.globals.keep_open,
            ..Wire::default()
        };
        let status = self.answer(lookups, &mut machine, &mut wire, streams)?;
        let Some(batch) = self.parser.globals.batch.clone() else {
            return Ok(status);
        };
        if machine.has_ended() {
            return Ok(status);
        }
        if batch == b"-" {
            return self.batch(None, &mut machine, &mut wire, streams);
        }
        let open = || host::open_path(Path::new(OsStr::from_bytes(&batch)));
        match opened.unwrap_or_else(open) {
            Ok(file) => {
                let mut lines = BufReader::new(file);
                self.batch(Some(&mut lines), &mut machine, &mut wire, streams)
            }
            Err(error) => {
                let error = error.to_string();
                let _ = writeln!(streams.err, "{}", escaped(error.as_bytes()));
                let _ = writeln!(streams.err, "dig: couldn't open specified batch file");
                Ok(Status::BatchFile)
            }
        }
    }

    /// The lines of a file; `None`: of standard input.
    fn batch(
        &mut self,
        mut lines: Option<&mut BufReader<File>>,
        machine: &mut Machine,
        wire: &mut Wire,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<Status> {
        let mut status = Status::Clean;
        let mut line = Vec::new();
        loop {
            line.clear();
            let count = match &mut lines {
                Some(lines) => lines.read_until(b'\n', &mut line),
                None => streams.input.read_until(b'\n', &mut line),
            };
            if !matches!(count, Ok(1..)) {
                return Ok(status);
            }
            let words: Vec<&[u8]> = line
                .split(u8::is_ascii_whitespace)
                .filter(|word| !word.is_empty())
                .collect();
            let unknown = server_names(&words);
            if !unknown.is_empty() {
                self.parser
                    .learn(names::addresses(&unknown, self.reading, self.place));
            }
            let lookups = match self.parser.batch_line(&line) {
                Ok(None) => continue,
                Ok(Some(lookups)) => lookups,
                Err(end) => {
                    say(&mut self.parser, streams)?;
                    return Ok(match end {
                        End::Help | End::Version => Status::Clean,
                        End::Internal => Status::Internal,
                        End::Usage | End::Fatal => Status::Found,
                    });
                }
            };
            say(&mut self.parser, streams)?;
            status = self.answer(lookups, machine, wire, streams)?;
            if machine.has_ended() {
                return Ok(status);
            }
        }
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
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<Status> {
        let lookups = self.prepared(lookups);
        let Some(word) = &self.parser.globals.search_as else {
            machine.add(lookups);
            return self.drive(machine, wire, streams);
        };
        let walker = match Walker::of(word, self.place.is_target) {
            Ok(walker) => walker,
            Err(why) => {
                let _ = writeln!(streams.err, "kdns: {}", escaped(why.as_bytes()));
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
            status = status.max(walk.lookup(lookup, streams)?);
        }
        Ok(status)
    }

    fn drive(
        &self,
        machine: &mut Machine,
        wire: &mut Wire,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<Status> {
        let globals = &self.parser.globals;
        loop {
            match machine.step() {
                Step::Done(status) => {
                    streams.out.flush()?;
                    return Ok(match status {
                        0 => Status::Clean,
                        9 => Status::NoReply,
                        10 => Status::Internal,
                        _ => Status::Found,
                    });
                }
                Step::Print(printed) => {
                    let mut text = String::new();
                    print(&printed, globals, wire.times, &mut text);
                    if let Printed::Stderr(_) = printed {
                        streams.out.flush()?;
                        // A closed stderr leaves nobody to tell.
                        let _ = streams.err.write_all(text.as_bytes());
                    } else {
                        streams.out.write_all(text.as_bytes())?;
                    }
                }
                step => {
                    if let Step::Receive(_) = step {
                        streams.out.flush()?;
                    }
                    if let Some(event) = wire.step(step, globals) {
                        machine.report(event);
                    }
                }
            }
        }
    }
}

impl Wire {
    /// Does what the machine wants of sockets.
    pub(super) fn step(&mut self, step: Step, globals: &Globals) -> Option<Event> {
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
                let opened = Conversation::open(transport, &server, globals.source, timeout);
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
                let open = self.conversation.as_mut()?;
                let received = open.receive(Duration::from_secs(timeout.into()));
                self.measure();
                Some(match received {
                    Ok(message) => Event::Arrived(message),
                    Err(failure) => {
                        self.conversation = None;
                        Event::Failed(failure)
                    }
                })
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

    fn measure(&mut self) {
        if let Some(open) = &self.conversation {
            let (sent, received, elapsed) = open.times();
            self.times.sent = sent;
            self.times.received = received;
            self.times.elapsed = elapsed;
        }
    }
}

/// What the command line and `resolv.conf` say together.
///
/// Source: BIND bin/dig/dighost.c: `setup_system`, bin/dig/dig.c:
/// `dig_query_setup` (9.18)
pub(super) fn settings(globals: &Globals, reading: &Reading<'_>) -> Settings {
    let server = |address: &crate::address::Address| Server {
        address: address.clone(),
        port: globals.port,
        word: address.to_string().into_bytes(),
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
        structured: globals.yaml || globals.json,
        cookie: client_cookie(),
    }
}

pub(super) fn print(printed: &Printed, globals: &Globals, times: Times, out: &mut String) {
    let line = |out: &mut String, before: &str, text: &str| {
        out.push_str(before);
        out.push_str(&escaped(text.as_bytes()));
        out.push('\n');
    };
    match printed {
        Printed::Greeting(greeting) => reply::write_greeting(greeting, out),
        Printed::Query(exchange, message) => {
            let shown = Shown {
                exchange,
                message,
                is_query: true,
                first: true,
                globals,
                times,
            };
            message_text(&shown, out);
            if exchange.lookup.print.stats && !globals.yaml && !globals.json {
                let _ = write!(out, ";; QUERY SIZE: {}\n\n", exchange.query_size);
            }
        }
        Printed::Reply(exchange, message, first) => {
            let shown = Shown {
                exchange,
                message,
                is_query: false,
                first: *first,
                globals,
                times,
            };
            message_text(&shown, out);
        }
        Printed::Received(exchange, total) => {
            stats::received(exchange, *total, globals, &times, out);
        }
        Printed::BadPacket(why, wire) => {
            if !globals.yaml && !globals.json {
                stats::bad_packet(why, wire, out);
            }
        }
        Printed::Error(text) if globals.yaml => {
            line(out, "- type: DIG_ERROR\n  message: |\n    ", text);
        }
        Printed::Plain(text) => line(out, "", text),
        Printed::Error(text) | Printed::Warning(text) | Printed::Comment(text) => {
            line(out, ";; ", text);
        }
        Printed::Stderr(text) => line(out, "dig: ", text),
    }
}

fn message_text(shown: &Shown<'_>, out: &mut String) {
    if shown.globals.json {
        json::write(shown, out);
    } else if shown.globals.yaml {
        yaml::write(shown, out);
    } else {
        reply::write(shown, out);
    }
}
