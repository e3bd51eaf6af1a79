//! The recipes of CONTRIBUTING: what an output format, a command or a rule needs
//! besides its code is there. What the compiler and other tests hold is not
//! looked at again.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;
use libtest_mimic::{Failed, Trial};

use crate::pages::{read, root};

pub(crate) fn trials() -> Vec<Trial> {
    let kdns = leaves();
    let mut trials = vec![Trial::test(
        "recipes::every page of a rule is a rule's",
        rules,
    )];
    for (name, command) in kdns {
        for format in formats(&command) {
            let of = name.clone();
            trials.push(Trial::test(
                format!("recipes::output format {name} {format}"),
                move || check(&of, in_lists_of_formats(&of, &format)?),
            ));
        }
        trials.push(Trial::test(format!("recipes::command {name}"), move || {
            check(&name, in_lists_of_commands(&name)?)
        }));
    }
    trials
}

/// Every command that does something, by its words: `report merge`.
fn leaves() -> Vec<(String, Command)> {
    let mut kdns = kdns::cli::command().disable_help_subcommand(true);
    kdns.build();
    let mut found = Vec::new();
    for command in kdns.get_subcommands() {
        let name = command.get_name();
        if command.has_subcommands() {
            let below = command.get_subcommands();
            found.extend(below.map(|it| (format!("{name} {}", it.get_name()), it.clone())));
        } else {
            found.push((name.to_owned(), command.clone()));
        }
    }
    found
}

/// The values of `--format`.
fn formats(command: &Command) -> Vec<String> {
    let format = command
        .get_arguments()
        .find(|it| it.get_long() == Some("format"));
    let values = format.map(clap::Arg::get_possible_values);
    let names = values.iter().flatten().map(|it| it.get_name().to_owned());
    names.collect()
}

/// A place, and whether what is new is in it.
type Places = Vec<(String, bool)>;

fn check(what: &str, places: Places) -> Result<(), Failed> {
    let missing = places.into_iter().filter(|it| !it.1).map(|it| it.0);
    let missing: Vec<String> = missing.collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!(
        "kdns {what}: not in {}; CONTRIBUTING has the recipe",
        missing.join(", nor in ")
    )
    .into())
}

fn in_lists_of_formats(command: &str, format: &str) -> Result<Places, Failed> {
    let is_named = |text: &str| {
        ["`{}`", "--format {}`", "--format {} ", "--format {}\n"]
            .iter()
            .any(|it| text.contains(&it.replace("{}", format)))
    };
    let page = format!("docs/commands/{}.md", command.replace(' ', "-"));
    let mut places = vec![(golden(command, format), has_golden(command, format))];
    if format != "text" {
        let is_in_page = is_named(&read(&page)?);
        places.push((page, is_in_page));
        places.push(("README.md".to_owned(), is_named(&read("README.md")?)));
    }
    if format == "json" {
        let schema = format!("kdns {command} ");
        let has_schema = helps_of_schemas().iter().any(|it| {
            let it = it.replace(" NAME", "");
            it.contains(&schema) && it.contains("--format json")
        });
        places.push(("SchemaName in src/cli/schema.rs".to_owned(), has_schema));
    }
    Ok(places)
}

/// Where whole outputs are kept.
fn golden(command: &str, format: &str) -> String {
    let folder = command.split(' ').next().unwrap();
    match command {
        "lint" => format!("testdata/lint-formats/expected/{format}"),
        _ => format!("testdata/{folder}, a case with --format {format}"),
    }
}

fn has_golden(command: &str, format: &str) -> bool {
    if command == "lint" {
        return root().join(golden(command, format)).exists();
    }
    let folder = root()
        .join("testdata")
        .join(command.split(' ').next().unwrap());
    let cases = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut args = cases.filter_map(|it| fs::read_to_string(it.path().join("args")).ok());
    args.any(|it| match format {
        "text" => !it.lines().any(|line| line == "--format"),
        _ => it.lines().any(|line| line == format),
    })
}

/// What `kdns schema --help` says of each schema.
fn helps_of_schemas() -> Vec<String> {
    let mut kdns = kdns::cli::command();
    kdns.build();
    let schema = kdns.find_subcommand("schema").unwrap();
    let names = schema.get_positionals().next().unwrap();
    let values = names.get_possible_values();
    let helps = values
        .iter()
        .filter_map(clap::builder::PossibleValue::get_help);
    helps.map(ToString::to_string).collect()
}

fn in_lists_of_commands(command: &str) -> Result<Places, Failed> {
    let word = command.replace(' ', "-");
    let has = |page: &str, words: &[String]| -> Result<(String, bool), Failed> {
        let text = read(page)?;
        Ok((page.to_owned(), words.iter().any(|it| text.contains(it))))
    };
    let named = [format!("kdns {command}"), format!("`{command}")];
    let tested = format!("\"{}\"", command.split(' ').next().unwrap());
    let is_tested = files(&root().join("tests"), "rs")
        .iter()
        .any(|it| fs::read_to_string(it).is_ok_and(|it| it.contains(&tested)));
    let man = format!("man/kdns-{word}.1");
    let is_page = root().join(&man).is_file();
    Ok(vec![
        ("docs/SUMMARY.md".to_owned(), is_in_summary(command)?),
        has("README.md", &named)?,
        (man, is_page),
        (format!("tests, as {tested}"), is_tested),
    ])
}

/// Whether a page of the book has it in its title: `schema and completions`.
fn is_in_summary(command: &str) -> Result<bool, Failed> {
    let summary = read("docs/SUMMARY.md")?;
    let titles = summary.split('[').filter_map(|it| it.split(']').next());
    Ok(titles
        .flat_map(|it| it.split(" and "))
        .any(|it| it == command))
}

/// A page that no rule has is one whose rule is not in its group's list.
fn rules() -> Result<(), Failed> {
    let pages = files(&root().join("src/lint/rules"), "md");
    let rules: Vec<_> = kdns::lint::rules::all().collect();
    let is_without = |path: &&PathBuf| {
        let text = fs::read_to_string(path).unwrap_or_default();
        let title = text.lines().next().unwrap_or_default();
        let is_its = |it: &&kdns::lint::Rule| title == format!("# {}: {}", it.code, it.name);
        !rules.iter().any(is_its)
    };
    let without: Vec<String> = pages
        .iter()
        .filter(is_without)
        .map(|it| it.display().to_string())
        .collect();
    if without.is_empty() && pages.len() == rules.len() {
        return Ok(());
    }
    Err(format!("no rule in rules::all() has {}", without.join(", ")).into())
}

/// The files with an ending below a folder.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|it| it == ending) {
            found.push(path);
        }
    }
    found
}
