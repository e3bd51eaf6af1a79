//! What texts that somebody chose leave out, and whether the answer stands in
//! it.

use std::collections::BTreeSet;

use super::Walk;
use crate::path::tree::Gap;
use crate::path::{RulesKnown, Verdict};
use crate::rules::rule::{Match, Part};
use crate::rules::table::Table;
use crate::rules::{Backend, Family, Note};
use crate::text::ordered;

/// Sets that kube-proxy makes in IPVS mode, and in no other.
const OF_IPVS: [&str; 2] = ["KUBE-CLUSTER-IP", "KUBE-6-CLUSTER-IP"];

/// The chain of kube-proxy that asks for them.
const SERVICES: &str = "KUBE-SERVICES";

/// The tables of a node with kube-proxy that decide about a Service.
const TABLES: [&str; 2] = ["nat", "filter"];

impl Walk<'_> {
    /// The verdict as far as it does not stand in what was not given; notes
    /// that.
    pub(super) fn settled(&mut self, verdict: Verdict) -> Verdict {
        match self.host.known {
            RulesKnown::All => verdict,
            RulesKnown::Part => {
                let tables = TABLES.map(|it| Gap::Table(it.into()));
                self.gaps.extend(tables);
                Verdict::Unknown
            }
            RulesKnown::Chosen => {
                self.missing_tables();
                let is_elsewhere = verdict == Verdict::NoRule && self.is_elsewhere();
                if is_elsewhere {
                    Verdict::Unknown
                } else {
                    verdict
                }
            }
        }
    }

    /// Tables that a paste of one table alone leaves out.
    fn missing_tables(&mut self) {
        let names: BTreeSet<Box<str>> = ordered(self.own_tables().map(|it| it.name.clone()));
        let is_whole = |it: &Table| it.backend == Backend::Nftables || it.is_of_nft();
        let has_none = names.is_empty() && self.host.rules.services.is_empty();
        if self.own_tables().any(is_whole) || names.len() > 1 || has_none {
            return;
        }
        let missing = TABLES.iter().filter(|it| !names.contains(**it));
        self.gaps.extend(missing.map(|it| Gap::Table((*it).into())));
    }

    /// Whether the rule that was not found can stand in a text that was not
    /// given.
    fn is_elsewhere(&mut self) -> bool {
        if !self.host.rules.services.is_empty() {
            return false;
        }
        if self.is_of_ipvs() {
            self.gaps.insert(Gap::Ipvs);
            return true;
        }
        let notes = &self.host.rules.notes;
        if notes.iter().any(|it| matches!(it, Note::Cut { .. })) {
            return true;
        }
        let is_of_iptables = |it: &Table| !it.is_of_nft();
        let translates = |it: &Table| {
            let is_nat = is_of_iptables(it) && &*it.name == "nat";
            is_nat || it.bases.iter().any(|it| it.is_nat)
        };
        if self.own_tables().any(translates) {
            return false;
        }
        let missing = if self.own_tables().any(is_of_iptables) {
            Gap::Table("nat".into())
        } else {
            Gap::Rules(self.family())
        };
        self.gaps.insert(missing);
        true
    }

    /// Whether kube-proxy has written these rules or sets in IPVS mode.
    fn is_of_ipvs(&mut self) -> bool {
        let host = self.host;
        if host
            .rules
            .ipsets
            .iter()
            .any(|it| OF_IPVS.contains(&&*it.name))
        {
            return true;
        }
        let asks = |it: &Part| match it {
            Part::If(test) => {
                matches!(&test.what, Match::Set(name, _) if OF_IPVS.contains(&&**name))
            }
            Part::Do(_) => false,
        };
        let tables = 0..host.rules.tables.len();
        tables
            .filter_map(|it| self.rules(it, SERVICES, Some(self.packet.destination)))
            .any(|rules| rules.iter().any(|it| it.parts.iter().any(asks)))
    }

    /// The tables that packets of this family meet.
    fn own_tables(&self) -> impl Iterator<Item = &Table> {
        let family = self.family();
        let tables = self.host.rules.tables.iter();
        tables.filter(move |it| !it.is_gone && it.family.is_none_or(|it| it == family))
    }

    pub(super) fn family(&self) -> Family {
        if self.packet.destination.is_ipv6() {
            Family::V6
        } else {
            Family::V4
        }
    }
}
