//! Completions and man pages are made from the definition of the command line,
//! the pages of rules from the rules, schemas from the types that are written.
//!
//! `KDNS_BLESS=1 cargo test` writes them; without it stale ones fail.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "../src/cli/manual/page.rs"]
mod page;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use kdns::cli::Streams;
use page::Page;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn check(file: &str, expected: &[u8]) {
    let path = root().join(file);
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
        ("bash", "completions/kdns.bash"),
        ("zsh", "completions/_kdns"),
        ("fish", "completions/kdns.fish"),
    ] {
        let script = output(&format!("kdns completions {shell}"));
        check(file, script.as_bytes());
    }
}

#[test]
fn schemas() {
    let formats = kdns::render::schema::ALL;
    for (name, schema) in formats {
        let schema = format!("{:#}\n", schema().as_value());
        check(&format!("docs/schemas/{name}.json"), schema.as_bytes());
    }
    let kept = fs::read_dir(root().join("docs/schemas")).unwrap();
    assert_eq!(kept.count(), formats.len(), "docs/schemas has others, too");
    if std::env::var_os("KDNS_BLESS").is_some() {
        return; // What was written is in the next program.
    }
    let mut command = kdns::cli::command();
    command.build();
    let argument = command.find_subcommand("schema").unwrap().get_positionals();
    let names = argument.flat_map(clap::Arg::get_possible_values);
    let names: Vec<String> = names.map(|it| it.get_name().to_owned()).collect();
    assert_eq!(names, formats.iter().map(|it| it.0).collect::<Vec<_>>());
    for name in names {
        let kept = fs::read(root().join(format!("docs/schemas/{name}.json"))).unwrap();
        assert!(
            output(&format!("kdns schema {name}")).as_bytes() == kept,
            "{name}"
        );
    }
}

#[test]
fn pages_of_rules() {
    let rules: Vec<_> = kdns::lint::rules::all().collect();
    check("docs/rules.md", book(&rules).as_bytes());
}

