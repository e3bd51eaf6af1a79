//! The rules of a network namespace, as the node's own tools print them.

use std::thread;

use caps::{CapSet, Capability};

use crate::host::modules::is_there;
use crate::host::netlink::nftables::{self, IPV4, IPV6, TableSeen};
use crate::host::root::Root;
use crate::host::tools::{Tool, find, output};
use crate::text::Source;

/// What the tools have printed, and what not.
#[derive(Debug, Default)]
pub(super) struct Printed {
    /// What has something in it, in a fixed order, named after its tool.
    pub(super) texts: Vec<Source>,
    /// What could not be had, as sentences without a full stop.
    pub(super) skipped: Vec<String>,
    /// Whether rules are there that were not seen.
    pub(super) is_partial: bool,
}

/// A tool that has something to print.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    tool: Tool,
    /// Whether rules are missing without it.
    is_needed: bool,
}

/// Names of tables, one a line, of which there are none in a network namespace
/// where nobody made one. Where the file is not there at all
/// `iptables-legacy-save` calls modprobe, and it makes the tables that it is
/// asked for.
///
/// Source: iptables `libxtables/xtables.c: xtables_load_ko`.
const NAMES_4: &str = "/proc/thread-self/net/ip_tables_names";
const NAMES_6: &str = "/proc/thread-self/net/ip6_tables_names";

/// Prints sets.
const SETS: &str = "ipset";

const UNPRIVILEGED: &str = "the rules were not read: iptables-save, nft and ipset need root \
    (the capability CAP_NET_ADMIN)";

const fn tool(program: &'static str, arguments: &'static [&'static str]) -> Tool {
    Tool { program, arguments }
}

/// What the tools print that have something to print. They run in this thread's
/// network namespace, all at once, and only where the part of the kernel that
/// they ask is there already.
pub(super) fn ask(root: &Root) -> Printed {
    let may_ask = caps::has_cap(None, CapSet::Effective, Capability::CAP_NET_ADMIN);
    let mut printed = Printed::default();
    if !may_ask.unwrap_or(false) {
        printed.is_partial = true;
        printed.skipped.push(UNPRIVILEGED.to_owned());
        return printed;
    }
    let wanted = wanted(root, &mut printed);
    let outputs = thread::scope(|scope| {
        let begin = |it: &Wanted| {
            let tool = it.tool;
            let begun = thread::Builder::new().spawn_scoped(scope, move || output(tool));
            begun.map_err(|_| tool)
        };
        let begun: Vec<_> = wanted.iter().map(begin).collect();
        // Where there can be no more threads, they run one after the other.
        let ended = begun.into_iter().map(|it| match it {
            Ok(thread) => thread.join(),
            Err(tool) => Ok(output(tool)),
        });
        ended.collect::<Vec<_>>()
    });
    for (Wanted { tool, is_needed }, output) in wanted.iter().zip(outputs) {
        match output.unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
            Ok(bytes) if bytes.is_empty() => {}
            Ok(bytes) => printed.texts.push(Source::new(tool.to_string(), bytes)),
            Err(error) if tool.program == SETS => printed.skipped.push(error.to_string()),
            Err(_) if !is_needed => {}
            Err(error) => {
                printed.is_partial = true;
                printed.skipped.push(error.to_string());
            }
        }
    }
    printed
}

/// The tools that have something to print here.
fn wanted(root: &Root, printed: &mut Printed) -> Vec<Wanted> {
    let tables = if is_there(root, "nf_tables") {
        nftables::tables().unwrap_or_else(|error| {
            printed.is_partial = true;
            printed.skipped.push(error.to_string());
            Vec::new()
        })
    } else {
        Vec::new()
    };
    let of_iptables = |family| {
        let is_its = |it: &TableSeen| it.family == family && it.is_of_iptables();
        tables.iter().any(is_its)
    };
    let mut wanted = Vec::new();
    for (has_rules, own, common) in [
        (has_lines(NAMES_4), "iptables-legacy-save", IPTABLES),
        (has_lines(NAMES_6), "ip6tables-legacy-save", IP6TABLES),
        (of_iptables(IPV4), "iptables-nft-save", IPTABLES),
        (of_iptables(IPV6), "ip6tables-nft-save", IP6TABLES),
    ] {
        if has_rules {
            wanted.push(Wanted {
                tool: of_kind(own, common),
                is_needed: true,
            });
        }
    }
    if !tables.is_empty() {
        wanted.push(Wanted {
            tool: tool("nft", &["-j", "list", "ruleset"]),
            is_needed: !tables.iter().all(TableSeen::is_of_iptables),
        });
    }
    if is_there(root, "ip_set") {
        // A rule whose set was not seen says so itself.
        wanted.push(Wanted {
            tool: tool(SETS, &["save"]),
            is_needed: false,
        });
    }
    wanted
}

/// The common names, which lead to the program of the old tables or to that of nftables.
const IPTABLES: &str = "iptables-save";
const IP6TABLES: &str = "ip6tables-save";

/// The program by its own name, or by the common one where that leads to the
/// same. Before 1.8 iptables knows the kernel's old tables alone.
fn of_kind(own: &'static str, common: &'static str) -> Tool {
    let saves = |program| tool(program, &["-c"]);
    if find(own).is_ok() {
        return saves(own);
    }
    let real = find(common)
        .ok()
        .and_then(|it| std::fs::canonicalize(it).ok());
    let name = real.as_ref().and_then(|it| it.file_name()?.to_str());
    let is_it = name.is_some_and(|it| it.contains("nft") == own.contains("nft"));
    saves(if is_it { common } else { own })
}

fn has_lines(path: &str) -> bool {
    std::fs::read(path).is_ok_and(|it| !it.is_empty())
}
