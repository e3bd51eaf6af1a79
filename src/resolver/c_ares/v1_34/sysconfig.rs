//! How c-ares from 1.24 on reads files and environment.
//!
//! Source: c-ares 1.34 `src/lib/ares_sysconfig_files.c`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::config::resolv_conf::{ResolvConf, Word};
use crate::resolver::c_ares::config::{Config, Defaults, Sysconfig};
use crate::resolver::c_ares::name::c_string;
use crate::resolver::c_ares::v1_18;
use crate::resolver::c_ares::v1_34::buffer::{
    fits, is_print, nonwhitespace, parse_uint, part, split, strtoul, text, trim,
};
use crate::resolver::c_ares::v1_34::update_servers::ares_sconfig_append_fromstr;
use crate::resolver::c_ares::v1_34::version::Version;
use crate::resolver::reading::{Dropped, Origin, Setting};
use crate::scenario::Scenario;

/// Room for a keyword, its zero byte included.
const KEYWORD_BUFFER: usize = 32;
/// Room for a value.
const VALUE_BUFFER: usize = 512;
/// More attempts than this are ignored.
const MOST_TRIES: u32 = 255;
const ONE_DOMAIN: &str = "`domain` takes only one";
const ZERO: &str = "0 is no value for it";
/// No limit on the number of parts.
const ANY: usize = usize::MAX;
/// C's `isspace`.
const OLD_BLANKS: &[u8] = b" \t\r\x0b\x0c";

/// Reads what counts for a channel.
struct Reader<'a> {
    read: Sysconfig<'a>,
    version: &'a Version,
}

/// An empty list of domains, or one that is not printable, is taken for a
/// lack of memory (`ARES_ENOMEM`), and so are empty options.
struct NoMemory;

/// Reads everything that a channel depends on.
///
/// Source: c-ares 1.34 `src/lib/ares_init.c: ares_init_options`,
/// `src/lib/ares_sysconfig.c: ares_init_by_sysconfig`.
pub(in crate::resolver::c_ares) fn config<'a>(
    scenario: &'a Scenario,
    version: &'a Version,
) -> Config<'a> {
    let mut reader = Reader {
        read: Sysconfig::default(),
        version,
    };
    let done = reader.init_sysconfig_files(scenario);
    let mut read = reader.read;
    if let Err(refused) = done {
        // Nothing of it is applied, not even what was read before.
        read = Sysconfig {
            dropped: read.dropped,
            refused: Some(refused),
            ..Sysconfig::default()
        };
    }
    if read.refused.is_none() {
        let usual = Setting::built_in(version.usual_ndots);
        read.ndots = read.ndots.or(Some(usual));
    }
    let defaults = Defaults {
        timeout: 2000,
        tries: 3,
        edns_size: version.edns_size,
    };
    read.init_by_defaults(scenario, defaults)
}

fn lines(file: &ResolvConf) -> Vec<Word<'_>> {
    split(text(&file.source.bytes), b"\n", ANY, true)
}

