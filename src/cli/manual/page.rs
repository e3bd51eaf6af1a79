//! What a page consists of.

/// The page of a command.
#[derive(Clone, Copy, Debug)]
pub struct Manual {
    /// The command; `""` is kdns itself.
    pub command: &'static str,
    /// How it is called, one form a line.
    pub usage: &'static str,
    /// What it does, in paragraphs.
    pub description: &'static str,
    /// What to try.
    pub examples: &'static [Example],
    /// What the help says below the examples.
    pub notes: &'static str,
    /// Exit statuses and their meaning.
    pub status: &'static [(&'static str, &'static str)],
    /// Files that are read, and what for.
    pub files: &'static [(&'static str, &'static str)],
    /// Variables that count, and how.
    pub environment: &'static [(&'static str, &'static str)],
    /// Other pages.
    pub see_also: &'static str,
}

/// A command that a reader can type.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// What it is for.
    pub what: &'static str,
    /// The command.
    pub line: &'static str,
    /// Whether the page shows what it prints; its files are then those of
    /// `testdata/manual`.
    pub is_shown: bool,
}

/// An example that is only named.
pub(super) const fn try_it(what: &'static str, line: &'static str) -> Example {
    Example {
        what,
        line,
        is_shown: false,
    }
}

/// An example with what it prints.
pub(super) const fn shown(what: &'static str, line: &'static str) -> Example {
    Example {
        what,
        line,
        is_shown: true,
    }
}
