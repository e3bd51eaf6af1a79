//! An explanation as text for people.

mod answers;
pub(super) mod elsewhere;
pub(super) mod group;
pub mod json;
mod savings;
mod summary;
mod table;
mod unused;
mod verdict;

use std::io::{self, Write};

use colored::{ColoredString, Colorize as _};

use self::group::shared;
use crate::explain::{Explanation, Member};
use crate::render::Style;
use crate::render::paragraph;
use crate::render::style::painted;
use crate::render::words;
use crate::resolver::Resolver;
use crate::text::escaped;

/// So many entries of a search list are listed for a resolver; the others are
/// counted. A stranger's file can have 500,000.
const MAX_LISTED: usize = 1000;

pub(super) struct Text<'w> {
    style: Style,
    out: &'w mut dyn Write,
}

/// Writes the explanation: the verdict, the names, why, the fix; all else only
/// if it is to be verbose.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(explanation: &Explanation<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Text { style, out };
    text.verdict(explanation)?;
    text.table(explanation)?;
    text.bars(explanation)?;
    text.why(explanation)?;
    text.elsewhere(explanation)?;
    if !style.verbose {
        text.limits(explanation)?;
        text.unused(explanation)?;
    }
    text.fix(explanation)?;
    text.servers(explanation)?;
    if style.verbose {
        for group in &explanation.groups {
            text.group(explanation, group)?;
        }
        text.unused(explanation)?;
    }
    text.about(&explanation.context)?;
    if style.verbose {
        return Ok(());
    }
    let more = "More with -v: errors, what each answer leads to, other fixes.";
    writeln!(text.out, "{}", text.dim(more))
}

impl<'w> Text<'w> {
    /// Writes to `out`.
    pub(super) fn new(style: Style, out: &'w mut dyn Write) -> Self {
        Self { style, out }
    }

    /// Columns for what is not prose.
    pub(super) fn columns(&self) -> usize {
        self.style.columns
    }

    /// A line, of which every part is safe to print.
    pub(super) fn line(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.out, "{}", line.trim_end())
    }

    /// Wrapped text; whatever it comes from, it is printed safely.
    pub(super) fn paragraph(&mut self, indent: usize, text: &str) -> io::Result<()> {
        self.headed(indent, "", text)
    }

    /// The same behind a `head`, which is coloured and safe.
    pub(super) fn headed(&mut self, indent: usize, head: &str, text: &str) -> io::Result<()> {
        let first = " ".repeat(indent);
        let rest = " ".repeat(indent + 2);
        let text = format!("{head}{}", escaped(text.as_bytes()));
        paragraph::write(self.out, &first, &rest, &text)
    }

    /// Every colour makes its text safe to print.
    fn painted(&self, text: &str, paint: fn(&str) -> ColoredString) -> String {
        painted(self.style.colors, &escaped(text.as_bytes()), paint)
    }

    pub(super) fn bold(&self, text: &str) -> String {
        self.painted(text, |it| it.bold())
    }

    pub(super) fn dim(&self, text: &str) -> String {
        self.painted(text, |it| it.dimmed())
    }

    pub(super) fn yellow(&self, text: &str) -> String {
        self.painted(text, |it| it.yellow())
    }

    pub(super) fn green(&self, text: &str) -> String {
        self.painted(text, |it| it.green().bold())
    }
}

/// Every resolver, in the order of the groups.
pub(super) fn members<'e>(
    explanation: &'e Explanation<'_>,
) -> impl Iterator<Item = &'e Member<'e>> + Clone {
    explanation.groups.iter().flat_map(|it| &it.members)
}

/// Why resolvers ask in this order, equal sentences put together.
pub(super) fn decisions(explanation: &Explanation<'_>) -> Vec<String> {
    let sentence = |member: &Member<'_>| words::decision(explanation.scenario, &member.decision);
    let sentences = shared(members(explanation), sentence);
    let alone = sentences.len() == 1;
    let whose = |(sentence, resolvers): (String, Vec<&Resolver>)| {
        if alone {
            sentence
        } else {
            format!("{}: {sentence}", few(&resolvers))
        }
    };
    sentences.into_iter().map(whose).collect()
}

pub(super) fn ids(resolvers: &[&Resolver]) -> String {
    let ids: Vec<&str> = resolvers.iter().map(|resolver| resolver.id).collect();
    ids.join(", ")
}

/// The first few resolvers' ids, and how many more there are.
pub(super) fn few(resolvers: &[&Resolver]) -> String {
    let ids: Vec<&str> = resolvers.iter().map(|resolver| resolver.id).collect();
    first_of(&ids)
}

/// The first of many words, and how many more.
fn first_of(words: &[&str]) -> String {
    const SHOWN: usize = 3;
    match words.split_at_checked(SHOWN) {
        Some((first, more @ [_, _, ..])) => format!("{} and {} more", first.join(", "), more.len()),
        _ => words.join(", "),
    }
}
