//! Text for people, broken into lines that fit every terminal and ticket.

use std::borrow::Cow;
use std::io::{self, Write};

use colored::Colorize as _;

use super::style::painted;

/// Lines are broken before this column; a longer word keeps a line of its own.
pub const WIDTH: usize = 80;

/// The lines of safe text.
pub fn lines(text: &str) -> Vec<String> {
    let lines = textwrap::wrap(text, options());
    lines.into_iter().map(Cow::into_owned).collect()
}

/// Writes a title, behind an empty line.
///
/// # Errors
///
/// Any error of `out`.
pub fn title(colors: bool, out: &mut dyn Write, title: &str) -> io::Result<()> {
    writeln!(out, "\n{}", painted(colors, title, |it| it.bold()))
}

/// Writes safe text behind `first`, its further lines behind `rest`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(out: &mut dyn Write, first: &str, rest: &str, text: &str) -> io::Result<()> {
    write_within(WIDTH, out, first, rest, text)
}

/// The same within so many columns.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_within(
    columns: usize,
    out: &mut dyn Write,
    first: &str,
    rest: &str,
    text: &str,
) -> io::Result<()> {
    // No text has more columns than bytes. Most lines fit, and wrapping costs
    // as much as all the rest of an explanation.
    if first.len() + text.len() <= columns && !text.ends_with(' ') {
        return writeln!(out, "{first}{text}");
    }
    let mut options = options();
    options.width = columns;
    let options = options.initial_indent(first).subsequent_indent(rest);
    for line in textwrap::wrap(text, options) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Safe text behind `first`, its further lines behind `rest`, without a line end.
pub fn hanging(first: &str, rest: &str, text: &str) -> String {
    let options = options().initial_indent(first).subsequent_indent(rest);
    textwrap::wrap(text, options).join("\n")
}

/// Lines end between words only: not in an address or a path.
fn options() -> textwrap::Options<'static> {
    textwrap::Options::new(WIDTH)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .break_words(false)
}
