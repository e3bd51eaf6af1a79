//! One text, line by line.

use super::Rules;
use super::conntrack;
use super::foreign::Foreign;
use super::ipset;
use super::ipvs;
use super::list;
use super::nft;
use super::note::{Note, Unreadable};
use super::save;
use super::text::{LineAt, Lines, Text, View};
use crate::text::{Place, escaped};

/// The line that comes before what `kdns path --save` writes.
const SAVED: &[u8] = b"# kdns path: ";

/// So much of a line is looked at for the beginning of a JSON document.
const LOOK_FOR_JSON: usize = 1 << 16;

/// So much of a line is shown in a message.
const SHOWN: usize = 40;

/// One text while it is read.
pub(super) struct Reading<'t> {
    index: u16,
    text: &'t dyn Text,
    save: save::Indexer,
    list: list::Indexer,
    listing: nft::ListingIndexer,
    ipsets: Vec<ipset::Set>,
    ipvs: ipvs::Taken,
    /// The first line that is not empty.
    first: Option<(u32, String)>,
    foreign: Option<(Foreign, u32)>,
    last_line: u32,
    is_known: bool,
}

impl<'t> Reading<'t> {
    pub(super) fn new(index: u16, text: &'t dyn Text) -> Self {
        Self {
            index,
            text,
            save: save::Indexer::default(),
            list: list::Indexer::default(),
            listing: nft::ListingIndexer::default(),
            ipsets: Vec::new(),
            ipvs: ipvs::Taken::default(),
            first: None,
            foreign: None,
            last_line: 1,
            is_known: false,
        }
    }

    pub(super) fn read_text(&mut self, rules: &mut Rules) -> std::io::Result<()> {
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
        let is_taken = (self.listing.is_open() && self.listing.take(line, view))
            || self.list.take(line, view)
            || (!line.starts_with(b"-A -") && self.save.take(line, view))
            || self.listing.take(line, view);
        if is_taken {
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
        if let Some(command) = save::Command::parse(plain) {
            self.list.after(&command);
            self.save.after(&command);
            return;
        }
        if self.first.is_none() {
            let start: String = plain.chars().take(SHOWN).collect();
            self.first = Some((number, escaped(start.as_bytes())));
        }
        let is_taken =
            self.ipvs.take(plain, number) || ipset::take(&mut self.ipsets, plain, number);
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
        Place::new(self.text.name().to_owned(), line as usize, 1)
    }

    /// Reads a JSON document, whose array begins at `array`; gives where the
    /// text goes on behind it.
    fn json(&mut self, rules: &mut Rules, array: View) -> std::io::Result<(u64, u32)> {
        self.is_known = true;
        let length = self.text.length().saturating_sub(array.start);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        let read = self.text.read_at(array.start, &mut bytes)?;
        bytes.truncate(read);
        let found = nft::Indexer::new(&bytes, array).tables();
        let end = found.end;
        self.add(rules, found);
        let passed = bytes.get(..end).unwrap_or_default();
        let lines = memchr::memchr_iter(b'\n', passed).count();
        let lines = u32::try_from(lines).unwrap_or(u32::MAX);
        Ok((array.start + end as u64, array.line.saturating_add(lines)))
    }

    /// Adds what nft has listed.
    fn add(&self, rules: &mut Rules, found: nft::Tables) {
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
    }

    pub(super) fn finish(mut self, rules: &mut Rules) -> Result<(), Unreadable> {
        let name = self.text.name().to_owned();
        let listed = self.list.finish();
        let unclear = self.list.unclear.first().copied();
        if let Some(line) = unclear
            && listed.is_empty()
        {
            return Err(Unreadable::Unclear(self.place(line)));
        }
        if !self.is_known {
            return Err(match (self.foreign, self.first) {
                (Some((what, line)), _) => Unreadable::Foreign {
                    place: Place::new(name, line as usize, 1),
                    what,
                },
                (None, Some((line, start))) => Unreadable::Nothing { name, line, start },
                (None, None) => Unreadable::Empty { name },
            });
        }
        if let Some((what, line)) = self.foreign {
            rules.notes.push(Note::Other {
                place: self.place(line),
                what,
            });
        }
        let end = self.view(0, 0, self.last_line);
        let listed_by_nft = std::mem::take(&mut self.listing).finish(end);
        self.add(rules, listed_by_nft);
        let (place, is_open) = (self.place(self.last_line), self.save.is_open());
        let lists = self.list.unclear.iter().map(|it| (*it, None));
        let taken = self.save.unclear.map(|it| (it, Some("filter")));
        for (line, taken) in lists.chain(taken) {
            let place = self.place(line);
            rules.notes.push(Note::Unclear { place, taken });
        }
        if let Some(line) = self.list.blind {
            rules.notes.push(Note::Blind(self.place(line)));
        }
        let tables = self.save.finish();
        if is_open && let Some(table) = tables.last() {
            rules.notes.push(Note::Cut {
                place,
                table: table.name.clone(),
            });
        }
        rules.tables.extend(tables);
        rules.tables.extend(listed);
        rules.ipsets.extend(self.ipsets);
        let text = self.index;
        let services = self.ipvs.services.into_iter();
        rules.services.extend(services.map(|it| ipvs::Service {
            text,
            ..it.with_each_once()
        }));
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
