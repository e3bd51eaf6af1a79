//! The guided cases in `docs/cases`: each script is run as a reader runs it,
//! and what its steps say is what the pages show in blocks marked
//! `console CASE`.
//!
//! Numbers that differ from run to run (ids, ports, milliseconds) may differ;
//! seconds may not.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::needs;
use crate::pages::{self, Part, page, parts, read, root, settle};

/// A machine that does much else may take longer somewhere.
const ATTEMPTS: usize = 3;

const CASES: [&str; 2] = ["coredns-loop", "slow-dns"];

pub(crate) fn trials() -> Vec<Trial> {
    CASES.map(trial).into()
}

fn trial(case: &'static str) -> Trial {
    let name = format!("cases::{case}");
    needs::trial(&name, missing(), move || compare(case))
}

fn missing() -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some("needs root".to_owned());
    }
    let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map(Path::new);
    let own = real().join("servers/usr/sbin");
    let is_there = |program: &&str| {
        let has = |folder: &Path| folder.join(program).is_file();
        folders.iter().any(|it| has(it)) || has(&own)
    };
    let programs = ["ip", "unshare", "nsenter", "dnsmasq", "iptables-save"];
    let missing = programs.iter().find(|it| !is_there(it))?;
    Some(format!("needs {missing}: run .ci/install-real"))
}

/// What `.ci/install-real` fills.
pub(crate) fn real() -> std::path::PathBuf {
    let named = std::env::var_os("KDNS_REAL_DIR");
    named.map_or_else(|| root().join("target/real"), Into::into)
}

/// Holds the pages against a run, and against another one if they differ.
fn compare(case: &str) -> Result<(), Failed> {
    let mut attempt = 1;
    loop {
        let result = compare_once(case);
        if result.is_ok() || attempt == ATTEMPTS {
            return result;
        }
        attempt += 1;
    }
}

fn compare_once(case: &str) -> Result<(), Failed> {
    let steps = run(case)?;
    let mut shown = 0;
    for name in pages::with_examples() {
        shown += compare_page(&name, case, &steps)?;
    }
    if shown == 0 {
        return Err(format!("no page shows {case}").into());
    }
    Ok(())
}

/// What each command of the case wrote; one that is run twice has two texts.
type Steps = BTreeMap<String, Vec<String>>;

fn run(case: &str) -> Result<Steps, Failed> {
    let output = Command::new(root().join("docs/cases").join(case))
        .env("KDNS", env!("CARGO_BIN_EXE_kdns"))
        .env("KDNS_REAL_DIR", real())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{text}{said}").into());
    }
    let mut steps = Steps::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.strip_prefix("# ") {
        let (command, after) = start.split_once('\n').unwrap_or((start, ""));
        let end = after.find("\n# ").map_or(after.len(), |at| at + 1);
        let end = if after.starts_with("# ") { 0 } else { end };
        let (output, next) = after.split_at(end);
        let outputs = steps.entry(command.to_owned()).or_default();
        outputs.push(output.to_owned());
        rest = next;
    }
    Ok(steps)
}

/// How many blocks of the page show this case; each must be what a step said.
fn compare_page(name: &str, case: &str, steps: &Steps) -> Result<usize, Failed> {
    let text = read(name)?;
    let mut parts = parts(&text);
    let (mut shown, mut taken) = (0, BTreeMap::new());
    for part in &mut parts {
        let Part::Block(info, block) = part else {
            continue;
        };
        if *info != format!("console {case}") {
            continue;
        }
        let command = block.lines().next().and_then(|it| it.strip_prefix("# "));
        let command = command
            .ok_or("a block of a case begins with # and a command")?
            .to_owned();
        let outputs = steps
            .get(&command)
            .ok_or_else(|| format!("{name}: {case} does not run {command}"))?;
        // The n-th block of a command shows its n-th run.
        let index: &mut usize = taken.entry(command.clone()).or_default();
        let output = outputs
            .get(*index)
            .ok_or_else(|| format!("{name}: {case} runs {command} only {index} times"))?;
        *index += 1;
        shown += 1;
        let fresh = format!("# {command}\n{output}");
        if steady(&fresh) != steady(block) {
            *block = fresh;
        }
    }
    settle(name, &page(&parts))?;
    Ok(shown)
}

/// Keys of JSON whose numbers differ.
const JSON_NUMBERS: [&str; 2] = ["\"ID\":", "\"queryTimeMicroseconds\":"];

/// What `time -p` writes before seconds.
const TIMES: [&str; 3] = ["real", "user", "sys"];

const BAR: char = '█';

/// The words without what differs from run to run.
fn steady(text: &str) -> Vec<String> {
    let text = JSON_NUMBERS
        .iter()
        .fold(text.to_owned(), |text, key| without_number(&text, key));
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut steady = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|it| words.get(it)).copied();
        let after = words.get(index + 1).copied().unwrap_or_default();
        steady.push(steady_word(before.unwrap_or_default(), word, after));
    }
    // dig's date is one of five words.
    while let Some(at) = steady.iter().position(|it| it == "WHEN:") {
        steady.drain(at..(at + 7).min(steady.len()));
    }
    steady
}

/// The text without the digits behind this key.
fn without_number(text: &str, key: &str) -> String {
    let mut pieces = text.split(key);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |before, piece| {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit());
        format!("{before}{key}{rest}")
    })
}

fn steady_word(before: &str, word: &str, after: &str) -> String {
    let unit = after.trim_end_matches([',', ';', ':', '.']);
    let is_counted = word.trim_end_matches(',').parse::<f64>();
    match (is_counted, unit) {
        (Ok(_), "ms" | "msec") => return "N".to_owned(),
        (Ok(number), "s") => return format!("{:.0}", number.trunc()),
        (Ok(number), _) if TIMES.contains(&before) => return format!("{:.0}", number.trunc()),
        _ => {}
    }
    if ["id", "id:", "namespace"].contains(&before) || before == "(process" {
        return "N".to_owned();
    }
    if let Some(rest) = word.strip_prefix("kdns-") {
        let start = rest.as_bytes().get(..16);
        let is_random = start.is_some_and(|it| it.iter().all(u8::is_ascii_hexdigit));
        if is_random {
            let zone = rest.split_once('.').map_or("", |it| it.1);
            return format!("kdns-N.{zone}");
        }
    }
    // A bar is as long as its part of all the time.
    if word.starts_with(BAR) {
        return BAR.to_string();
    }
    // `127.0.0.1:48154 > 127.0.0.1:53`: the sender's port.
    if after == ">" {
        return word.split(':').next().unwrap_or_default().to_owned();
    }
    word.to_owned()
}
