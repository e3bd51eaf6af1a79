//! What stands where in the JSON of `nft -j list ruleset`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::scan::{Object, objects};
use crate::rules::table::{Base, Hook, Table};
use crate::rules::{Backend, Family, View};

/// The tables of nftables, and where their sets and maps are written.
#[derive(Debug, Default)]
#[expect(clippy::struct_field_names, reason = "these are their names")]
pub(in crate::rules) struct Tables {
    /// The tables.
    pub(in crate::rules) tables: Vec<Table>,
    /// Sets and maps by table and name.
    pub(in crate::rules) sets: BTreeMap<(usize, Box<str>), View>,
    /// Where an object begins that does not end.
    pub(in crate::rules) cut: Option<View>,
    /// Where the array ends, from its beginning.
    pub(in crate::rules) end: usize,
    /// Tables of `bridge`, `netdev` and `arp`, which no packet of ours meets here.
    pub(in crate::rules) others: Vec<Box<str>>,
}

/// Reads one document.
#[derive(Debug)]
pub(in crate::rules) struct Indexer<'t> {
    bytes: &'t [u8],
    view: View,
    found: Tables,
    /// The last chain that a rule was in, and where its rules stand.
    open: Option<(usize, Box<str>, u64, u64, u32)>,
}

#[derive(Deserialize)]
struct Entry<'t> {
    #[serde(borrow)]
    table: Option<Head<'t>>,
    #[serde(borrow)]
    chain: Option<Head<'t>>,
    #[serde(borrow)]
    rule: Option<Head<'t>>,
    #[serde(borrow)]
    set: Option<Head<'t>>,
    #[serde(borrow)]
    map: Option<Head<'t>>,
}

#[derive(Deserialize)]
struct Head<'t> {
    #[serde(borrow, default)]
    family: std::borrow::Cow<'t, str>,
    #[serde(borrow, default)]
    table: std::borrow::Cow<'t, str>,
    #[serde(borrow, default)]
    name: std::borrow::Cow<'t, str>,
    #[serde(borrow, default)]
    chain: std::borrow::Cow<'t, str>,
    #[serde(rename = "type")]
    kind: Option<serde_json::Value>,
    hook: Option<String>,
    prio: Option<i32>,
    policy: Option<String>,
}

/// Packets of ours do not come to a table.
struct NeverMet;

impl Tables {
    /// The index of a table, which a paste need not have listed.
    pub(super) fn table(&mut self, family: &str, name: &str, view: View) -> Option<usize> {
        let of = self.family(family, name).ok()?;
        let is_it = |it: &Table| it.family == of && &*it.name == name;
        let known = self.tables.iter().rposition(is_it);
        known.or_else(|| self.another(family, name, view))
    }

    /// The index of a new table of this name.
    pub(super) fn another(&mut self, family: &str, name: &str, view: View) -> Option<usize> {
        let family = self.family(family, name).ok()?;
        let table = Table::new(name, family, Backend::Nftables, view);
        self.tables.push(table);
        Some(self.tables.len() - 1)
    }

    /// The family of a table whose chains packets of ours meet.
    fn family(&mut self, family: &str, name: &str) -> Result<Option<Family>, NeverMet> {
        match family {
            "ip" => Ok(Some(Family::V4)),
            "ip6" => Ok(Some(Family::V6)),
            "inet" => Ok(None),
            other => {
                let other = format!("{other} {name}").into();
                if !self.others.contains(&other) {
                    self.others.push(other);
                }
                Err(NeverMet)
            }
        }
    }

    /// Adds a base chain.
    pub(super) fn base(&mut self, table: usize, base: Base) {
        let Some(table) = self.tables.get_mut(table) else {
            return;
        };
        // iptables-nft's own tables have its chains and no others at a hook.
        let is_iptables = ["raw", "mangle", "nat", "filter", "security"].contains(&&*table.name);
        if is_iptables && Hook::of_chain(&base.chain) == Some(base.hook) {
            table.backend = Backend::Iptables;
        }
        table.bases.push(base);
    }
}

impl<'t> Indexer<'t> {
    /// For the array of the document: `bytes` begin behind `"nftables": [`.
    pub(in crate::rules) fn new(bytes: &'t [u8], view: View) -> Self {
        Self {
            bytes,
            view,
            found: Tables::default(),
            open: None,
        }
    }

    /// The tables.
    pub(in crate::rules) fn tables(mut self) -> Tables {
        let (all, cut, end) = objects(self.bytes);
        self.found.end = end;
        for object in all {
            let bytes = self.bytes.get(object.start..object.end);
            let entry = serde_json::from_slice::<Entry<'_>>(bytes.unwrap_or_default());
            if let Ok(entry) = entry {
                self.entry(&entry, self.at(object));
            }
        }
        self.flush();
        self.found.cut = cut.map(|it| self.at(it));
        for table in &mut self.found.tables {
            table.is_whole = true;
            table.sort();
        }
        self.found
    }

    fn at(&self, object: Object) -> View {
        View {
            text: self.view.text,
            start: self.view.start + object.start as u64,
            end: self.view.start + object.end as u64,
            line: self.view.line + object.line,
        }
    }

    fn entry(&mut self, entry: &Entry<'_>, view: View) {
        if let Some(table) = &entry.table {
            self.found.table(&table.family, &table.name, view);
        } else if let Some(chain) = &entry.chain {
            self.chain(chain, view);
        } else if let Some(rule) = &entry.rule {
            self.rule(rule, view);
        } else if let Some(set) = entry.set.as_ref().or(entry.map.as_ref())
            && let Some(table) = self.found.table(&set.family, &set.table, view)
        {
            self.found
                .sets
                .insert((table, set.name.as_ref().into()), view);
        }
    }

    fn chain(&mut self, chain: &Head<'_>, view: View) {
        let Some(index) = self.found.table(&chain.family, &chain.table, view) else {
            return;
        };
        if let Some(table) = self.found.tables.get_mut(index) {
            table.add(chain.name.as_bytes(), view.start, view.start, view.line);
        }
        let hook = chain.hook.as_ref();
        let hook = hook.and_then(|it| Hook::of_chain(&it.to_ascii_uppercase()));
        let Some(hook) = hook else { return };
        let kind = chain.kind.as_ref().and_then(|it| it.as_str());
        let base = Base {
            chain: chain.name.as_ref().into(),
            hook,
            priority: chain.prio.unwrap_or(0),
            is_nat: kind == Some("nat"),
            accepts: Some(chain.policy.as_deref() != Some("drop")),
            view,
            packets: None,
        };
        self.found.base(index, base);
    }

    fn rule(&mut self, rule: &Head<'_>, view: View) {
        let Some(table) = self.found.table(&rule.family, &rule.table, view) else {
            return;
        };
        if let Some(open) = &mut self.open
            && open.0 == table
            && *open.1 == *rule.chain
        {
            open.3 = view.end;
            return;
        }
        self.flush();
        let chain = rule.chain.as_ref().into();
        self.open = Some((table, chain, view.start, view.end, view.line));
    }

    fn flush(&mut self) {
        if let Some((table, chain, start, end, line)) = self.open.take()
            && let Some(table) = self.found.tables.get_mut(table)
        {
            table.add(chain.as_bytes(), start, end, line);
        }
    }
}
