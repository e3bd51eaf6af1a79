//! `--fix` and `--diff`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use diffy::DiffOptions;

use super::input::Place;
use super::inputs::Inputs;
use crate::finding::Finding;
use crate::host::write::{self, Others};
use crate::lint::{Findings, Input as _, fix};
use crate::text::{Source, escaped, some_of};

/// A file and what it becomes.
pub(super) struct Changed {
    /// As it is shown.
    path: String,
    /// Where it is; `None`: standard input, or a file of a node.
    file: Option<Box<Path>>,
    old: Vec<u8>,
    new: Vec<u8>,
}

/// What one round fixes can show what the next one is to fix. No rule needs
/// more than two.
const MAX_ROUNDS: usize = 10;

/// Fixes in memory until nothing is left to fix: `inputs` hold what the files
/// become, `outcome` what is found then.
pub(super) fn rounds(
    inputs: &mut Inputs,
    outcome: &mut Findings,
    with_unsafe: bool,
    lint: &dyn Fn(&Inputs) -> Findings,
) -> Vec<Changed> {
    let mut changed: BTreeMap<Arc<str>, Changed> = BTreeMap::new();
    let mut files: BTreeMap<Arc<str>, Box<Path>> = BTreeMap::new();
    for _ in 0..MAX_ROUNDS {
        // A file can have changed since it was judged: what is changed is judged
        // again, and nothing else is written over.
        let taken = take_in(inputs, &outcome.findings, with_unsafe);
        if !taken.is_empty() {
            files.extend(taken);
            *outcome = lint(inputs);
        }
        let mut is_changed = false;
        for (path, edits) in fix::edits(&outcome.findings, with_unsafe) {
            let Some(input) = inputs.file_mut(&path) else {
                continue;
            };
            let Place::Memory(source) = &input.place else {
                continue;
            };
            let old = &source.bytes;
            let Some(new) = fix::applied(old, &edits).filter(|new| new != old) else {
                continue;
            };
            is_changed = true;
            let change = changed.entry(Arc::clone(&input.path));
            let change = change.or_insert_with(|| Changed {
                path: path.clone(),
                file: files.get(&*path).cloned(),
                old: old.clone(),
                new: Vec::new(),
            });
            change.new.clone_from(&new);
            input.place = Place::Memory(Arc::new(Source::new(path, new)));
        }
        if !is_changed {
            break;
        }
        *outcome = lint(inputs);
    }
    changed.into_values().collect()
}

/// Reads the files that findings would change into memory; where they are.
fn take_in(
    inputs: &mut Inputs,
    findings: &[Finding],
    with_unsafe: bool,
) -> Vec<(Arc<str>, Box<Path>)> {
    let mut taken = Vec::new();
    for path in fix::edits(findings, with_unsafe).keys() {
        let Some(input) = inputs.file_mut(path) else {
            continue;
        };
        let Place::File(file) = &input.place else {
            continue;
        };
        if let Ok(content) = input.content()
            && !content.is_cut
        {
            taken.push((Arc::clone(&input.path), file.clone()));
            input.place = Place::Memory(content.source);
        }
    }
    taken
}

/// Writes the files, each whole or not at all; none if one may not be written.
/// Leaves in `changed` those that were written; the others, with the reasons.
pub(super) fn write(
    changed: &mut Vec<Changed>,
    others: Others,
) -> anyhow::Result<Vec<(Changed, String)>> {
    for change in &*changed {
        let path = &change.path;
        let Some(file) = &change.file else {
            anyhow::bail!(
                "cannot fix {path} in place: it is no file here; --diff shows the change"
            );
        };
        if let Err(reason) = write::check(file, others) {
            anyhow::bail!(
                "cannot fix {path}: {reason}; nothing was changed, and --diff shows the change"
            );
        }
    }
    let mut left = Vec::new();
    for change in std::mem::take(changed) {
        let file = change.file.as_deref().unwrap_or(Path::new(""));
        match write::replace(file, &change.old, &change.new, others) {
            Ok(()) => changed.push(change),
            Err(reason) => {
                let sentence = format!("cannot fix {}: {reason}", change.path);
                left.push((change, sentence));
            }
        }
    }
    Ok(left)
}

/// Puts back in memory what was left as it was.
pub(super) fn restore(inputs: &mut Inputs, left: &[(Changed, String)]) {
    for (change, _) in left {
        if let (Some(input), Some(file)) = (inputs.file_mut(&change.path), &change.file) {
            input.place = Place::File(file.clone());
        }
    }
}

/// What was fixed, in a line.
pub(super) fn summary(changed: &[Changed]) -> String {
    const NAMED: usize = 3;
    let paths = changed.iter().map(|it| &it.path);
    format!("fixed {}", some_of(paths, NAMED))
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
