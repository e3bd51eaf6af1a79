//! The plain parts of a template: what stands in it whatever it is rendered with; and
//! what stands there where a condition is met.
//!
//! Source: Go `text/template`, "Actions"; Jinja, "Template Designer
//! Documentation", "List of Control Structures"; Terraform, "Strings and Templates", "Directives".

mod begun;

use self::begun::{begins_one, unknown_line};
use crate::text::Span;

/// What a value of a template becomes: the first byte, and all others.
const UNKNOWN: (u8, u8) = (b'$', b'_');

/// More conditions in conditions than this are none.
const MAX_DEPTH: usize = 1_000;

/// What a part is that need not be there once, or not as it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// `if`, `range`, `for`: it stands there where a condition is met.
    Condition,
    /// `define`, `macro`: it stands elsewhere, if at all.
    Definition,
    /// `block`, which stands in its place if nothing else does; `filter` and others, which
    /// make something of it.
    Other,
}

/// What a tag does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Effect {
    /// It begins a part.
    Opens(Kind),
    /// It ends one.
    Closes,
    /// It begins another way of one: `else`.
    Turns,
    /// It puts something in, or nothing.
    Stands,
}

/// A tag: `{{ … }}`, `{% … %}`, `{# … #}`, and Terraform's `%{ … }`.
#[derive(Clone, Copy, Debug)]
struct Tag {
    start: usize,
    end: usize,
    effect: Effect,
}

/// One way of a part that need not be there once: of `if` there can be several.
#[derive(Clone, Copy, Debug)]
struct Branch {
    /// The branch it stands in.
    around: Option<usize>,
    /// The first way of the same.
    first: usize,
    /// Of the first: all ways, with their tags.
    whole: Span,
    /// What is between its tags.
    inside: Span,
    /// What it is.
    kind: Kind,
}

/// A template as what stands under conditions and what is put in.
#[derive(Debug, Default)]
struct Parts {
    branches: Vec<Branch>,
    /// What puts something in, and the branch it stands in.
    values: Vec<(Span, Option<usize>)>,
}

/// What stands under a condition, with what stands in the template in any case.
#[derive(Debug)]
pub(super) struct Way {
    /// The bytes, as those of [`plain`].
    pub(super) bytes: Vec<u8>,
    /// What of it is under the condition.
    pub(super) inside: Span,
}

/// The template with nothing where something is under a condition or a line is
/// put in, and a word that is no value, `$___`, where a value is: every byte that
/// is left stands where it stood. `None`: it has no tags, or they do not fit
/// together.
pub(super) fn plain(bytes: &[u8]) -> Option<Vec<u8>> {
    let parts = Parts::parse(bytes)?;
    // Which of several is there is not known.
    (parts.ways_of_all(bytes) < 2).then(|| parts.with(bytes, None))
}

/// The same of a unit, where a line without anything would end the command that goes
/// on over it: it is one line with those around it.
///
/// Source: systemd.syntax(7): a backslash at the end of a line.
pub(super) fn joined(whole: &[u8], mut plain: Vec<u8>) -> Vec<u8> {
    // Where the last lines that were hidden end, and whether a command goes on there.
    let (mut at, mut goes_on) = (0, false);
    while let Some(first) = hidden(whole, &plain, at) {
        let run = plain.get(first..).unwrap_or_default();
        let length = run.iter().take_while(|it| **it == b'\n').count();
        let last = (first..first + length).rfind(|&it| whole.get(it) != Some(&b'\n'));
        let before = plain.get(at..first).unwrap_or_default().trim_ascii_end();
        goes_on = before.last().map_or(goes_on, |it| *it == b'\\');
        // The end of the line behind it, too.
        let end = (last.unwrap_or(first) + 2).min(first + length);
        if goes_on && let Some(line) = plain.get_mut(first..end) {
            line.fill(b' ');
        }
        at = first + length;
    }
    plain
}

