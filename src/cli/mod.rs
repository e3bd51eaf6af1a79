//! Arguments in, the route of each command, exit status out.

mod address;
mod check_loop;
pub mod completions;
mod deferred;
mod diff;
mod dig;
mod doctor;
mod explain;
mod files;
mod help;
mod hint;
mod lint;
mod makers;
mod node;
mod nsenter;
mod output;
mod path;
mod pod_file;
mod pods;
mod privilege;
mod question;
mod report;
mod rule;
mod schema;
mod streams;
mod target;
mod threshold;
mod upstream;
mod version;
mod watch;
mod why;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};

use self::deferred::Deferred;
use crate::text::{escaped, is_unprintable};

pub use self::streams::{Status, Streams};

/// Explain and check how DNS names are resolved on Kubernetes nodes and in pods.
#[derive(Parser, Debug)]
#[command(name = "kdns", version, max_term_width = 100, help_template = help::TEMPLATE)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// When to use colours on standard output
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Tell what a pasted error, a DNS server's log or its metrics say
    Why(Deferred<why::WhyArgs>),
    /// Look at all that decides DNS here: what is wrong, and the fix
    Doctor(Deferred<doctor::DoctorArgs>),
    /// Show the queries each resolver sends for a name, and why
    Explain(Deferred<explain::ExplainArgs>),
    /// Watch DNS packets of a pod, the node or a capture: judge them
    Watch(Deferred<watch::WatchArgs>),
    /// Tell whether the DNS of this node loops, and what fixes it
    CheckLoop(Deferred<check_loop::CheckLoopArgs>),
    /// Tell who owns each name server, and where the real ones stand
    Upstream(Deferred<upstream::UpstreamArgs>),
    /// Tell where a packet to a Service goes, through the node's rules
    Path(Deferred<path::PathArgs>),
    /// Write the resolv.conf that a pod would get
    PodFile(Deferred<pod_file::PodFileArgs>),
    /// List the pods of this node, also those that crash
    Pods(Deferred<pods::PodsArgs>),
    /// Run dig, explain or a command in a pod's network, with its files
    Nsenter(Deferred<nsenter::NsenterArgs>),
    /// Ask DNS servers as BIND's dig does
    Dig(Deferred<dig::DigArgs>),
    /// Find what is wrong in DNS files, kubelet settings and manifests
    Lint(Deferred<lint::LintArgs>),
    /// Put the reports of many nodes together
    Report(Deferred<report::ReportArgs>),
    /// Show what differs between two nodes that matters for DNS
    Diff(Deferred<diff::DiffArgs>),
    /// Print a rule's page, or list the rules
    Rule(Deferred<rule::RuleArgs>),
    /// Print the JSON Schema of a machine format
    Schema(Deferred<schema::SchemaArgs>),
    /// Print the completion script of a shell
    Completions(Deferred<completions::CompletionsArgs>),
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// Runs kdns with `args`, the program's name first, and says how it ended.
pub fn run(args: impl IntoIterator<Item = OsString>, streams: &mut Streams<'_>) -> Status {
    let mut args = args.into_iter();
    let program = args.next();
    let is_plugin = program.as_deref().is_some_and(help::is_plugin);
    let program = program.map(|it| if is_plugin { help::PLUGIN.into() } else { it });
    let words: Vec<OsString> = args.collect();
    let all = program.into_iter().chain(words.iter().cloned());
    let args = match Args::try_parse_from(all) {
        Ok(args) => args,
        Err(usage) => {
            let status = report_usage(
                &hint::with_hint(usage, &words, command()),
                is_plugin,
                streams,
            );
            if words.is_empty() && node::is_on_node() {
                streams.tell("this is a node: kdns doctor looks at all that decides its DNS");
            }
            return status;
        }
    };
    match args.color {
        Color::Auto => {}
        Color::Always => streams.colors = true,
        Color::Never => streams.colors = false,
    }
    let sudo = privilege::sudo(&words);
    privilege::before(args.command.reads_this_node(), sudo.as_ref(), streams);
    let has_target = args.command.has_target();
    let result = match args.command {
        Command::Why(args) => why::run(&args, streams),
        Command::Explain(args) => explain::run(&args, streams),
        Command::Doctor(args) => doctor::run(&args, streams),
        Command::Watch(args) => watch::run(&args, streams),
        Command::CheckLoop(args) => check_loop::run(&args, streams),
        Command::Upstream(args) => upstream::run(&args, streams),
        Command::Path(args) => path::run(&args, streams),
        Command::PodFile(args) => pod_file::run(&args, streams),
        Command::Pods(args) => pods::run(&args, streams),
        Command::Nsenter(args) => match nsenter::as_other(&args) {
            Some(words) => return run(words, streams),
            None => nsenter::run(&args, streams),
        },
        Command::Dig(args) => dig::run(&args, streams),
        Command::Lint(args) => lint::run(&args, streams),
        Command::Diff(args) => diff::run(&args, streams),
        Command::Report(args) => report::run(&args, streams),
        Command::Rule(args) => rule::run(&args, streams),
        Command::Schema(args) => schema::run(&args, streams),
        Command::Completions(args) => completions::run(&args, streams),
    };
    let flushed = |status| match streams.out.flush() {
        // dig has said so already.
        Err(_) if status == Status::Internal => Ok(status),
        flushed => flushed.map(|()| status).map_err(Into::into),
    };
    let status = result.and_then(flushed);
    let status = status.unwrap_or_else(|error| streams.fail(&error));
    privilege::after(has_target, status, sudo.as_ref(), streams);
    status
}

impl Command {
    /// Whether it is about the machine that kdns runs on.
    fn reads_this_node(&self) -> bool {
        match self {
            Self::Doctor(args) => args.reads_this_node(),
            Self::CheckLoop(args) => args.reads_this_node(),
            Self::Upstream(args) => args.reads_this_node(),
            Self::Path(args) => args.reads_this_node(),
            Self::Pods(args) => args.reads_this_node(),
            Self::Lint(args) => args.reads_this_node(),
            _ => false,
        }
    }

    /// Whether it looks into a process, container, pod or network of a node.
    fn has_target(&self) -> bool {
        match self {
            Self::Explain(args) => args.has_target(),
            Self::Path(args) => args.target.is_some(),
            Self::Watch(args) => args.is_live(),
            Self::Nsenter(_) => true,
            _ => false,
        }
    }
}

/// The definition of the command line, for man pages and completions.
pub fn command() -> clap::Command {
    Args::command()
}

fn report_usage(usage: &clap::Error, is_plugin: bool, streams: &mut Streams<'_>) -> Status {
    // The version is that of kdns, whoever calls it.
    let is_plugin = is_plugin && usage.kind() != ErrorKind::DisplayVersion;
    let shown = |text: String| help::as_typed(text, is_plugin);
    let plain = shown(usage.render().to_string());
    // An argument in it could steer the terminal.
    let is_harmless = |c: char| c == '\n' || !is_unprintable(c);
    let text = if !plain.chars().all(is_harmless) {
        let lines = plain.lines().map(|line| escaped(line.as_bytes()));
        lines.map(|line| line + "\n").collect()
    } else if streams.colors {
        shown(usage.render().ansi().to_string())
    } else {
        plain
    };
    if usage.use_stderr() {
        // A closed stream leaves nobody to tell.
        let _ = write!(streams.err, "{text}");
        return Status::Undecided;
    }
    let written = write!(streams.out, "{text}").and_then(|()| streams.out.flush());
    match written {
        Ok(()) => Status::Clean,
        Err(error) => streams.fail(&error.into()),
    }
}
