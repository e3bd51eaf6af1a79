//! What to type instead of a command that is none.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The error with what is most likely meant.
pub(super) fn with_hint(mut usage: clap::Error) -> clap::Error {
    if usage.kind() != ErrorKind::InvalidSubcommand {
        return usage;
    }
    let Some(ContextValue::String(word)) = usage.get(ContextKind::InvalidSubcommand) else {
        return usage;
    };
    let is_near = usage.get(ContextKind::SuggestedSubcommand).is_some();
    if let Some(hint) = hint(word, is_near) {
        let hint = vec![StyledStr::from(hint)];
        usage.insert(ContextKind::Suggested, ContextValue::StyledStrs(hint));
    }
    usage
}

/// `is_near`: it is nearly a command.
fn hint(word: &str, is_near: bool) -> Option<String> {
    let is_name = |it: u8| it.is_ascii_alphanumeric() || b"-._".contains(&it);
    let command = match word {
        "version" => "kdns --version prints the version",
        "merge" => "kdns report merge puts reports together",
        "search" | "lookup" | "resolve" | "query" | "nslookup" | "host" => {
            "kdns explain NAME shows what resolvers ask, kdns dig NAME asks a server"
        }
        "loop" | "check" => "kdns check-loop tells whether DNS loops",
        "exec" | "enter" => "kdns nsenter TARGET -- COMMAND runs a command in a pod's network",
        _ if (word.contains('.') || !is_near) && word.bytes().all(is_name) => {
            return Some(format!(
                "kdns explain {word} shows what resolvers ask for this name"
            ));
        }
        _ => return None,
    };
    Some(command.to_owned())
}
