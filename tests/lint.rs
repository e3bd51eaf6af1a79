//! Every rule's page and examples.
//!
//! A page shows a bad and a good example, each a fence whose first line is
//! `LANGUAGE bad|good PATH [ARGUMENT…]`; with `+` behind the word it is another
//! file of the example before. More examples are directories in
//! `testdata/lint/CODE/NAME`, the name beginning with `bad`, `good` or `near`:
//! files, and the arguments in `args`, one a line (`.` without it). A near
//! miss looks like the bad thing and is none: every rule has two.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use kdns::cli::{self, Status, Streams};
use kdns::lint::{Rule, rules};

/// The headings of a page, in order.
const HEADINGS: [&str; 7] = [
    "## What it finds",
    "## Why it matters",
    "## When it bites",
    "## How to fix it",
    "## Examples",
    "## Versions",
    "## References",
];

/// What an example is to show.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Verdict {
    Bad,
    Good,
    Near,
}

/// Files and arguments.
struct Example {
    name: String,
    verdict: Verdict,
    directory: PathBuf,
    args: Vec<String>,
    /// Keeps a directory that was made for it.
    _made: Option<tempfile::TempDir>,
}

#[test]
fn codes_and_names_are_unique_and_well_formed() {
    let mut seen = std::collections::BTreeSet::new();
    for rule in rules::all() {
        let (group, number) = rule.code.split_at(2);
        assert!(
            ["KR", "KK", "KC", "KP", "KD", "KN", "KG", "KH", "KE", "KS"].contains(&group),
            "{}",
            rule.code
        );
        assert!(
            number.len() == 3 && number.bytes().all(|it| it.is_ascii_digit()),
            "{}",
            rule.code
        );
        let is_kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(rule.name.chars().all(is_kebab), "{}", rule.name);
        assert!(
            seen.insert(rule.code) && seen.insert(rule.name),
            "{}",
            rule.code
        );
        assert!(
            !rule.summary.ends_with('.') && rule.summary.len() <= 100,
            "{}",
            rule.code
        );
    }
    for group in rules::GROUPS {
        assert!(group.is_sorted_by_key(|it| it.code), "{}", group[0].code);
    }
}

#[test]
fn pages_have_their_headings() {
    for rule in rules::all() {
        let page = rule.page();
        let headings: Vec<&str> = lines_of_text(&page)
            .filter(|it| it.starts_with('#'))
            .collect();
        let title = format!("# {}: {}", rule.code, rule.name);
        assert_eq!(headings.first(), Some(&title.as_str()), "{}", rule.code);
        assert_eq!(headings[1..], HEADINGS, "{}", rule.code);
    }
}

/// The lines of a page outside of its fences.
fn lines_of_text(page: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    page.lines().filter(move |line| {
        is_code ^= line.starts_with("```");
        !is_code
    })
}

