//! The streams of a run, and how it ends.

use std::fmt;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use crate::host::{ReadError, io_reason};
use crate::render::Style;
use crate::render::paragraph::WIDTH;
use crate::text::escaped;

/// The program's streams, and what it must know about them.
pub struct Streams<'s> {
    /// Standard input.
    pub input: &'s mut dyn BufRead,
    /// Whether standard input stood in for a file already.
    pub is_input_read: bool,
    /// Standard output.
    pub out: &'s mut dyn Write,
    /// Standard error.
    pub err: &'s mut dyn Write,
    /// Whether colours are wanted where `--color` does not say: standard
    /// output is a terminal, and the environment does not object.
    pub colors: bool,
    /// Columns of the terminal that standard output is; `None`: it is none.
    pub terminal: Option<usize>,
}

/// How a command ended: the exit status.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Status {
    /// Done, and nothing found wrong.
    Clean = 0,
    /// Something was found wrong.
    Found = 1,
    /// It could not be decided: usage, unreadable input.
    Undecided = 2,
    /// `nsenter`: the target cannot be entered.
    NotEntered = 125,
    /// `nsenter`: the command cannot be run.
    NotExecutable = 126,
    /// `nsenter`: there is no such command.
    NoCommand = 127,
    /// Ctrl-C ended it: 128 and the signal's number, as shells have it.
    Interrupted = 130,
    /// dig: the batch file could not be opened.
    BatchFile = 8,
    /// dig: no server replied.
    NoReply = 9,
    /// dig: an error inside.
    Internal = 10,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

impl<'s> Streams<'s> {
    /// Columns for what is not prose: those of the terminal, else `COLUMNS` of the
    /// environment, and at least 80.
    pub(super) fn columns(&self) -> usize {
        /// No screen is wider.
        const WIDEST: usize = 1000;
        let set = || std::env::var("COLUMNS").ok()?.parse().ok();
        let columns = self.terminal.or_else(set).unwrap_or_default();
        columns.clamp(WIDTH, WIDEST)
    }

    /// Standard input, for the one file that it can stand for.
    pub(super) fn take_input(&mut self) -> Result<&mut (dyn BufRead + 's), ReadError> {
        if std::mem::replace(&mut self.is_input_read, true) {
            return Err(ReadError::Twice);
        }
        Ok(&mut *self.input)
    }

    /// How a text is written to standard output.
    pub(super) fn style(&self, verbose: bool) -> Style {
        // A console writes what it does not know.
        let is_console = || std::env::var("TERM").is_ok_and(|it| it == "linux" || it == "dumb");
        Style {
            colors: self.colors,
            verbose,
            links: self.colors && self.terminal.is_some() && !is_console(),
            columns: self.columns(),
        }
    }

    /// Tells people a sentence, on standard error.
    pub(super) fn tell(&mut self, sentence: impl fmt::Display) {
        let sentence = escaped(sentence.to_string().as_bytes());
        // A closed stderr leaves nobody to tell.
        let _ = writeln!(self.err, "kdns: {sentence}");
    }

    /// Says why a run failed; the status that it ends with.
    pub(super) fn fail(&mut self, error: &anyhow::Error) -> Status {
        // Adapters wrap their I/O errors, so a bare one is from writing the output.
        let message = match error.downcast_ref::<io::Error>() {
            Some(output) if output.kind() == io::ErrorKind::BrokenPipe => return Status::Clean,
            Some(output) => format!("cannot write standard output: {}", io_reason(output)),
            None => format!("{error:#}"),
        };
        self.tell(message);
        Status::Undecided
    }
}

impl fmt::Debug for Streams<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams")
            .field("colors", &self.colors)
            .finish_non_exhaustive()
    }
}
