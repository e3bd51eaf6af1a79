//! The lines of a batch file.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::fd::{AsFd as _, BorrowedFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// A batch file, or standard input. A file is always ready; others may be a
/// person's, or another program's.
pub(super) enum Source<'s> {
    /// By its name, which a FIFO or a terminal can have too.
    File(BufReader<File>),
    /// Standard input.
    Input(&'s mut dyn BufRead, io::Stdin),
}

impl Source<'_> {
    fn descriptor(&self) -> BorrowedFd<'_> {
        match self {
            Self::File(file) => file.get_ref().as_fd(),
            Self::Input(_, stdin) => stdin.as_fd(),
        }
    }
}

/// What there is to read.
pub(super) enum Next {
    /// A line with its end, if it has one.
    Line(Vec<u8>),
    /// Nothing yet.
    Later,
    /// The input has ended.
    End,
}

/// A longer line is more than one.
/// Source: BIND bin/dig/dighost.h: `COMMSIZE`, bin/dig/dig.c: `query_finished`
/// (9.18)
const MAX_LINE: usize = 0xffff - 1;

/// Reads lines, without waiting where that matters.
pub(super) struct Lines<'s> {
    source: Source<'s>,
    /// What was read; what lies before `at` was given out.
    bytes: Vec<u8>,
    at: usize,
    is_at_end: bool,
}

impl<'s> Lines<'s> {
    pub(super) fn new(source: Source<'s>) -> Self {
        Self {
            source,
            bytes: Vec::new(),
            at: 0,
            is_at_end: false,
        }
    }

    /// What to wait for if there is nothing yet.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.source.descriptor()
    }

    /// The next line; `waits`: it is waited for. An error ends the lines, as
    /// in dig.
    pub(super) fn next(&mut self, waits: bool) -> Next {
        loop {
            if let Some(line) = self.whole() {
                return Next::Line(line);
            }
            if self.is_at_end {
                return Next::End;
            }
            if !waits && !has_input(self.descriptor()) {
                return Next::Later;
            }
            let source: &mut dyn BufRead = match &mut self.source {
                Source::File(file) => file,
                Source::Input(input, _) => *input,
            };
            self.bytes.drain(..self.at);
            self.at = 0;
            let count = match source.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) | Ok([]) => {
                    self.is_at_end = true;
                    continue;
                }
                Ok(bytes) => {
                    self.bytes.extend(bytes);
                    bytes.len()
                }
            };
            source.consume(count);
        }
    }

    /// A whole line of what was read.
    fn whole(&mut self) -> Option<Vec<u8>> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let rest = rest.get(..MAX_LINE).unwrap_or(rest);
        let end = rest.iter().position(|&byte| byte == b'\n').map(|at| at + 1);
        let is_last = self.is_at_end && !rest.is_empty() || rest.len() == MAX_LINE;
        let length = end.or(is_last.then_some(rest.len()))?;
        let line = rest.get(..length)?.to_vec();
        self.at += length;
        Some(line)
    }
}

fn has_input(descriptor: BorrowedFd<'_>) -> bool {
    let mut wanted = [PollFd::new(descriptor, PollFlags::POLLIN)];
    poll(&mut wanted, PollTimeout::ZERO).is_ok_and(|count| count > 0)
}
