//! What the help and the manual page of a command say besides its options:
//! one source for both.

mod about;
mod doctor;
mod page;
mod pages;
mod path;
mod report;
mod watch;
mod why;

use std::fmt::Write as _;

pub use self::page::{Example, Manual};
pub use self::pages::PAGES;

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
