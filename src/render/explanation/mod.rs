//! An explanation as text for people.

mod answers;
pub(super) mod group;
pub mod json;
mod savings;
mod unused;

use std::collections::BTreeSet;
use std::io::{self, Write};

use colored::Colorize as _;

use self::group::shared;
use crate::explain::{Context, Explanation, Member};
use crate::name::Name;
use crate::render::paragraph;
use crate::render::words;
use crate::resolver::Resolver;
use crate::text::escaped;

/// So many entries of a search list and words without effect are listed for a
/// resolver; the others are counted. A stranger's file can have 500,000.
const MAX_LISTED: usize = 1000;

/// How to write.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// ANSI colours.
    pub colors: bool,
    /// More detail: last candidates' errors, kube-dns keys.
    pub verbose: bool,
}

pub(super) struct Text<'w> {
    style: Style,
    out: &'w mut dyn Write,
    /// Names whose meaning was said already.
    explained: BTreeSet<Name>,
}

/// Writes the explanation: decision, groups, what is not used, advice.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(explanation: &Explanation<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Text::new(style, out);
    text.about(&explanation.context)?;
    text.decisions(explanation)?;
    for group in &explanation.groups {
        text.group(explanation, group)?;
    }
    text.unused(explanation)?;
    text.savings(&explanation.advice)
}

impl<'w> Text<'w> {
    /// Writes to `out`.
    pub(super) fn new(style: Style, out: &'w mut dyn Write) -> Self {
        Self {
            style,
            out,
            explained: BTreeSet::new(),
        }
    }

    /// A line, of which every part is safe to print.
    pub(super) fn line(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.out, "{}", line.trim_end())
    }

    /// What was read, and where its loopback servers lead.
    pub(super) fn about(&mut self, context: &Context) -> io::Result<()> {
        for sentence in &context.about {
            self.paragraph(0, sentence)?;
        }
        for lead in &context.leads {
            let sentence = format!("{}: {}", lead.place, lead.lead.sentence());
            self.headed(0, &self.yellow(&sentence), "")?;
        }
        if !context.about.is_empty() || !context.leads.is_empty() {
            writeln!(self.out)?;
        }
        Ok(())
    }

    fn decisions(&mut self, explanation: &Explanation<'_>) -> io::Result<()> {
        let scenario = explanation.scenario;
        for sentence in decisions(explanation) {
            let name = self.bold(&scenario.name);
            self.headed(0, &name, &format!("  {sentence}."))?;
        }
        Ok(())
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

    // Every colour makes its text safe to print.

    pub(super) fn bold(&self, text: &str) -> String {
        let text = escaped(text.as_bytes());
        if self.style.colors {
            text.bold().to_string()
        } else {
            text
        }
    }

    pub(super) fn dim(&self, text: &str) -> String {
        let text = escaped(text.as_bytes());
        if self.style.colors {
            text.dimmed().to_string()
        } else {
            text
        }
    }

    pub(super) fn yellow(&self, text: &str) -> String {
        let text = escaped(text.as_bytes());
        if self.style.colors {
            text.yellow().to_string()
        } else {
            text
        }
    }

    pub(super) fn green(&self, text: &str) -> String {
        let text = escaped(text.as_bytes());
        if self.style.colors {
            text.green().bold().to_string()
        } else {
            text
        }
    }
}

/// Why resolvers ask in this order, equal sentences put together.
pub(super) fn decisions(explanation: &Explanation<'_>) -> Vec<String> {
    let members = explanation.groups.iter().flat_map(|it| &it.members);
    let sentence = |member: &Member<'_>| words::decision(explanation.scenario, &member.decision);
    let sentences = shared(members, sentence);
    let alone = sentences.len() == 1;
    let whose = |(sentence, resolvers): (String, Vec<&Resolver>)| {
        if alone {
            sentence
        } else {
            format!("{}: {sentence}", ids(&resolvers))
        }
    };
    sentences.into_iter().map(whose).collect()
}

pub(super) fn ids(resolvers: &[&Resolver]) -> String {
    let ids: Vec<&str> = resolvers.iter().map(|resolver| resolver.id).collect();
    ids.join(", ")
}
