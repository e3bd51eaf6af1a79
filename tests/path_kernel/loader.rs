//! The tools that load rules into the kernel, and print them.

use std::process::Command;

use kdns::text::Source;

use crate::dialect::Dialect;
use crate::namespaces::feed;

/// What loads rules into the kernel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Loader {
    Legacy,
    Iptables,
    Nft,
}

impl Loader {
    pub(crate) const ALL: [Self; 3] = [Self::Legacy, Self::Iptables, Self::Nft];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Legacy => "iptables-legacy",
            Self::Iptables => "iptables-nft",
            Self::Nft => "nft",
        }
    }

    pub(crate) fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|it| it.name() == name).unwrap()
    }

    /// Puts the rules in the place of all others.
    pub(crate) fn load(self, dialect: Dialect, rules: &str) {
        match (self, dialect.is_six) {
            (Self::Legacy, false) => feed(&["iptables-legacy-restore"], rules),
            (Self::Legacy, true) => feed(&["ip6tables-legacy-restore"], rules),
            (Self::Iptables, false) => feed(&["iptables-nft-restore"], rules),
            (Self::Iptables, true) => feed(&["ip6tables-nft-restore"], rules),
            (Self::Nft, _) => feed(&["nft", "-f", "-"], &format!("flush ruleset\n{rules}")),
        }
    }

    /// What is loaded, as the tools print it.
    pub(crate) fn saved(self, dialect: Dialect) -> Vec<Source> {
        let text = |words: &[&str]| Source::new(words.join(" "), output(words));
        let rules = match (self, dialect.is_six) {
            (Self::Legacy, false) => text(&["iptables-legacy-save", "-c"]),
            (Self::Legacy, true) => text(&["ip6tables-legacy-save", "-c"]),
            (Self::Iptables, false) => text(&["iptables-nft-save", "-c"]),
            (Self::Iptables, true) => text(&["ip6tables-nft-save", "-c"]),
            (Self::Nft, _) => return vec![text(&["nft", "-j", "list", "ruleset"])],
        };
        vec![rules, text(&["ipset", "save"])]
    }
}

fn output(words: &[&str]) -> Vec<u8> {
    Command::new(words[0])
        .args(&words[1..])
        .output()
        .unwrap()
        .stdout
}
