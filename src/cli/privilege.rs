//! What to type where more can be seen as root.

use std::ffi::{OsStr, OsString};

use crate::cli::streams::{Status, Streams};
use crate::text::escaped;

/// The same command line as root; `None`: this is root.
pub(super) fn sudo(words: &[OsString]) -> Option<String> {
    if nix::unistd::geteuid().is_root() {
        return None;
    }
    let words = words.iter().map(|it| quoted(it));
    let words: Vec<String> = words.collect();
    Some(format!("sudo kdns {}", words.join(" ")))
}

/// Says before anything else that some of the node cannot be seen.
pub(super) fn before(reads_node: bool, sudo: Option<&str>, streams: &mut Streams<'_>) {
    if let Some(sudo) = sudo.filter(|_| reads_node) {
        streams.tell(format_args!(
            "not root: what belongs to others on this node is not seen; to see all: {sudo}"
        ));
    }
}

/// Says what to type where a target could not be entered or read.
pub(super) fn after(
    has_target: bool,
    status: Status,
    sudo: Option<&str>,
    streams: &mut Streams<'_>,
) {
    let has_failed = matches!(
        status,
        Status::Undecided | Status::NotEntered | Status::Internal
    );
    if let Some(sudo) = sudo.filter(|_| has_target && has_failed) {
        streams.tell(format_args!("as root: {sudo}"));
    }
}

/// A word as a shell takes it.
fn quoted(word: &OsStr) -> String {
    let text = escaped(word.as_encoded_bytes());
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./:=,@+%".contains(it);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_as_a_shell_takes_them() {
        for (word, expected) in [
            ("db.prod", "db.prod"),
            ("", "''"),
            ("*=TIMEOUT", "'*=TIMEOUT'"),
            ("it's", "'it'\\''s'"),
        ] {
            assert_eq!(quoted(OsStr::new(word)), expected);
        }
    }
}
