//! Settings without the values of secrets. Each line stays a line, and a ` \` at its end stays.
//!
//! A line is read once, word by word. What stands before a word (`name:`, `name=`, `--name`, a
//! flag in the line above) says whether it is a secret's value, and then this value alone is
//! replaced. What goes on below a line is [`Open`]: blocks, lists, quotes, keys in PEM.

#[cfg(test)]
mod tests;
mod value;

use std::borrow::Cow;

use self::value::{Reach, asker, pem, value};
use super::{REMOVED, VARIABLES, is_secret};

/// What of a secret goes on in the next line.
enum Open {
    /// A key in PEM, to its end.
    Key,
    /// A value, to these signs.
    Until(&'static str),
    /// A block (`|`) of lines that are set in deeper.
    Block(usize),
    /// A list, or a value, below a name that nothing follows.
    Below(usize),
    /// A flag's value.
    Flag,
}

/// What a word is that comes next.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Next {
    Other,
    /// The name of a variable.
    Name,
    /// A secret, unless it is a flag.
    OfFlag,
    /// A secret if it is in quotes.
    Quoted,
    /// A secret, as are all behind it.
    Secrets,
}

/// The settings without secrets.
pub(super) fn settings(bytes: &[u8]) -> Vec<u8> {
    let mut open = None;
    let mut variable = String::new();
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let text = String::from_utf8_lossy(line);
        let (kept, next) = without_secrets(&text, open.take(), &mut variable);
        open = next;
        if kept == text {
            line.to_vec()
        } else {
            kept.into_owned().into_bytes()
        }
    });
    lines.collect::<Vec<_>>().concat()
}

/// A line without secrets, and what of one goes on below it.
fn without_secrets<'l>(
    text: &'l str,
    open: Option<Open>,
    variable: &mut String,
) -> (Cow<'l, str>, Option<Open>) {
    let end = text.trim_end().trim_end_matches('\\').trim_end().len();
    let line = text.get(..end).unwrap_or_default();
    let tail = text.get(end..).unwrap_or_default();
    if line.is_empty() {
        return (Cow::Borrowed(text), open);
    }
    let indent = line.len() - line.trim_start().len();
    let own = line.trim_start_matches([' ', '\t', '#', ';']);
    let item = own.trim_start_matches("- ");
    let is_item = item.len() < own.len();
    let start = line.len() - item.len();
    let removed = |rest: &str| {
        let before = line.get(..start).unwrap_or_default();
        Cow::Owned(format!("{before}{REMOVED}{rest}{tail}"))
    };
    let mut next = Next::Other;
    match open {
        Some(Open::Key) if item.starts_with("-----END") => return (Cow::Borrowed(text), None),
        Some(Open::Key) if value::is_of_key(item) => return (removed(""), Some(Open::Key)),
        Some(Open::Until(end)) => {
            return match item.find(end) {
                Some(at) => (removed(item.get(at..).unwrap_or_default()), None),
                None => (removed(""), Some(Open::Until(end))),
            };
        }
        Some(Open::Block(above)) if indent > above => return (removed(""), open),
        Some(Open::Below(above))
            if (indent > above || is_item && indent == above) && !has_name(item) =>
        {
            return (removed(""), open);
        }
        Some(Open::Flag) => next = Next::OfFlag,
        _ => {}
    }
    let mut words = Words {
        line,
        indent,
        start,
        is_continued: tail.contains('\\'),
        is_item,
        out: String::new(),
        done: 0,
        at: start,
        last: "",
        is_first: true,
        is_flow: false,
        quote: None,
        next,
        asked: 0,
        open: None,
    };
    words.read(variable);
    let (out, done, open) = (words.out, words.done, words.open);
    if done == 0 {
        return (Cow::Borrowed(text), open);
    }
    let rest = text.get(done..).unwrap_or_default();
    (Cow::Owned(out + rest), open)
}

/// Whether a line below a secret's name is a setting with a name of its own.
fn has_name(line: &str) -> bool {
    let is_its = |it: char| it.is_alphanumeric() || "_-.\"'".contains(it);
    let rest = line.trim_start_matches(is_its).trim_start();
    let is_value = |rest: &str| !rest.is_empty() && !rest.starts_with('=');
    line.ends_with(['{', '}'])
        || rest == ":"
        || rest.starts_with(": ")
        || rest.strip_prefix('=').is_some_and(is_value)
}

