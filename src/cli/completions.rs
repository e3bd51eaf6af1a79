//! Completions: scripts that ask kdns itself what can stand at the cursor.
//!
//! The script of a shell runs kdns with [`VARIABLE`] set. It is then no other
//! run: it reads what it can at once, says nothing of what it cannot, and ends.

use std::ffi::{OsStr, OsString};
use std::io::Write;

use clap::{Command, ValueEnum};
use clap_complete::engine::{CompletionCandidate, ValueCompleter, complete};
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};

use crate::cli::streams::{Status, Streams};
use crate::host::node::{Parts, pods, processes};
use crate::host::root::Root;
use crate::lint::rules;
use crate::resolver;

/// The variable that a completion script sets: to the name of its shell.
pub const VARIABLE: &str = "_KDNS_COMPLETE";
/// kubectl runs a program of this name to complete `kubectl kdns`.
pub const OF_KUBECTL: &str = "kubectl_complete-kdns";

#[derive(clap::Args, Debug)]
pub(super) struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

impl Shell {
    fn completer(self) -> &'static dyn EnvCompleter {
        match self {
            Self::Bash => &Bash,
            Self::Elvish => &Elvish,
            Self::Fish => &Fish,
            Self::Powershell => &Powershell,
            Self::Zsh => &Zsh,
        }
    }
}

/// zsh runs the file itself, as a function, when the first word is completed.
const AUTOLOADED: &[u8] =
    b"if [[ $funcstack[1] == _kdns ]]; then _clap_dynamic_completer_kdns \"$@\"; fi\n";

/// Writes the script of a shell.
pub(super) fn run(args: &CompletionsArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let mut script = Vec::new();
    let shell = args.shell.completer();
    shell.write_registration(VARIABLE, "kdns", "kdns", "kdns", &mut script)?;
    streams.out.write_all(script.trim_ascii())?;
    streams.out.write_all(b"\n")?;
    if matches!(args.shell, Shell::Zsh) {
        streams.out.write_all(AUTOLOADED)?;
    }
    Ok(Status::Clean)
}

/// Answers a completion script: what can stand at its cursor, in the form of
/// the shell that `shell` names. `command` is the whole command line's definition;
/// `args` are the program's, `--`, and the words.
pub fn answer(
    mut command: Command,
    shell: &OsStr,
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
) {
    let is_dash = |it: &OsString| it == "--";
    let words: Vec<OsString> = args
        .into_iter()
        .skip_while(|it| !is_dash(it))
        .skip(1)
        .collect();
    let shell = shell
        .to_str()
        .and_then(|it| Shell::from_str(it, false).ok());
    let Some(shell) = shell.filter(|_| !words.is_empty()) else {
        return;
    };
    let mut answer = Vec::new();
    let directory = std::env::current_dir().ok();
    command.build();
    let completed =
        shell
            .completer()
            .write_complete(&mut command, words, directory.as_deref(), &mut answer);
    // Half a word that cannot be completed is no error, and nobody reads one.
    if completed.is_ok() {
        let _ = out.write_all(&answer).and_then(|()| out.flush());
    }
}

/// Answers kubectl: a value and what it means on each line, then `:4`, which
/// says that files are no answer.
///
/// Source: kubectl `pkg/cmd/plugin/plugin_completion.go` `SetupPluginCompletion`.
pub fn answer_kubectl(
    mut command: Command,
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
) {
    let given = args.into_iter().skip(1);
    let words: Vec<OsString> = std::iter::once("kdns".into()).chain(given).collect();
    let directory = std::env::current_dir().ok();
    command.build();
    let last = words.len() - 1;
    let found = complete(&mut command, words, last, directory.as_deref());
    let mut answer = String::new();
    for candidate in found.unwrap_or_default() {
        answer.push_str(&candidate.get_value().to_string_lossy());
        if let Some(help) = candidate.get_help() {
            let help = help.to_string();
            answer.push('\t');
            answer.push_str(help.lines().next().unwrap_or_default());
        }
        answer.push('\n');
    }
    answer.push_str(":4\n");
    let _ = out.write_all(answer.as_bytes()).and_then(|()| out.flush());
}

fn candidate(value: impl Into<OsString>, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(help.to_owned().into()))
}

/// Codes of rules and their names.
pub(super) fn rule_words() -> Vec<CompletionCandidate> {
    let codes = rules::all().map(|it| candidate(it.code, it.name));
    let names = rules::all().map(|it| candidate(it.name, it.code));
    codes.chain(names).collect()
}

/// Ids of resolvers and short names, and the word for all of them.
pub(super) fn resolver_words() -> Vec<CompletionCandidate> {
    let mut words = resolver_names();
    words.push(candidate("all", "every one of them"));
    words
}

/// Ids of resolvers and short names.
pub(super) fn resolver_names() -> Vec<CompletionCandidate> {
    let ids = resolver::ALL.iter();
    let ids = ids.map(|it| candidate(it.id, &format!("{}: {}", it.version, it.used_by)));
    let newest = |id| {
        let help = resolver::find(id).map_or("", |it| it.id);
        candidate(id, help)
    };
    let short = resolver::names().skip(resolver::ALL.len()).map(newest);
    ids.chain(short).collect()
}

/// The pods of this node, as far as they can be read: `NAMESPACE/POD`.
pub(super) fn pods_here() -> Vec<CompletionCandidate> {
    let Ok(root) = Root::live() else {
        return Vec::new();
    };
    let (seen, _) = processes::scan(&root);
    let (pods, _) = pods::read_pods(&root, &seen, Parts::PODS, |_| true);
    let names = pods.iter().filter_map(|it| {
        let namespace = it.namespace.as_deref()?;
        Some(format!("{namespace}/{}", it.name.as_deref()?))
    });
    // A shell is handed nothing that Kubernetes would not take for a name.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-./".contains(c);
    let plain = names.filter(|it| it.chars().all(is_plain));
    plain
        .map(|it| candidate(it, "a pod of this node"))
        .collect()
}

/// What `kdns nsenter TARGET` can do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inside;

impl ValueCompleter for Inside {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let words = [
            candidate("explain", "the queries for a name, and why"),
            candidate("dig", "ask servers"),
            candidate("watch", "the packets, judged"),
            candidate("path", "where a packet to a Service goes"),
        ];
        let current = current.as_encoded_bytes();
        let fits = |it: &CompletionCandidate| {
            let value = it.get_value().as_encoded_bytes();
            value.starts_with(current)
        };
        words.into_iter().filter(fits).collect()
    }

    fn complete_at(&self, index: usize, current: &OsStr) -> Vec<CompletionCandidate> {
        if index == 0 {
            return self.complete(current);
        }
        Vec::new()
    }
}