/// The next byte that was hidden as a line without anything.
fn hidden(whole: &[u8], plain: &[u8], at: usize) -> Option<usize> {
    let next = memchr::memchr_iter(b'\n', plain.get(at..)?).map(|it| at + it);
    next.into_iter().find(|&it| whole.get(it) != Some(&b'\n'))
}

/// Where lines or blanks stand in the place of something that was hidden, and no word of a
/// value.
pub(super) fn gaps(whole: &[u8], plain: &[u8]) -> Vec<Span> {
    let both = whole.iter().zip(plain).enumerate();
    let changed: Vec<usize> = both.filter(|(_, it)| it.0 != it.1).map(|it| it.0).collect();
    let runs = changed.chunk_by(|one, next| one + 1 == *next);
    let spans = runs.filter_map(|it| Some(Span::new(*it.first()?, *it.last()? + 1)));
    let is_blank = |it: &Span| it.slice(plain).first().is_some_and(u8::is_ascii_whitespace);
    spans.filter(is_blank).collect()
}

/// What a template becomes where one condition is met, and those around it: for
/// each of which the bytes are `wanted`.
pub(super) fn ways(bytes: &[u8], wanted: &dyn Fn(&[u8]) -> bool) -> Vec<Way> {
    let parts = Parts::parse(bytes).unwrap_or_default();
    let known = usize::from(parts.ways_of_all(bytes) == 1);
    let branches = parts.branches.iter().enumerate().skip(known);
    let ways = branches.filter(|(_, it)| {
        let whole = parts.whole(it);
        let before = bytes.get(..whole.start as usize).unwrap_or_default();
        let behind = bytes.get(whole.end as usize..).unwrap_or_default();
        // A part of a word is none.
        let is_apart = before.last().is_none_or(u8::is_ascii_whitespace)
            && behind.first().is_none_or(u8::is_ascii_whitespace);
        it.kind != Kind::Other && is_apart && wanted(it.inside.slice(bytes))
    });
    let most = MAX_WAYS.min(1 + MAX_BYTES / bytes.len().max(1));
    let ways = ways.take(most).map(|(index, it)| Way {
        bytes: parts.with(bytes, Some(index)),
        inside: it.inside,
    });
    ways.collect()
}

/// More conditions of one template are not looked at.
const MAX_WAYS: usize = 64;
/// More bytes are not read for its conditions.
const MAX_BYTES: usize = 4 << 20;

