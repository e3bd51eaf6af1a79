//! What `iptables -S` and `-L` print of rules says the same as what
//! `iptables-save` prints of them, and the text of nft the same as its JSON, or
//! that it is not known.

use std::path::Path;
use std::process::Command;

use kdns::path::{Outcome, Packet, RulesKnown, Tree, Verdict, evaluate};
use kdns::text::Source;

use crate::loader::Loader;
use crate::network;

/// The tables, in no order of theirs.
const TABLES: [&str; 4] = ["filter", "nat", "raw", "mangle"];

/// What people type.
const COMMANDS: [&[&str]; 4] = [
    &["-S"],
    &["-L", "-n", "-v"],
    &["-n", "-v", "--line-numbers", "-L"],
    &["-nL"],
];

/// The program that lists what a loader has loaded.
pub(crate) fn program(loader: Loader, is_six: bool) -> String {
    let six = if is_six { "6" } else { "" };
    let kind = if loader == Loader::Legacy {
        "legacy"
    } else {
        "nft"
    };
    format!("ip{six}tables-{kind}")
}

/// The output of a command for every table; with the command lines in front
/// of it or without.
fn listed(program: &str, options: &[&str], has_commands: bool) -> Source {
    let mut bytes = Vec::new();
    for table in TABLES {
        if has_commands {
            let line = format!("# {program} -t {table} {}\n", options.join(" "));
            bytes.extend(line.into_bytes());
        }
        let words = [&["-t", table], options].concat();
        let output = Command::new(program).args(words).output().unwrap();
        assert!(output.status.success(), "{program} {table} {options:?}");
        bytes.extend(output.stdout);
        bytes.push(b'\n');
    }
    Source::new(format!("{program} {}", options.join(" ")), bytes)
}

/// What becomes of a packet, in words that can be compared.
fn ends(tree: &Tree) -> Vec<String> {
    let end = |it: &Outcome| {
        let reply = it.reply.as_ref().map(std::mem::discriminant);
        format!(
            "{} {:?} {}:{} {} {:?} {reply:?}",
            it.share, it.kind, it.address, it.port, it.masqueraded, it.error
        )
    };
    let mut ends: Vec<String> = tree.outcomes.iter().map(end).collect();
    ends.sort_unstable();
    ends
}

/// Holds the way of a packet by each list against that by `iptables-save`.
pub(crate) fn compare(
    (loader, is_six): (Loader, bool),
    sets: &Source,
    packet: &Packet,
    tree: &Tree,
) -> Result<(), String> {
    let program = program(loader, is_six);
    for (index, options) in COMMANDS.into_iter().enumerate() {
        let list = listed(&program, options, index % 2 == 0);
        let host = network::host(&[list.clone(), sets.clone()]);
        assert_eq!(host.known, RulesKnown::All);
        let found = evaluate(&host, packet);
        // Interfaces are missing there.
        let is_blind = options == ["-nL"];
        let is_same = if is_blind {
            [tree.verdict, Verdict::Unknown].contains(&found.verdict)
        } else {
            ends(&found) == ends(tree)
        };
        if !is_same {
            let text = String::from_utf8_lossy(&list.bytes).into_owned();
            let (is, should) = (ends(&found), ends(tree));
            return Err(format!(
                "{}: {:?} {is:?}, not {:?} {should:?}\n{text}",
                list.name, found.verdict, tree.verdict
            ));
        }
    }
    Ok(())
}

/// Whether the same follows with every assumption about what is not known, and `tree`
/// is what follows from one of them.
fn is_branched(found: &Tree, tree: &Tree) -> bool {
    let (is, should) = (ends(found), ends(tree));
    let depends = |it: &Outcome| !it.depends_on.is_empty();
    found.verdict == tree.verdict
        && found.outcomes.iter().all(depends)
        && should.iter().all(|it| is.contains(it))
}

/// What people type for what nft lists: with handles, with numbers for names.
const TEXTS: [&[&str]; 3] = [
    &["list", "ruleset"],
    &["-a", "list", "ruleset"],
    &["-n", "list", "ruleset"],
];

