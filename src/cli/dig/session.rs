//! What holds for every lookup of a call.

use std::time::Duration;

use super::place::Place;
use super::trust::Trust;
use super::{names, status};
use crate::cli::streams::Status;
use crate::dig::command_line::{Parser, Said, server_names};
use crate::dig::lookup::Lookup;
use crate::dig::settings::{Settings, Wire};
use crate::resolver::bind::settings;
use crate::resolver::reading::Reading;
use crate::wire::query_id;

/// The words so far, and what they are asked with.
pub(super) struct Session<'r> {
    pub(super) parser: Parser,
    pub(super) reading: &'r Reading<'r>,
    pub(super) place: &'r Place,
    pub(super) trust: Trust,
    /// The client's, one for a run.
    pub(super) cookie: [u8; 8],
}

impl Session<'_> {
    /// What lookups go by in a run that began then.
    pub(super) fn settings(&self, began: Duration) -> Settings {
        let ids = query_id;
        Settings {
            cookie: self.cookie,
            wire: Some(Wire { ids, began }),
            ..settings(&self.parser.globals, self.reading)
        }
    }

    /// The lookups of a line, or the end of everything.
    pub(super) fn read_line(&mut self, line: &[u8]) -> Result<Option<Vec<Lookup>>, Status> {
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
        lookups.map(|it| self.prepared(it)).transpose()
    }

    /// With their certificates, and the port that was said for all servers.
    pub(super) fn prepared(&mut self, mut lookups: Vec<Lookup>) -> Result<Vec<Lookup>, Status> {
        let prepared = self.trust.prepare(&lookups);
        let troubles = self.trust.troubles.drain(..);
        let troubles = troubles.chain(prepared.clone().err());
        self.parser.said.extend(troubles.map(Said::Err));
        if prepared.is_err() {
            return Err(Status::Internal);
        }
        let port = self.parser.globals.port;
        for server in lookups.iter_mut().flat_map(|it| &mut it.servers) {
            server.port = server.port.or(port);
        }
        Ok(lookups)
    }
}
