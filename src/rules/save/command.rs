//! The command whose output follows, as people paste it: `# iptables -t nat -S`.

use crate::rules::{Backend, Family};
use crate::text::WordList;

/// A command that lists one table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::rules) struct Command {
    /// Its table.
    pub(in crate::rules) table: Box<str>,
    /// Its addresses.
    pub(in crate::rules) family: Option<Family>,
    /// What it asks.
    pub(in crate::rules) backend: Backend,
    /// Whether it lists rules as they are typed (`-S`), and not in columns.
    pub(in crate::rules) is_typed: bool,
}

const PROGRAMS: WordList =
    WordList("iptables ip6tables iptables-legacy ip6tables-legacy iptables-nft ip6tables-nft");

impl Command {
    /// The command of a line: `root@node:~# iptables -t nat -L -n -v`.
    pub(in crate::rules) fn parse(line: &str) -> Option<Self> {
        if !line.contains("tables") {
            return None;
        }
        let around = |it: char| !it.is_ascii_alphanumeric() && it != '-';
        let mut words = line.split_whitespace().map(|it| it.trim_matches(around));
        let program = words.find_map(|it| {
            let name = it.rsplit('/').next().unwrap_or(it);
            PROGRAMS.has(name).then_some(name)
        })?;
        let mut table = "filter";
        let (mut is_list, mut is_typed) = (false, false);
        while let Some(word) = words.next() {
            match word {
                "--list" => is_list = true,
                "--list-rules" => is_typed = true,
                "--table" => table = words.next()?,
                _ if word.starts_with("--") => {}
                _ => {
                    let letters = word.strip_prefix('-').unwrap_or_default();
                    let (before, after) = letters.split_once('t').unwrap_or((letters, ""));
                    is_list |= before.contains('L');
                    is_typed |= before.contains('S');
                    if letters.contains('t') {
                        table = if after.is_empty() {
                            words.next()?
                        } else {
                            after
                        };
                    }
                }
            }
        }
        let is_known = ["raw", "mangle", "nat", "filter", "security"].contains(&table);
        ((is_list || is_typed) && is_known).then(|| Self {
            table: table.into(),
            family: Some(if program.starts_with("ip6") {
                Family::V6
            } else {
                Family::V4
            }),
            backend: match program.split_once('-').map(|it| it.1) {
                Some("legacy") => Backend::Legacy,
                Some(_) => Backend::Iptables,
                None => Backend::Unsaid,
            },
            is_typed,
        })
    }
}
