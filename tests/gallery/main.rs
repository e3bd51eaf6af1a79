//! Screens: what commands print on terminals of 80 and 120 columns, with colours.
//! They are kept in `testdata/gallery`, and `docs/gallery.md` shows them.
//!
//! `KDNS_BLESS=1 cargo test --test gallery` writes both; read the diff.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod runs;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use self::runs::{Run, TASKS, all};

fn run((_, _, words): Run, columns: &str) -> Output {
    let words = words.split(' ');
    let mut command = Command::new(env!("CARGO_BIN_EXE_kdns"));
    command.args(words).env_clear().env("COLUMNS", columns);
    command.env("CLICOLOR_FORCE", "1").output().unwrap()
}

/// What stands on the screen.
fn screen(run_of: Run, columns: &str) -> String {
    let output = run(run_of, columns);
    let mut text = format!("$ kdns {}\n", run_of.2);
    text.push_str(&String::from_utf8(output.stderr).unwrap());
    text.push_str(&String::from_utf8(output.stdout).unwrap());
    text
}

/// The text without its colours.
#[expect(clippy::string_slice, reason = "cut where a character begins")]
fn plain(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        shown.push_str(before);
        let end = after.find(|it: char| it.is_ascii_alphabetic()).unwrap();
        rest = &after[end + 1..];
    }
    shown + rest
}

/// Whether a line may be longer: what is in it cannot be broken.
fn is_word(line: &str) -> bool {
    let has_letter = |it: &&str| it.contains(char::is_alphanumeric);
    line.split(' ').filter(has_letter).count() < 6
}

#[test]
fn screens_are_those_that_were_kept() {
    let is_blessed = std::env::var_os("KDNS_BLESS").is_some();
    let runs = all();
    assert!(runs.len() >= 40);
    let mut stale = Vec::new();
    for run in runs {
        for columns in ["80", "120"] {
            let fresh = screen(run, columns);
            let path = format!("testdata/gallery/{}.{columns}.ansi", run.0);
            if fs::read_to_string(&path).unwrap_or_default() == fresh {
                continue;
            }
            if is_blessed {
                fs::write(&path, fresh).unwrap();
            } else {
                stale.push(path);
            }
        }
    }
    assert!(
        stale.is_empty(),
        "KDNS_BLESS=1 cargo test --test gallery: {stale:?}"
    );
}

#[test]
fn a_screen_is_no_longer_than_a_screen() {
    for run in all() {
        let is_short = !run.2.ends_with("-v") && run.0 != "help";
        let text = plain(&screen(run, "80"));
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert!(
            !is_short || lines.len() <= 30,
            "{}: {} lines\n{text}",
            run.0,
            lines.len()
        );
        for line in lines
            .iter()
            .filter(|it| !it.starts_with("kdns: ") && !it.starts_with("error: "))
        {
            // Marks are below what they mark.
            assert!(
                line.chars().count() <= 80
                    || is_word(line)
                    || line.contains("---")
                    // A command is one line.
                    || line.trim_start().starts_with("kubectl ")
                    // So is a line of resolv.conf.
                    || line.starts_with("search ")
                    // A hop of a picture, too, and a lookup.
                    || line.contains('▼')
                    || line.contains(" broke 10."),
                "{}: {line}",
                run.0
            );
        }
    }
}

#[test]
fn tasks_are_answered_by_the_first_screen() {
    for (run, insights) in TASKS {
        let text = plain(&screen(run, "80"));
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        for insight in insights {
            assert!(text.contains(insight), "{}: no {insight} in\n{text}", run.0);
        }
    }
}

#[test]
fn the_page_shows_them() {
    let mut page = String::from(
        "# Gallery\n\nWhat kdns prints, on a terminal of 80 columns. With colours, and with 120 \
         columns, the same screens are in\n`testdata/gallery`: `cat` shows them.\n",
    );
    for (title, runs) in [
        ("Five tasks", &all()[..TASKS.len()]),
        ("Commands", &all()[TASKS.len()..]),
    ] {
        write!(page, "\n## {title}\n").unwrap();
        for run in runs {
            let text = plain(&screen(*run, "80"));
            write!(page, "\n### {}\n\n```text\n{text}```\n", run.1).unwrap();
        }
    }
    let path = Path::new("docs/gallery.md");
    if std::env::var_os("KDNS_BLESS").is_some() {
        fs::write(path, page).unwrap();
        return;
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    assert!(kept == page, "KDNS_BLESS=1 cargo test --test gallery");
}

/// Every fixture of a node, with every command that reads one.
#[test]
fn no_node_needs_more_than_a_screen() {
    let nodes = fs::read_dir("testdata/nodes").unwrap();
    let nodes = nodes.map(|it| it.unwrap().path()).filter(|it| it.is_dir());
    let mut seen = 0;
    for node in nodes {
        let node = node.to_string_lossy().into_owned();
        for command in ["check-loop", "pods", "upstream", "lint"] {
            let words = format!("{command} --root {node}");
            let output = Command::new(env!("CARGO_BIN_EXE_kdns"))
                .args(words.split(' '))
                .env_clear()
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let count = text.lines().count();
            assert!(count <= 30, "kdns {words}: {count} lines\n{text}");
            seen += 1;
        }
    }
    assert!(seen > 200, "{seen}");
}
