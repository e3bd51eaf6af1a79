//! How a text is written.

use colored::ColoredString;

use super::shortened;

/// Text that is safe to print, as `paint` colours it where there are colours.
pub(super) fn painted(
    colors: bool,
    text: &str,
    paint: impl FnOnce(&str) -> ColoredString,
) -> String {
    if colors {
        paint(text).to_string()
    } else {
        text.to_owned()
    }
}

/// What depends on who reads, and where.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// ANSI colours.
    pub colors: bool,
    /// More detail, and lists to their ends: what exactly, the help of each
    /// command says.
    pub verbose: bool,
    /// Links that a terminal opens (OSC 8).
    pub links: bool,
    /// Lines that are not prose may be so wide: 80, or the terminal's width.
    pub columns: usize,
}

impl Style {
    /// The text, with short ids unless more detail is wanted.
    pub(super) fn brief(self, text: String) -> String {
        if self.verbose {
            text
        } else {
            shortened::ids(&text)
        }
    }
}
