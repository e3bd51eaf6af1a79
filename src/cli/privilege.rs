//! What to type where more can be seen as root.

use std::ffi::OsString;

use crate::cli::streams::{Status, Streams};
use crate::render::command::Command;
use crate::text::escaped;

/// The same command line as root; `None`: this is root.
pub(super) fn sudo(words: &[OsString]) -> Option<Command> {
    let words = words.iter().map(|it| escaped(it.as_encoded_bytes()));
    let is_root = nix::unistd::geteuid().is_root();
    (!is_root).then(|| Command::new("sudo kdns").args(words))
}

/// Says before anything else that some of the node cannot be seen.
pub(super) fn before(reads_node: bool, sudo: Option<&Command>, streams: &mut Streams<'_>) {
    if let Some(sudo) = sudo.filter(|_| reads_node) {
        streams.tell(format_args!(
            "not root: what belongs to others on this node is not seen; to see all: {sudo}"
        ));
    } else if reads_node && crate::host::is_root_of_namespace() {
        streams.tell(
            "root here is that of a user namespace: what belongs to others on this node is not seen",
        );
    }
}

/// Says what to type where a target could not be entered or read.
pub(super) fn after(
    has_target: bool,
    status: Status,
    sudo: Option<&Command>,
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
