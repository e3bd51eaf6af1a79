//! The names of a lookup: the search list, and what comes after a name that
//! does not exist.

use std::borrow::Cow;

use super::{Dighost, Exit, Pending};
use crate::dig::lookup::Lookup;
use crate::dig::name::{TextName, fromtext};
use crate::dig::printed::Printed;
use crate::name::Name;

/// So many lookups may follow from one.
/// Source: BIND bin/dig/dighost.h: `LOOKUP_LIMIT` (9.18)
const LOOKUP_LIMIT: u32 = 64;

impl Dighost {
    /// The name to ask for; `None` if it is too long with its origin.
    ///
    /// Source: BIND bin/dig/dighost.c: `setup_lookup` (9.18)
    pub(super) fn setup(&mut self, pending: &mut Pending) -> Result<Option<Name>, Exit> {
        let lookup = std::rc::Rc::clone(&pending.lookup);
        let text = match converted(&lookup) {
            Ok(text) => text,
            Err(why) => return Err(self.fatal(Printed::Stderr(why))?),
        };
        if pending.new_search {
            self.counter = 0;
            let dots = text.iter().filter(|&&byte| byte == b'.').count();
            if dots >= self.ndots() || !self.settings.use_search {
                pending.origin = None;
                pending.done_as_is = true;
                pending.need_search = self.settings.use_search;
            } else if pending.origin.is_none() {
                pending.origin = self.entry(0);
                pending.need_search = false;
            }
        }
        let shown = || String::from_utf8_lossy(&lookup.text).into_owned();
        let name = fromtext(&text);
        let Some(origin) = pending.origin.and_then(|at| self.settings.search.get(at)) else {
            let whole = name
                .ok()
                .and_then(|name| name.concatenate(&Name::root()).ok());
            if whole.is_none() {
                let why = format!("'{}' is not a legal name ({})", shown(), bad_name(&text));
                self.print(Printed::BadName(why))?;
                return Err(Exit(10));
            }
            return Ok(whole);
        };
        let illegal = |shown: &str, text: &[u8]| {
            let why = bad_name(text);
            self.fatal(Printed::BadName(format!(
                "'{shown}' is not in legal name syntax ({why})"
            )))
        };
        let Ok(TextName { labels, .. }) = fromtext(origin) else {
            return Err(illegal(&String::from_utf8_lossy(origin), origin)?);
        };
        match name {
            Ok(name) => Ok(name.concatenate(&labels).ok()),
            Err(_) => Err(illegal(&shown(), &text)?),
        }
    }

    fn ndots(&self) -> usize {
        usize::try_from(self.settings.ndots).unwrap_or(usize::MAX)
    }

    /// The index, if the search list is so long.
    fn entry(&self, at: usize) -> Option<usize> {
        (at < self.settings.search.len()).then_some(at)
    }

    /// Puts the lookup with the next entry of the search list in front;
    /// whether there was one.
    ///
    /// Source: BIND bin/dig/dighost.c: `next_origin` (9.18)
    pub(super) fn next_origin(&mut self, old: &Pending) -> Result<bool, Exit> {
        if !self.settings.use_search {
            return Ok(false);
        }
        // Dots are counted in the text, labels in the name: an escaped dot
        // makes a difference.
        if let Ok(name) = fromtext(&old.lookup.text)
            && (name.absolute || name.labels.labels().count() > self.ndots())
        {
            return Ok(false);
        }
        let mut new = old.clone();
        match old.origin {
            None if !old.need_search => return Ok(false),
            None => {
                new.origin = self.entry(0);
                new.need_search = false;
            }
            Some(at) => {
                new.origin = self.entry(at + 1);
                if new.origin.is_none() && old.done_as_is {
                    return Ok(false);
                }
            }
        }
        self.requeue(new)?;
        Ok(true)
    }

    /// Puts a lookup in front of those that wait.
    ///
    /// Source: BIND bin/dig/dighost.c: `requeue_lookup` (9.18)
    pub(super) fn requeue(&mut self, pending: Pending) -> Result<(), Exit> {
        self.counter += 1;
        if self.counter > LOOKUP_LIMIT {
            self.io.note("gives up: \"too many lookups\"");
            return Err(self.fatal(Printed::Stderr("too many lookups".to_owned()))?);
        }
        self.waiting.push_front(Pending {
            new_search: false,
            ..pending
        });
        Ok(())
    }
}

/// The name as it is asked for: with `+idnin`, in ASCII (RFC 5891).
fn converted(lookup: &Lookup) -> Result<Cow<'_, [u8]>, String> {
    let is_encoded = |label: &[u8]| {
        let start = label.get(..4);
        start.is_some_and(|start| start.eq_ignore_ascii_case(b"xn--"))
    };
    let has_encoded = lookup.text.split(|&byte| byte == b'.').any(is_encoded);
    if !lookup.idn_in || lookup.text.is_ascii() && !has_encoded {
        return Ok(Cow::Borrowed(&lookup.text));
    }
    let shown = String::from_utf8_lossy(&lookup.text).into_owned();
    let ascii = std::str::from_utf8(&lookup.text)
        .ok()
        .and_then(|text| idna::domain_to_ascii(text).ok());
    // What differs in its case only stays as it is.
    let own = |ascii: String| {
        let same = ascii.as_bytes().eq_ignore_ascii_case(&lookup.text);
        if same {
            Cow::Borrowed(lookup.text.as_slice())
        } else {
            Cow::Owned(ascii.into_bytes())
        }
    };
    ascii
        .map(own)
        .ok_or_else(|| format!("'{shown}' is not a legal IDNA2008 name, use +noidnin"))
}

/// Why a text is no name, in BIND's words.
fn bad_name(text: &[u8]) -> &'static str {
    let mut labels = text
        .strip_suffix(b".")
        .unwrap_or(text)
        .split(|&byte| byte == b'.');
    let slashes = text.iter().rev().take_while(|&&byte| byte == b'\\').count();
    if text.is_empty() || slashes % 2 == 1 {
        "unexpected end of input"
    } else if labels.clone().any(<[u8]>::is_empty) {
        "empty label"
    } else if text.windows(2).any(|pair| pair == b"\\[") {
        "bad label type"
    } else if text.contains(&b'\\') {
        "bad escape"
    } else if labels.any(|label| label.len() > 63) {
        "label too long"
    } else {
        "name too long"
    }
}
