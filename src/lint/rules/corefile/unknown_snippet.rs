#![doc = include_str!("unknown_snippet.md")]

use memchr::memmem;

use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    if blocks::is_template(file) {
        return;
    }
    // Each looks through what is behind it, so that there must be few.
    let mut places = blocks::Places::new(file);
    let missing = file.corefile.imports.iter().filter(|it| it.found == 0);
    for import in missing.filter(|it| it.at.source == 0) {
        let name = String::from_utf8_lossy(file.document.bytes(import.at.span));
        let name = name.trim_matches('"');
        // Paths and patterns are files, which can be there.
        let is_snippet = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || !name.chars().all(is_snippet) {
            continue;
        }
        let Some(at) = places.first_at(import.at) else {
            continue;
        };
        let finding = report
            .add(
                at,
                format!("import {name}: no snippet of this name is declared above"),
            )
            .note(
                "unless there is a file of this name, CoreDNS ends with File to import not found",
            );
        let declaration = format!("({name})");
        let bytes = &file.document.source.bytes;
        let behind = bytes.get(import.at.span.end as usize..).unwrap_or_default();
        finding.help(match memmem::find(behind, declaration.as_bytes()) {
            Some(_) => format!("put the snippet {declaration} above the server block"),
            None => format!("declare the snippet {declaration} above, or write the path of a file"),
        });
    }
}
