//! `--fix` and `--diff`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use diffy::DiffOptions;

use super::engine::Outcome;
use super::input::Place;
use super::inputs::Inputs;
use crate::cli::output::Sink;
use crate::host;
use crate::lint::fix;
use crate::text::{Source, escaped};

/// A file and what it becomes.
pub(super) struct Changed {
    /// As it is shown.
    path: String,
    /// Where it is; `None`: standard input, or a file of a node.
    file: Option<Box<Path>>,
    old: Vec<u8>,
    new: Vec<u8>,
}

/// What one round mends can show what the next one is to mend. No rule needs
/// more than two.
const MAX_ROUNDS: usize = 10;

/// Mends in memory until nothing is left to mend: `inputs` hold what the files
/// become, `outcome` what is found then.
pub(super) fn rounds(
    inputs: &mut Inputs,
    outcome: &mut Outcome,
    lint: &dyn Fn(&Inputs) -> Outcome,
) -> Vec<Changed> {
    let mut changed: BTreeMap<String, Changed> = BTreeMap::new();
    for _ in 0..MAX_ROUNDS {
        let mut is_changed = false;
        for (path, edits) in fix::edits(&outcome.findings) {
            let at = inputs.files.binary_search_by(|it| (*it.path).cmp(&path));
            let Some(input) = at.ok().and_then(|at| inputs.files.get_mut(at)) else {
                continue;
            };
            let (file, bytes) = match &input.place {
                Place::Memory(source) => (None, source.bytes.clone()),
                Place::File(file) => match host::read_path(file) {
                    Ok(read) if !read.is_cut => (Some(file.clone()), read.source.bytes),
                    _ => continue,
                },
            };
            let Some(new) = fix::applied(&bytes, &edits).filter(|new| *new != bytes) else {
                continue;
            };
            is_changed = true;
            let source = Source {
                name: path.clone(),
                bytes: new.clone(),
            };
            input.place = Place::Memory(Arc::new(source));
            let change = changed.entry(path.clone());
            change
                .and_modify(|it| it.new.clone_from(&new))
                .or_insert(Changed {
                    path,
                    file,
                    old: bytes,
                    new,
                });
        }
        if !is_changed {
            break;
        }
        *outcome = lint(inputs);
    }
    changed.into_values().collect()
}

/// Writes the files, each whole or not at all; none if one may not be written.
pub(super) fn write(changed: &[Changed]) -> anyhow::Result<()> {
    let is_locked = |it: &&Changed| {
        let file = it.file.as_ref().and_then(|it| it.metadata().ok());
        file.is_some_and(|it| it.permissions().readonly())
    };
    if let Some(locked) = changed.iter().find(is_locked) {
        let path = &locked.path;
        anyhow::bail!(
            "cannot mend {path}: it is read-only, and nothing was changed; chmod u+w allows it, --diff shows the change"
        );
    }
    for change in changed {
        let Some(file) = &change.file else {
            let path = &change.path;
            anyhow::bail!(
                "cannot mend {path} in place: it is no file here; --diff shows the change"
            );
        };
        let mut sink = Sink::file(file)?;
        sink.write(|out| out.write_all(&change.new))?;
        sink.finish()?;
    }
    Ok(())
}

/// What was mended, in a line.
pub(super) fn told(changed: &[Changed]) -> String {
    const NAMED: usize = 3;
    let paths: Vec<&str> = changed.iter().map(|it| it.path.as_str()).collect();
    let named = paths.get(..NAMED).unwrap_or(&paths).join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => format!("mended {named}"),
        more => format!("mended {named} and {more} more"),
    }
}

/// Lines around a change.
const CONTEXT: usize = 3;

/// Writes the changes as a unified diff that `patch -p1` takes. What could
/// steer a terminal is escaped, and such a diff is for reading only.
pub(super) fn show(changed: &[Changed], out: &mut dyn Write) -> io::Result<()> {
    for change in changed {
        let (old, new) = (
            String::from_utf8_lossy(&change.old),
            String::from_utf8_lossy(&change.new),
        );
        let path = change.path.trim_start_matches('/');
        let mut options = DiffOptions::new();
        options
            .set_context_len(CONTEXT)
            .set_original_filename(format!("a/{path}"))
            .set_modified_filename(format!("b/{path}"));
        let text = options.create_patch(&old, &new).to_string();
        for line in text.split_inclusive('\n') {
            let (content, end) = match line.strip_suffix('\n') {
                Some(content) => (content, "\n"),
                None => (line, ""),
            };
            let (content, end) = match content.strip_suffix('\r') {
                Some(content) => (content, if end.is_empty() { "\r" } else { "\r\n" }),
                None => (content, end),
            };
            let parts: Vec<String> = content
                .split('\t')
                .map(|it| escaped(it.as_bytes()))
                .collect();
            write!(out, "{}{end}", parts.join("\t"))?;
        }
    }
    Ok(())
}