/// Holds the way of a packet by the text of `nft list ruleset` against `tree`, that
/// by its JSON, or by `iptables-nft-save`. Of iptables' extensions nft does not
/// translate all: what is not known then is said.
pub(crate) fn compare_text(
    loader: Loader,
    sets: Option<&Source>,
    packet: &Packet,
    tree: &Tree,
) -> Result<(), String> {
    for words in TEXTS {
        let text = Source::new(
            format!("nft {}", words.join(" ")),
            Command::new("nft").args(words).output().unwrap().stdout,
        );
        let texts: Vec<Source> = std::iter::once(&text).chain(sets).cloned().collect();
        let found = evaluate(&network::host(&texts), packet);
        let is_open = loader == Loader::Iptables
            && (found.verdict == Verdict::Unknown || is_branched(&found, tree));
        if !is_open && ends(&found) != ends(tree) {
            let shown = String::from_utf8_lossy(&text.bytes).into_owned();
            let (is, should) = (ends(&found), ends(tree));
            return Err(format!(
                "{}: {:?} {is:?}, not {:?} {should:?}\n{shown}",
                text.name, found.verdict, tree.verdict
            ));
        }
    }
    Ok(())
}

/// Recorded rule sets, with the arguments of their cases.
pub(crate) fn recorded() {
    let mut seen = 0;
    for case in std::fs::read_dir("testdata/path").unwrap() {
        let case = case.unwrap().path();
        let Ok(args) = std::fs::read_to_string(case.join("args")) else {
            continue;
        };
        let rules = args.lines().find(|it| it.starts_with("./"));
        let Some(rules) = rules.map(|it| case.join(it)) else {
            continue;
        };
        let text = std::fs::read_to_string(&rules).unwrap_or_default();
        let is_whole = text.starts_with('*') || text.starts_with("# Generated");
        if is_whole && is_alike(&case, &args, &text) {
            seen += 1;
        }
    }
    assert!(seen >= 8, "{seen}");
}

/// Whether the rules can be loaded here; every list of them says the same.
fn is_alike(case: &Path, args: &str, text: &str) -> bool {
    let is_six = text.contains("/128 ");
    let mut is_seen = false;
    for loader in [Loader::Legacy, Loader::Iptables] {
        let program = program(loader, is_six);
        let restore = format!("{program}-restore");
        if !loads(&restore, text) {
            continue;
        }
        let save = Command::new(format!("{program}-save")).output().unwrap();
        let Some(whole) = asked(args, &save.stdout) else {
            return false;
        };
        for (index, options) in COMMANDS.into_iter().enumerate() {
            let list = listed(&program, options, index % 2 == 1);
            let name = format!("{} {}", case.display(), list.name);
            let found = asked(args, &list.bytes);
            assert!(found.is_some(), "{name}");
            let found = found.unwrap();
            if options == ["-nL"] {
                let verdicts = [&whole["verdict"], &"unknown".into()];
                assert!(verdicts.contains(&&found["verdict"]), "{name}: {found}");
                continue;
            }
            assert_eq!(found["verdict"], whole["verdict"], "{name}");
            assert_eq!(outcomes(&found), outcomes(&whole), "{name}");
        }
        is_seen = true;
        assert!(loads(&restore, ""));
        for table in TABLES {
            for option in ["-F", "-X"] {
                let done = Command::new(&program).args(["-t", table, option]).status();
                assert!(done.unwrap().success());
            }
        }
    }
    is_seen
}

fn loads(restore: &str, text: &str) -> bool {
    use std::io::Write as _;
    use std::process::Stdio;
    let mut child = Command::new(restore)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // It may have ended at a line that it does not like.
    let _ = input.write_all(text.as_bytes());
    drop(input);
    child.wait().unwrap().success()
}

/// What kdns says of a text, with the other arguments of the case; `None`: it
/// knows no answer.
fn asked(args: &str, text: &[u8]) -> Option<serde_json::Value> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let path = file.path().to_str().unwrap();
    let words = args
        .lines()
        .filter(|it| !["--format", "concise", "svg", "json", "--verbose"].contains(it))
        .map(|it| if it.starts_with("./") { path } else { it });
    let output = Command::new(env!("CARGO_BIN_EXE_kdns"))
        .args(words)
        .args(["--format", "json"])
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).ok()
}

fn outcomes(found: &serde_json::Value) -> Vec<String> {
    let one = |it: &serde_json::Value| {
        let keys = ["share", "kind", "address", "port", "masqueraded", "error"];
        keys.map(|key| it[key].to_string()).join(" ")
    };
    let all = found["outcomes"].as_array().unwrap();
    let mut all: Vec<String> = all.iter().map(one).collect();
    all.sort_unstable();
    all
}
