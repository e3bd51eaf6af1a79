//! Lists of words, written as texts.

/// Words with blanks between them.
#[derive(Clone, Copy, Debug)]
pub struct WordList(pub &'static str);

impl WordList {
    /// The words, in their order.
    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        self.0.split_ascii_whitespace()
    }

    /// Whether the text begins with one of them.
    pub fn begins(self, text: &str) -> bool {
        self.iter().any(|it| text.starts_with(it))
    }

    /// Whether the word is one of them.
    pub fn has(self, word: impl AsRef<[u8]>) -> bool {
        self.iter().any(|it| it.as_bytes() == word.as_ref())
    }
}