/// The words of a line, read from left to right.
struct Words<'l> {
    line: &'l str,
    indent: usize,
    /// Where the first word begins, behind the signs of items and comments.
    start: usize,
    is_continued: bool,
    is_item: bool,
    out: String,
    /// How far `out` has the line.
    done: usize,
    /// Where the word begins.
    at: usize,
    /// The word before.
    last: &'l str,
    /// Whether no word was read, so that a name is that of the whole line.
    is_first: bool,
    /// Whether a brace or a bracket stands before.
    is_flow: bool,
    /// The quote that is open, and where its text begins.
    quote: Option<(char, usize)>,
    next: Next,
    /// How far who asks was looked for in URLs.
    asked: usize,
    open: Option<Open>,
}

impl<'l> Words<'l> {
    fn read(&mut self, variable: &mut String) {
        let line = self.line;
        let is_section = line.ends_with('{');
        for (at, sign) in line.char_indices() {
            if at < self.start.max(self.done) {
                continue;
            }
            let after = self.after(at + sign.len_utf8());
            if sign == '-' && at >= self.asked && self.after(at).starts_with("-----BEGIN") {
                self.key(at);
            } else if sign == ':' && after.starts_with("//") {
                self.url(at + "://".len());
            } else if !is_section && self.is_separator(at, sign, after) {
                self.named(at, sign, variable);
            } else if sign.is_whitespace() || ",;{}[]()".contains(sign) {
                self.end_word(at, variable);
                if ";}".contains(sign) && self.next != Next::OfFlag {
                    self.next = Next::Other;
                }
                self.is_flow |= "{[".contains(sign);
                self.at = at + sign.len_utf8();
            } else if self.quote.is_some_and(|it| it.0 == sign) {
                self.end_word(at, variable);
                self.quote = None;
                self.at = at + sign.len_utf8();
            } else if self.at == at && !is_section {
                self.begin_word(at, sign);
            }
        }
        if self.done < self.line.len() {
            self.end_word(self.line.len(), variable);
        }
        let goes_on = self.is_continued || self.is_item || self.line.ends_with(',');
        if self.next == Next::OfFlag && goes_on {
            self.open = Some(Open::Flag);
        }
    }

