//! `kdns nsenter TARGET …`: a program of the node with the target's network,
//! files and host name.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter};

use super::files::VARIABLES;
use super::node::node_below;
use super::target::unread;
use super::{completions, dig, help};
use crate::cli::streams::{Status, Streams};
use crate::host::io_reason;
use crate::netns;
use crate::program::Program;
use crate::render;
use crate::text::escaped;

/// Ask, explain or run something with the network and the resolv.conf of a process, container or pod
#[derive(clap::Args, Debug)]
pub(super) struct NsenterArgs {
    /// Find TARGET on the node below this directory [default: /]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// A pod (web, shop/web, deploy/web, svc/web, POD:CONTAINER), a container's id, a pid, or a network namespace's file
    #[arg(add = ArgValueCandidates::new(completions::pods_here))]
    target: String,
    /// explain, dig, watch or path, with its arguments
    #[arg(value_name = "WHAT", allow_hyphen_values = true, add = ArgValueCompleter::new(completions::Inside))]
    what: Vec<OsString>,
    /// This program of the node, in which only resolv.conf, hosts, the hosts line of nsswitch.conf,
    /// the network and the host name are the target's
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl NsenterArgs {
    /// The directory of the node, and the target on it.
    fn target(&self) -> (Option<&Path>, &str) {
        (self.root.as_deref(), &self.target)
    }
}

/// Commands that take a target themselves.
const WITH_TARGET: [&str; 4] = ["explain", "watch", "path", "doctor"];

/// The words of the command line that `nsenter TARGET explain …` stands for:
/// `kdns explain --target TARGET …`; the same of the others of [`WITH_TARGET`].
pub(super) fn as_other(args: &NsenterArgs) -> Option<Vec<OsString>> {
    let (what, words) = args.what.split_first()?;
    if !WITH_TARGET.iter().any(|it| what == it) || !args.command.is_empty() {
        return None;
    }
    let option = |name: &str, value: &OsStr| {
        let mut option = OsString::from(name);
        option.push(value);
        option
    };
    let mut all = vec!["kdns".into(), what.clone()];
    all.push(option("--target=", OsStr::new(&args.target)));
    all.extend(args.root.iter().map(|it| option("--root=", it.as_os_str())));
    all.extend(words.iter().cloned());
    Some(all)
}

pub(super) fn run(args: &NsenterArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    match (args.what.split_first(), args.command.split_first()) {
        (Some((what, words)), None) if what == "dig" => dig::run_in(args.target(), words, streams),
        (None, Some((program, words))) => Ok(become_command(args, program, words, streams)),
        (Some((what, _)), None) if what.to_str().is_some_and(help::is_command) => {
            let what = shown(what);
            anyhow::bail!("{what} takes no target; write kdns {what}")
        }
        (Some((program, words)), None) => {
            let words = std::iter::once(program).chain(words);
            let words: Vec<String> = words.map(|it| shown(it)).collect();
            anyhow::bail!(
                "{} is no command of kdns nsenter; to run the program: kdns nsenter {} -- {}",
                shown(program),
                shown(OsStr::new(&args.target)),
                words.join(" ")
            )
        }
        _ => anyhow::bail!(
            "write what to do there: kdns nsenter TARGET, then explain NAME, dig NAME, \
             watch, path, doctor, or -- COMMAND"
        ),
    }
}

fn shown(word: &OsStr) -> String {
    escaped(word.as_encoded_bytes())
}

/// Enters and becomes the command: comes back only when that failed.
fn become_command(
    args: &NsenterArgs,
    program: &OsString,
    words: &[OsString],
    streams: &mut Streams<'_>,
) -> Status {
    if program.is_empty() {
        streams.tell("cannot run the command: its first word, the program, is empty");
        return Status::NoCommand;
    }
    let (root, target) = args.target();
    let prepared = node_below(root)
        .map_err(Into::into)
        .and_then(|root| netns::aim(&root, target))
        .and_then(|aim| Ok((netns::furnish(&aim)?, netns::aliases(&aim)?, aim)));
    let (left_out, aliases, aim) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            streams.tell(error);
            return Status::NotEntered;
        }
    };
    for warning in aim.plan.warnings.iter().map(render::target::warning) {
        streams.tell(warning);
    }
    let left_out = left_out.iter().map(render::resolver::left_out);
    for sentence in unread(&aim).chain(left_out) {
        streams.tell(sentence);
    }
    let mut command = Command::new(program);
    command.args(words);
    for sentence in set_variables(aim.program.as_ref(), &mut command) {
        streams.tell(sentence);
    }
    if let Some(file) = &aliases {
        command.env("HOSTALIASES", format!("/proc/self/fd/{}", file.as_raw_fd()));
    }
    let error = command.exec();
    let shown = escaped(PathBuf::from(program).as_os_str().as_encoded_bytes());
    streams.tell(format_args!("cannot run {shown}: {}", io_reason(&error)));
    if error.kind() == io::ErrorKind::NotFound {
        Status::NoCommand
    } else {
        Status::NotExecutable
    }
}

/// Longer values are no list of domains or options: the system starts no program
/// with a long one.
const MAX_VALUE: usize = 4096;

/// Gives the command the target's variables; with what was left out.
fn set_variables(program: Option<&Program>, command: &mut Command) -> Vec<String> {
    for name in VARIABLES {
        command.env_remove(name);
    }
    let mut left_out = Vec::new();
    let env = program.into_iter().flat_map(|it| &it.env);
    // Its path is the target's: a copy of the file stands in for it.
    let own = env.filter(|(name, _)| VARIABLES.contains(&name.as_str()) && *name != "HOSTALIASES");
    for (name, value) in own {
        if value.len() <= MAX_VALUE && !value.contains(char::is_control) {
            command.env(name, value);
        } else {
            left_out.push(format!(
                "the target's {name} is left out: it has control characters or more than {MAX_VALUE} bytes"
            ));
        }
    }
    left_out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_odd_values_are_left_out() {
        let check = |value: String, is_set: bool| {
            let env = [("LOCALDOMAIN", value.as_str()), ("PATH", "/x")];
            let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let program = Program {
                env: env.into(),
                ..Program::default()
            };
            let mut command = Command::new("true");
            let left_out = set_variables(Some(&program), &mut command);
            let set: Vec<&OsStr> = command.get_envs().filter_map(|it| it.1).collect();
            let expected: Vec<&OsStr> = is_set.then(|| value.as_ref()).into_iter().collect();
            assert_eq!((set, left_out.is_empty()), (expected, is_set));
        };
        check("a.test b.test".to_owned(), true);
        check("a".repeat(MAX_VALUE), true);
        check("a".repeat(MAX_VALUE + 1), false);
        check("a\u{1b}[1m".to_owned(), false);
        check("a\n".repeat(MAX_VALUE), false);
    }
}
