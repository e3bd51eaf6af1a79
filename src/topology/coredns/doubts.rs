//! What cannot be told from a Corefile.

use crate::text::Place;

/// More sentences than this say nothing more.
const MAX_SENTENCES: usize = 20;

/// Whole sentences without a full stop, by what follows from them.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    /// All of them.
    pub(super) unknown: Vec<String>,
    /// Those that can hide where queries are sent.
    pub(super) hides: Vec<String>,
    /// The first one with which CoreDNS does not start.
    pub(super) stops: Option<String>,
}

impl Doubts {
    /// Something worth knowing.
    pub(super) fn note(&mut self, sentence: String) {
        self.unknown.push(sentence);
    }

    /// Something that can hide where queries are sent.
    pub(super) fn hide(&mut self, sentence: String) {
        self.hides.push(sentence.clone());
        self.unknown.push(sentence);
    }

    /// Something with which CoreDNS ends at its start.
    pub(super) fn stop(&mut self, reason: &str, place: &Place) {
        let sentence = format!("CoreDNS does not start with this Corefile: {reason} ({place})");
        self.stops.get_or_insert_with(|| sentence.clone());
        self.unknown.push(sentence);
    }

    /// Each once, and not too many of them.
    pub(super) fn short(mut self) -> Self {
        for list in [&mut self.unknown, &mut self.hides] {
            list.dedup();
            list.truncate(MAX_SENTENCES);
        }
        self
    }
}