    fn after(&self, at: usize) -> &'l str {
        self.line.get(at..).unwrap_or_default()
    }

    /// Whether a sign stands between a name and a value. A colon also stands before ports.
    fn is_separator(&self, at: usize, sign: char, after: &str) -> bool {
        let is_free = after.is_empty() || after.starts_with([' ', '\t']);
        let name = self.line.get(self.at..at).unwrap_or_default();
        let is_quoted = name.is_empty() && after.starts_with(['"', '\'', '[', '{']);
        let is_own = self.is_first && !name.is_empty() && at - self.start < 80;
        match sign {
            '=' => true,
            ':' => is_free || is_quoted || is_own && !name.contains('.'),
            _ => false,
        }
    }

    fn begin_word(&mut self, at: usize, sign: char) {
        let is_quote = ['"', '\''].contains(&sign);
        let is_flag = ["-", "\"-", "'-"]
            .iter()
            .any(|it| self.after(at).starts_with(it));
        let is_secret = match self.next {
            Next::OfFlag => !is_flag,
            Next::Quoted => is_quote,
            Next::Secrets => sign != '#',
            Next::Other | Next::Name => false,
        };
        if is_secret {
            let is_line = self.is_item && self.is_first;
            self.remove(at, if is_line { Reach::Line } else { Reach::Word });
        } else if is_quote {
            self.quote = Some((sign, at + 1));
            self.at = at + 1;
        }
        if !matches!(self.next, Next::Secrets | Next::Name) {
            self.next = Next::Other;
        }
    }

    /// At the end of a word, what comes next.
    fn end_word(&mut self, at: usize, variable: &mut String) {
        let word = self.line.get(self.at..at).unwrap_or_default();
        if word.is_empty() {
            return;
        }
        if self.next == Next::Name {
            word.clone_into(variable);
            self.next = Next::Other;
        }
        let is_flag = word.starts_with('-');
        let is_name = self.quote.is_none() && !word.contains('.') && !is_flag;
        if (is_flag || is_name) && self.next != Next::Secrets && is_secret(word) {
            self.next = if is_flag {
                Next::OfFlag
            } else if self.is_first && !self.is_flow {
                Next::Secrets
            } else {
                Next::Quoted
            };
        }
        self.last = word;
        self.is_first &= is_flag;
    }

    /// Behind a name's `:` or `=`.
    fn named(&mut self, at: usize, sign: char, variable: &str) {
        let word = self.line.get(self.at..at).unwrap_or_default();
        let is_own = self.is_first || word.is_empty() && self.is_first_word(self.last);
        let name = if word.is_empty() { self.last } else { word };
        let begin = self.at;
        self.at = at + sign.len_utf8();
        self.last = "";
        self.is_first = false;
        self.next = match name {
            "name" => Next::Name,
            _ => Next::Other,
        };
        let is_variable = name == "value" && is_of_variable(variable);
        // As in a pattern for lines of a log.
        let is_pattern = name.contains(['*', '^', '$', '\\']);
        // How who asks is judged: settings with names of their own.
        let is_section =
            name.ends_with("authorization") && self.after(self.at).trim_start().starts_with('{');
        if is_pattern || is_section || !is_variable && !is_secret(name) {
            return;
        }
        let quote = self.quote.map(|(quote, start)| (quote, start == begin));
        let reach = match quote {
            Some((quote, true)) if name.starts_with('-') => Reach::Flags(quote),
            Some((quote, true)) => Reach::Quote(quote),
            _ if name.starts_with('-') => Reach::Word,
            _ if self.is_flow => Reach::Flow,
            _ if is_own => Reach::Line,
            _ => Reach::Word,
        };
        let rest = self.after(self.at).trim();
        let is_block = rest.starts_with(['|', '>']) && rest.find(' ').unwrap_or(rest.len()) < 4;
        if reach != Reach::Line || !(rest.is_empty() || is_block) {
            self.remove(self.at, reach);
        } else if is_block {
            self.open = Some(Open::Block(self.indent));
        } else if !self.is_continued {
            self.open = Some(Open::Below(self.indent));
        }
    }

    /// Whether a word is that which the line begins with.
    fn is_first_word(&self, word: &str) -> bool {
        let first = self.after(self.start).trim_start_matches(['"', '\'']);
        !word.is_empty() && !word.starts_with('-') && first.starts_with(word)
    }

    /// Without the value that begins here.
    fn remove(&mut self, at: usize, reach: Reach) {
        let found = value(self.line, at, reach);
        if let Some((range, quote)) = found {
            self.open = quote
                .filter(|_| range.end == self.line.len())
                .map(Open::Until);
            if !range.is_empty() {
                self.replace(range);
            }
        }
    }

    fn replace(&mut self, range: std::ops::Range<usize>) {
        let before = self.line.get(self.done..range.start).unwrap_or_default();
        self.out.push_str(before);
        self.out.push_str(REMOVED);
        let opened = self
            .line
            .get(..range.start)
            .unwrap_or_default()
            .chars()
            .next_back();
        if let Some(quote) = opened.filter(|it| ['"', '\''].contains(it)) {
            self.quote = Some((quote, range.start));
        }
        self.done = range.end;
        self.at = range.end;
        self.is_first = false;
    }

    fn url(&mut self, start: usize) {
        if start > self.asked {
            let (end, found) = asker(self.line, start);
            self.asked = end;
            if let Some(range) = found {
                self.replace(range);
            }
        }
    }

    fn key(&mut self, at: usize) {
        if let Some(range) = pem(self.line, at) {
            self.open = (range.end == self.line.len()).then_some(Open::Key);
            if !range.is_empty() {
                self.replace(range);
            }
        }
        self.asked = self.line.len();
    }
}

/// Whether a word names a variable of an environment, not an option of a pod's `dnsConfig`.
fn is_of_variable(name: &str) -> bool {
    let is_option = name
        .chars()
        .all(|it| it.is_ascii_lowercase() || it == '-' || it.is_ascii_digit());
    !name.is_empty() && (!is_option || is_secret(name)) && !VARIABLES.has(name)
}
