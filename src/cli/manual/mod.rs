//! What the help and the manual page of a command say besides its options:
//! one source for both.

mod about;
mod pages;
mod report;

use std::fmt::Write as _;

pub use self::pages::PAGES;

/// The page of a command.
#[derive(Clone, Copy, Debug)]
pub struct Manual {
    /// The command; `""` is kdns itself.
    pub command: &'static str,
    /// How it is called, one form a line.
    pub usage: &'static str,
    /// What it does, in paragraphs.
    pub description: &'static str,
    /// What to try.
    pub examples: &'static [Example],
    /// What the help says below the examples.
    pub notes: &'static str,
    /// Exit statuses and their meaning.
    pub status: &'static [(&'static str, &'static str)],
    /// Files that are read, and what for.
    pub files: &'static [(&'static str, &'static str)],
    /// Variables that count, and how.
    pub environment: &'static [(&'static str, &'static str)],
    /// Other pages.
    pub see_also: &'static str,
}

/// A command that a reader can type.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// What it is for.
    pub what: &'static str,
    /// The command.
    pub line: &'static str,
    /// Whether the page shows what it prints; its files are then those of
    /// `testdata/manual`.
    pub is_shown: bool,
}

/// An example that is only named.
const fn try_it(what: &'static str, line: &'static str) -> Example {
    Example {
        what,
        line,
        is_shown: false,
    }
}

/// An example with what it prints.
const fn shown(what: &'static str, line: &'static str) -> Example {
    Example {
        what,
        line,
        is_shown: true,
    }
}

/// The page of this command.
pub fn page(command: &str) -> Option<&'static Manual> {
    PAGES.iter().find(|page| page.command == command)
}

/// What the help of this command ends with.
pub(super) fn help(command: &str) -> String {
    let Some(page) = page(command) else {
        return String::new();
    };
    let mut text = "Examples:".to_owned();
    for example in page.examples {
        text.push_str("\n  ");
        text.push_str(example.line);
    }
    if !page.notes.is_empty() {
        text.push_str("\n\n");
        text.push_str(page.notes);
    }
    let statuses = page
        .status
        .iter()
        .map(|(status, meaning)| format!("{status} {meaning}"));
    let statuses: Vec<String> = statuses.collect();
    if !statuses.is_empty() {
        // A String takes all.
        let _ = write!(text, "\n\nExit status: {}.", statuses.join("; "));
    }
    text
}
