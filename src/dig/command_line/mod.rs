//! The command line of dig: words in, lookups out.
//!
//! What comes before the first name holds for all names, what comes behind a
//! name for that name; some options hold for everything wherever they stand.

mod dash;
mod number;
mod plus;
mod server;
#[cfg(test)]
mod tests;
mod word;

use std::collections::BTreeMap;
use std::net::IpAddr;

pub use self::server::{host, server_names};
use crate::address::Address;
use crate::dig::lookup::{Globals, Lookup};

/// Source: BIND bin/dig/dig.c: `query_finished`, `parse_args` (9.18)
const MAX_BATCH_WORDS: usize = 13;
/// Source: BIND bin/dig/dig.c: `parse_args` (9.18)
const MAX_DIGRC_WORDS: usize = 61;
/// Source: BIND bin/dig/dighost.h: `MXNAME` (9.18)
const MAX_GREETING: usize = 1023;
/// Record types that the command line treats apart.
const NS: u16 = 2;
const IXFR: u16 = 251;
const AXFR: u16 = 252;
const ANY: u16 = 255;

/// What the parser must know of its surroundings.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The addresses of the names behind `@`; [`server_names`] lists them.
    pub addresses: BTreeMap<Vec<u8>, Vec<Address>>,
    /// How often `resolv.conf` lets a query be sent.
    pub tries: u32,
    /// Whether names in the user's script are converted unless the command
    /// line says otherwise: standard output is a terminal.
    pub idn: bool,
    /// What the greeting calls the program: `DiG 9.18.49`.
    pub version: String,
}

/// A line of text that the parser prints.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Said {
    /// On standard output.
    Out(String),
    /// On standard error.
    Err(String),
}

/// The end of the program before any query.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// Help was asked for: the usage with all options, status 0.
    Help,
    /// The version was asked for: status 0.
    Version,
    /// An option that is none: the usage, status 1.
    Usage,
    /// An error, status 1.
    Fatal,
    /// An error that dig takes for one of its own, status 10.
    Internal,
}

/// The parser: one for a run of the program, as options of one line hold for
/// the next of a batch file.
#[derive(Debug)]
pub struct Parser {
    /// What holds for all lookups.
    pub globals: Globals,
    /// What is to be printed, in order; taken out by the caller.
    pub said: Vec<Said>,
    surroundings: Surroundings,
    default: Lookup,
    /// `plusquest`, `pluscomm`: whether `+question` and `+comments` were said
    /// before the first name, which a zone transfer heeds.
    plus_question: bool,
    plus_comments: bool,
    /// How many addresses the last `@` had.
    address_count: usize,
    greeted: bool,
    /// Whether a line of the batch file has been read.
    batch_begun: bool,
    /// Which addresses servers may have, as far as the line was read.
    families: Families,
}

/// What `-4`, `-6` and `-b` leave.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Families {
    v4: bool,
    v6: bool,
}

impl Families {
    fn has(self, ip: IpAddr) -> bool {
        match ip {
            IpAddr::V4(_) => self.v4,
            IpAddr::V6(_) => self.v6,
        }
    }
}

/// The reading of one line.
struct Line<'w> {
    words: &'w [&'w [u8]],
    /// A line of a batch file or of `~/.digrc`.
    is_batch: bool,
    /// A line of `~/.digrc`: names do not count.
    config_only: bool,
    current: Current,
    need_clone: bool,
    open_type_class: bool,
    first: bool,
    lookups: Vec<Lookup>,
}

/// Which lookup options apply to.
enum Current {
    /// The one that all others are copies of.
    Default,
    /// One that has no name yet.
    Fresh(Box<Lookup>),
    /// The last with a name.
    Last,
}

impl Parser {
    /// A parser before the first word.
    pub fn new(surroundings: Surroundings) -> Self {
        let mut default = Lookup {
            tries: surroundings.tries,
            idn_in: surroundings.idn,
            ..Lookup::default()
        };
        default.print.idn_out = surroundings.idn;
        Self {
            globals: Globals::default(),
            said: Vec::new(),
            surroundings,
            default,
            plus_question: false,
            plus_comments: false,
            address_count: 0,
            greeted: false,
            batch_begun: false,
            families: Families { v4: true, v6: true },
        }
    }

    /// Adds addresses of names behind `@`, as the lines of a batch file need.
    pub fn learn(&mut self, addresses: BTreeMap<Vec<u8>, Vec<Address>>) {
        self.surroundings.addresses.extend(addresses);
    }

    /// Whether addresses of this name were added.
    pub fn knows(&self, name: &[u8]) -> bool {
        self.surroundings.addresses.contains_key(name)
    }

    /// Whether `~/.digrc` is to be read before these words.
    ///
    /// # Errors
    ///
    /// An option that is none, `-4` with `-6`.
    ///
    /// Source: BIND bin/dig/dig.c: `preparse_args` (9.18)
    pub fn preparse(&mut self, words: &[&[u8]]) -> Result<bool, End> {
        dash::preparse(self, words)
    }