/// The page of all rules: a table, then every page one level deeper.
fn book(rules: &[&kdns::lint::Rule]) -> String {
    let mut text = String::from(
        "# Rules\n\nMade from the rules' own pages by `KDNS_BLESS=1 cargo test --test generated`; `kdns rule CODE` prints one.\n\n\
         | Code | Name | Severity | What is wrong |\n| --- | --- | --- | --- |\n",
    );
    for rule in rules {
        let (code, name, summary) = (rule.code, rule.name, rule.summary);
        let anchor = kdns::render::lint::anchor(rule);
        let severity = rule.severity.word();
        text.extend([format!(
            "| [{code}](#{anchor}) | {name} | {severity} | {summary} |\n"
        )]);
    }
    for rule in rules {
        text.push('\n');
        let mut is_code = false;
        for line in rule.page().lines() {
            is_code ^= line.starts_with("```");
            if line.starts_with('#') && !is_code {
                text.push('#');
            }
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

#[test]
fn man_pages() {
    // Examples name files of this folder.
    std::env::set_current_dir(root().join("testdata/manual")).unwrap();
    let mut command = kdns::cli::command().disable_help_subcommand(true);
    command.build();
    let mut names = vec!["kdns".to_owned()];
    man_page(&command, "kdns");
    for subcommand in command.get_subcommands() {
        let name = subcommand.get_name();
        man_page(subcommand, &format!("kdns-{name}"));
        names.push(name.to_owned());
        for below in subcommand.get_subcommands() {
            let name = format!("{name}-{}", below.get_name());
            man_page(below, &format!("kdns-{name}"));
            names.push(name);
        }
    }
    names.push("about".to_owned());
    names.sort();
    let described = fs::read_dir(root().join("src/cli/manual")).unwrap();
    let described = described.map(|it| it.unwrap().file_name().into_string().unwrap());
    let pages = described.filter_map(|it| Some(it.strip_suffix(".md")?.to_owned()));
    let mut pages: Vec<String> = pages.collect();
    pages.sort();
    assert_eq!(names, pages, "one page a command");
}

/// When the pages were last written anew; a page without a date is no page.
const DATE: &str = "2026-11-21";

fn man_page(command: &clap::Command, name: &str) {
    let pages = root().join("src/cli/manual");
    let read = |file: &str| fs::read_to_string(pages.join(format!("{file}.md"))).unwrap();
    let manual = Page {
        text: read(name.trim_start_matches("kdns-")),
        about: read("about"),
    };
    assert_eq!(
        manual.command(),
        name.trim_start_matches("kdns")
            .trim_start_matches('-')
            .replace("report-", "report ")
    );
    let head = manual.text.split("\n## ").next().unwrap();
    let (usage, description): (Vec<&str>, Vec<&str>) =
        head.lines().skip(1).partition(|it| it.starts_with("    "));
    let title: &'static str = Box::leak(name.to_owned().into_boxed_str());
    let titled = command.clone().name(title).display_name(title);
    let man = clap_mangen::Man::new(titled)
        .title(name.to_uppercase())
        .date(DATE)
        .source(concat!("kdns ", env!("CARGO_PKG_VERSION")))
        .manual("kdns");
    let part = |render: fn(&clap_mangen::Man, &mut dyn std::io::Write) -> std::io::Result<()>| {
        let mut text = Vec::new();
        render(&man, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    let mut text = part(|man, out| man.render_title(out));
    text += &part(|man, out| man.render_name_section(out));
    text += ".SH SYNOPSIS\n";
    for (index, form) in usage.iter().enumerate() {
        let line = if index > 0 { ".br\n" } else { "" };
        text.extend([line, &roff(form.trim_start()), "\n"]);
    }
    text += ".SH DESCRIPTION\n";
    text += &roff(description.join("\n").trim()).replace("\n\n", "\n.PP\n");
    text += "\n";
    text += &compact(&part(|man, out| man.render_options_section(out)));
    if command.has_subcommands() {
        let commands = command.get_subcommands().map(|it| {
            let about = it.get_about().map(ToString::to_string).unwrap_or_default();
            (format!("{name}-{}(1)", it.get_name()), about)
        });
        text += &table("COMMANDS", commands);
    }
    for title in ["Exit status", "Files", "Environment"] {
        let rows = manual.rows(title).into_iter();
        let rows = rows.map(|(head, body)| (head.to_owned(), sentence(body)));
        text += &table(&title.to_uppercase(), rows);
    }
    text = broken(&text);
    text += &examples(&manual.examples());
    text += ".SH SEE ALSO\n";
    let own = if name == "kdns" { "" } else { "kdns(1), " };
    text += broken(&roff(&format!("{own}{}", manual.section("See also")))).trim_end();
    check(&format!("man/{name}.1"), format!("{text}\n").as_bytes());
}

fn examples(examples: &[(&str, Vec<&str>)]) -> String {
    let mut text = ".SH EXAMPLES\n".to_owned();
    for (index, (what, lines)) in examples.iter().enumerate() {
        if index > 0 {
            text += ".PP\n";
        }
        let what = roff(what);
        let lines = lines.join("\n");
        let shown = lines.strip_prefix("$ ");
        let line = roff(shown.unwrap_or(&lines));
        if let Some(shown) = shown {
            // As wide as the page, so that nothing is broken at 80 columns.
            let output = roff(output(shown).trim_end());
            let parts = [
                &what,
                "\n.sp\n.EX\n.in 0\n$ ",
                &line,
                "\n",
                &output,
                "\n.in\n.EE\n",
            ];
            text.extend(parts);
        } else {
            text.extend([&what, "\n.PP\n.RS 4\n.EX\n", &line, "\n.EE\n.RE\n"]);
        }
    }
    text
}

/// The first letter large, a full stop at the end.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().unwrap().to_uppercase();
    let dot = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{dot}", characters.as_str())
}

fn table(title: &str, rows: impl Iterator<Item = (String, String)>) -> String {
    let rows = rows.map(|(head, body)| format!(".TP\n\\fB{}\\fR\n{}\n", roff(&head), roff(&body)));
    let rows: String = rows.collect();
    if rows.is_empty() {
        return rows;
    }
    format!(".SH {title}\n{rows}")
}

/// Prose in short lines, each sentence on lines of its own.
fn broken(page: &str) -> String {
    let short = |line: &str| {
        if line.starts_with('.') || line.starts_with("\\f") {
            return vec![line.to_owned()];
        }
        let options = textwrap::Options::new(78)
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        let sentences = line.replace(". ", ".\n");
        let lines = textwrap::wrap(&sentences, options).into_iter();
        lines
            .map(|it| {
                if it.starts_with('.') {
                    format!("\\&{it}")
                } else {
                    it.into_owned()
                }
            })
            .collect()
    };
    let lines: Vec<String> = page.lines().flat_map(short).collect();
    lines.join("\n") + "\n"
}

/// Text as roff reads it.
fn roff(text: &str) -> String {
    let line = |line: &str| {
        let line = line.replace('\\', "\\(rs").replace('-', "\\-");
        let line = line
            .replace('\'', "\\(aq")
            .replace('^', "\\(ha")
            .replace('~', "\\(ti");
        let line = line.replace('`', "\\(ga");
        if line.starts_with('.') {
            return format!("\\&{line}");
        }
        line
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Values without blank lines between them, words without angle brackets.
fn compact(options: &str) -> String {
    options
        .replace("\\*(Aq", "\\(aq")
        .replace(
            ".br\n\n.br\n\\fIPossible values:\\fR\n.RS 14\n",
            ".RS\n.PD 0\n",
        )
        .replace(".RE\n", ".PD\n.RE\n")
        .replace("\\fI<", "\\fI")
        .replace(">\\fR", "\\fR")
        .replace("\n\n", "\n.sp\n")
        .replace('`', "")
}

/// What a command prints.
fn output(line: &str) -> String {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams {
        input: &mut std::io::empty(),
        is_input_read: false,
        out: &mut out,
        err: &mut err,
        colors: false,
        terminal: None,
    };
    kdns::cli::run(line.split_whitespace().map(OsString::from), &mut streams);
    assert!(err.is_empty(), "{line}: {}", String::from_utf8_lossy(&err));
    String::from_utf8(out).unwrap()
}
