//! Files that stand in a message.

use std::io::{self, Write};
use std::sync::Arc;

use crate::render::paragraph;
use crate::text::Source;

/// Writes which files stand in a text, before what is wrong in them.
///
/// # Errors
///
/// `out` cannot be written.
pub fn write_inside(files: &[Arc<Source>], out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<&str> = files.iter().map(|it| it.name.as_str()).collect();
    let is_of_pods = names.iter().any(|it| it.ends_with("resolv.conf"));
    let taken = if is_of_pods {
        "; resolv.conf is taken for what pods get"
    } else {
        ""
    };
    let text = format!(
        "Files in the text, with its lines: {}{taken}.",
        names.join(", ")
    );
    paragraph::write(out, "", "", &text)
}

/// Says that the text has more than its files, and that none of it is known.
///
/// # Errors
///
/// `out` cannot be written.
pub fn write_rest_unknown(out: &mut dyn Write) -> io::Result<()> {
    let text = "What else stands in the text is no message that is known.";
    writeln!(out)?;
    paragraph::write(out, "", "", text)
}
