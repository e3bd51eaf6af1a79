//! Links inside of the project lead to files and headings that are there;
//! those to other sites are not followed. The book has every page.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::cases;
use crate::needs;
use crate::pages::{self, Part, parts, read, root};

/// The book's list of pages.
const SUMMARY: &str = "docs/SUMMARY.md";

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = pages::all()
        .into_iter()
        .map(|page| Trial::test(format!("links::{page}"), move || check(&page)))
        .collect();
    trials.push(Trial::test("book::every page is in the summary", summary));
    trials.push(build_trial());
    trials
}

fn check(name: &str) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for target in links(&read(name)?) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        if let Err(reason) = follow(name, &target) {
            wrong.push(format!("{target}: {reason}"));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{name}:\n{}", wrong.join("\n")).into())
}

fn follow(from: &str, target: &str) -> Result<(), String> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() {
        from.to_owned()
    } else {
        below(Path::new(from).parent().unwrap_or(Path::new("")), file)?
    };
    if !root().join(&path).exists() {
        return Err("there is no such file".to_owned());
    }
    // A page of the book cannot lead out of it but by an address.
    let is_book = from.starts_with("docs/");
    if is_book && !path.starts_with("docs/") {
        return Err("it leads out of the book".to_owned());
    }
    let is_page = Path::new(&path).extension().is_some_and(|it| it == "md");
    if anchor.is_empty() || !is_page {
        return Ok(());
    }
    let text = read(&path).map_err(|_| "it cannot be read".to_owned())?;
    let anchors = anchors(&text);
    if anchors.contains(anchor) {
        return Ok(());
    }
    Err(format!("there is no such heading in {path}"))
}

/// A relative path as one below the project's directory.
fn below(folder: &Path, target: &str) -> Result<String, String> {
    let mut path = PathBuf::new();
    for part in folder.join(target).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::ParentDir if path.pop() => {}
            Component::CurDir => {}
            _ => return Err("it leads out of the project".to_owned()),
        }
    }
    Ok(path.to_string_lossy().into_owned())
}

/// What stands between `](` and `)`, outside of blocks and code.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in parts(text) {
        let Part::Text(text) = part else { continue };
        for line in text.lines() {
            // Every second piece is code.
            let prose: Vec<&str> = line.split('`').step_by(2).collect();
            let line = prose.join("`");
            for rest in line.split("](").skip(1) {
                found.extend(rest.split([')', ' ']).next().map(str::to_owned));
            }
        }
    }
    found
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for part in parts(text) {
        let Part::Text(text) = part else { continue };
        for line in text.lines().filter(|it| it.starts_with('#')) {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let keep = |c: char| match c {
                ' ' => Some('-'),
                c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
                _ => None,
            };
            let plain: String = heading.chars().filter_map(keep).collect();
            // The second heading of one text gets a number.
            let numbered = (1..).map(|it| format!("{plain}-{it}"));
            let free = std::iter::once(plain.clone()).chain(numbered);
            found.extend(free.into_iter().find(|it| !found.contains(it)));
        }
    }
    found
}

fn summary() -> Result<(), Failed> {
    let listed: BTreeSet<String> = links(&read(SUMMARY)?)
        .into_iter()
        .map(|it| format!("docs/{it}"))
        .collect();
    let all: BTreeSet<String> = pages::all()
        .into_iter()
        .filter(|it| it.starts_with("docs/") && it != SUMMARY)
        .collect();
    let lacks: Vec<_> = all.difference(&listed).collect();
    if lacks.is_empty() {
        return Ok(());
    }
    Err(format!("{SUMMARY} lacks {lacks:?}").into())
}

/// mdBook as `.ci/install-real` has unpacked it.
fn build_trial() -> Trial {
    const NAME: &str = "book::mdbook builds it without a warning";
    let program = cases::real().join("mdbook");
    let reason = "needs target/real/mdbook: run .ci/install-real";
    let missing = (!program.is_file()).then(|| reason.to_owned());
    needs::trial(NAME, missing, move || build(&program))
}

fn build(program: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let output = Command::new(program)
        .args(["build", "--dest-dir"])
        .arg(folder.path())
        .current_dir(root())
        .output()?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let is_loud = ["WARN", "ERROR"].iter().any(|it| said.contains(it));
    let is_there = folder.path().join("index.html").is_file();
    if output.status.success() && !is_loud && is_there {
        return Ok(());
    }
    Err(said.into())
}
