//! What the words of the command line are: a message, logs or metrics.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args as _;

use super::args::WhyArgs;
use crate::cli::streams::Streams;
use crate::text::escaped;

/// What was given.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Given {
    /// Nothing: the list of what is known is wanted.
    List,
    /// A message.
    Message(String),
    /// Files with logs; `-` is standard input.
    Logs(Vec<PathBuf>),
    /// Files with metrics, or a pod that has some.
    Metrics,
}

/// Tells it: an argument that names a file, or `-`, is a log; all else, joined
/// by blanks, is a message; without any it is what is piped in.
pub(super) fn from_args(args: &WhyArgs, streams: &mut Streams<'_>) -> anyhow::Result<Given> {
    if args.list {
        return Ok(Given::List);
    }
    if args.target.is_some() || !args.metrics.is_empty() {
        return Ok(Given::Metrics);
    }
    if let Some(message) = &args.message {
        return Ok(Given::Message(message.clone()));
    }
    let mut logs = args.log.clone();
    let mut message: Vec<Cow<'_, str>> = Vec::new();
    for word in &args.words {
        if word == "-" || is_file(word) {
            logs.push(PathBuf::from(word));
            continue;
        }
        let text = word.to_string_lossy();
        if is_option(&text) && !message.first().is_some_and(|it| is_rule(it)) && !is_rule(&text) {
            let meant = meant(&text);
            let word = escaped(word.as_encoded_bytes());
            if meant.as_deref() == text.split('=').next() {
                if let Some("--target" | "--metrics" | "--list" | "--log") = meant.as_deref() {
                    bail!("option {word} takes the place of a message: give one of them");
                }
                bail!("option {word} goes before the message: kdns why {word} … MESSAGE");
            }
            let meant = meant.map_or_else(String::new, |it| format!("did you mean {it}? "));
            bail!(
                "there is no option {word}: {meant}kdns why --help lists them; a message that \
                 begins with a dash goes in quotes"
            );
        }
        message.push(text);
    }
    if !message.is_empty() && message.iter().all(|it| it.trim().is_empty()) {
        bail!("nothing to explain: the message is empty");
    }
    match (message.first(), logs.first()) {
        (None, None) if is_piped(streams)? => Ok(Given::Logs(vec![PathBuf::from("-")])),
        (None, None) => bail!("nothing to explain: give a message, a log, - or --metrics FILE"),
        (None, Some(_)) => Ok(Given::Logs(logs)),
        (Some(_), None) => Ok(Given::Message(message.join(" "))),
        (Some(word), Some(log)) => bail!(
            "{} is no file and {} is one: give the message in quotes with --message, or logs alone",
            escaped(word.as_bytes()),
            escaped(log.as_os_str().as_encoded_bytes()),
        ),
    }
}

/// Whether something is in standard input that nobody has to type; a pipe may stay silent,
/// so it is said that this is waited for.
fn is_piped(streams: &mut Streams<'_>) -> io::Result<bool> {
    if io::stdin().is_terminal() {
        return Ok(false);
    }
    streams.tell("reading standard input");
    Ok(!streams.input.fill_buf()?.is_empty())
}

/// Whether it names something that can be read: a message of one word that
/// names a directory stays a message.
fn is_file(word: &OsStr) -> bool {
    let path = Path::new(word);
    path.exists() && !path.is_dir()
}

/// Whether it looks like an option, and like no message.
fn is_option(word: &str) -> bool {
    word.starts_with('-') && !word.contains(char::is_whitespace)
}

/// The option that is most like this word, as clap would say it, which takes any
/// word here.
fn meant(word: &str) -> Option<String> {
    let command = WhyArgs::augment_args(clap::Command::new("why"));
    let name = word.trim_start_matches('-').split('=').next()?;
    let options = command.get_arguments().filter_map(clap::Arg::get_long);
    let alike = options.map(|it| (strsim::jaro(it, name), it));
    let best = alike.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (best.0 > ALIKE).then(|| format!("--{}", best.1))
}

/// So alike are two words that clap suggests one for the other.
const ALIKE: f64 = 0.7;

/// Whether a message that begins with this word is a rule, as iptables-save and
/// iptables -S print it.
fn is_rule(word: &str) -> bool {
    let first = word.split_whitespace().next();
    matches!(first, Some("-A" | "-I" | "-N" | "-P"))
}
