//! A text as what is seen is looked for in it: sentences together, each row of a listing alone.

use std::ops::Range;

use crate::why::pattern::{Alike, Match, Pattern, Searched};

/// A text, and where it has rows.
pub(super) struct Seen<'t> {
    alike: &'t Alike,
    /// All of it that may say something.
    pub(super) all: Searched<'t>,
    /// The same with blanks in the place of rows.
    text: String,
    small: String,
    rows: Vec<Range<usize>>,
}

impl<'t> Seen<'t> {
    /// The first bytes of a text, up to `end`, with these rows.
    pub(super) fn of(alike: &'t Alike, rows: &[Range<usize>], end: usize) -> Self {
        let all = alike.searched().upto(alike.place_of(end));
        let rows: Vec<Range<usize>> = rows
            .iter()
            .map(|it| alike.place_of(it.start)..alike.place_of(it.end))
            .collect();
        let without = |text: &str| {
            let mut out = text.to_owned();
            for row in &rows {
                if out.get(row.clone()).is_some() {
                    out.replace_range(row.clone(), &" ".repeat(row.len()));
                }
            }
            out
        };
        Self {
            alike,
            all,
            text: without(all.text),
            small: without(all.small),
            rows,
        }
    }

    fn sentences(&self) -> Searched<'_> {
        Searched {
            text: &self.text,
            small: &self.small,
        }
    }

    /// Whether somebody complains in sentences.
    pub(super) fn complains(&self) -> bool {
        Pattern::complaint().is_said_in(self.sentences())
    }

    /// Where sentences, or a row, say it.
    pub(super) fn find(&'t self, pattern: &Pattern) -> Option<Match<'t>> {
        let is_row = |at: &Match<'_>| {
            let mut rows = self.rows.iter();
            rows.any(|it| it.start <= at.start && at.end <= it.end)
        };
        let at = pattern.find(self.sentences());
        let at = at.or_else(|| pattern.find(self.all).filter(is_row))?;
        let (start, end) = (self.alike.place(at.start), self.alike.place(at.end));
        Some(Match { start, end, ..at })
    }
}
