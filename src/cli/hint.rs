//! What to type instead of a command or an argument that is none.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::render::command::quoted;

/// The error with what is most likely meant by these words; `root` is the program.
pub(super) fn with_hint(
    mut usage: clap::Error,
    words: &[OsString],
    root: clap::Command,
) -> clap::Error {
    let words: Vec<&str> = words.iter().filter_map(|it| it.to_str()).collect();
    let named = |kind| match usage.get(kind) {
        Some(ContextValue::String(word)) => word.as_str(),
        _ => "",
    };
    let hint = match usage.kind() {
        ErrorKind::InvalidSubcommand => {
            let is_near = usage.get(ContextKind::SuggestedSubcommand).is_some();
            of_command(named(ContextKind::InvalidSubcommand), &words, is_near)
        }
        ErrorKind::UnknownArgument => of_argument(named(ContextKind::InvalidArg), &words, root),
        _ => None,
    };
    if let Some(hint) = hint {
        usage.remove(ContextKind::SuggestedArg);
        usage.remove(ContextKind::SuggestedSubcommand);
        let hint = vec![StyledStr::from(hint)];
        usage.insert(ContextKind::Suggested, ContextValue::StyledStrs(hint));
    }
    usage
}

/// `is_near`: it is nearly a command.
fn of_command(word: &str, words: &[&str], is_near: bool) -> Option<String> {
    let is_name = |it: u8| it.is_ascii_alphanumeric() || b"-._".contains(&it);
    let command = match word {
        "help" => return None,
        _ if words.starts_with(&["help"]) || words.starts_with(&["report", "help"]) => return None,
        _ if words.first() == Some(&"report") => {
            let file = quoted(word);
            return (!is_near).then(|| format!("kdns report merge {file} reads reports"));
        }
        "version" => "kdns --version prints the version",
        "merge" => "kdns report merge puts reports together",
        "search" | "lookup" | "resolve" | "query" | "nslookup" | "host" | "trace" => {
            "kdns explain NAME shows what resolvers ask, kdns dig NAME asks a server"
        }
        "loop" | "check" => "kdns check-loop tells whether DNS loops",
        "exec" | "enter" => "kdns nsenter TARGET -- COMMAND runs a command in a pod's network",
        "snapshot" => "kdns doctor --snapshot FILE writes one",
        "tcpdump" | "capture" => "kdns watch TARGET watches DNS packets",
        _ if (word.contains('.') || !is_near) && word.bytes().all(is_name) => {
            return Some(format!(
                "kdns explain {word} shows what resolvers ask for this name"
            ));
        }
        _ => return None,
    };
    Some(command.to_owned())
}

/// What kubectl, dig, tcpdump and jq make people write, as kdns has it.
fn of_argument(word: &str, words: &[&str], mut root: clap::Command) -> Option<String> {
    root.build();
    let deeper = |it, word: &&str| clap::Command::find_subcommand(it, word).unwrap_or(it);
    let command = words.iter().fold(&root, deeper);
    let options: Vec<&str> = command
        .get_arguments()
        .filter_map(clap::Arg::get_long)
        .collect();
    let is_directory = word.starts_with(['/', '.']) || word.ends_with(".tar.zst");
    let is_manifest = [".yaml", ".yml", ".json"]
        .iter()
        .any(|it| word.ends_with(it));
    let hint = match (command.get_name(), word) {
        (_, "--json") if options.contains(&"format") => "--format json writes JSON",
        (_, "-o") if options.contains(&"output") => {
            "--format json writes JSON, --output FILE writes to a file"
        }
        ("pods", "-A" | "--all-namespaces" | "-n" | "--namespace") => {
            "kdns pods lists this node's pods of all namespaces"
        }
        ("explain" | "pod-file", "-n" | "--ns") => "--namespace NAME is the pod's namespace",
        ("doctor" | "nsenter" | "path" | "watch", "-n" | "--namespace") => {
            "the pod web of namespace shop is written shop/web"
        }
        ("explain", "-t") => "--type TYPE asks for another record type",
        ("explain", _) if word.starts_with('@') => "kdns dig NAME @SERVER asks a server",
        ("nsenter", "-t") => "kdns nsenter PID dig NAME: the target is the first word",
        ("watch", "-i") => "kdns watch --node watches every link of the node",
        ("watch", "-r") => "--read FILE reads a capture",
        ("watch", "-w") => "--write FILE keeps the packets",
        ("pod-file", _) if is_manifest => {
            return Some(format!("kdns pod-file --pod {}", quoted(word)));
        }
        (name @ ("check-loop" | "pods" | "pod-file"), _) if is_directory => {
            return Some(format!("kdns {name} --root {}", quoted(word)));
        }
        ("pod-file", _) if word.contains('/') => {
            return Some(format!(
                "kdns nsenter {} -- cat /etc/resolv.conf shows the file of a running pod",
                quoted(word)
            ));
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::Parser as _;

    fn said(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
        let all = std::iter::once("kdns".into()).chain(words.iter().cloned());
        let usage = crate::cli::Args::try_parse_from(all).unwrap_err();
        super::with_hint(usage, &words, crate::cli::command())
            .render()
            .to_string()
    }

    #[test]
    fn habits_of_other_tools_are_answered() {
        for (line, expected) in [
            (
                "pods -A",
                "kdns pods lists this node's pods of all namespaces",
            ),
            ("pods -n shop", "lists this node's pods of all namespaces"),
            ("pods --root x -o wide", "--format json writes JSON"),
            ("check-loop --json", "--format json writes JSON"),
            ("check-loop /host", "kdns check-loop --root /host"),
            ("pod-file web.yaml", "kdns pod-file --pod web.yaml"),
            (
                "pod-file shop/web",
                "kdns nsenter shop/web -- cat /etc/resolv.conf",
            ),
            ("explain db -n shop", "--namespace NAME"),
            ("explain db --ns shop", "--namespace NAME"),
            ("explain db @10.96.0.10", "kdns dig NAME @SERVER"),
            ("watch -i eth0", "kdns watch --node"),
            ("watch -r x.pcap", "--read FILE"),
            ("watch -n shop web", "shop/web"),
            ("nsenter -t 1 -n dig db", "kdns nsenter PID dig NAME"),
            ("trace db", "kdns explain NAME"),
            ("snapshot", "kdns doctor --snapshot FILE"),
            ("report x.json", "kdns report merge x.json"),
            ("report x;y", "kdns report merge 'x;y'"),
            ("report merg x", "'merge'"),
            ("report merge x --json", "--format json"),
            ("check-loop /a\tb", "kdns check-loop --root '/a\\u{9}b'"),
            ("example.com", "kdns explain example.com"),
        ] {
            let said = said(line);
            assert!(said.contains(expected), "{line}: {said}");
            assert_eq!(said.matches("tip:").count(), 1, "{line}: {said}");
        }
    }

    #[test]
    fn nothing_is_said_of_what_a_command_has_not() {
        for line in [
            "report help foo",
            "lint -n",
            "diff -n",
            "completions -n",
            "schema -o",
            "schema --json",
            "report -o",
            "rule -o",
        ] {
            let said = said(line);
            for hint in ["shop/web", "--format", "report merge"] {
                assert!(!said.contains(hint), "{line}: {said}");
            }
        }
    }
}
