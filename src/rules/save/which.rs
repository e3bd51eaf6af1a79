//! Which table of iptables chains and rules are of, where no line says it.

use std::collections::BTreeSet;

use crate::text::WordList;

/// The tables with their built-in chains. Before Linux 2.6.36 nat had no INPUT.
const TABLES: [(&str, &[&str]); 5] = [
    ("filter", &["FORWARD", "INPUT", "OUTPUT"]),
    ("nat", &["INPUT", "OUTPUT", "POSTROUTING", "PREROUTING"]),
    ("nat", &["OUTPUT", "POSTROUTING", "PREROUTING"]),
    (
        "mangle",
        &["FORWARD", "INPUT", "OUTPUT", "POSTROUTING", "PREROUTING"],
    ),
    ("raw", &["OUTPUT", "PREROUTING"]),
];

/// How chains begin that only nat has.
const NAT_CHAINS: WordList = WordList(
    "KUBE-SVC- KUBE-SVL- KUBE-SEP- KUBE-EXT- KUBE-XLB- KUBE-FW- KUBE-POSTROUTING KUBE-MARK-",
);

/// How chains begin that only filter has.
const FILTER_CHAINS: WordList = WordList(
    "KUBE-FORWARD KUBE-EXTERNAL-SERVICES KUBE-PROXY-FIREWALL KUBE-POD-FW- KUBE-NWPLCY- \
     DOCKER-USER DOCKER-ISOLATION-",
);

/// Targets that only one table takes.
const TARGETS: [(&str, WordList); 4] = [
    ("nat", WordList("DNAT SNAT MASQUERADE REDIRECT")),
    ("filter", WordList("REJECT")),
    ("raw", WordList("CT NOTRACK")),
    ("mangle", WordList("TPROXY")),
];

/// Whether a built-in chain behind another chain begins the next table: lists
/// have them in the order in which packets meet them, and then all others.
pub(in crate::rules) fn begins_table(last: Option<&str>, name: &str) -> bool {
    let is_base = |it: &str| TABLES.iter().any(|of| of.1.contains(&it));
    match (last, name) {
        (None, _) => false,
        (Some(_), "PREROUTING") => true,
        (Some(last), "INPUT") => last != "PREROUTING",
        (Some(last), _) => is_base(name) && !is_base(last),
    }
}

/// What is seen of a table.
#[derive(Debug, Default)]
pub(in crate::rules) struct Evidence {
    bases: BTreeSet<&'static str>,
    proof: Option<&'static str>,
    is_dropping: bool,
}

impl Evidence {
    /// A chain, with its policy.
    pub(in crate::rules) fn chain(&mut self, name: &str, accepts: Option<bool>) {
        let bases = TABLES.iter().flat_map(|it| it.1);
        self.bases.extend(bases.filter(|it| **it == name));
        self.is_dropping |= accepts == Some(false);
        self.proof = self.proof.or(of_chain(name));
    }

    /// The target of a rule.
    pub(in crate::rules) fn target(&mut self, name: &str) {
        let target = TARGETS.iter().find(|it| it.1.has(name)).map(|it| it.0);
        self.proof = self.proof.or(target).or(of_chain(name));
        // filter has none of these.
        let is_early = self.bases.contains("PREROUTING") || self.bases.contains("POSTROUTING");
        if name == "KUBE-SERVICES" && is_early {
            self.proof = self.proof.or(Some("nat"));
        }
    }

    /// The table; `None`: it can be of several.
    pub(in crate::rules) fn table(&self) -> Option<&'static str> {
        if self.proof.is_some() {
            return self.proof;
        }
        let has_all = |of: &[&str]| of.len() == self.bases.len();
        let fits = |of: &[&str]| self.bases.iter().all(|it| of.contains(it));
        let mut fitting = TABLES
            .iter()
            .filter(|it| fits(it.1) && !self.bases.is_empty());
        if let Some(whole) = fitting.clone().find(|it| has_all(it.1)) {
            return Some(whole.0);
        }
        // Policies of other tables are left as they are.
        if self.is_dropping && fitting.clone().any(|it| it.0 == "filter") {
            return Some("filter");
        }
        let first = fitting.next()?;
        fitting.all(|it| it.0 == first.0).then_some(first.0)
    }
}

fn of_chain(name: &str) -> Option<&'static str> {
    let table = |of: WordList, table| of.begins(name).then_some(table);
    table(NAT_CHAINS, "nat").or(table(FILTER_CHAINS, "filter"))
}

/// The table that a rule is of by what it does, or whose chain it is in.
pub(super) fn proof(chain: &[u8], line: &[u8]) -> Option<&'static str> {
    let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    let nat: [&[u8]; 4] = [b"-j DNAT", b"-j SNAT", b"-j MASQUERADE", b"-j REDIRECT"];
    let raw: [&[u8]; 2] = [b"-j NOTRACK", b"-j CT --notrack"];
    let nat_chains: [&[u8]; 5] = [
        b"KUBE-SVC-",
        b"KUBE-SEP-",
        b"KUBE-EXT-",
        b"KUBE-POSTROUTING",
        b"KUBE-MARK-MASQ",
    ];
    if nat.iter().any(|it| has(it)) || nat_chains.iter().any(|it| chain.starts_with(it)) {
        return Some("nat");
    }
    raw.iter().any(|it| has(it)).then_some("raw")
}

/// The table that a rule is most likely of.
pub(super) fn guess(chain: &[u8], line: &[u8]) -> Option<&'static str> {
    let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    if let Some(table) = proof(chain, line) {
        return Some(table);
    }
    if chain == b"POSTROUTING" {
        return Some("nat");
    }
    if chain == b"KUBE-SERVICES" || chain == b"KUBE-NODEPORTS" || chain == b"PREROUTING" {
        let refuses = has(b"-j REJECT") || has(b"-j DROP");
        return Some(if refuses { "filter" } else { "nat" });
    }
    if chain == b"FORWARD" || chain == b"INPUT" || has(b"-j REJECT") || has(b"-j DROP") {
        return Some("filter");
    }
    None
}