    /// Reads a line of `~/.digrc`: options for all lookups.
    ///
    /// # Errors
    ///
    /// What would end the program in the command line does so here.
    pub fn digrc_line(&mut self, line: &[u8]) -> Result<(), End> {
        let words = split(line, MAX_DIGRC_WORDS);
        self.line(&words, true, true).map(|_| ())
    }

    /// Reads the command line, without the program's name. No name at all
    /// means the name servers of the root, unless there is a batch file.
    ///
    /// # Errors
    ///
    /// Whatever dig ends for; [`Parser::said`] tells.
    ///
    /// Source: BIND bin/dig/dig.c: `parse_args` (9.18)
    pub fn command_line(&mut self, words: &[&[u8]]) -> Result<Vec<Lookup>, End> {
        self.line(words, false, false)
    }

    /// Reads a line of a batch file; `None` if it is empty or a comment before
    /// the first line that is neither. Behind that, an empty line asks for the
    /// root and a comment for the name `#`, as in dig.
    ///
    /// # Errors
    ///
    /// As [`Parser::command_line`].
    ///
    /// Source: BIND bin/dig/dig.c: `query_finished` (9.18)
    pub fn batch_line(&mut self, line: &[u8]) -> Result<Option<Vec<Lookup>>, End> {
        let is_none = matches!(line.first(), None | Some(b'\r' | b'\n' | b'#' | b';'));
        if is_none && !self.batch_begun {
            return Ok(None);
        }
        self.batch_begun = true;
        let words = split(line, MAX_BATCH_WORDS);
        self.line(&words, true, false).map(Some)
    }

    fn line(
        &mut self,
        words: &[&[u8]],
        is_batch: bool,
        config_only: bool,
    ) -> Result<Vec<Lookup>, End> {
        let fresh = is_batch && !config_only;
        let mut line = Line {
            words,
            is_batch,
            config_only,
            current: if fresh {
                Current::Fresh(Box::new(self.default.clone()))
            } else {
                Current::Default
            },
            need_clone: !fresh,
            open_type_class: true,
            first: true,
            lookups: Vec::new(),
        };
        let mut rest = words;
        while let Some((&word, after)) = rest.split_first() {
            rest = after;
            match word.first() {
                Some(b'%') => break,
                Some(b'@') => {
                    if !self.server(&mut line, word.get(1..).unwrap_or_default())? {
                        return Ok(line.lookups);
                    }
                }
                Some(b'+') => {
                    plus::option(self, &mut line, word.get(1..).unwrap_or_default())?;
                }
                Some(b'-') => {
                    let option = word.get(1..).unwrap_or_default();
                    let taken = dash::option(self, &mut line, option, rest)?;
                    rest = rest.get(taken..).unwrap_or_default();
                }
                _ => self.word(&mut line, word)?,
            }
        }
        let batch_follows = self.globals.batch.is_some() && !is_batch;
        if line.lookups.is_empty() && !config_only && !batch_follows {
            self.begin_lookup(&mut line);
            let lookup = self.lookup(&mut line);
            lookup.text = b".".to_vec();
            lookup.rdtype = NS;
            lookup.rdtype_set = true;
            self.greet(&mut line);
        }
        for server in line.lookups.iter_mut().flat_map(|it| &mut it.servers) {
            server::fit(&mut server.address, self.families);
        }
        Ok(line.lookups)
    }

    fn lookup<'l>(&'l mut self, line: &'l mut Line<'_>) -> &'l mut Lookup {
        match &mut line.current {
            Current::Default => &mut self.default,
            Current::Fresh(lookup) => lookup,
            Current::Last => match line.lookups.last_mut() {
                Some(lookup) => lookup,
                None => &mut self.default,
            },
        }
    }

    fn err(&mut self, text: impl Into<String>) {
        self.said.push(Said::Err(text.into()));
    }

    fn invalid(&mut self, what: &str, value: &[u8], why: &str) {
        let value = String::from_utf8_lossy(value);
        self.said
            .push(Said::Out(format!("invalid {what} '{value}': {why}")));
    }

    fn fatal(&mut self, why: &str) -> End {
        self.err(format!("dig: {why}"));
        End::Fatal
    }

    fn internal(&mut self, why: &str) -> End {
        self.err(format!("dig: {why}"));
        End::Internal
    }
}

/// `ixfr=SERIAL`
fn is_ixfr(word: &[u8]) -> bool {
    word.get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case(b"ixfr="))
}

/// The words of a line, as far as dig reads them.
fn split(line: &[u8], most: usize) -> Vec<&[u8]> {
    line.split(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
        .filter(|word| !word.is_empty())
        .take(most)
        .collect()
}
