//! What holds for every lookup of a call.

use super::super::Status;
use super::place::Place;
use super::settings::settings;
use super::trust::Trust;
use super::{names, status};
use crate::dig::command_line::{Parser, Said, server_names};
use crate::dig::lookup::Lookup;
use crate::dig::machine::Settings;
use crate::resolver::reading::Reading;

/// The words so far, and what they are asked with.
pub(super) struct Session<'r> {
    pub(super) parser: Parser,
    pub(super) reading: &'r Reading<'r>,
    pub(super) place: &'r Place,
    pub(super) trust: Trust,
}

impl Session<'_> {
    /// What the machine goes by from here on; `cookie` is the client's.
    pub(super) fn settings(&self, cookie: [u8; 8]) -> Settings {
        Settings {
            cookie,
            ..settings(&self.parser.globals, self.reading)
        }
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
        let lookups = self.parser.batch_line(line).map_err(status::of_end)?;
        let prepared = self.trust.prepare(lookups.as_deref().unwrap_or_default());
        let troubles = self.trust.troubles.drain(..);
        let troubles = troubles.chain(prepared.clone().err());
        self.parser.said.extend(troubles.map(Said::Err));
        if prepared.is_err() {
            return Err(Status::Internal);
        }
        Ok(lookups.map(|lookups| self.prepared(lookups)))
    }

    /// With the port that was said for all servers.
    pub(super) fn prepared(&self, mut lookups: Vec<Lookup>) -> Vec<Lookup> {
        let port = self.parser.globals.port;
        for server in lookups.iter_mut().flat_map(|it| &mut it.servers) {
            server.port = server.port.or(port);
        }
        lookups
    }
}
