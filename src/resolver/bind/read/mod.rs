//! `resolv.conf` as BIND's tools read it: strictly, and word by word rather
//! than line by line.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use crate::address::{Server, inet_aton};
use crate::config::resolv_conf::Word;
use crate::dig::dighost::UDP_TIMEOUT;
use crate::resolver::bind::Program;
use crate::resolver::bind::file::File;
use crate::resolver::bind::values::{is_address, numeric_address, option_number};
use crate::resolver::reading::{Dropped, Origin, Reading, Setting};
use crate::scenario::Scenario;

/// Source: lib/irs/resconf.c: `RESCONFMAXNAMESERVERS` (9.18)
const MAX_NAMESERVERS: usize = 3;
/// Source: lib/irs/resconf.c: `RESCONFMAXSEARCH` (9.18)
const MAX_SEARCH: usize = 8;
/// Source: lib/irs/resconf.c: `RESCONFMAXSORTLIST` (9.18)
const MAX_SORTLIST: usize = 10;
/// Source: lib/irs/resconf.c: `irs_resconf_load`, and for `attempts:0`
/// bin/dig/dighost.c: `setup_system` (9.18)
const TRIES: u32 = 3;

const TOO_MANY_SERVERS: &str = "BIND's tools use the first 3 name servers only";
/// Why a keyword alone is refused.
const NOTHING_FOLLOWS: &str = "nothing follows it, so the tools refuse the file";

/// Reads `/etc/resolv.conf` for one of the programs.
///
/// Source: bin/dig/dighost.c: `setup_system` (9.18)
pub(super) fn setup_system<'a>(scenario: &'a Scenario, program: &Program) -> Reading<'a> {
    let mut conf = Resconf::new(scenario, program);
    if let Err(refused) = conf.load() {
        conf.reading.refused = Some(refused);
    }
    let mut timeout = conf.timeout.unwrap_or(Setting::built_in(0));
    if let (0, Origin::File(span)) = (timeout.value, timeout.origin) {
        conf.reading
            .drop(span, "dig and host take 0 for nothing said");
        timeout = Setting::built_in(0);
    }
    let Resconf { mut reading, .. } = conf;
    if reading.servers.is_empty() {
        let loopback = |ip: IpAddr| Setting::built_in(Server::from(ip));
        reading.servers = vec![
            loopback(Ipv6Addr::LOCALHOST.into()),
            loopback(Ipv4Addr::LOCALHOST.into()),
        ];
        if program.is_9_11 {
            reading.servers.reverse();
        }
    }
    let seconds = match timeout.value {
        0 => UDP_TIMEOUT,
        value => value,
    };
    reading.timeout = Setting {
        value: Duration::from_secs(seconds.into()),
        origin: timeout.origin,
    };
    // 9.11 takes it for the number of further attempts, and before what host says.
    let counts_further = program.is_9_11 && reading.attempts.origin != Origin::BuiltIn;
    if reading.attempts.value == 0 {
        reading.attempts.value = TRIES;
    } else if counts_further {
        reading.attempts.value = reading.attempts.value.saturating_add(1);
        return finish(reading, program);
    }
    if let Some(tries) = program.tries {
        if let Origin::File(span) = reading.attempts.origin {
            let why = format!("{} always makes {tries} tries", program.name);
            reading.drop(span, why);
        }
        reading.attempts = Setting::built_in(tries);
    }
    finish(reading, program)
}

fn finish<'a>(mut reading: Reading<'a>, program: &Program) -> Reading<'a> {
    if !program.search {
        drop_search(&mut reading);
    }
    reading.dropped.sort();
    reading
}

/// Takes away what is not used without `+search`.
fn drop_search(reading: &mut Reading<'_>) {
    let domains = reading.search.drain(..).map(|domain| domain.origin);
    let ndots = reading.ndots.take().map(|ndots| ndots.origin);
    let origins: Vec<Origin> = domains.chain(ndots).collect();
    for origin in origins {
        if let Origin::File(span) = origin {
            reading.drop(span, "dig does not search without `+search`");
        }
    }
}

/// The parser and what it has read.
///
/// Source: lib/irs/resconf.c: `struct irs_resconf` (9.18)
struct Resconf<'a> {
    scenario: &'a Scenario,
    is_9_16: bool,
    is_9_11: bool,
    /// Whether a name server too many comes next.
    surplus: bool,
    file: File<'a>,
    reading: Reading<'a>,
    timeout: Option<Setting<u32>>,
    sortlist: usize,
}

