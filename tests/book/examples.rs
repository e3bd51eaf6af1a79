//! Blocks marked `console`: after `$` stands a command that is run in the
//! project's directory, and below it what it wrote.
//!
//! Blocks marked `sh` are for the reader's own files: their `kdns` lines must
//! at least be commands that kdns knows.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use clap::error::ErrorKind;
use libtest_mimic::{Failed, Trial};

use crate::pages::{self, Part, page, parts, read, settle};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for page in pages::with_examples() {
        let name = format!("examples::{page}");
        trials.push(Trial::test(name, move || run_page(&page)));
    }
    for page in pages::all() {
        let name = format!("commands::{page}");
        trials.push(Trial::test(name, move || parse_page(&page)));
    }
    trials
}

fn run_page(name: &str) -> Result<(), Failed> {
    let text = read(name)?;
    let mut parts = parts(&text);
    for part in &mut parts {
        if let Part::Block(info, block) = part
            && info == "console"
        {
            *block = run_block(block)?;
        }
    }
    settle(name, &page(&parts))
}

/// The block with what its commands write now.
fn run_block(block: &str) -> Result<String, Failed> {
    let mut fresh = String::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            fresh.push_str(line);
            fresh.push('\n');
            fresh.push_str(&output(command)?);
        } else if fresh.is_empty() {
            return Err(format!("a block of the console begins with a command: {line}").into());
        }
    }
    Ok(fresh)
}

/// 2 is an error of kdns, what is above is the shell's, and 141 says that the
/// rest of the pipe has seen enough.
const CHECK: &str = r#"for it in "${PIPESTATUS[@]}"; do ((it < 2 || it == 141)) || exit 1; done"#;

/// What a shell in the project's directory shows.
pub(crate) fn output(command: &str) -> Result<String, Failed> {
    let program = Path::new(env!("CARGO_BIN_EXE_kdns"));
    let mut path = program.parent().unwrap().as_os_str().to_owned();
    path.push(":/usr/bin:/bin");
    let script = format!("exec 2>&1\n{command}\n{CHECK}");
    let output = Command::new("bash")
        .args(["--noprofile", "--norc", "-c", &script])
        .current_dir(pages::root())
        .env_clear()
        .env("PATH", path)
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    if !output.status.success() {
        return Err(format!("{command}: {}\n{text}", output.status).into());
    }
    Ok(text)
}

fn parse_page(name: &str) -> Result<(), Failed> {
    let check = |line: &str| parse(line).map_err(|error| format!("{name}: {line}: {error}"));
    for part in parts(&read(name)?) {
        match part {
            Part::Block(info, text) if info.starts_with("sh") => {
                text.lines().try_for_each(check)?;
            }
            Part::Block(..) => {}
            // Between backticks, in tables with the bar escaped.
            Part::Text(text) => {
                let code = text.split('`').skip(1).step_by(2);
                code.map(|it| it.replace("\\|", "|"))
                    .try_for_each(|it| check(&it))?;
            }
        }
    }
    Ok(())
}

/// Whether a line's `kdns` commands are such; other lines are not looked at.
fn parse(line: &str) -> Result<(), String> {
    let code = line.split(" #").next().unwrap_or_default();
    for part in code.split(['|', ';', '&']) {
        let words: Vec<&str> = part.split_whitespace().collect();
        // Quotes, the shell's own words and names of values are not for this reader.
        let is_value = |it: &str| it.len() > 1 && it.chars().all(|c| c.is_ascii_uppercase());
        let is_plain =
            |it: &&str| !it.contains(['\'', '"', '$', '<', '>', '(', '…']) && !is_value(it);
        if words.first() != Some(&"kdns") || !words.iter().all(is_plain) {
            continue;
        }
        let words = words.into_iter().map(OsString::from);
        let known = kdns::cli::command().try_get_matches_from(words);
        // A command that is named, not given.
        let is_named = |it: &clap::Error| {
            let kinds = [
                ErrorKind::MissingRequiredArgument,
                ErrorKind::MissingSubcommand,
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
            ];
            kinds.contains(&it.kind())
        };
        if let Some(error) = known.err().filter(|it| !is_named(it)) {
            return Err(error.to_string());
        }
    }
    Ok(())
}