#[test]
fn examples_show_what_they_say() {
    let mut failures = Vec::new();
    for rule in rules::all() {
        let examples = examples(rule);
        let count = |verdict| examples.iter().filter(|it| it.verdict == verdict).count();
        for (verdict, least) in [(Verdict::Bad, 1), (Verdict::Good, 1), (Verdict::Near, 2)] {
            if count(verdict) < least {
                failures.push(format!(
                    "{}: {} examples {verdict:?}",
                    rule.code,
                    count(verdict)
                ));
            }
        }
        for example in &examples {
            let found = lint(example, &["--format", "concise", "--exit-zero"]);
            let is_found = found
                .lines()
                .any(|it| it.contains(&format!(": {}[{}] ", rule.code, rule.name)));
            if is_found != (example.verdict == Verdict::Bad) {
                failures.push(format!("{} {}:\n{found}", rule.code, example.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// After `--fix` nothing is left to fix, and a second time changes nothing.
#[test]
fn fixes_fix_once_and_for_all() {
    let mut fixed = 0;
    for rule in rules::all() {
        for example in examples(rule) {
            if example.args.iter().any(|it| it == "--root") {
                continue;
            }
            let copy = tempfile::tempdir().unwrap();
            copy_into(&example.directory, copy.path());
            let example = Example {
                directory: copy.path().to_owned(),
                ..example
            };
            let select = ["--select", rule.code, "--exit-zero"];
            let diff = lint(
                &example,
                &[&select[..], &["--diff", "--unsafe-fixes"]].concat(),
            );
            if diff.is_empty() {
                continue;
            }
            fixed += 1;
            let name = format!("{} {}", rule.code, example.name);
            let concise = [&select[..], &["--format", "concise"]].concat();
            let before = lint(&example, &concise);
            let after = lint(
                &example,
                &[&concise[..], &["--fix", "--unsafe-fixes"]].concat(),
            );
            assert!(
                after.lines().count() < before.lines().count(),
                "{name}: {after}"
            );
            let again = lint(
                &example,
                &[&select[..], &["--diff", "--unsafe-fixes"]].concat(),
            );
            assert_eq!(again, "", "{name}");
            let broken = ["--select", "KS002", "--exit-zero", "--format", "concise"];
            assert_eq!(lint(&example, &broken), "", "{name}");
        }
    }
    assert!(fixed > 2, "{fixed}");
}

/// A pod's spec is not on the node: its servers can be its own, by dnsPolicy None.
#[test]
fn servers_that_can_be_the_pods_own_are_not_called_old() {
    let said = |node: &str| {
        let example = given("", &["--root", &format!("testdata/nodes/{node}")]);
        let text = lint(&example, &["--select", "KP012"]);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for node in ["cluster-policy-none", "coredns-upstream-timeout"] {
        let text = said(node);
        assert!(text.contains("1 remark in"), "{node}: {text}");
        assert!(text.contains("with dnsPolicy None"), "{node}: {text}");
        assert!(!text.contains("still has"), "{node}: {text}");
    }
    let text = said("drift-fixed");
    assert!(text.contains("1 pod still has 127.0.0.53"), "{text}");
}

#[test]
fn what_is_written_is_named() {
    for (place, expected) in [
        ("KK026/bad-of-k3s-in-a-unit", "no flag --resolve_conf"),
        ("KK026/bad-of-rke2-in-a-script", "rke2 does not start"),
        ("KC005/bad-beside-several-versions", "several versions"),
    ] {
        let text = lint(&given(&format!("testdata/lint/{place}"), &["."]), &[]);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(expected), "{text}");
    }
}

/// What another version starts with is an error only where no other version can count.
#[test]
fn versions_that_are_not_told_make_a_warning() {
    for (place, expected) in [
        ("KC005/bad-image-not-told", "warning"),
        ("KC006/bad-image-not-told", "warning"),
        ("KC005/bad-in-a-template", "warning"),
        ("KC005/bad-not-known", "error"),
        ("KC005/bad-beside-an-older-image", "warning"),
        ("KC005/bad-of-a-node-cache", "error"),
        ("KC006/bad-older-elsewhere", "info"),
        ("KC005/bad-in-a-dockerfile-not-told", "warning"),
        ("KC005/bad-started-not-told", "warning"),
        ("KC005/bad-beside-an-older-variable", "info"),
        ("KC005/bad-beside-several-versions", "warning"),
        ("KC005/bad-beside-other-versions", "error"),
        // What is defined need not be used.
        ("KP016/bad-in-a-helper", "info"),
    ] {
        let example = given(&format!("testdata/lint/{place}"), &["."]);
        let more = ["--format=json", "--exit-zero", "--select=KC005,KC006,KP016"];
        let found: serde_json::Value = serde_json::from_str(&lint(&example, &more)).unwrap();
        assert_eq!(found["findings"][0]["severity"], expected, "{found:#}");
    }
}

/// An example in a directory of the project.
fn given(directory: &str, args: &[&str]) -> Example {
    Example {
        name: directory.to_owned(),
        verdict: Verdict::Bad,
        directory: Path::new(env!("CARGO_MANIFEST_DIR")).join(directory),
        args: args.iter().map(|it| (*it).to_owned()).collect(),
        _made: None,
    }
}

fn copy_into(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            fs::create_dir(&target).unwrap();
            copy_into(&entry.path(), &target);
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path()).unwrap(), &target).unwrap();
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// A process has one working directory, and its tests are threads.
static DIRECTORY: Mutex<()> = Mutex::new(());

/// Standard output of a run in the example's directory.
fn lint(example: &Example, more: &[&str]) -> String {
    let words = ["kdns", "lint"].into_iter();
    let args = words
        .chain(example.args.iter().map(String::as_str))
        .chain(more.iter().copied());
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams {
        input: &mut io::empty(),
        is_input_read: false,
        out: &mut out,
        err: &mut err,
        colors: false,
        terminal: None,
    };
    let status = {
        let _own = DIRECTORY.lock().unwrap_or_else(PoisonError::into_inner);
        std::env::set_current_dir(&example.directory).unwrap();
        cli::run(args.map(OsString::from), &mut streams)
    };
    let place = example.directory.display();
    assert!(
        status < Status::Undecided,
        "{place} {:?}: {}",
        example.args,
        String::from_utf8_lossy(&err)
    );
    String::from_utf8(out).unwrap()
}

fn examples(rule: &Rule) -> Vec<Example> {
    let mut examples = page_examples(rule);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/lint")
        .join(rule.code);
    let mut cases: Vec<PathBuf> = match fs::read_dir(folder) {
        Ok(entries) => entries.map(|it| it.unwrap().path()).collect(),
        Err(_) => Vec::new(),
    };
    cases.sort();
    for directory in cases {
        let name = directory
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let verdicts = [
            ("bad", Verdict::Bad),
            ("good", Verdict::Good),
            ("near", Verdict::Near),
        ];
        let verdict = verdicts.iter().find(|it| name.starts_with(it.0)).unwrap().1;
        let args = fs::read_to_string(directory.join("args")).unwrap_or_else(|_| ".\n".to_owned());
        let args = args.lines().map(str::to_owned).collect();
        set_times(&directory);
        examples.push(Example {
            name,
            verdict,
            directory,
            args,
            _made: None,
        });
    }
    examples
}

/// Gives files the times that `times` has, a line for each: the path and seconds since
/// 1970.
fn set_times(directory: &Path) {
    let times = fs::read_to_string(directory.join("times")).unwrap_or_default();
    for line in times.lines() {
        let (path, seconds) = line.split_once(' ').unwrap();
        let time = UNIX_EPOCH + Duration::from_secs(seconds.parse().unwrap());
        let file = File::open(directory.join(path)).unwrap();
        file.set_modified(time).unwrap();
    }
}

/// The examples in the fences of a page.
fn page_examples(rule: &Rule) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    // A fence without a path is no example.
    let mut open: Option<(Option<PathBuf>, String)> = None;
    for line in rule.page().lines() {
        if let Some((path, mut text)) = open.take() {
            if line == "```" {
                if let Some(path) = path {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, text).unwrap();
                }
            } else {
                text.push_str(line);
                text.push('\n');
                open = Some((path, text));
            }
            continue;
        }
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let words: Vec<&str> = info.split(' ').collect();
        let Some(word) = words.get(1) else {
            open = Some((None, String::new()));
            continue;
        };
        let verdict = match word.trim_end_matches('+') {
            "bad" => Verdict::Bad,
            "good" => Verdict::Good,
            other => panic!("{}: {other} is none of bad and good", rule.code),
        };
        if !word.ends_with('+') {
            let made = tempfile::tempdir().unwrap();
            let mut args: Vec<String> = words[3..].iter().map(|&it| it.to_owned()).collect();
            args.push(".".to_owned());
            examples.push(Example {
                name: format!("page {word} {}", words[2]),
                verdict,
                directory: made.path().to_owned(),
                args,
                _made: Some(made),
            });
        }
        let path = examples.last().unwrap().directory.join(words[2]);
        open = Some((Some(path), String::new()));
    }
    examples
}
