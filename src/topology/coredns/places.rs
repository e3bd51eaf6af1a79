//! Places in the files of a Corefile, many of them.

use crate::config::corefile::{At, Corefile};
use crate::text::{Lines, Place};

/// Knows the lines of each file.
#[derive(Debug)]
pub(super) struct Places<'c>(Vec<Lines<'c>>);

impl<'c> Places<'c> {
    pub(super) fn new(corefile: &'c Corefile) -> Self {
        Self(corefile.sources.iter().map(Lines::new).collect())
    }

    /// Where a word stands, for people, without counting every line before it.
    pub(super) fn place(&self, at: At) -> Place {
        let file = self.0.get(at.source);
        file.map_or_else(|| Place::new("", 1, 1), |it| it.place_of(at.span.start))
    }
}
