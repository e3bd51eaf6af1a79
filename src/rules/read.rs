//! All texts together.

use super::conntrack::Entry;
use super::text::{Text, View};

/// What texts say about the way of packets.
#[derive(Debug, Default)]
pub struct Rules {
    pub(super) texts: Vec<Box<dyn Text + Send>>,
    /// What was noticed while they were read.
    pub notes: Vec<Note>,
    /// Entries of the connection tracking table.
    pub conntrack: Vec<Entry>,
    /// What `kdns path --save` wrote beside the rules: a line of JSON each.
    pub saved: Vec<View>,
}

/// Something about a text that a reader of the answer must know.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Note {
}

/// A text that says nothing about the way of packets.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unreadable {
    /// It is empty.
    #[error("{name} is empty")]
    Empty {
        /// The text.
        name: String,
    },
}

impl Rules {
    /// Finds out what is in each text. Nothing but an index is kept.
    ///
    /// # Errors
    ///
    /// A text that has nothing in it that is known, or that ends in the middle.
    pub fn read(texts: Vec<Box<dyn Text + Send>>) -> Result<Self, Unreadable> {
        Ok(Self { texts, ..Self::default() })
    }

    /// The bytes of a view.
    pub fn bytes(&self, view: View) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(view.end - view.start).unwrap_or_default()];
        let text = self.texts.get(usize::from(view.text));
        let read = text.and_then(|it| it.read_at(view.start, &mut bytes).ok());
        bytes.truncate(read.unwrap_or_default());
        bytes
    }
}
