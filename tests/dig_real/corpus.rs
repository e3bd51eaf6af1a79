//! The command lines.

use std::path::Path;

use libtest_mimic::Trial;

use crate::compare::{self, Line};

const COMMANDS: &str = include_str!("../../testdata/dig/commands.txt");

/// Where kdns is not as dig on purpose. Nothing else in these lines is
/// looked at, so each has its reason and a test elsewhere.
const OWN: &[(&str, &str)] = &[];

fn lines() -> impl Iterator<Item = &'static str> {
    COMMANDS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

pub(crate) fn trials(folder: &Path) -> Vec<Trial> {
    let files = folder.join("files");
    let own = |line: &&str| OWN.iter().any(|(own, _)| own == line);
    lines()
        .filter(|line| !own(line))
        .map(|line| {
            let files = files.clone();
            Trial::test(format!("dig {line}"), move || {
                compare::both(&parsed(line), &files)
            })
        })
        .collect()
}

/// `HOME=name words < file`, with the quotes of a shell.
fn parsed(line: &str) -> Line {
    let mut words = words(line);
    let home = words.first().and_then(|it| it.strip_prefix("HOME=")).map(str::to_owned);
    if home.is_some() {
        words.remove(0);
    }
    let input = words.iter().position(|word| word == "<").map(|at| {
        let mut behind = words.split_off(at);
        behind.remove(1)
    });
    Line {
        words: [words.clone(), words],
        home,
        input,
        same: Vec::new(),
    }
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut begun) = (String::new(), None, false);
    for character in line.chars() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                begun = true;
            }
            (None, ' ') => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (_, character) => word.push(character),
        }
    }
    if begun || !word.is_empty() {
        words.push(word);
    }
    words
}

/// The corpus has what it promises.
pub(crate) fn coverage() -> Vec<Trial> {
    vec![
        Trial::test("corpus: at least 260 lines, each for itself", || {
            let mut seen = std::collections::BTreeSet::new();
            for line in lines() {
                if !seen.insert(line) {
                    return Err(format!("twice: {line}").into());
                }
            }
            if seen.len() < 260 {
                return Err(format!("only {} lines", seen.len()).into());
            }
            Ok(())
        }),
        Trial::test("corpus: every option twice", || {
            let rare = rare_options();
            if rare.is_empty() {
                return Ok(());
            }
            Err(format!("not twice: {}", rare.join(" ")).into())
        }),
    ]
}

/// Options of the parser's tables that fewer than two lines have.
fn rare_options() -> Vec<String> {
    let lines: Vec<Vec<String>> = lines().map(words).collect();
    let count = |is_it: &dyn Fn(&str) -> bool| {
        lines.iter().filter(|words| words.iter().any(|word| is_it(word))).count()
    };
    let mut rare = Vec::new();
    for option in plus_options() {
        let is_it = |word: &str| {
            let Some(text) = word.strip_prefix('+') else {
                return false;
            };
            let text = text.split('=').next().unwrap_or(text).to_lowercase();
            // `+short` is `+no` and something else for nobody.
            let names = [text.strip_prefix("no"), Some(text.as_str())];
            names.into_iter().flatten().any(|name| is_short_for(name, &option))
        };
        if count(&is_it) < 2 {
            rare.push(format!("+{option}"));
        }
    }
    for letter in "46bcfhimnpqrtuvx".chars() {
        let is_it = |word: &str| {
            word.strip_prefix('-')
                .is_some_and(|rest| rest.starts_with(letter))
        };
        if count(&is_it) < 2 {
            rare.push(format!("-{letter}"));
        }
    }
    rare
}

/// The words of the parser's table, but for what kdns does not have.
fn plus_options() -> Vec<String> {
    let source = include_str!("../../src/dig/command_line/plus.rs");
    let table = source.split("const OPTIONS").nth(1).unwrap();
    let table = table.split("];").next().unwrap();
    let supported = |word: &&str| {
        let not = ["https", "http-plain", "tls", "json"];
        !not.iter().any(|not| word.starts_with(not))
    };
    let mut words: Vec<String> = table
        .split("known(")
        .skip(1)
        .filter_map(|entry| entry.split('"').nth(3))
        .filter(supported)
        .map(str::to_owned)
        .collect();
    words.push("edns".to_owned());
    words.dedup();
    words
}

/// Whether dig takes this text for that word.
fn is_short_for(text: &str, word: &str) -> bool {
    match text {
        "do" => word == "dnssec",
        "ad" => word == "adflag",
        "cd" => word == "cdflag",
        "co" => word == "coflag",
        _ => text.len() >= 2 && word.starts_with(text),
    }
}
