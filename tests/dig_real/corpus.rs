//! The command lines.

use std::collections::BTreeSet;
use std::path::Path;

use kdns::dig::mnemonic::type_of;
use libtest_mimic::{Failed, Trial};

use crate::compare::{self, Line, Look};

const COMMANDS: &str = include_str!("../../testdata/dig/commands.txt");

/// Where kdns is not as dig on purpose: its status, and why.
const OWN: &[(&str, i32, &str)] = &[
    (
        "-x @127.0.0.1 10.0.0.1",
        0,
        "dig turns the server's address round and asks the servers of resolv.conf",
    ),
    (
        "@127.0.0.1#53 www.example.test",
        0,
        "a port, which dig does not read",
    ),
    (
        "@[::1] www.example.test +short",
        0,
        "brackets, which dig does not read",
    ),
    (
        "@::1%lo www.example.test +short",
        0,
        "dig reads zones of link-local addresses only",
    ),
    (
        "@fe80::1%nosuch www.example.test",
        9,
        "zones are looked up where sockets are opened",
    ),
    (
        "@fe80::1%lo www.example.test +tries=1 +time=1",
        9,
        "dig shows the interface's number",
    ),
    (
        "-c IN -t NS example.test @127.0.0.1 +nssea",
        1,
        "not supported",
    ),
    (
        "+trace @8.8.8.8 www.kubernetes.io +short",
        1,
        "not supported",
    ),
    (
        "-k Kkey.+165+1 @127.0.0.1 www.example.test",
        1,
        "not supported",
    ),
    (
        "-k /nonexistent @127.0.0.1 www.example.test -h",
        1,
        "not supported",
    ),
    (
        "-y hmac-sha256:key:c2VjcmV0 @127.0.0.1 www.example.test",
        1,
        "not supported",
    ),
];

/// Lines of which not everything is compared, and why.
const IN_PART: &[(&str, Look, &str)] = &[
    ("-h", Look::Status, "the help is kdns's own"),
    ("-uh @127.0.0.1", Look::Status, "the help is kdns's own"),
    ("-v", Look::Status, "the version is kdns's own"),
    ("-vi", Look::Status, "the version is kdns's own"),
    (
        "-d +tcp @127.0.0.1 +retry=1 +time=1 +domain=example.test nosuch",
        Look::NotErrors,
        "dig tells of its functions",
    ),
    (
        "-d @127.0.0.1 www.example.test +short",
        Look::NotErrors,
        "dig tells of its functions",
    ),
    (
        "@127.0.0.1 -debug www.example.test +short",
        Look::NotErrors,
        "dig tells of its functions",
    ),
    (
        "-f nosuchfile @127.0.0.1",
        Look::NotErrors,
        "kdns says what it attempted",
    ),
    (
        "@127.0.0.1 -foo www.example.test",
        Look::NotErrors,
        "kdns says what it attempted",
    ),
    (
        "+idnin xn--a.example @8.8.8.8 +noall +question",
        Look::NotErrors,
        "the reason is in the words of a library",
    ),
    (
        "+idnin 'a..b\u{fc}cher.example' @8.8.8.8",
        Look::NotErrors,
        "the reason is in the words of a library",
    ),
];

fn lines() -> impl Iterator<Item = &'static str> {
    COMMANDS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

pub(crate) fn trials(folder: &Path) -> Vec<Trial> {
    let files = folder.join("files");
    let trial = |line: &'static str| {
        let files = files.clone();
        let own = OWN.iter().find(|(own, ..)| *own == line);
        Trial::test(format!("dig {line}"), move || match own {
            Some(&(_, status, why)) => own_status(line, status, why),
            None => compare::both(&parsed(line), &files),
        })
    };
    lines().map(trial).collect()
}

/// kdns alone, with the status that it has on purpose.
fn own_status(line: &str, expected: i32, why: &str) -> Result<(), Failed> {
    let words = words(line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let status = compare::ours(&words, &[])?.status.code();
    if status == Some(expected) {
        return Ok(());
    }
    Err(format!("status {status:?}, not {expected}: {why}").into())
}

/// `HOME=name words < file`, with the quotes of a shell.
fn parsed(line: &str) -> Line {
    let mut words = words(line);
    let home = words
        .first()
        .and_then(|it| it.strip_prefix("HOME="))
        .map(str::to_owned);
    if home.is_some() {
        words.remove(0);
    }
    let input = words.iter().position(|word| word == "<").map(|at| {
        let mut behind = words.split_off(at);
        behind.remove(1)
    });
    let part = IN_PART.iter().find(|(part, ..)| *part == line);
    Line {
        look: part.map_or(Look::All, |(_, look, _)| *look),
        words: [words.clone(), words],
        home,
        input,
        variables: Vec::new(),
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
        Trial::test("corpus: at least 260 lines beside names and types", || {
            let mut seen = BTreeSet::new();
            let twice = lines().find(|&line| !seen.insert(line));
            if let Some(line) = twice {
                return Err(format!("twice: {line}").into());
            }
            let shapes: BTreeSet<String> = lines().map(shape).collect();
            if shapes.len() < 260 {
                return Err(format!("only {} shapes", shapes.len()).into());
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

/// The line with one word for every name and one for every type.
fn shape(line: &str) -> String {
    let is_kept = |word: &str| {
        let first = word.chars().next();
        first.is_some_and(|it| "+-@<".contains(it)) || word.starts_with("HOME=")
    };
    let shape = |word: &String| match word.as_str() {
        word if is_kept(word) => word.to_owned(),
        word if type_of(word.as_bytes()).is_some() => "TYPE".to_owned(),
        _ => "NAME".to_owned(),
    };
    let words: Vec<String> = words(line).iter().map(shape).collect();
    words.join(" ")
}

/// Options of the parser's tables that fewer than two lines have.
fn rare_options() -> Vec<String> {
    let lines: Vec<Vec<String>> = lines().map(words).collect();
    let count = |is_it: &dyn Fn(&str) -> bool| {
        lines
            .iter()
            .filter(|words| words.iter().any(|word| is_it(word)))
            .count()
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
            names
                .into_iter()
                .flatten()
                .any(|name| is_short_for(name, &option))
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

/// The words of the parser's table, but for what only one of the two has.
fn plus_options() -> Vec<String> {
    let source = include_str!("../../src/dig/command_line/plus/mod.rs");
    let table = source.split("const OPTIONS").nth(1).unwrap();
    let table = table.split("];").next().unwrap();
    let supported = |word: &&str| {
        let not = ["https", "http-plain", "tls", "json", "inflight"];
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
