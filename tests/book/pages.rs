//! The pages: their texts, their blocks, and how a stale one is fixed.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

/// The project's directory.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Pages that other tests make or run.
const OTHERS: [&str; 2] = ["docs/rules.md", "docs/ci.md"];

/// The README and the book, as paths below the project's directory, sorted.
pub(crate) fn all() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    collect(&root().join("docs"), &mut pages);
    pages.sort();
    pages
}

/// The pages whose blocks are run here.
pub(crate) fn with_examples() -> Vec<String> {
    let mut pages = all();
    pages.retain(|it| !OTHERS.contains(&it.as_str()));
    pages
}

fn collect(folder: &Path, pages: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path: PathBuf = entry.path();
        if path.is_dir() {
            collect(&path, pages);
        } else if path.extension().is_some_and(|it| it == "md") {
            let below = path.strip_prefix(root()).unwrap();
            pages.push(below.to_string_lossy().into_owned());
        }
    }
}

/// A page's text.
pub(crate) fn read(page: &str) -> Result<String, Failed> {
    fs::read_to_string(root().join(page)).map_err(|error| format!("{page}: {error}").into())
}

/// Whether pages are to be fixed.
pub(crate) fn is_blessed() -> bool {
    std::env::var_os("KDNS_BLESS").is_some()
}

/// Holds a file against what it should be, or makes it so.
pub(crate) fn settle(page: &str, expected: &str) -> Result<(), Failed> {
    let actual = fs::read_to_string(root().join(page)).unwrap_or_default();
    if actual == expected {
        return Ok(());
    }
    if is_blessed() {
        return Ok(fs::write(root().join(page), expected)?);
    }
    let lines = || actual.lines().zip(expected.lines()).enumerate();
    let first = lines().find(|(_, (old, new))| old != new);
    let place = first.map_or_else(String::new, |(at, (old, new))| {
        format!("\nline {}:\n- {old}\n+ {new}", at + 1)
    });
    Err(format!("{page} is stale: run KDNS_BLESS=1 cargo test --test book{place}").into())
}

/// A part of a page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Part {
    /// Lines outside of blocks, with their line ends.
    Text(String),
    /// A fenced block: what is behind the backticks, and its lines.
    Block(String, String),
}

/// A page in parts: put together again they are the page.
pub(crate) fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            parts.push(Part::Text(std::mem::take(&mut plain)));
            let inside = lines.by_ref().take_while(|it| it.trim_end() != "```");
            parts.push(Part::Block(info.trim_end().to_owned(), inside.collect()));
        } else {
            plain.push_str(line);
        }
    }
    parts.push(Part::Text(plain));
    parts
}

/// The page of these parts.
pub(crate) fn page(parts: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Block(info, text) => format!("```{info}\n{text}```\n"),
    };
    parts.iter().map(text).collect()
}
