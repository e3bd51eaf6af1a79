//! The names of a lookup: the search list, and what comes after a name that
//! does not exist.

use std::borrow::Cow;

use crate::name::{Name, NameError};
use crate::resolver::bind::dighost::{Dighost, Exit, Lookup};
use crate::resolver::bind::name::{BadName, fromtext};
use crate::resolver::bind::print::Trouble;
use crate::resolver::reading::Setting;

/// So many lookups may follow from one before the program gives up.
/// Source: bin/dig/dighost.h: `LOOKUP_LIMIT` (9.18)
const LOOKUP_LIMIT: u32 = 64;

impl<'a> Dighost<'a> {
    /// The name that `lookup` asks for; `None` if it is too long.
    ///
    /// Source: bin/dig/dighost.c: `setup_lookup` (9.18)
    pub(super) fn setup_lookup(&mut self, lookup: &mut Lookup) -> Result<Option<Name>, Exit> {
        if lookup.new_search {
            self.lookup_counter = 0;
            let dots = lookup.textname.iter().filter(|&&byte| byte == b'.').count();
            if dots >= self.ndots() || !self.program.search {
                lookup.origin = None;
                lookup.done_as_is = true;
                lookup.need_search = self.program.search;
            } else {
                lookup.origin = self.entry(0);
                lookup.need_search = false;
            }
        }
        match self.name(lookup) {
            Ok(Ok(name)) => Ok(Some(name)),
            Ok(Err(_)) if lookup.origin.is_some() => Ok(None),
            Ok(Err(_)) | Err(BadName) => {
                self.transcript.print_trouble(Trouble::BadName);
                Err(Exit)
            }
        }
    }

    fn name(&self, lookup: &Lookup) -> Result<Result<Name, NameError>, BadName> {
        let origin = match lookup.origin.and_then(|at| self.search().get(at)) {
            Some(origin) => fromtext(&origin.value)?.labels,
            None => Name::root(),
        };
        Ok(fromtext(&lookup.textname)?.concatenate(&origin))
    }

    /// Puts a lookup with the next origin in front of the list; whether there
    /// was one.
    ///
    /// Source: bin/dig/dighost.c: `next_origin` (9.18)
    pub(super) fn next_origin(&mut self, old: &Lookup) -> Result<bool, Exit> {
        if !self.program.search {
            return Ok(false);
        }
        // Dots are counted in the text, labels in the name: an escaped dot
        // makes a difference.
        if let Ok(name) = fromtext(&old.textname)
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
        self.requeue_lookup(new)?;
        Ok(true)
    }

    /// Source: bin/dig/dighost.c: `requeue_lookup`, `clone_lookup` (9.18)
    pub(super) fn requeue_lookup(&mut self, lookup: Lookup) -> Result<(), Exit> {
        self.lookup_counter += 1;
        if self.lookup_counter > LOOKUP_LIMIT {
            self.io.note("gives up: \"too many lookups\"");
            return Err(Exit);
        }
        self.lookup_list.push_front(Lookup {
            new_search: false,
            ..lookup
        });
        Ok(())
    }

    fn ndots(&self) -> usize {
        let ndots = self.configuration.reading.ndots.unwrap_or_default();
        usize::try_from(ndots.value).unwrap_or(usize::MAX)
    }

    fn search(&self) -> &[Setting<Cow<'a, [u8]>>] {
        &self.configuration.reading.search
    }

    /// The index, if the search list is so long.
    fn entry(&self, at: usize) -> Option<usize> {
        (at < self.search().len()).then_some(at)
    }
}
