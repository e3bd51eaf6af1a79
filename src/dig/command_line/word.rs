//! Words that are no options: names, types, classes, servers.

use super::{ANY, AXFR, Current, End, IXFR, Line, MAX_GREETING, Parser, is_ixfr, number, server};
use crate::dig::lookup::Lookup;
use crate::dig::mnemonic::{class_of, type_of};

impl Parser {
    /// A word that is no option: type, class or name.
    pub(super) fn word(&mut self, line: &mut Line<'_>, word: &[u8]) -> Result<(), End> {
        if line.open_type_class {
            let rdtype = if is_ixfr(word) {
                Some(IXFR)
            } else {
                match type_of(word) {
                    Some(IXFR) => {
                        self.err(";; Warning, ixfr requires a serial number");
                        return Ok(());
                    }
                    other => other,
                }
            };
            if let Some(rdtype) = rdtype {
                return self.set_type(line, rdtype, word);
            }
            if let Some(class) = class_of(word) {
                self.set_class(line, class);
                return Ok(());
            }
        }
        if !line.config_only {
            self.name(line, word);
        }
        Ok(())
    }

    /// A name: options that follow apply to it.
    pub(super) fn name(&mut self, line: &mut Line<'_>, name: &[u8]) {
        self.begin_lookup(line);
        let cut = name.get(..MAX_GREETING).unwrap_or(name);
        self.lookup(line).text = cut.to_vec();
        self.greet(line);
    }

    /// Appends a copy of the default lookup, or the one that waits for a name.
    pub(super) fn begin_lookup(&mut self, line: &mut Line<'_>) {
        let lookup = match std::mem::replace(&mut line.current, Current::Last) {
            Current::Fresh(lookup) => *lookup,
            _ if line.need_clone => self.default.clone(),
            _ => Lookup::default(),
        };
        line.need_clone = true;
        line.lookups.push(lookup);
    }

    pub(super) fn set_type(
        &mut self,
        line: &mut Line<'_>,
        rdtype: u16,
        word: &[u8],
    ) -> Result<(), End> {
        if self.lookup(line).rdtype_set {
            self.err(";; Warning, extra type option");
        }
        let (question, comments) = (self.plus_question, self.plus_comments);
        let lookup = self.lookup(line);
        lookup.rdtype = rdtype;
        lookup.rdtype_set = true;
        lookup.ixfr_serial = 0;
        if matches!(rdtype, IXFR | AXFR) {
            lookup.print.question = question;
            lookup.print.comments = comments;
        }
        if matches!(rdtype, IXFR | ANY) && !lookup.tcp_set {
            lookup.tcp = true;
        }
        if rdtype == IXFR {
            let digits = word.get(5..).unwrap_or_default();
            let serial = number::uint(digits, u32::MAX).map_err(|why| {
                self.invalid("serial number", digits, why);
                self.fatal("Couldn't parse serial number")
            })?;
            self.lookup(line).ixfr_serial = serial;
        }
        Ok(())
    }

    pub(super) fn set_class(&mut self, line: &mut Line<'_>, class: u16) {
        if self.lookup(line).rdclass_set {
            self.err(";; Warning, extra class option");
        }
        let lookup = self.lookup(line);
        lookup.rdclass = class;
        lookup.rdclass_set = true;
    }

    /// `@server`; whether the line is still read.
    pub(super) fn server(&mut self, line: &mut Line<'_>, word: &[u8]) -> Result<bool, End> {
        let found = match server::read_server(word, &self.surroundings.addresses, self.families) {
            Ok(found) => found,
            Err(why) => {
                let shown = String::from_utf8_lossy(word);
                let why = format!("couldn't get address for '{shown}': {why}");
                if line.is_batch && !line.config_only {
                    self.err(format!("{why}: skipping lookup"));
                    line.lookups.pop();
                    return Ok(false);
                }
                return Err(self.fatal(&why));
            }
        };
        self.address_count = found.len();
        let lookup = self.lookup(line);
        if found.iter().any(|server| server.secure.is_some()) {
            lookup.tcp = true;
            lookup.tcp_set = true;
        }
        lookup.servers.extend(found);
        Ok(true)
    }

    /// Writes the greeting of the line's first lookup.
    ///
    /// Source: BIND bin/dig/dig.c: `printgreeting` (9.18)
    pub(super) fn greet(&mut self, line: &mut Line<'_>) {
        if !std::mem::replace(&mut line.first, false) || !self.globals.show_command {
            return;
        }
        let first = !std::mem::replace(&mut self.greeted, true);
        let mut text = if first { b"\n".to_vec() } else { Vec::new() };
        text.extend(format!("; <<>> {} <<>>", self.surroundings.version).into_bytes());
        for word in line.words {
            text.push(b' ');
            text.extend(*word);
        }
        text.truncate(MAX_GREETING.saturating_sub(1));
        text.push(b'\n');
        if first && self.address_count != 0 {
            let count = self.address_count;
            let plural = if count > 1 { "s" } else { "" };
            text.extend(format!("; ({count} server{plural} found)\n").into_bytes());
        }
        if first {
            let short = if self.globals.short { " +short" } else { "" };
            text.extend(format!(";; global options:{short} +cmd\n").into_bytes());
        }
        if let Some(lookup) = line.lookups.last_mut() {
            lookup.greeting = text;
        }
    }
}
