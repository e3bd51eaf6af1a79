//! Comments that suppress findings: `# kdns: ignore[KR003] reason` for a line,
//! `# kdns: file-ignore[KR003] reason` for the file.
//!
//! In YAML and Corefiles a comment counts for the line at whose end it
//! stands, or, on a line of its own, for the next line that is no comment. A
//! resolv.conf has no comments at the end of a line.

use memchr::memmem;

use crate::text::Span;

/// A comment that suppresses findings.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Suppression {
    /// Codes, prefixes of codes, and names of rules, in order.
    pub words: Vec<(String, Span)>,
    /// What stands behind the bracket. Not safe to print.
    pub reason: String,
    /// The line it stands on, numbered from 1.
    pub line: usize,
    /// The lines it counts for, from the first to the last, numbered from 1;
    /// `None`: the whole file.
    pub lines: Option<(usize, usize)>,
    /// The comment from its `#` to the end of its line.
    pub comment: Span,
    /// What is removed with it: all of a line of its own, or the comment and the
    /// blanks before it.
    pub removed: Span,
}

const MARK: &[u8] = b"kdns:";

/// Whether there can be one: a look that costs little.
pub fn is_possible(bytes: &[u8]) -> bool {
    memmem::find(bytes, MARK).is_some()
}

/// The suppressions of a file, in order. `has_inline`: whether a comment can
/// stand at the end of a line.
pub fn suppressions(bytes: &[u8], has_inline: bool) -> Vec<Suppression> {
    let mut found = Vec::new();
    if !is_possible(bytes) {
        return found;
    }
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let next = next_statements(&lines);
    let mut start = 0;
    for (index, line) in lines.iter().enumerate() {
        let at = start;
        start += line.len();
        let Some(hash) = comment(line).filter(|hash| has_inline || is_blank(line, *hash)) else {
            continue;
        };
        let content = line.trim_ascii_end();
        let text = content.get(hash..).unwrap_or_default();
        let Some(read) = suppression(text, at + hash) else {
            continue;
        };
        let is_own_line = is_blank(line, hash);
        let last = if is_own_line {
            next.get(index).copied().unwrap_or(lines.len()) + 1
        } else {
            index + 1
        };
        let before = line.get(..hash).unwrap_or_default().trim_ascii_end();
        let removed = if is_own_line {
            Span::new(at, at + line.len())
        } else {
            Span::new(at + before.len(), at + content.len())
        };
        found.push(Suppression {
            line: index + 1,
            lines: (!read.is_file).then_some((index + 1, last)),
            words: read.words,
            reason: read.reason,
            comment: Span::new(at + hash, at + content.len()),
            removed,
        });
    }
    found
}

/// For each line the index of the next one that says something.
fn next_statements(lines: &[&[u8]]) -> Vec<usize> {
    let mut next = vec![lines.len(); lines.len()];
    let mut last = lines.len();
    for (index, (line, next)) in lines.iter().zip(&mut next).enumerate().rev() {
        *next = last;
        if says_something(line) {
            last = index;
        }
    }
    next
}

/// Where the comment with the mark begins on a line.
fn comment(line: &[u8]) -> Option<usize> {
    let mark = memmem::find(line, MARK)?;
    let before = line.get(..mark)?.trim_ascii_end();
    let hashes = before
        .iter()
        .rev()
        .take_while(|it| matches!(it, b'#' | b';'));
    let start = before.len().checked_sub(hashes.count())?;
    // In YAML a `#` begins a comment only behind a blank.
    let is_begun = start == 0 || before.get(start - 1).is_some_and(u8::is_ascii_whitespace);
    (start < before.len() && is_begun).then_some(start)
}

fn is_blank(line: &[u8], until: usize) -> bool {
    line.get(..until)
        .is_some_and(|it| it.trim_ascii().is_empty())
}

fn says_something(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    !line.is_empty() && !matches!(line.first(), Some(b'#' | b';'))
}

