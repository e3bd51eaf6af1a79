//! Completions and man pages are made from the definition of the command line,
//! the pages of rules from the rules.
//!
//! `KDNS_BLESS=1 cargo test` writes them; without it stale ones fail.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::path::Path;

use clap_complete::Shell;

fn check(file: &str, expected: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("KDNS_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, expected).unwrap();
    }
    let actual = fs::read(&path).unwrap_or_default();
    assert!(
        actual == expected,
        "{file} is stale: run KDNS_BLESS=1 cargo test"
    );
}

#[test]
fn completions() {
    for (shell, file) in [
        (Shell::Bash, "completions/kdns.bash"),
        (Shell::Zsh, "completions/_kdns"),
        (Shell::Fish, "completions/kdns.fish"),
    ] {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut kdns::cli::command(), "kdns", &mut script);
        check(file, &script);
    }
}

#[test]
fn pages_of_rules() {
    let rules: Vec<_> = kdns::lint::rules::all().collect();
    check(
        "docs/rules.md",
        kdns::render::lint::rule::book(&rules).as_bytes(),
    );
}

#[test]
fn man_pages() {
    let mut command = kdns::cli::command().disable_help_subcommand(true);
    command.build();
    page(&command, "kdns");
}

fn page(command: &clap::Command, name: &str) {
    let title: &'static str = Box::leak(name.to_owned().into_boxed_str());
    let titled = command.clone().name(title).bin_name(name.replace('-', " "));
    let mut text = Vec::new();
    clap_mangen::Man::new(titled)
        .date("")
        .render(&mut text)
        .unwrap();
    check(&format!("man/{name}.1"), &text);
    for subcommand in command.get_subcommands() {
        page(subcommand, &format!("{name}-{}", subcommand.get_name()));
    }
}
