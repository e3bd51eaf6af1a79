//! The words of a rule.

/// So deep are expressions read, and so many operands are one: nft itself has 16
/// fields behind each other at most.
pub(super) const MOST: usize = 32;

/// The words of a rule that are not read yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'w, 't> {
    left: &'w [&'t str],
    depth: usize,
}

impl<'w, 't> Words<'w, 't> {
    pub(super) fn new(all: &'w [&'t str]) -> Self {
        Self {
            left: all,
            depth: 0,
        }
    }

    /// What `read` reads one level deeper; `None`: a text goes deeper than any rule.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MOST {
            return None;
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// The word that comes next.
    pub(super) fn peek(&self) -> Option<&'t str> {
        self.left.first().copied()
    }

    pub(super) fn next(&mut self) -> Option<&'t str> {
        let (first, rest) = self.left.split_first()?;
        self.left = rest;
        Some(first)
    }

    /// Takes the word if it comes next.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let is_it = self.peek() == Some(word);
        if is_it {
            self.next();
        }
        is_it
    }

    /// Takes the next word if it is one of these.
    pub(super) fn one_of(&mut self, all: &[&str]) -> Option<&'t str> {
        let word = self.peek().filter(|it| all.contains(it))?;
        self.next();
        Some(word)
    }

    /// The words from here up to those of `rest`, in one line.
    pub(super) fn before(&self, rest: &Self) -> String {
        let count = self.left.len().saturating_sub(rest.left.len());
        self.left.get(..count).unwrap_or_default().join(" ")
    }
}

/// The words of a text, without its comments: `{`, `}`, `(`, `)`, `;`, a comma
/// behind which nothing stands and the colon in front of a port are words of
/// their own. What stands in quotes is one word, with them.
///
/// An extension of iptables that nft cannot translate is `xt match NAME`; before
/// nftables 1.0.6 it was written as a comment, `# xt_NAME`.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if first == '#' {
            let body = rest.trim_start_matches('#').trim_start();
            let Some(name) = body.strip_prefix("xt_") else {
                let end = rest.find('\n').unwrap_or(rest.len());
                rest = rest.get(end..).unwrap_or_default().trim_start();
                continue;
            };
            let end = name.find(char::is_whitespace).unwrap_or(name.len());
            words.extend(["xt", "match"]);
            words.extend(name.get(..end));
            rest = name.get(end..).unwrap_or_default().trim_start();
            continue;
        }
        let (word, after) = rest.split_at(length(rest, first));
        words.push(word);
        rest = after.trim_start();
    }
    words
}

/// The length of the word that `rest` begins with.
fn length(rest: &str, first: char) -> usize {
    let next = rest.chars().nth(1);
    let is_colon = first == ':' && next != Some(':');
    if "{}();,".contains(first) || is_colon {
        return 1;
    }
    let mut is_quoted = false;
    let mut characters = rest.char_indices().peekable();
    while let Some((at, it)) = characters.next() {
        if it == '"' {
            is_quoted = !is_quoted;
        }
        if is_quoted {
            continue;
        }
        let is_last = characters.peek().is_none_or(|it| it.1.is_whitespace());
        let ends = it.is_whitespace() || "{}();".contains(it) || (it == ',' && is_last);
        if ends {
            return at;
        }
    }
    rest.len()
}

/// A word without the quotes around it.
pub(super) fn unquoted(word: &str) -> &str {
    let inner = word.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    inner.unwrap_or(word)
}

/// By how many braces a line opens more blocks than it closes.
pub(super) fn depth(line: &str) -> i32 {
    let of = |word: &&str| match *word {
        "{" => 1,
        "}" => -1,
        _ => 0,
    };
    split(line).iter().map(of).sum()
}
