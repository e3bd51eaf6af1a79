//! Commands that are suggested, so that a shell takes each word as it is meant.

use std::fmt;

use crate::text::escaped;

/// A command line to run next.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Command(String);

impl Command {
    /// What kdns says itself: a program, perhaps with its first words, after a pipe or `&&`.
    pub(crate) fn new(said: impl Into<String>) -> Self {
        Self(said.into())
    }

    /// The same with one more argument, which can come from anywhere: in quotes
    /// where a shell would make something else of it.
    #[must_use]
    pub(crate) fn arg(self, word: impl fmt::Display) -> Self {
        Self(format!("{self} {}", quoted(&word.to_string())))
    }

    /// Adds words, each as one argument.
    #[must_use]
    pub(crate) fn args(self, words: impl IntoIterator<Item: fmt::Display>) -> Self {
        words.into_iter().fold(self, Self::arg)
    }

    /// As it is written.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A word that can come from anywhere, as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let word = escaped(word.as_bytes());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./_-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word;
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_each_argument_as_it_is() {
        for (word, expected) in [
            ("shop/web-0", "kdns explain shop/web-0"),
            ("@10.0.0.1", "kdns explain @10.0.0.1"),
            ("*.db", "kdns explain '*.db'"),
            ("a b", "kdns explain 'a b'"),
            ("", "kdns explain ''"),
            ("it's;rm", r"kdns explain 'it'\''s;rm'"),
            ("$(id)", "kdns explain '$(id)'"),
            ("~/f", "kdns explain '~/f'"),
        ] {
            let command = Command::new("kdns explain").arg(word);
            assert_eq!(command.to_string(), expected);
        }
    }
}
