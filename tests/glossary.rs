//! The words of `docs/glossary.md`: what its last column has is nowhere in what
//! people read: output, help, man pages, the pages of rules, README and the book.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::path::{Path, PathBuf};

const GLOSSARY: &str = "docs/glossary.md";

#[test]
fn old_words_are_nowhere() {
    let table = fs::read_to_string(GLOSSARY).unwrap();
    let rows = table.lines().filter(|it| it.starts_with("| ")).skip(2);
    let old = rows.flat_map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let last = cells.last().copied().unwrap_or_default();
        last.split(',').map(|it| it.trim().to_lowercase())
    });
    let old: Vec<String> = old.collect();
    assert!(old.len() > 20, "{old:?}");
    let mut found = Vec::new();
    for path in texts() {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            let shown = match path.extension() {
                Some(it) if it == "rs" => literals(&path, line),
                _ => line.to_lowercase(),
            };
            for word in old.iter().filter(|it| has(&shown, it)) {
                found.push(format!("{}:{number}: {word}", path.display()));
            }
        }
    }
    assert!(
        found.is_empty(),
        "{GLOSSARY} has better words:\n{}",
        found.join("\n")
    );
}

/// Everything that people read.
fn texts() -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("README.md")];
    for (folder, endings) in [
        ("docs", &["md"][..]),
        ("man", &["1"]),
        ("src", &["rs", "md"]),
    ] {
        collect(Path::new(folder), endings, &mut found);
    }
    found.retain(|it| it != Path::new(GLOSSARY));
    found
}

fn collect(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let ending = path.extension().map(|it| it.to_string_lossy().into_owned());
        if path.is_dir() {
            collect(&path, endings, found);
        } else if ending.is_some_and(|it| endings.contains(&it.as_str())) {
            found.push(path);
        }
    }
}

/// What stands between quotes; of comments in arguments all, as they are help.
fn literals(path: &Path, line: &str) -> String {
    let line = line.trim_start();
    let is_help = path.starts_with("src/cli");
    if let Some(help) = line.strip_prefix("/// ").filter(|_| is_help) {
        return help.to_lowercase();
    }
    let is_code = !line.starts_with("//");
    let parts = line.split('"').skip(1).step_by(2);
    // A literal over many lines has no quote on those between.
    let is_inner = is_code && !line.contains('"') && line.ends_with('\\');
    let inner = is_inner.then_some(line);
    parts
        .filter(|_| is_code)
        .chain(inner)
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

/// Whether the words stand in the text as words.
#[expect(clippy::string_slice, reason = "cut where a character begins")]
fn has(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        let is_letter = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
        !is_letter(before) && !is_letter(after)
    })
}
