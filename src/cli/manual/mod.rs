//! What the help and the manual page of a command say besides its options: one
//! source for both. `build.rs` makes the helps of the pages.

include!(concat!(env!("OUT_DIR"), "/helps.rs"));

/// What the help of this command ends with.
pub(super) fn help(command: &str) -> &'static str {
    let found = HELPS.iter().find(|it| it.0 == command);
    found.map_or("", |it| it.1)
}
