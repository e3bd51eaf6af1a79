//! Lines of settings without the values of secrets: `key: value`, `key = value`, `secret "…";`,
//! flags, lists and blocks below a secret's name, the `value` of variables in manifests, keys in
//! PEM, and who asks in a URL. Places stay: each line stays a line.

use std::borrow::Cow;

use super::{REMOVED, VARIABLES, is_secret};

/// What ends a value that stands in no quotes.
const ENDS: [char; 6] = [',', ';', '}', ']', '"', '\''];

/// What was read before a line.
#[derive(Default)]
struct Above {
    /// The line with the last `name:`.
    name: String,
    /// How far the name of a secret is set in that nothing, or a block, follows.
    secret: Option<(usize, bool)>,
    /// Whether the lines are of a private key.
    is_key: bool,
}

/// The settings without secrets.
pub(super) fn settings(bytes: &[u8]) -> Vec<u8> {
    let mut above = Above::default();
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let text = String::from_utf8_lossy(line);
        let (own, end) = match text.strip_suffix('\n') {
            Some(own) => (own, "\n"),
            None => (&*text, ""),
        };
        let kept = above.line(own);
        if kept == own {
            line.to_vec()
        } else {
            format!("{kept}{end}").into_bytes()
        }
    });
    lines.collect::<Vec<_>>().concat()
}

impl Above {
    fn line<'l>(&mut self, line: &'l str) -> Cow<'l, str> {
        let is_edge = line.contains("PRIVATE KEY-----");
        if is_edge {
            self.is_key = line.contains("BEGIN ");
            return Cow::Borrowed(line);
        }
        let own = line.trim_start();
        let indent = line.len() - own.len();
        let item = own.strip_prefix("- ").unwrap_or(own);
        if self.is_key && !own.is_empty() || self.is_of_secret(indent, own, item) {
            let start = line.strip_suffix(item).unwrap_or_default();
            return Cow::Owned(format!("{start}{REMOVED}"));
        }
        let (key, start) = key_of(line, item);
        let value = line.get(start..).unwrap_or_default().trim();
        let is_block = value.starts_with(['|', '>']);
        if is_secret(&key) && (value.is_empty() || is_block) {
            self.secret = Some((indent, is_block));
            return Cow::Borrowed(line);
        }
        let is_variable = key == "value" && is_of_variable(&self.name);
        if key == "name" {
            line.clone_into(&mut self.name);
        }
        let is_flow = value.starts_with(['[', '{']) || key.is_empty();
        if !value.is_empty() && (is_variable || is_secret(&key) && !is_flow) {
            let kept = line.get(..start).unwrap_or_default();
            return Cow::Owned(format!("{kept} {REMOVED}"));
        }
        without_inner(line)
    }

    /// Whether a line is of the list or block below a secret's name.
    fn is_of_secret(&mut self, indent: usize, own: &str, item: &str) -> bool {
        let Some((above, is_block)) = self.secret else {
            return false;
        };
        if own.is_empty() {
            return false;
        }
        let is_item = item.len() < own.len();
        let is_below = indent > above || is_item && !is_block && indent == above;
        // Below a section's name are settings with names of their own.
        let is_own = is_block || is_item && !item.contains(": ");
        if !is_below || !is_own {
            self.secret = None;
        }
        is_below && is_own
    }
}

/// The name of a line's setting, and where its value begins.
fn key_of(line: &str, item: &str) -> (String, usize) {
    let is_its = |it: &char| it.is_alphanumeric() || "_-.\"'".contains(*it);
    let key: String = item.chars().take_while(is_its).collect();
    let at = line.len() - item.len() + key.len();
    let behind = line.get(at..).unwrap_or_default();
    let start = behind
        .find([':', '=', ' '])
        .map_or(line.len(), |it| at + it + 1);
    (key.replace(['"', '\''], ""), start)
}

/// Without secrets among the other words of a line: flags, fields between braces, URLs.
fn without_inner(line: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    let mut name = "";
    for (at, sign) in line.match_indices([':', '=', '@']) {
        if at < done {
            continue;
        }
        let before = line.get(..at).unwrap_or_default();
        let range = if sign == "@" {
            asker(line, at, done)
        } else {
            let word = last_word(before);
            let is_variable = word == "value" && is_of_variable(name);
            let value = value(line, at + sign.len());
            if word == "name" {
                name = value
                    .clone()
                    .and_then(|it| line.get(it))
                    .unwrap_or_default();
            }
            value.filter(|_| is_variable || is_secret(word))
        };
        if let Some(range) = range {
            out.push_str(line.get(done..range.start).unwrap_or_default());
            out.push_str(REMOVED);
            done = range.end;
        }
    }
    if done == 0 {
        return Cow::Borrowed(line);
    }
    out.push_str(line.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// The word that a text ends with.
fn last_word(text: &str) -> &str {
    let text = text.trim_end_matches([' ', '"', '\'']);
    let is_end = |it: char| !(it.is_alphanumeric() || "_-.".contains(it));
    text.rsplit(is_end).next().unwrap_or_default()
}

/// Where the value is that begins here; nothing if none does.
fn value(line: &str, start: usize) -> Option<std::ops::Range<usize>> {
    let rest = line.get(start..)?;
    let own = rest.trim_start_matches([' ', '"', '\'']);
    let start = start + (rest.len() - own.len());
    let quote = line.get(..start)?.chars().next_back();
    let quote = quote.filter(|it| ['"', '\''].contains(it));
    let length = match quote {
        Some(quote) => own.find(quote),
        None => own.find(|it: char| it.is_whitespace() || ENDS.contains(&it)),
    };
    let end = start + length.unwrap_or(own.len());
    let is_nested = own.starts_with(['[', '{', '|', '>']);
    (end > start && !is_nested).then_some(start..end)
}

/// Where the name and the password are of who asks by a URL, before its `@`.
fn asker(line: &str, at: usize, done: usize) -> Option<std::ops::Range<usize>> {
    let before = line.get(done..at)?;
    let start = done + before.rfind("://")? + "://".len();
    let own = line.get(start..at)?;
    let is_own = own.contains(':') && !own.contains(|it: char| it.is_whitespace() || it == '/');
    is_own.then_some(start..at)
}

/// Whether a line, or a word, names a variable of an environment, not an option of a pod's
/// `dnsConfig`.
fn is_of_variable(line: &str) -> bool {
    let name = line.rsplit(':').next().unwrap_or_default();
    let name = name.trim().trim_matches(['"', '\'']);
    let is_option = name
        .chars()
        .all(|it| it.is_ascii_lowercase() || it == '-' || it.is_ascii_digit());
    !name.is_empty() && (!is_option || is_secret(name)) && !VARIABLES.has(name)
}
