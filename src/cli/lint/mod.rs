//! `kdns lint`: read what is given, run the rules, write.

mod args;
mod engine;
mod inputs;
mod look;
mod mend;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::ValueEnum;

use self::args::Wanted;
use self::engine::Outcome;
use self::inputs::Inputs;
use super::output::{self, Outputs};
use super::{Status, Streams};
use crate::finding::Finding;
use crate::render::lint::{concise, settings, statistics, text};
use crate::text::escaped;

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  kdns lint
  kdns lint --kubelet-version 1.31 --assume systemd-resolved image/ manifests/
  helm template . | kdns lint -
  kdns lint --root /host --format concise
  kdns rule KR001

Exit status: 0 nothing at or above --fail-on, 1 findings, 2 nothing to read, or something could not be read.")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(super) struct LintArgs {
    /// Files and directories; - is standard input [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What - is called, which tells its kind
    #[arg(
        long,
        value_name = "PATH",
        default_value = "<stdin>",
        hide_default_value = true
    )]
    stdin_filename: String,
    /// Mend what has one safe mend
    #[arg(long)]
    fix: bool,
    /// Show what --fix would change, and change nothing
    #[arg(long)]
    diff: bool,
    /// End with status 0 whatever is found
    #[arg(long)]
    exit_zero: bool,
    /// End with status 0 if there is nothing to read
    #[arg(long)]
    allow_empty: bool,
    /// Count the findings of each rule in place of showing them
    #[arg(long)]
    statistics: bool,
    /// Show what --config, options and defaults come to, and end
    #[arg(long)]
    show_settings: bool,
    #[command(flatten)]
    wanted: args::WantedArgs,
    #[command(flatten)]
    outputs: Outputs<Format>,
}

/// How to write findings.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(super) enum Format {
    /// For people, with the lines
    #[default]
    Text,
    /// One finding a line, as compilers write them
    Concise,
}

/// Reads, lints, writes.
pub(super) fn run(args: &LintArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let wanted = args.wanted.read()?;
    if args.show_settings {
        settings::write(&wanted.shown(), streams.out)?;
        return Ok(Status::Clean);
    }
    let mut inputs = inputs::read(args, &wanted, streams)?;
    let rules = wanted.selection.rules();
    let lint = |inputs: &Inputs| {
        let outcome = engine::run(&inputs.files, inputs.workspace.clone(), &rules);
        wanted.without_ignored(outcome)
    };
    let mut outcome = lint(&inputs);
    let mut changed = Vec::new();
    if args.fix || args.diff {
        changed = mend::rounds(&mut inputs, &mut outcome, &lint);
    }
    if args.diff {
        mend::show(&changed, streams.out)?;
    } else {
        mend::write(&changed)?;
        write(&outcome, args, streams)?;
    }
    let unread: Vec<&String> = inputs.unread.iter().chain(&outcome.unread).collect();
    for reason in &unread {
        // A closed stderr leaves nobody to tell.
        let _ = writeln!(streams.err, "kdns: {reason}");
    }
    for path in &outcome.unrecognised {
        let _ = writeln!(
            streams.err,
            "kdns: {path} holds nothing that kdns lint looks at; it is known by its name or its first lines"
        );
    }
    Ok(status(
        &outcome,
        !unread.is_empty(),
        !changed.is_empty(),
        args,
        &wanted,
        streams,
    ))
}

fn write(outcome: &Outcome, args: &LintArgs, streams: &mut Streams<'_>) -> anyhow::Result<()> {
    let colors = streams.colors;
    for wanted in &args.outputs.wanted {
        output::write(wanted.file.as_deref(), streams.out, |out| {
            if args.statistics {
                return statistics::write(&outcome.findings, out);
            }
            write_as(wanted.format, outcome, colors && wanted.file.is_none(), out)
        })?;
    }
    Ok(())
}

fn write_as(
    format: Format,
    outcome: &Outcome,
    colors: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => text::write(&outcome.findings, outcome.files, colors, out),
        Format::Concise => concise::write(&outcome.findings, out),
    }
}

/// What could not be read makes it undecided, whatever else was found.
fn status(
    outcome: &Outcome,
    is_unread: bool,
    is_changed: bool,
    args: &LintArgs,
    wanted: &Wanted,
    streams: &mut Streams<'_>,
) -> Status {
    let fails = |finding: &Finding| finding.severity >= wanted.fail_on;
    if is_unread {
        return Status::Undecided;
    }
    if outcome.files == 0 && !args.allow_empty {
        let message = "kdns: nothing to lint was found; --allow-empty makes that a success";
        // A closed stderr leaves nobody to tell.
        let _ = writeln!(streams.err, "{message}");
        return Status::Undecided;
    }
    let is_found = if args.diff {
        is_changed
    } else {
        outcome.findings.iter().any(fails)
    };
    if is_found && !args.exit_zero {
        Status::Found
    } else {
        Status::Clean
    }
}

/// A path, safe to print.
fn shown(path: &std::path::Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    escaped(path.as_os_str().as_bytes())
}
