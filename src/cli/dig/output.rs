//! Standard output and standard error, in one order.

use std::io::{self, Write};

use crate::dig::command_line::{Parser, Said};
use crate::render::dig::Refused;
use crate::text::escaped;

/// Text, and whether it belongs on standard error.
pub(super) type Piece = (bool, String);

/// Where everything is written.
pub(super) struct Output<'s> {
    pub(super) out: &'s mut dyn Write,
    pub(super) err: &'s mut dyn Write,
}

impl Output<'_> {
    /// Writes text that is safe to print.
    pub(super) fn write(&mut self, is_error: bool, text: &str) -> io::Result<()> {
        if is_error {
            self.out.flush()?;
            // A closed stderr leaves nobody to tell.
            let _ = self.err.write_all(text.as_bytes());
            return Ok(());
        }
        self.out.write_all(text.as_bytes())
    }

    /// Writes all of these.
    pub(super) fn show(&mut self, pieces: &[Piece]) -> io::Result<()> {
        let mut pieces = pieces.iter();
        pieces.try_for_each(|(is_error, text)| self.write(*is_error, text))
    }

    /// Says why dig ends where a name has no letters of its own.
    pub(super) fn refuse(&mut self, refused: &Refused) -> io::Result<()> {
        self.write(true, &refusal(refused))
    }

    /// Writes what the parser has said.
    pub(super) fn say(&mut self, parser: &mut Parser) -> io::Result<()> {
        self.show(&said(parser).collect::<Vec<_>>())
    }
}

/// The line of a refused name.
pub(super) fn refusal(refused: &Refused) -> String {
    format!("dig: {refused}\n")
}

/// What the parser has said since, and which of it is for standard error.
pub(super) fn said(parser: &mut Parser) -> impl Iterator<Item = Piece> {
    let said = std::mem::take(&mut parser.said);
    said.into_iter().map(|said| {
        let (is_error, line) = match said {
            Said::Out(line) => (false, line),
            Said::Err(line) => (true, line),
        };
        (is_error, escaped(line.as_bytes()) + "\n")
    })
}
