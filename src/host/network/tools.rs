//! The rules of a network namespace, as the node's own tools print them.

use std::thread;

use caps::{CapSet, Capability};

use crate::host::modules::is_there;
use crate::host::root::Root;
use crate::host::tools::{Tool, find, output};
use crate::text::Source;

/// What of the kernel a tool asks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    /// The tables of `ip_tables`.
    Legacy4,
    /// Those of `ip6_tables`.
    Legacy6,
    /// `nf_tables`.
    Nftables,
    /// `ip_set`.
    Sets,
}

const PARTS: [Part; 4] = [Part::Legacy4, Part::Legacy6, Part::Nftables, Part::Sets];

/// The table of the kernel's modules has no lines for single namespaces: these
/// have, and without them `iptables-legacy-save` calls modprobe.
///
/// Source: iptables `libxtables/xtables.c: xtables_load_ko`.
const NAMES_4: &str = "/proc/thread-self/net/ip_tables_names";
const NAMES_6: &str = "/proc/thread-self/net/ip6_tables_names";

const fn tool(program: &'static str, arguments: &'static [&'static str]) -> Tool {
    Tool { program, arguments }
}

impl Part {
    /// Whether there is something to ask in this thread's network namespace,
    /// and nothing is loaded for it.
    fn is_there(self, root: &Root) -> bool {
        match self {
            Self::Legacy4 => has_lines(NAMES_4),
            Self::Legacy6 => has_lines(NAMES_6),
            Self::Nftables => is_there(root, "nf_tables"),
            Self::Sets => is_there(root, "ip_set"),
        }
    }

    /// The tools that print it.
    fn tools(self) -> Vec<Tool> {
        match self {
            Self::Legacy4 => vec![variant(
                Kind::Legacy,
                tool("iptables-legacy-save", &["-c"]),
                tool("iptables-save", &["-c"]),
            )],
            Self::Legacy6 => vec![variant(
                Kind::Legacy,
                tool("ip6tables-legacy-save", &["-c"]),
                tool("ip6tables-save", &["-c"]),
            )],
            Self::Nftables => vec![
                variant(
                    Kind::Nftables,
                    tool("iptables-nft-save", &["-c"]),
                    tool("iptables-save", &["-c"]),
                ),
                variant(
                    Kind::Nftables,
                    tool("ip6tables-nft-save", &["-c"]),
                    tool("ip6tables-save", &["-c"]),
                ),
                tool("nft", &["-j", "list", "ruleset"]),
            ],
            Self::Sets => vec![tool("ipset", &["save"])],
        }
    }
}

const UNPRIVILEGED: &str = "the rules were not read: iptables-save, nft and ipset need root \
    (the capability CAP_NET_ADMIN)";

/// Which of two programs is meant that share a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Legacy,
    Nftables,
}

/// The tool by its own name, or by the common one, where that leads to the same
/// program. Before 1.8 iptables knows the kernel's old tables alone.
fn variant(kind: Kind, own: Tool, common: Tool) -> Tool {
    if find(own.program).is_ok() {
        return own;
    }
    let real = find(common.program)
        .ok()
        .and_then(|it| std::fs::canonicalize(it).ok());
    let name = real.as_ref().and_then(|it| it.file_name()?.to_str());
    let is_nft = name.map(|it| it.contains("nft"));
    if is_nft == Some(kind == Kind::Nftables) {
        common
    } else {
        own
    }
}

/// What the tools print that have something to print, in a fixed order, each
/// named after its tool; with what could not be had, as sentences without a full
/// stop. They run in this thread's network namespace, all at once.
pub(super) fn read(root: &Root) -> (Vec<Source>, Vec<String>) {
    let may_ask = caps::has_cap(None, CapSet::Effective, Capability::CAP_NET_ADMIN);
    if !may_ask.unwrap_or(false) {
        return (Vec::new(), vec![UNPRIVILEGED.to_owned()]);
    }
    let parts = PARTS.into_iter().filter(|it| it.is_there(root));
    let tools: Vec<Tool> = parts.flat_map(Part::tools).collect();
    let outputs = thread::scope(|scope| {
        let begun = tools.iter().map(|tool| scope.spawn(|| output(*tool)));
        let begun: Vec<_> = begun.collect();
        let ended = begun.into_iter().map(thread::ScopedJoinHandle::join);
        ended.collect::<Vec<_>>()
    });
    let (mut texts, mut skipped) = (Vec::new(), Vec::new());
    for (tool, output) in tools.iter().zip(outputs) {
        match output.unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
            Ok(bytes) if bytes.is_empty() => {}
            Ok(bytes) => texts.push(Source {
                name: tool.to_string(),
                bytes,
            }),
            Err(error) => skipped.push(error.to_string()),
        }
    }
    (texts, skipped)
}

fn has_lines(path: &str) -> bool {
    std::fs::read(path).is_ok_and(|it| !it.is_empty())
}