/// `word` up to the first `#` or `;`.
fn before_comment(word: Word<'_>) -> Word<'_> {
    let comment = word
        .bytes
        .iter()
        .position(|byte| matches!(byte, b'#' | b';'));
    part(word, 0..comment.unwrap_or(word.bytes.len()))
}

impl<'a> Reader<'a> {
    /// Source: c-ares 1.34 `src/lib/ares_sysconfig_files.c: ares_init_sysconfig_files,
    /// ares_init_by_environment`.
    fn init_sysconfig_files(&mut self, scenario: &'a Scenario) -> Result<(), Dropped> {
        for line in scenario.resolv_conf.iter().flat_map(lines) {
            self.parse_resolv_line(line).map_err(|NoMemory| Dropped {
                span: line.span,
                why: if nonwhitespace(line).0.bytes == b"lookup" {
                    "an unknown word of `lookup` makes c-ares ignore all files and variables".into()
                } else {
                    "an empty list of domains makes c-ares ignore all files and variables".into()
                },
            })?;
        }
        if self.version.is_before_1_28 {
            let last = v1_18::lookups_of_files(scenario).last();
            self.read.lookups = last.or(self.read.lookups.take());
        } else {
            self.parse_lookup_files(scenario);
        }
        self.init_by_environment(scenario).map_err(|NoMemory| Dropped {
            span: crate::text::Span::default(),
            why: "`LOCALDOMAIN` or `RES_OPTIONS` is empty or not printable, which makes c-ares ignore all files and variables".into(),
        })
    }

    fn parse_lookup_files(&mut self, scenario: &Scenario) {
        for line in scenario.nsswitch.iter().flat_map(lines) {
            self.parse_lookup_line(line, b":", b" \t");
        }
        for path in ["/etc/netsvc.conf", "/etc/svc.conf"] {
            let bytes = scenario.files.get(path).map_or(&[][..], Vec::as_slice);
            for line in split(text(bytes), b"\n", ANY, true) {
                self.parse_lookup_line(line, b"=", b",");
            }
        }
    }

    fn drop(&mut self, word: Word<'_>, why: &'static str) {
        self.read.dropped.push(word.span, why);
    }

    /// Source: c-ares 1.34 `src/lib/ares_sysconfig_files.c: ares_init_by_environment`.
    fn init_by_environment(&mut self, scenario: &'a Scenario) -> Result<(), NoMemory> {
        if let Some(list) = scenario.env("LOCALDOMAIN") {
            let origin = Origin::Environment("LOCALDOMAIN");
            let list = text(c_string(list));
            if self.version.is_before_1_28 {
                self.config_search(nonwhitespace(list).0, ANY, Some(origin))?;
            } else {
                self.config_search(list, 1, Some(origin))?;
            }
        }
        if let Some(options) = scenario.env("RES_OPTIONS") {
            let origin = Origin::Environment("RES_OPTIONS");
            self.set_options(text(c_string(options)), Some(origin))?;
        }
        Ok(())
    }

    /// Source: c-ares 1.34 `src/lib/ares_sysconfig_files.c: ares_sysconfig_parse_resolv_line`.
    fn parse_resolv_line(&mut self, line: Word<'a>) -> Result<(), NoMemory> {
        let is_old = self.version.is_before_1_28;
        let line = if is_old { before_comment(line) } else { line };
        if matches!(line.bytes.first(), None | Some(b'#' | b';')) {
            return Ok(());
        }
        let (keyword, value) = nonwhitespace(line);
        // Blanks before a comment count as part of the value here.
        let mut value = trim(value);
        if self.version.strict_files {
            value = before_comment(value);
        }
        if trim(value).bytes.is_empty() {
            self.drop(line, "it has no value");
            return Ok(());
        }
        let fits = fits(keyword.bytes, KEYWORD_BUFFER) && fits(value.bytes, VALUE_BUFFER);
        if !fits && !is_old {
            self.drop(line, "a TAB or another byte that is not printable, or more than 511 bytes, make c-ares skip the line");
            return Ok(());
        }
        let value = trim(value);
        match keyword.bytes {
            b"domain" if is_old => {
                let (domain, more) = nonwhitespace(value);
                if !more.bytes.is_empty() {
                    self.drop(trim(more), ONE_DOMAIN);
                }
                return self.config_search(domain, ANY, None);
            }
            b"lookup" if is_old => {
                let lookups = v1_18::config_lookup(value.bytes, b'b', b'b', b'f');
                self.read.lookups = Some(lookups.ok_or(NoMemory)?);
            }
            b"domain" if self.read.domains.is_some() => {
                self.drop(
                    line,
                    "there are domains already, and `domain` does not replace them",
                );
            }
            b"domain" => return self.config_search(value, 1, None),
            b"search" => return self.config_search(value, ANY, None),
            b"lookup" | b"hostresorder" if !is_old => self.config_lookup(value, b" \t"),
            b"nameserver" => {
                let Sysconfig {
                    servers, dropped, ..
                } = &mut self.read;
                ares_sconfig_append_fromstr(servers, dropped, value, self.version);
            }
            b"options" => return self.set_options(value, None),
            // It sorts addresses only.
            b"sortlist" => {}
            _ => self.drop(line, "c-ares does not know it"),
        }
        Ok(())
    }

    /// Sets the search list, split at commas and blanks, without repetitions.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_sysconfig_files.c: config_search`,
    /// `src/lib/str/ares_strsplit.c: ares_strsplit`.
    fn config_search(
        &mut self,
        list: Word<'a>,
        most: usize,
        origin: Option<Origin>,
    ) -> Result<(), NoMemory> {
        for old in self.read.domains.take().into_iter().flatten() {
            if let Origin::File(span) = old.origin {
                let why = "a later `search`, `domain` or `LOCALDOMAIN` replaces it";
                self.read.dropped.push(span, why);
            }
        }
        let mut domains: Vec<Setting<Cow<'a, [u8]>>> = Vec::new();
        let mut known = BTreeSet::new();
        for domain in split(list, b", ", ANY, false) {
            if self.version.checks_domains && !is_print(domain.bytes) {
                return Err(NoMemory);
            }
            let lower = domain.bytes.to_ascii_lowercase();
            let repeats = known.contains(&lower);
            if !repeats && domains.len() < most {
                known.insert(lower);
                domains.push(Setting {
                    value: Cow::Borrowed(domain.bytes),
                    origin: origin.unwrap_or(Origin::File(domain.span)),
                });
            } else if origin.is_none() {
                self.drop(
                    domain,
                    if repeats {
                        "it is repeated"
                    } else {
                        ONE_DOMAIN
                    },
                );
            }
        }
        if domains.is_empty() {
            return Err(NoMemory);
        }
        self.read.domains = Some(domains);
        Ok(())
    }

    /// A line of `nsswitch.conf` or `svc.conf`; only `hosts` counts.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_sysconfig_files.c: parse_nsswitch_line,
    /// parse_svcconf_line`.
    fn parse_lookup_line(&mut self, line: Word<'_>, delimiter: &[u8], separators: &[u8]) {
        if line.bytes.starts_with(b"#") {
            return;
        }
        if let [database, values] = split(line, delimiter, 2, true).as_slice()
            && database.bytes == b"hosts"
        {
            self.config_lookup(*values, separators);
        }
    }

    /// The order of hosts file and DNS: a later line with any known word wins.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_sysconfig_files.c: config_lookup`.
    fn config_lookup(&mut self, values: Word<'_>, separators: &[u8]) {
        let words = split(values, separators, ANY, true);
        if !words.iter().all(|word| is_print(word.bytes)) {
            return;
        }
        let mut lookups = String::new();
        for word in words {
            let lookup = match word.bytes.to_ascii_lowercase().as_slice() {
                b"dns" | b"bind" | b"resolv" | b"resolve" => 'b',
                b"files" | b"file" | b"local" => 'f',
                b"bind4" | b"bind6" if self.version.strict_files => 'b',
                b"local4" | b"local6" if self.version.strict_files => 'f',
                _ => continue,
            };
            if !lookups.contains(lookup) {
                lookups.push(lookup);
            }
        }
        if !lookups.is_empty() {
            self.read.lookups = Some(lookups);
        }
    }

    /// Source: c-ares 1.34 `src/lib/ares_sysconfig_files.c: ares_sysconfig_set_options`.
    fn set_options(&mut self, options: Word<'a>, origin: Option<Origin>) -> Result<(), NoMemory> {
        let is_old = self.version.is_before_1_28;
        if options.bytes.is_empty() && !is_old {
            return Err(NoMemory);
        }
        let blanks: &[u8] = if is_old { OLD_BLANKS } else { b" \t" };
        for option in split(options, blanks, ANY, true) {
            let origin_of_it = origin.unwrap_or(Origin::File(option.span));
            let applied = if is_old {
                let start = option.span.start.saturating_sub(options.span.start) as usize;
                let rest = options.bytes.get(start..).unwrap_or_default();
                self.process_old_option(option.bytes, rest, origin_of_it)
            } else {
                self.process_option(option, origin_of_it)
            };
            if let (Err(why), None) = (applied, origin) {
                self.drop(option, why);
            }
        }
        Ok(())
    }

    /// A number is read on in `rest`, behind blanks. 0 undoes what was said before.
    ///
    /// Source: c-ares 1.27 `src/lib/ares_sysconfig_files.c: set_options`.
    fn process_old_option(
        &mut self,
        option: &[u8],
        rest: &[u8],
        origin: Origin,
    ) -> Result<(), &'static str> {
        let number = |keywords: &[&[u8]], unit: u32| {
            let keyword = keywords.iter().find(|it| option.starts_with(it))?;
            let rest = rest.get(keyword.len()..).unwrap_or_default();
            let value = strtoul(rest.trim_ascii_start()).saturating_mul(unit);
            Some((value != 0).then_some(Setting { value, origin }))
        };
        let (slot, number) = if let Some(ndots) = number(&[b"ndots:"], 1) {
            (&mut self.read.ndots, ndots)
        } else if let Some(time) = number(&[b"retrans:"], 1).or(number(&[b"timeout:"], 1000)) {
            (&mut self.read.timeout, time)
        } else if let Some(tries) = number(&[b"retry:", b"attempts:"], 1) {
            (&mut self.read.tries, tries)
        } else if option.starts_with(b"rotate") {
            self.read.rotate = Some(origin);
            return Ok(());
        } else {
            return Err("c-ares does not know it");
        };
        *slot = number;
        number.map(|_| ()).ok_or(ZERO)
    }

    /// A later setting replaces an earlier one. An option without its value
    /// has the value 0.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_sysconfig_files.c: process_option`.
    fn process_option(&mut self, option: Word<'_>, origin: Origin) -> Result<(), &'static str> {
        let parts = split(option, b":", 2, true);
        if !parts.iter().all(|part| is_print(part.bytes)) {
            return Err("it is not printable");
        }
        let (key, value) = match parts.as_slice() {
            [key] => (key.bytes, 0),
            [key, value] if self.version.strict_files => (
                key.bytes,
                parse_uint(value.bytes).ok_or("its value is no number")?,
            ),
            [key, value] => (key.bytes, strtoul(value.bytes)),
            _ => return Err("it has no name"),
        };
        let setting = Setting { value, origin };
        match key {
            b"ndots" if value == 0 && !self.version.ndots_can_be_0 => {
                self.read.ndots = None;
                return Err(ZERO);
            }
            b"ndots" => self.read.ndots = Some(setting),
            b"retrans" | b"timeout" | b"retry" | b"attempts" if value == 0 => {
                return Err(ZERO);
            }
            b"retry" | b"attempts" if value > MOST_TRIES && self.version.strict_files => {
                return Err("more than 255 attempts are taken for a mistake");
            }
            b"retrans" | b"timeout" => {
                let value = value.wrapping_mul(1000);
                self.read.timeout = (value != 0).then_some(Setting { value, origin });
            }
            b"retry" | b"attempts" => self.read.tries = Some(setting),
            b"rotate" => self.read.rotate = Some(origin),
            b"use-vc" | b"usevc" => {
                self.read.use_vc = true;
                return Err("c-ares reads it, but its default flags then overwrite it");
            }
            _ => return Err("c-ares does not know it"),
        }
        Ok(())
    }
}
