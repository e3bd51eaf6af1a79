//! What stands where in `iptables -L`.

use super::bare;
use super::row::{self, Columns};
use crate::rules::save::{Command, Evidence, begins_table};
use crate::rules::table::{Base, Hook, Table};
use crate::rules::{Backend, Family, View};

/// Reads lines, and keeps where the rows of each chain stand.
#[derive(Debug, Default)]
pub(in crate::rules) struct Indexer {
    tables: Vec<Table>,
    /// The chains that one command has listed.
    block: Vec<Listed>,
    /// What they show of their table.
    evidence: Evidence,
    family: Option<Family>,
    /// The command line that was seen before them.
    command: Option<Command>,
    /// The chain whose rows come: its columns, from its second line on.
    columns: Option<Columns>,
    is_inside: bool,
    /// The first line of a listing without interfaces.
    pub(in crate::rules) blind: Option<u32>,
    /// The first lines of listings of which the table is not clear.
    pub(in crate::rules) unclear: Vec<u32>,
}

/// One chain of a listing.
#[derive(Debug)]
struct Listed {
    name: Box<str>,
    /// Whether its policy accepts; `None`: it has none.
    accepts: Option<bool>,
    packets: Option<u64>,
    view: View,
}

impl Indexer {
    /// The tables.
    pub(in crate::rules) fn finish(&mut self) -> Vec<Table> {
        self.end();
        let mut tables = std::mem::take(&mut self.tables);
        for table in &mut tables {
            table.sort();
        }
        tables
    }

    /// A line that shows the command whose output follows.
    pub(in crate::rules) fn after(&mut self, command: &Command) {
        self.end();
        self.command = Some(command.clone()).filter(|it| !it.is_typed);
    }

    /// Takes a line, without its end; `false`: it is none of this format.
    pub(in crate::rules) fn take(&mut self, line: &[u8], view: View) -> bool {
        // Rules begin with other signs.
        let can_begin = matches!(line.first(), Some(b'C' | b'>' | b'|' | b' ' | b'\t'));
        if !self.is_inside && !can_begin {
            return false;
        }
        let text = String::from_utf8_lossy(line);
        let text = bare(&text);
        if let Some(listed) = heading(text, view) {
            self.begin(listed);
            return true;
        }
        self.is_inside && self.row(text, view)
    }

    fn begin(&mut self, listed: Listed) {
        let last = self.block.last().map(|it| &*it.name);
        if begins_table(last, &listed.name) || self.block.iter().any(|it| it.name == listed.name) {
            self.end();
        }
        self.evidence.chain(&listed.name, listed.accepts);
        self.block.push(listed);
        (self.is_inside, self.columns) = (true, None);
    }

    fn row(&mut self, text: &str, view: View) -> bool {
        let is_known = match self.columns {
            None => {
                self.columns = Columns::from_heading(text);
                let is_blind = self.columns.is_some_and(|it| !it.has_links);
                if is_blind && self.blind.is_none() {
                    self.blind = Some(view.line);
                }
                self.columns.is_some()
            }
            Some(columns) => match row::split(text, columns) {
                Some(row) => {
                    self.evidence.target(row.target);
                    self.family = self.family.or(row.family());
                    true
                }
                None => false,
            },
        };
        self.is_inside = is_known;
        if let (true, Some(last)) = (is_known, self.block.last_mut()) {
            last.view.end = view.end;
        }
        // What a blank line ends is as it should be.
        is_known || text.is_empty()
    }

    /// Ends what one command has listed.
    fn end(&mut self) {
        self.is_inside = false;
        let command = self.command.take();
        let evidence = std::mem::take(&mut self.evidence);
        let seen = self.family.take();
        let block = std::mem::take(&mut self.block);
        let Some(first) = block.first() else {
            self.command = command;
            return;
        };
        let said = command.as_ref().map(|it| it.table.clone());
        let Some(name) = said.or_else(|| evidence.table().map(Into::into)) else {
            self.unclear.push(first.view.line);
            return;
        };
        let family = command.as_ref().map_or(seen, |it| it.family.or(seen));
        let backend = command.map_or(Backend::Unsaid, |it| it.backend);
        let at = self.place(&name, family, backend, &block);
        if let Some(table) = self.tables.get_mut(at) {
            fill(table, block);
        }
    }

    /// The table that the chains belong to: one that other commands have listed
    /// other chains of, or a new one.
    fn place(
        &mut self,
        name: &str,
        family: Option<Family>,
        backend: Backend,
        block: &[Listed],
    ) -> usize {
        let is_new = |it: &Table| block.iter().all(|listed| it.chain(&listed.name).is_none());
        let is_it = |it: &Table| {
            &*it.name == name && it.family == family && it.backend == backend && is_new(it)
        };
        if let Some(at) = self.tables.iter().position(is_it) {
            return at;
        }
        let view = block.first().map_or(
            View {
                text: 0,
                start: 0,
                end: 0,
                line: 1,
            },
            |it| it.view,
        );
        self.tables.push(Table::listed(name, family, backend, view));
        self.tables.len() - 1
    }
}

fn fill(table: &mut Table, block: Vec<Listed>) {
    for listed in block {
        let view = listed.view;
        let chain = &listed.name;
        table.add(chain.as_bytes(), view.start, view.end, view.line);
        if Hook::of_chain(chain).is_some() {
            let accepts = listed.accepts;
            let base = Base::of_iptables(&table.name, chain, accepts, listed.packets, view);
            table.bases.extend(base);
        }
    }
    table.sort();
}

/// `Chain INPUT (policy ACCEPT 1 packets, 60 bytes)`, `Chain A (2 references)`.
fn heading(text: &str, view: View) -> Option<Listed> {
    let (name, rest) = text.trim_start().strip_prefix("Chain ")?.split_once(" (")?;
    let inner = rest.strip_suffix(')')?;
    let mut words = inner.split_whitespace();
    let (accepts, packets) = match words.next()? {
        "policy" => {
            let accepts = match words.next()? {
                "ACCEPT" => true,
                "DROP" => false,
                _ => return None,
            };
            (Some(accepts), words.next().and_then(|it| it.parse().ok()))
        }
        _ if words.next()? == "references" => (None, None),
        _ => return None,
    };
    Some(Listed {
        name: name.into(),
        accepts,
        packets,
        view,
    })
}
