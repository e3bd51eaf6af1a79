//! Replies that say that there is nothing, by their length.

use super::query::{Query, Record};

/// How much longer than the question replies of a zone are that say that there is
/// nothing: the zone's SOA record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Negative {
    extra: u32,
    /// Of the name seen last, and how many of other lengths agreed.
    length: usize,
    agreed: u8,
    /// Replies to A without an error that are as long as that, and others: where
    /// nearly all are, lengths tell nothing.
    like: u32,
    unlike: u32,
}

impl Negative {
    /// How much longer a reply is than its question.
    fn extra(query: &Query<'_>) -> Option<u32> {
        let question = u32::try_from(query.name.len() + 17).ok()?;
        query.reply?.checked_sub(question)
    }

    /// A reply of the zone that says that there is nothing.
    pub(super) fn learn(&mut self, query: &Query<'_>) {
        let Some(extra) = Self::extra(query) else {
            return;
        };
        if extra != self.extra {
            *self = Self {
                extra,
                length: query.name.len(),
                ..Self::default()
            };
        } else if query.name.len() != self.length {
            self.length = query.name.len();
            self.agreed = self.agreed.saturating_add(1);
        }
    }

    /// Whether a reply without an error has no record of the type, by its length:
    /// that of the question, or that of replies of the zone that have none.
    pub(super) fn is_like(&mut self, query: &Query<'_>) -> bool {
        /// An OPT record.
        const OPT: u32 = 11;
        /// Names of so many lengths must agree.
        const MIN_AGREED: u8 = 3;
        /// So many addresses must have been seen.
        const MIN_UNLIKE: u32 = 3;
        let data = match query.record {
            Record::A => 4,
            Record::Aaaa => 16,
            Record::Other => return false,
        };
        let Some(extra) = Self::extra(query) else {
            return false;
        };
        // Addresses of that name, in full or as a pointer to it.
        let name = u32::try_from(query.name.len() + 1).unwrap_or(u32::MAX);
        let is_of = |record: u32| extra % record == 0 || extra.saturating_sub(OPT) % record == 0;
        let is_addresses = is_of(name.saturating_add(10 + data)) || is_of(12 + data);
        let is_bare = extra == 0 || extra == OPT;
        let is_like = is_bare || (extra == self.extra && !is_addresses);
        if query.record == Record::A {
            self.like += u32::from(is_like);
            self.unlike += u32::from(!is_like);
        }
        let is_telling = self.unlike >= MIN_UNLIKE && self.like <= self.unlike;
        is_telling && is_like && (is_bare || self.agreed >= MIN_AGREED)
    }
}
