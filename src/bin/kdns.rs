//! The program: its streams, whether they take colours, its exit status.

use std::env;
use std::io::{self, BufWriter, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;

use kdns::cli::{self, Streams, completions};
use kdns::host::worker;
use kdns::netns::askers;
use terminal_size::terminal_size_of;

fn main() -> ExitCode {
    let is_other = || askers::run_if_asked(env::args_os());
    if let Some(ended) = worker::run_if_asked(env::args_os()).or_else(is_other) {
        return ended;
    }
    worker::switch_on();
    if let Some(ended) = complete() {
        return ended;
    }
    // kdns decides on colours once, below; `colored` is not to decide again.
    colored::control::set_override(true);
    let mut out = BufWriter::new(io::stdout().lock());
    let mut streams = Streams {
        colors: wants_colors(),
        terminal: terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0)),
        input: &mut io::stdin().lock(),
        is_input_read: false,
        out: &mut out,
        err: &mut io::stderr().lock(),
    };
    cli::run(env::args_os(), &mut streams).into()
}

/// Answers a shell or kubectl that wants to complete a word.
fn complete() -> Option<ExitCode> {
    let mut out = io::stdout().lock();
    if let Some(shell) = env::var_os(completions::VARIABLE) {
        completions::answer(cli::command(), &shell, env::args_os(), &mut out);
        return Some(ExitCode::SUCCESS);
    }
    let name = env::args_os().next().unwrap_or_default();
    if Path::new(&name).file_name()? != completions::OF_KUBECTL {
        return None;
    }
    completions::answer_kubectl(cli::command(), env::args_os(), &mut out);
    Some(ExitCode::SUCCESS)
}

/// `NO_COLOR` (no-color.org) and `CLICOLOR_FORCE` beat what the terminal can do.
fn wants_colors() -> bool {
    let is_set = |variable| env::var_os(variable).is_some_and(|value| !value.is_empty());
    if is_set("NO_COLOR") {
        return false;
    }
    let forced =
        env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0" && !value.is_empty());
    forced || io::stdout().is_terminal()
}