impl Parts {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut parts = Self::default();
        // The first branch of each open condition, and the last.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for tag in tags(bytes)? {
            let around = open.last().map(|it| it.1);
            let next = parts.branches.len();
            let mut branch = Branch {
                around,
                first: next,
                whole: Span::new(tag.start, tag.end),
                inside: Span::new(tag.end, tag.end),
                kind: Kind::Other,
            };
            match tag.effect {
                Effect::Opens(kind) => {
                    (open.len() < MAX_DEPTH).then_some(())?;
                    open.push((next, next));
                    branch.kind = kind;
                    parts.branches.push(branch);
                }
                Effect::Turns => {
                    let last = open.last_mut()?;
                    let before = parts.branches.get_mut(last.1)?;
                    before.inside = Span::new(before.inside.start as usize, tag.start);
                    (branch.around, branch.first) = (before.around, before.first);
                    branch.kind = before.kind;
                    last.1 = next;
                    parts.branches.push(branch);
                }
                Effect::Closes => {
                    let (first, last) = open.pop()?;
                    let ended = parts.branches.get_mut(last)?;
                    ended.inside = Span::new(ended.inside.start as usize, tag.start);
                    let begun = parts.branches.get_mut(first)?;
                    begun.whole = Span::new(begun.whole.start as usize, tag.end);
                }
                Effect::Stands => parts.values.push((Span::new(tag.start, tag.end), around)),
            }
        }
        open.is_empty().then_some(parts)
    }

    /// The line with which the last of several ways ends, if each begins a block there that
    /// what stands behind all of them is in: `forward . {{ SERVERS }} {`.
    fn begun_in_all(&self, bytes: &[u8], first: usize) -> Option<Span> {
        let near = self.branches.iter().skip(first).take(MAX_WAYS);
        let ways = near.filter(|it| it.first == first).map(|it| it.inside);
        let ways: Vec<Span> = ways.collect();
        let text = |it: &Span| it.slice(bytes).trim_ascii_end();
        let is_all = ways.len() > 1 && ways.iter().all(|it| begins_one(text(it)));
        let last = ways.last().filter(|_| is_all)?;
        let start = last.start as usize;
        let line = memchr::memrchr(b'\n', text(last)).map_or(0, |it| it + 1);
        Some(Span::new(start + line, start + text(last).len()))
    }

    fn whole(&self, branch: &Branch) -> Span {
        self.branches
            .get(branch.first)
            .map_or(branch.whole, |it| it.whole)
    }

    /// How many ways a condition has that is around all that there is; what is only defined
    /// need not be used.
    fn ways_of_all(&self, bytes: &[u8]) -> usize {
        let is_blank = |it: Option<&[u8]>| it.is_some_and(|it| it.trim_ascii().is_empty());
        let whole = self.branches.first().map(|it| it.whole);
        let is_all = whole.is_some_and(|it| {
            is_blank(bytes.get(..it.start as usize)) && is_blank(bytes.get(it.end as usize..))
        });
        let is_way = |it: &&Branch| is_all && it.first == 0 && it.kind != Kind::Definition;
        self.branches.iter().filter(is_way).count()
    }

    /// The bytes with this branch and those around it, and without all others;
    /// `None`: without any but one that is around all.
    fn with(&self, bytes: &[u8], branch: Option<usize>) -> Vec<u8> {
        let mut is_open = vec![false; self.branches.len()];
        let mut is_shown = is_open.clone();
        let mut next = branch.or_else(|| (self.ways_of_all(bytes) == 1).then_some(0));
        while let Some((index, it)) = next.and_then(|it| Some((it, self.branches.get(it)?))) {
            for (all, at) in [(&mut is_open, index), (&mut is_shown, it.first)] {
                if let Some(found) = all.get_mut(at) {
                    *found = true;
                }
            }
            next = it.around;
        }
        let is_there = |it: Option<usize>| it.is_none_or(|it| is_open.get(it) == Some(&true));
        let mut plain = bytes.to_vec();
        for (index, it) in self.branches.iter().enumerate() {
            let is_hidden = it.first == index && is_shown.get(index) == Some(&false);
            if is_hidden && is_there(it.around) {
                hide(&mut plain, it.whole);
                if let Some(line) = self.begun_in_all(bytes, index) {
                    unknown_line(&mut plain, bytes, line);
                }
            }
        }
        for (span, around) in &self.values {
            if is_there(*around) {
                hide(&mut plain, *span);
            }
        }
        for (it, _) in self.branches.iter().zip(&is_open).filter(|it| *it.1) {
            let whole = self.whole(it);
            blank(
                &mut plain,
                Span {
                    end: it.inside.start,
                    ..whole
                },
            );
            blank(
                &mut plain,
                Span {
                    start: it.inside.end,
                    ..whole
                },
            );
        }
        plain
    }
}

/// Takes bytes away: what was all of its lines is lines without anything, which end no
/// text that stands in YAML as a block.
fn blank(plain: &mut [u8], span: Span) {
    let nothing = if is_alone(plain, span) { b'\n' } else { b' ' };
    let hidden = plain
        .get_mut(span.start as usize..span.end as usize)
        .unwrap_or_default();
    for byte in hidden.iter_mut().filter(|it| **it != b'\n') {
        *byte = nothing;
    }
}