impl<'a> Resconf<'a> {
    fn new(scenario: &'a Scenario, program: &Program) -> Self {
        let bytes = match &scenario.resolv_conf {
            Some(conf) => conf.source.bytes.as_slice(),
            None => &[],
        };
        Self {
            scenario,
            is_9_16: program.is_9_16,
            is_9_11: program.is_9_11,
            surplus: false,
            file: File::new(bytes),
            reading: Reading {
                ndots: Some(Setting::built_in(1)),
                attempts: Setting::built_in(TRIES),
                ..Reading::default()
            },
            timeout: None,
            sortlist: 0,
        }
    }

    /// Reads the whole file. The original goes on after an error, but only
    /// to refuse the file at its end.
    ///
    /// Source: lib/irs/resconf.c: `irs_resconf_load` (9.18)
    fn load(&mut self) -> Result<(), Dropped> {
        loop {
            let (word, stop) = self.file.getword();
            let Some(stop) = stop else {
                self.drop_rest(word);
                return Ok(());
            };
            let surplus = std::mem::take(&mut self.surplus);
            match word.bytes {
                b"" => {}
                b"nameserver" => self.parse_nameserver(word)?,
                b"domain" => self.parse_domain(word)?,
                b"search" => self.parse_search(word)?,
                b"sortlist" => self.parse_sortlist(word)?,
                b"options" => self.parse_option(word)?,
                _ => {
                    let why = if surplus {
                        TOO_MANY_SERVERS
                    } else {
                        "BIND's tools do not know this keyword"
                    };
                    self.reading.drop(word.span, why);
                    // 9.16 skips the next line where the keyword is alone.
                    let skips = self.is_9_16 || stop != b'\n';
                    if skips && self.file.eatline().is_none() {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// A word that does not fit its buffer ends the file, and so does one
    /// that the file ends with.
    fn drop_rest(&mut self, word: Word<'a>) {
        if !word.span.is_empty() {
            let why = "BIND's tools stop reading at a word that is so long or has no line end";
            self.reading.drop(word.span, why);
        }
    }

    /// Source: lib/irs/resconf.c: `resconf_parsenameserver` (9.18)
    fn parse_nameserver(&mut self, keyword: Word<'a>) -> Result<(), Dropped> {
        let is_full = self.reading.servers.len() == MAX_NAMESERVERS;
        if is_full && self.is_9_11 {
            // What follows is read as a line of its own.
            self.surplus = true;
            return Ok(());
        }
        let word = self.only_word(keyword)?;
        if is_full {
            self.reading.drop(word.span, TOO_MANY_SERVERS);
            return Ok(());
        }
        let takes_all = !self.is_9_16 || self.is_9_11;
        let address = numeric_address(word.bytes, self.scenario, self.is_9_16)
            .filter(|it| it.ip.is_ipv6() || takes_all || is_address(word.bytes))
            .filter(|_| !self.is_9_16 || word.bytes != b"*");
        let Some(address) = address else {
            if self.is_9_11 {
                self.reading.drop(word.span, "it is not an address");
                return Ok(());
            }
            let why = "it is not an address, so the tools refuse the file";
            return Err(refused(word, why));
        };
        let server = Setting::file(Server::from(address), word.span);
        self.reading.servers.push(server);
        Ok(())
    }

    /// Source: lib/irs/resconf.c: `resconf_parsedomain` (9.18)
    fn parse_domain(&mut self, keyword: Word<'a>) -> Result<(), Dropped> {
        let word = self.only_word(keyword)?;
        self.clear_search();
        self.push_search(word);
        Ok(())
    }

    /// The only word behind `nameserver` or `domain`.
    fn only_word(&mut self, keyword: Word<'a>) -> Result<Word<'a>, Dropped> {
        let (word, mut stop) = self.file.getword();
        if word.bytes.is_empty() {
            return Err(refused(keyword, NOTHING_FOLLOWS));
        }
        if matches!(stop, Some(b' ' | b'\t')) {
            stop = self.file.eatwhite();
        }
        match stop {
            None | Some(b'\n') => Ok(word),
            Some(b'\r') => Err(refused(
                word,
                "a carriage return follows it, so the tools refuse the file",
            )),
            Some(_) => Err(refused(
                word,
                "another word follows it, so the tools refuse the file",
            )),
        }
    }

    /// Source: lib/irs/resconf.c: `resconf_parsesearch` (9.18)
    fn parse_search(&mut self, keyword: Word<'a>) -> Result<(), Dropped> {
        self.clear_search();
        self.for_each_word(keyword, |conf, word| {
            if conf.reading.search.len() == MAX_SEARCH {
                let why = "BIND's tools use the first 8 domains only";
                conf.reading.drop(word.span, why);
            } else {
                conf.push_search(word);
            }
            Ok(())
        })
    }

    fn push_search(&mut self, word: Word<'a>) {
        let domain = Setting::file(Cow::Borrowed(word.bytes), word.span);
        self.reading.search.push(domain);
    }

    fn clear_search(&mut self) {
        for domain in std::mem::take(&mut self.reading.search) {
            if let Origin::File(span) = domain.origin {
                let why = "a later `domain` or `search` replaces it";
                self.reading.drop(span, why);
            }
        }
    }

    /// Source: lib/irs/resconf.c: `resconf_parsesortlist` (9.18)
    fn parse_sortlist(&mut self, keyword: Word<'a>) -> Result<(), Dropped> {
        self.for_each_word(keyword, |conf, word| {
            if conf.sortlist == MAX_SORTLIST {
                let why = "it is the 11th of the list, so the tools refuse the file";
                return Err(refused(word, why));
            }
            let mut parts = word.bytes.splitn(2, |&byte| byte == b'/');
            let is_old_address = |it| conf.is_9_11 && inet_aton(it).is_some();
            if !parts.all(|it| is_address(it) || is_old_address(it)) {
                let why = "it is not ADDRESS or ADDRESS/MASK, so the tools refuse the file";
                return Err(refused(word, why));
            }
            conf.sortlist += 1;
            let why = "BIND's tools read the list but never sort by it";
            conf.reading.drop(word.span, why);
            Ok(())
        })
    }

    /// Source: lib/irs/resconf.c: `resconf_parseoption` (9.18)
    fn parse_option(&mut self, keyword: Word<'a>) -> Result<(), Dropped> {
        self.for_each_word(keyword, |conf, word| {
            let before;
            if let Some(value) = word.bytes.strip_prefix(b"ndots:") {
                let number = number(word, value)?;
                before = conf.reading.ndots.replace(number);
            } else if conf.is_9_16 && !conf.is_9_11 {
                let why = "BIND's tools do not use this option before 9.18";
                conf.reading.drop(word.span, why);
                return Ok(());
            } else if let Some(value) = word.bytes.strip_prefix(b"attempts:") {
                let number = conf.number(word, value)?;
                before = Some(std::mem::replace(&mut conf.reading.attempts, number));
            } else if let Some(value) = word.bytes.strip_prefix(b"timeout:") {
                let number = conf.number(word, value)?;
                before = conf.timeout.replace(number);
            } else {
                let why = "BIND's tools do not use this option";
                conf.reading.drop(word.span, why);
                return Ok(());
            }
            if let Some(Origin::File(span)) = before.map(|before| before.origin) {
                conf.reading.drop(span, "a later option replaces it");
            }
            Ok(())
        })
    }

    /// A number of seconds or attempts, of any size in 9.11.
    fn number(&self, word: Word<'_>, text: &[u8]) -> Result<Setting<u32>, Dropped> {
        let large = std::str::from_utf8(text)
            .ok()
            .and_then(|it| it.parse().ok());
        match large.filter(|_| self.is_9_11) {
            Some(value) => Ok(Setting::file(value, word.span)),
            None => number(word, text),
        }
    }

    /// The words behind a keyword: those of its line or, when nothing at all
    /// stands behind the keyword, of the next line.
    fn for_each_word(
        &mut self,
        keyword: Word<'a>,
        mut take: impl FnMut(&mut Self, Word<'a>) -> Result<(), Dropped>,
    ) -> Result<(), Dropped> {
        let (mut word, mut stop) = self.file.getword();
        if word.bytes.is_empty() {
            return Err(refused(keyword, NOTHING_FOLLOWS));
        }
        while !word.bytes.is_empty() {
            take(self, word)?;
            if matches!(stop, None | Some(b'\n')) {
                break;
            }
            (word, stop) = self.file.getword();
        }
        Ok(())
    }
}

/// The setting of a number option.
fn number(word: Word<'_>, text: &[u8]) -> Result<Setting<u32>, Dropped> {
    let why = "its value is not a number from 0 to 255, so the tools refuse the file";
    let value = option_number(text).ok_or_else(|| refused(word, why))?;
    Ok(Setting::file(value, word.span))
}

fn refused(word: Word<'_>, why: &'static str) -> Dropped {
    Dropped {
        span: word.span,
        why: why.into(),
    }
}

#[cfg(test)]
mod tests;
