//! What follows from logs and metrics.

use std::io::{self, Write};

use colored::Colorize as _;

use crate::finding::Severity;
use crate::render::sentence::Sentence;
use crate::render::style::painted;
use crate::render::{Style, paragraph};

/// What was found, and what to do about it, which can be empty.
pub(in crate::render) struct Said {
    pub(in crate::render) fact: Sentence,
    pub(in crate::render) fix: String,
}

/// Writes the sentence before all, in the colour of the worst of what was found.
pub(super) fn verdict(
    text: &str,
    worst: Severity,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    for line in paragraph::lines(text) {
        let line = painted(style.colors, &line, |it| match worst {
            Severity::Error => it.red().bold(),
            Severity::Warning => it.yellow().bold(),
            Severity::Info => it.into(),
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// What stands before it in a list.
pub(super) fn mark(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "✗",
        Severity::Warning => "!",
        Severity::Info => "·",
    }
}