/// What a comment says.
struct Read {
    is_file: bool,
    words: Vec<(String, Span)>,
    reason: String,
}

/// Reads a comment that begins at `at`.
fn suppression(comment: &[u8], at: usize) -> Option<Read> {
    let mark = memmem::find(comment, MARK)? + MARK.len();
    let text = comment.get(mark..)?;
    let blanks = text.len() - text.trim_ascii_start().len();
    let command = text.get(blanks..)?;
    let is_file = command.starts_with(b"file-ignore");
    let name: &[u8] = if is_file { b"file-ignore" } else { b"ignore" };
    let list = command.strip_prefix(name)?;
    let Some(list) = list.strip_prefix(b"[") else {
        let reason = String::from_utf8_lossy(list).trim().to_owned();
        return Some(Read {
            is_file,
            words: Vec::new(),
            reason,
        });
    };
    let end = list
        .iter()
        .position(|&byte| byte == b']')
        .unwrap_or(list.len());
    let mut start = at + mark + blanks + name.len() + 1;
    let mut words = Vec::new();
    for part in list.get(..end)?.split(|&byte| byte == b',') {
        let word = part.trim_ascii();
        let before = part.len() - part.trim_ascii_start().len();
        if !word.is_empty() {
            let span = Span::new(start + before, start + before + word.len());
            words.push((String::from_utf8_lossy(word).into_owned(), span));
        }
        start += part.len() + 1;
    }
    let reason = list.get(end + 1..).unwrap_or_default();
    let reason = String::from_utf8_lossy(reason).trim().to_owned();
    Some(Read {
        is_file,
        words,
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words, lines, reason.
    type Expected<'t> = (&'t str, Option<(usize, usize)>, &'t str);
    /// The same.
    type Shown<'t> = (String, Option<(usize, usize)>, &'t str);

    fn check(text: &str, has_inline: bool, expected: &[Expected<'_>]) {
        let found = suppressions(text.as_bytes(), has_inline);
        let shown: Vec<Shown<'_>> = found
            .iter()
            .map(|it| {
                for (word, span) in &it.words {
                    assert_eq!(span.slice(text.as_bytes()), word.as_bytes(), "{text:?}");
                }
                let words: Vec<&str> = it.words.iter().map(|it| it.0.as_str()).collect();
                (words.join("+"), it.lines, it.reason.as_str())
            })
            .collect();
        let expected: Vec<Shown<'_>> = expected
            .iter()
            .map(|(words, lines, reason)| ((*words).to_owned(), *lines, *reason))
            .collect();
        assert_eq!(shown, expected, "{text:?}");
    }

    #[test]
    fn comments_count_for_their_line_or_the_next_one() {
        check(
            "a: b # kdns: ignore[KR001] why\n",
            true,
            &[("KR001", Some((1, 1)), "why")],
        );
        check(
            "# kdns: ignore[KR001,KR]\n\n# more\na\n",
            true,
            &[("KR001+KR", Some((1, 4)), "")],
        );
        check(
            "x\n  # kdns: ignore[ a-b , KR1 ] r\ny",
            true,
            &[("a-b+KR1", Some((2, 3)), "r")],
        );
        check("# kdns: file-ignore[KK]\r\nx", true, &[("KK", None, "")]);
        check("a#kdns: ignore[K]\n", true, &[]);
        check("kdns: ignore[K]\n", true, &[]);
        check("nameserver 1 # kdns: ignore[K]\n", false, &[]);
        check(
            "; kdns: ignore[K]\nnameserver 1\n",
            false,
            &[("K", Some((1, 2)), "")],
        );
        check("# kdns: ignore all\n", true, &[("", Some((1, 2)), "all")]);
        check(
            "# kdns: something\n# kdns: ignore[\n",
            true,
            &[("", Some((2, 3)), "")],
        );
    }
}
