//! What `kdns --help` looks like, and how a kubectl plugin calls itself.

use std::ffi::OsStr;
use std::path::Path;

use clap::Command;

/// The first page: examples first, commands in groups, each on one line. A test
/// holds it against the commands.
pub(super) const TEMPLATE: &str = "\
{about-with-newline}
Examples:
  kdns check-loop                       CoreDNS crashes: does DNS loop here?
  kdns explain db.prod --namespace web  what a pod's lookup costs, and why
  kdns explain db --target shop/web --live
                                        why lookups in this pod are slow
  kdns lint deploy/                     before a change is merged

{usage-heading} {usage}

Begin here:
  doctor       Look at all that decides DNS here: what is wrong, and the fix
  why          Tell what a pasted error, a DNS server's log or its metrics say

Names:
  explain      Show the queries each resolver sends for a name, and why
  dig          Ask DNS servers as BIND's dig does
  nsenter      Run dig, explain or a command in a pod's network, with its files
  watch        Watch DNS packets of a pod, the node or a capture: judge them

Nodes and pods:
  check-loop   Tell whether the DNS of this node loops, and what fixes it
  upstream     Tell who owns each name server, and where the real ones stand
  path         Tell where a packet to a Service goes, through the node's rules
  pods         List the pods of this node, also those that crash
  pod-file     Write the resolv.conf that a pod would get
  report       Put the reports of many nodes together
  diff         Show what differs between two nodes that matters for DNS

Files:
  lint         Find what is wrong in DNS files, kubelet settings and manifests
  rule         Print a rule's page, or list the rules

Programs:
  schema       Print the JSON Schema of a machine format
  completions  Print the completion script of a shell
  help         Print the help of a command

Options:
{options}

Exit status: 0 clean; 1 findings; 2 could not decide: usage, unreadable, no
permission, time-out; 130 Ctrl-C. `kdns COMMAND -h` has the options of one.
";

/// The help of one command: its examples come first.
pub(super) const OF_COMMAND: &str = "\
{about-with-newline}
{before-help}{usage-heading} {usage}

{all-args}{after-help}";

// What stands before and below the options of each command, from the pages in `manual`.
include!(concat!(env!("OUT_DIR"), "/helps.rs"));

/// Whether a word is a command of kdns, as its help lists them.
pub(super) fn is_command(word: &str) -> bool {
    let (_, listed) = TEMPLATE.split_once("{usage}").unwrap_or_default();
    let rows = listed.lines().filter_map(|it| it.strip_prefix("  "));
    rows.filter_map(|it| it.split(' ').next())
        .any(|it| it == word)
}

/// How users call a plugin of kubectl.
pub(super) const PLUGIN: &str = "kubectl kdns";

/// Puts the examples of a command first, and its exit statuses last.
pub(super) fn examples_first(command: Command) -> Command {
    let command = command.mut_subcommands(examples_first);
    let page = HELPS.iter().find(|it| it.0 == command.get_name());
    let Some((_, examples, below)) = page.filter(|_| !command.has_subcommands()) else {
        return command;
    };
    command
        .help_template(OF_COMMAND)
        .before_help(*examples)
        .after_help(*below)
}

/// kubectl runs `kubectl-kdns` for `kubectl kdns`.
pub(super) fn is_plugin(program: &OsStr) -> bool {
    Path::new(program).file_name() == Some(OsStr::new("kubectl-kdns"))
}

/// A text with commands as the user has to type them.
pub(super) fn as_typed(text: String, is_plugin: bool) -> String {
    if !is_plugin {
        return text;
    }
    let plain = text.replace(PLUGIN, "kdns");
    let words = plain.split_inclusive([' ', '\n', '`']);
    let typed = words.scan(' ', |before, word| {
        let is_command = word == "kdns " && matches!(*before, ' ' | '\n' | '`');
        *before = word.chars().next_back().unwrap_or(' ');
        Some(if is_command { "kubectl kdns " } else { word })
    });
    typed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_line() {
        let command = crate::cli::command();
        for it in command.get_subcommands() {
            let about = it.get_about().map(ToString::to_string).unwrap_or_default();
            let line = format!("  {:<11}  {about}", it.get_name());
            assert!(TEMPLATE.lines().any(|it| it == line), "not there: {line}");
        }
        for line in TEMPLATE.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn a_plugin_shows_what_users_type() {
        let text = "Usage: kubectl kdns pods\n  kdns pods\n  x | kdns dig -\nkdns(1)\n".to_owned();
        let typed =
            "Usage: kubectl kdns pods\n  kubectl kdns pods\n  x | kubectl kdns dig -\nkdns(1)\n";
        assert_eq!(as_typed(text.clone(), true), typed);
        assert_eq!(as_typed(text.clone(), false), text);
    }
}
