//! A text as what is seen is looked for in it: sentences together, each row of a listing alone.

use std::ops::Range;

use crate::why::listing;
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
    /// The rows of what is one thing.
    joined: Vec<Range<usize>>,
    complains: bool,
    /// Whether sentences complain of DNS: rows then show what they are about.
    is_about_rows: bool,
}

impl<'t> Seen<'t> {
    /// The first bytes of a text, up to `end`.
    pub(super) fn of(alike: &'t Alike, text: &str, end: usize) -> Self {
        let all = alike.searched().upto(alike.place_of(end));
        let placed = |it: &Range<usize>| alike.place_of(it.start)..alike.place_of(it.end);
        let rows: Vec<Range<usize>> = listing::rows(text).iter().map(placed).collect();
        let joined = listing::failing(text);
        let without = |text: &str| {
            let mut out = text.to_owned();
            for row in &rows {
                if out.get(row.clone()).is_some() {
                    out.replace_range(row.clone(), &" ".repeat(row.len()));
                }
            }
            out
        };
        let (text, small) = (without(all.text), without(all.small));
        let sentences = Searched {
            text: &text,
            small: &small,
        };
        Self {
            alike,
            all,
            complains: Pattern::complaint().is_said_in(sentences),
            is_about_rows: Pattern::complaint_of_dns().is_said_in(sentences),
            text,
            small,
            rows,
            joined: joined.iter().map(placed).collect(),
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
        self.complains
    }

    /// Where sentences, a row, or rows of one thing say it; where sentences complain of DNS, all of
    /// the text together.
    pub(super) fn find(&'t self, pattern: &Pattern) -> Option<Match<'t>> {
        let is_row = |at: &Match<'_>| {
            let mut rows = self.rows.iter();
            self.is_about_rows || rows.any(|it| it.start <= at.start && at.end <= it.end)
        };
        let at = pattern.find(self.sentences());
        let at = at.or_else(|| pattern.find(self.all).filter(is_row));
        let in_joined = |it: &Range<usize>| {
            let at = pattern.find(self.all.upto(it.end).from(it.start))?;
            let (start, end) = (at.start + it.start, at.end + it.start);
            Some(Match { start, end, ..at })
        };
        let at = at.or_else(|| self.joined.iter().find_map(in_joined))?;
        let (start, end) = (self.alike.place(at.start), self.alike.place(at.end));
        Some(Match { start, end, ..at })
    }
}
