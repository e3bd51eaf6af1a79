//! What Corefiles import, where it was given together with them.

use std::sync::Arc;

use crate::config::corefile::{self, Import};
use crate::lint::context::Context;
use crate::lint::document::{Document, Documents, FileId, Syntax};
use crate::lint::reading;
use crate::text::Source;

/// More texts than this are not imported.
const MAX_IMPORTED: usize = 100;

/// Whether a Corefile among the documents imports what it does not hold.
pub fn are_open(found: &Documents) -> bool {
    found.documents.iter().any(|it| !open(it).is_empty())
}

/// Puts what the Corefiles of a file import in its place: texts near them whose
/// names fit. `library` gives the bytes of a file.
pub fn put_in(
    found: &mut Documents,
    context: &Context<'_>,
    library: &dyn Fn(FileId) -> Option<Arc<Source>>,
) {
    for document in &mut found.documents {
        let patterns: Vec<&str> = open(document).iter().map(|it| last(&it.pattern)).collect();
        if patterns.is_empty() {
            continue;
        }
        let own = &document.path;
        let named = |path: &str| path != own && patterns.iter().any(|it| fits(it, last(path)));
        let texts = context.importable(document.file, named);
        let texts = texts.into_iter().take(MAX_IMPORTED);
        let texts: Vec<Document> = texts
            .filter_map(|(file, path)| text_at(file, path, library))
            .collect();
        if texts.is_empty() {
            continue;
        }
        let named = |path: &str, source: &Source| Source::new(path, source.bytes.clone());
        let others: Vec<Source> = texts.iter().map(|it| named(&it.path, &it.source)).collect();
        let whole = corefile::parse(Source::clone(&document.source), &others);
        document.imported = texts
            .into_iter()
            .map(|it| (it.body.file, it.body.layers))
            .collect();
        document.syntax = Syntax::Corefile(Box::new(whole));
    }
}

/// The imports of a document that name nothing yet.
fn open(document: &Document) -> Vec<&Import> {
    match &document.syntax {
        Syntax::Corefile(corefile) => corefile.imports.iter().filter(|it| it.found == 0).collect(),
        _ => Vec::new(),
    }
}

/// The text at a path of a file.
fn text_at(
    file: FileId,
    path: &str,
    library: &dyn Fn(FileId) -> Option<Arc<Source>>,
) -> Option<Document> {
    let found = reading::documents(file, &library(file)?, None);
    found.documents.into_iter().find(|it| it.path == path)
}

/// The last part of a path: the directories of a pod are not those of a tree.
fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a pattern with at most one `*` fits a name. What fits here and not
/// for `CoreDNS` is left out when it is put in.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => {
            name.len() >= before.len() + after.len()
                && name.starts_with(before)
                && name.ends_with(after)
        }
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_have_one_star() {
        for (pattern, name, expected) in [
            ("*.override", "log.override", true),
            ("*.override", "log.server", false),
            ("*", "a", true),
            ("a*a", "a", false),
            ("zones", "zones", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
