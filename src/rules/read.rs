//! All texts together.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::conntrack::{self, Entry};
use super::foreign::Foreign;
use super::ipset;
use super::ipvs;
use super::nft;
use super::note::{Note, Unreadable};
use super::rule::Rule;
use super::save;
use super::table::Table;
use super::text::{LineAt, Lines, Text, View};
use super::{Backend, Family};
use crate::text::{Place, escaped};

/// What texts say about the way of packets.
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

/// The line that comes before what `kdns path --save` writes.
const SAVED: &[u8] = b"# kdns path: ";

/// So much of a line is looked at for the beginning of a JSON document.
const LOOK_FOR_JSON: usize = 1 << 16;

/// A chain of more bytes is one of many Services.
const LONG_CHAIN: u64 = 1 << 16;

/// So much of a line is shown in a message.
const SHOWN: usize = 40;

impl Rules {
    /// Finds out what is in each text. Nothing but an index is kept.
    ///
    /// # Errors
    ///
    /// A text that has nothing in it that is known.
    pub fn read(texts: Vec<Box<dyn Text + Send>>) -> Result<Self, Unreadable> {
        let mut rules = Self::default();
        for (index, text) in texts.iter().enumerate() {
            let mut reading = Reading::new(u16::try_from(index).unwrap_or(u16::MAX), &**text);
            let read = reading.read(&mut rules);
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
            let is_same = |it: &&Table| key(it) == key(table) && it.is_json == table.is_json;
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
            // iptables-save shows whole what nft shows hollow.
            let shows = |it: &Table| {
                !it.is_json
                    && it.backend != Backend::Legacy
                    && it.name == table.name
                    && (it.family.is_none() || it.family == table.family)
            };
            let is_hollow = table.is_json && table.backend == Backend::Iptables;
            if is_hollow && self.tables.iter().any(shows) {
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

    /// The bytes of a view.
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
        Place {
            file: text.map_or_else(String::new, |it| it.name().to_owned()),
            line: view.line as usize,
            column: 1,
        }
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
            if table.is_json {
                let is_six = table.family.map(|it| it == Family::V6);
                rules.extend(nft::rules(&bytes, view, is_six));
            } else {
                rules.extend(save::rules(&bytes, view, chain, towards));
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
    pub fn words(&self, view: View, is_json: bool) -> String {
        let bytes = self.bytes(view);
        if is_json {
            return nft::shown(&bytes);
        }
        escaped(save::plain(&String::from_utf8_lossy(&bytes)).as_bytes())
    }
}

/// One text while it is read.
struct Reading<'t> {
    index: u16,
    text: &'t dyn Text,
    save: save::Indexer,
    ipsets: Vec<ipset::Set>,
    services: Vec<ipvs::Service>,
    /// The first line that is not empty.
    first: Option<(u32, String)>,
    foreign: Option<(Foreign, u32)>,
    last_line: u32,
    is_known: bool,
}

impl<'t> Reading<'t> {
    fn new(index: u16, text: &'t dyn Text) -> Self {
        Self {
            index,
            text,
            save: save::Indexer::default(),
            ipsets: Vec::new(),
            services: Vec::new(),
            first: None,
            foreign: None,
            last_line: 1,
            is_known: false,
        }
    }

    fn read(&mut self, rules: &mut Rules) -> std::io::Result<()> {
        let (mut at, mut line) = (0, 1);
        while let Some(json) = self.lines(rules, at, line)? {
            (at, line) = self.json(rules, json)?;
        }
        Ok(())
    }

    /// Reads lines up to a JSON document, and gives the place of its array.
    fn lines(&mut self, rules: &mut Rules, at: u64, line: u32) -> std::io::Result<Option<View>> {
        let mut lines = Lines::new(self.text, at, line);
        let mut json = None;
        while lines.fill()? {
            let is_stopped = lines.each(&mut |line, at| {
                if let Some(start) = json_start(line) {
                    json = Some(self.view(at.start + start as u64, at.end, at.line));
                    return false;
                }
                self.line(rules, line, at);
                true
            });
            if is_stopped {
                return Ok(json);
            }
            let (rest, at, line) = lines.rest();
            let start = rest
                .get(..LOOK_FOR_JSON.min(rest.len()))
                .unwrap_or_default();
            if let Some(start) = json_start(start) {
                return Ok(Some(self.view(at + start as u64, at, line)));
            }
        }
        Ok(None)
    }

    fn view(&self, start: u64, end: u64, line: u32) -> View {
        View {
            text: self.index,
            start,
            end,
            line,
        }
    }

    fn line(&mut self, rules: &mut Rules, line: &[u8], at: LineAt) {
        self.last_line = at.line;
        let view = self.view(at.start, at.end, at.line);
        if line.starts_with(SAVED) {
            rules.saved.push(view);
            self.is_known = true;
            return;
        }
        if !line.starts_with(b"-A -") && self.save.take(line, view) {
            self.is_known = true;
            return;
        }
        if line.len() > LOOK_FOR_JSON {
            return;
        }
        if memchr::memmem::find(line, b"iptables-legacy tables present").is_some() {
            rules.notes.push(Note::LegacyElsewhere(self.place(at.line)));
            return;
        }
        self.other(rules, line, at.line);
    }

    /// A line of another format than that of iptables.
    fn other(&mut self, rules: &mut Rules, line: &[u8], number: u32) {
        let text = String::from_utf8_lossy(line);
        let plain = text.trim().trim_start_matches(['>', '`', '|']).trim_start();
        if plain.is_empty() {
            return;
        }
        if self.first.is_none() {
            let start: String = plain.chars().take(SHOWN).collect();
            self.first = Some((number, escaped(start.as_bytes())));
        }
        let is_taken = ipvs::take(&mut self.services, plain, number)
            || ipset::take(&mut self.ipsets, plain, number);
        if is_taken {
            self.is_known = true;
        } else if let Some(entry) = conntrack::parse(plain, number) {
            rules.conntrack.push(entry);
            self.is_known = true;
        } else if self.foreign.is_none() {
            self.foreign = Foreign::of_line(line).map(|it| (it, number));
        }
    }

    fn place(&self, line: u32) -> Place {
        Place {
            file: self.text.name().to_owned(),
            line: line as usize,
            column: 1,
        }
    }

    /// Reads a JSON document, whose array begins at `array`; gives where the
    /// text goes on behind it.
    fn json(&mut self, rules: &mut Rules, array: View) -> std::io::Result<(u64, u32)> {
        self.is_known = true;
        let length = self.text.length().saturating_sub(array.start);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        let read = self.text.read_at(array.start, &mut bytes)?;
        bytes.truncate(read);
        let found = nft::Indexer::new(&bytes, array).read();
        let offset = rules.tables.len();
        if let Some(cut) = found.cut {
            rules.notes.push(Note::Cut {
                place: self.place(cut.line),
                table: "nftables".into(),
            });
        }
        for other in found.others {
            rules.notes.push(Note::OtherFamily(other));
        }
        rules.tables.extend(found.tables);
        let sets = found.sets.into_iter();
        rules
            .nft_sets
            .extend(sets.map(|((table, name), view)| ((table + offset, name), view)));
        let passed = bytes.get(..found.end).unwrap_or_default();
        let lines = memchr::memchr_iter(b'\n', passed).count();
        let lines = u32::try_from(lines).unwrap_or(u32::MAX);
        Ok((
            array.start + found.end as u64,
            array.line.saturating_add(lines),
        ))
    }

    fn finish(self, rules: &mut Rules) -> Result<(), Unreadable> {
        let name = self.text.name().to_owned();
        if !self.is_known {
            return Err(match (self.foreign, self.first) {
                (Some((what, line)), _) => Unreadable::Foreign {
                    place: Place {
                        file: name,
                        line: line as usize,
                        column: 1,
                    },
                    what: what.to_string(),
                },
                (None, Some((line, start))) => Unreadable::Nothing { name, line, start },
                (None, None) => Unreadable::Empty { name },
            });
        }
        if let Some((what, line)) = self.foreign {
            rules.notes.push(Note::Other {
                place: self.place(line),
                what: what.to_string(),
            });
        }
        let (place, is_open) = (self.place(self.last_line), self.save.is_open());
        let tables = self.save.finish();
        if is_open && let Some(table) = tables.last() {
            rules.notes.push(Note::Cut {
                place,
                table: table.name.clone(),
            });
        }
        rules.tables.extend(tables);
        rules.ipsets.extend(self.ipsets);
        let text = self.index;
        let services = self.services.into_iter();
        rules
            .services
            .extend(services.map(|it| ipvs::Service { text, ..it }));
        Ok(())
    }
}

/// Where the array of `{"nftables": [` begins in a line, behind its bracket.
fn json_start(line: &[u8]) -> Option<usize> {
    const KEY: &[u8] = b"\"nftables\"";
    let at = memchr::memmem::find(line, KEY)? + KEY.len();
    let rest = line.get(at..)?;
    let bracket = rest.iter().position(|it| *it == b'[')?;
    let between = rest.get(..bracket)?;
    let is_it = between.iter().all(|it| b": \t\r".contains(it));
    is_it.then_some(at + bracket + 1)
}
