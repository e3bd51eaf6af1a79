//! All texts together.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::Backend;
use super::conntrack::Entry;
use super::ipset;
use super::ipvs;
use super::list;
use super::nft;
use super::note::{Note, Unreadable};
use super::reading::Reading;
use super::rule::Rule;
use super::save;
use super::table::{Form, Table};
use super::text::{Text, View};
use crate::text::{Place, escaped};

/// The rules of a node, from what `iptables-save`, `nft` and their like printed.
#[derive(Debug, Default)]
pub struct Rules {
    pub(super) texts: Vec<Box<dyn Text + Send>>,
    /// What was noticed while they were read.
    pub notes: Vec<Note>,
    /// Tables of iptables and nftables.
    pub tables: Vec<Table>,
    /// Sets and maps of nftables, by table and name.
    pub(super) nft_sets: BTreeMap<(usize, Box<str>), View>,
    /// Sets of `ipset`.
    pub ipsets: Vec<ipset::Set>,
    /// IPVS services.
    pub services: Vec<ipvs::Service>,
    /// Entries of the connection tracking table.
    pub conntrack: Vec<Entry>,
    /// What `kdns path --save` wrote beside the rules: a line of JSON each.
    pub saved: Vec<View>,
}

/// A chain of more bytes is one of many Services.
const LONG_CHAIN: u64 = 1 << 16;

impl Rules {
    /// Finds out what is in each text. Nothing but an index is kept.
    ///
    /// # Errors
    ///
    /// A text that has nothing in it that is known.
    pub fn parse(texts: Vec<Box<dyn Text + Send>>) -> Result<Self, Unreadable> {
        let mut rules = Self::default();
        for (index, text) in texts.iter().enumerate() {
            let mut reading = Reading::new(u16::try_from(index).unwrap_or(u16::MAX), &**text);
            let read = reading.read_text(&mut rules);
            read.map_err(|error| Unreadable::Failed {
                name: text.name().to_owned(),
                reason: error.to_string(),
            })?;
            reading.finish(&mut rules)?;
        }
        rules.texts = texts;
        rules.settle();
        Ok(rules)
    }

    /// Takes out tables that are there twice.
    fn settle(&mut self) {
        let key = |it: &Table| (it.family, it.backend, it.name.clone());
        let mut gone = Vec::new();
        for (index, table) in self.tables.iter().enumerate() {
            let is_same = |it: &&Table| key(it) == key(table) && it.form == table.form;
            let mut same = self.tables.iter().filter(is_same);
            // Of lines quoted beside a whole table there may be only a few.
            let whole = same.clone().rfind(|it| it.is_whole);
            let counts = whole.or_else(|| same.next_back());
            if let Some(counts) = counts.filter(|it| !std::ptr::eq(*it, table)) {
                gone.push(index);
                self.notes.push(Note::Twice {
                    place: self.place(counts.view),
                    table: table.name.clone(),
                });
            }
            let is_other = |it: &Table| {
                let is_family = it.family.is_none() || it.family == table.family;
                it.name == table.name && (is_family || table.family.is_none())
            };
            // iptables-save shows whole what nft shows hollow, and a list in its own way.
            let shows = |it: &Table| match table.form {
                Form::Nft => {
                    table.backend == Backend::Iptables
                        && !it.is_of_nft()
                        && it.backend != Backend::Legacy
                        && is_other(it)
                }
                Form::List => it.form == Form::Save && !is_quoted(it) && is_other(it),
                Form::Save => is_quoted(table) && it.form == Form::List && is_other(it),
            };
            if self.tables.iter().any(shows) {
                gone.push(index);
            }
        }
        for index in gone {
            if let Some(table) = self.tables.get_mut(index) {
                table.bases.clear();
                table.is_gone = true;
            }
        }
    }

    /// The bytes that a view stands for, read from its text.
    pub fn bytes(&self, view: View) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(view.end - view.start).unwrap_or_default()];
        let text = self.texts.get(usize::from(view.text));
        let read = text.and_then(|it| it.read_at(view.start, &mut bytes).ok());
        bytes.truncate(read.unwrap_or_default());
        bytes
    }

    /// Where a view begins.
    pub fn place(&self, view: View) -> Place {
        let text = self.texts.get(usize::from(view.text));
        Place::new(
            text.map_or_else(String::new, |it| it.name().to_owned()),
            view.line as usize,
            1,
        )
    }

    /// The names of the texts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|it| it.name())
    }

    /// The rules of a chain; `None`: there is no such chain among the texts.
    pub fn rules(&self, table: usize, chain: &str) -> Option<Vec<Rule>> {
        self.parsed(table, chain, None)
    }

    /// The same of a long chain without rules that are for another address
    /// alone (`None`: with them); and whether it is such a chain.
    pub fn rules_towards(
        &self,
        table: usize,
        chain: &str,
        ip: Option<IpAddr>,
    ) -> Option<(Vec<Rule>, bool)> {
        let views = self.tables.get(table)?.chain(chain)?;
        let is_long = views.iter().map(|it| it.end - it.start).sum::<u64>() > LONG_CHAIN;
        let rules = self.parsed(table, chain, ip.filter(|_| is_long))?;
        Some((rules, is_long))
    }

    fn parsed(&self, table: usize, chain: &str, towards: Option<IpAddr>) -> Option<Vec<Rule>> {
        let table = self.tables.get(table)?;
        let views = table.chain(chain)?;
        let mut rules = Vec::new();
        for view in views {
            let bytes = self.bytes(view);
            match table.form {
                Form::Nft => rules.extend(nft::rules(&bytes, view, table)),
                Form::Save => rules.extend(save::rules(&bytes, view, chain, towards)),
                Form::List => rules.extend(list::rules(&bytes, view, chain)),
            }
        }
        Some(rules)
    }

    /// A set or map of nftables; `None`: there is none of this name.
    pub fn nft_set(&self, table: usize, name: &str) -> Option<nft::Set> {
        let view = self.nft_sets.get(&(table, name.into()))?;
        nft::set(&self.bytes(*view))
    }

    /// The rule under a view as it is written, in one line and safe to print.
    pub fn words(&self, view: View, is_of_nft: bool) -> String {
        let bytes = self.bytes(view);
        if is_of_nft {
            return nft::shown(&bytes);
        }
        let line = String::from_utf8_lossy(&bytes);
        let plain = save::plain(&line);
        if plain.starts_with("-A ") {
            return escaped(plain.as_bytes());
        }
        // The columns of a list are as wide as its widest row.
        let words: Vec<&str> = plain.split_whitespace().collect();
        escaped(words.join(" ").as_bytes())
    }
}

/// Whether only rules of a table are there, as a ticket quotes them.
fn is_quoted(table: &Table) -> bool {
    !table.is_whole && table.bases.iter().all(|it| it.accepts.is_none())
}