/// Hides bytes, with a word if they are a part of a line.
fn hide(plain: &mut [u8], span: Span) {
    let is_alone = is_alone(plain, span);
    let hidden = plain
        .get_mut(span.start as usize..span.end as usize)
        .unwrap_or_default();
    if is_alone || hidden.contains(&b'\n') {
        return blank(plain, span);
    }
    for (index, byte) in hidden.iter_mut().enumerate() {
        *byte = if index == 0 { UNKNOWN.0 } else { UNKNOWN.1 };
    }
    // A brace behind it begins a block, and is no part of the word.
    let behind = plain.get(span.end as usize..).unwrap_or_default();
    if behind.starts_with(b"{")
        && behind.get(1).is_none_or(u8::is_ascii_whitespace)
        && let Some(last) = plain.get_mut((span.end as usize).saturating_sub(1))
    {
        *last = b' ';
    }
}

/// Whether nothing else stands in the lines of these bytes.
fn is_alone(plain: &[u8], span: Span) -> bool {
    let is_blank = |it: &&u8| matches!(it, b' ' | b'\t' | b'\r');
    let before = plain.get(..span.start as usize).unwrap_or_default();
    let begins = before.iter().rev().find(|it| !is_blank(it));
    let behind = plain.get(span.end as usize..).unwrap_or_default();
    let ends = behind.iter().find(|it| !is_blank(it));
    let is_line = |it: Option<&u8>| it.is_none_or(|it| *it == b'\n');
    is_line(begins) && is_line(ends)
}

/// The tags, in order. `None`: there is none, or one without an end.
fn tags(bytes: &[u8]) -> Option<Vec<Tag>> {
    let mut tags = Vec::new();
    let mut at = 0;
    while let Some(next) = memchr::memchr(b'{', bytes.get(at..)?) {
        let brace = at + next;
        let is_terraforms = brace > at && bytes.get(brace - 1) == Some(&b'%');
        let start = brace - usize::from(is_terraforms);
        let rest = bytes.get(start..)?;
        let close: &[u8] = match rest.get(1) {
            Some(b'{') if is_terraforms => b"}",
            Some(b'{') => b"}}",
            Some(b'%') => b"%}",
            Some(b'#') => b"#}",
            _ => {
                at = start + 1;
                continue;
            }
        };
        let length = memchr::memmem::find(rest, close)?;
        let end = start + length + close.len();
        let effect = if close == b"#}" {
            Effect::Stands
        } else {
            effect(rest.get(2..length)?, close != b"}}")
        };
        tags.push(Tag { start, end, effect });
        at = end;
    }
    (!tags.is_empty()).then_some(tags)
}

/// What a tag does; `is_statement`: it is one of Jinja or Terraform that puts nothing in.
fn effect(inside: &[u8], is_statement: bool) -> Effect {
    let is_mark = |it: &u8| it.is_ascii_whitespace() || matches!(it, b'-' | b'+' | b'~');
    let start = inside
        .iter()
        .position(|it| !is_mark(it))
        .unwrap_or(inside.len());
    let rest = inside.get(start..).unwrap_or_default();
    let is_word = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_';
    let end = rest
        .iter()
        .position(|it| !is_word(it))
        .unwrap_or(rest.len());
    let (word, behind) = rest.split_at(end);
    let is_quoted = || behind.trim_ascii_start().starts_with(b"\"");
    // What others have as words for this are names of variables, too.
    match word {
        b"if" | b"with" => Effect::Opens(Kind::Condition),
        b"for" if is_statement => Effect::Opens(Kind::Condition),
        b"range" if !is_statement => Effect::Opens(Kind::Condition),
        b"block" if is_statement || is_quoted() => Effect::Opens(Kind::Other),
        b"define" if is_quoted() => Effect::Opens(Kind::Definition),
        b"macro" if is_statement => Effect::Opens(Kind::Definition),
        b"call" | b"filter" | b"raw" if is_statement => Effect::Opens(Kind::Other),
        b"set" if is_statement && !behind.contains(&b'=') => Effect::Opens(Kind::Other),
        b"else" | b"elif" | b"elseif" => Effect::Turns,
        b"end" => Effect::Closes,
        it if is_statement && it.starts_with(b"end") => Effect::Closes,
        _ => Effect::Stands,
    }
}

#[cfg(test)]
mod tests;
