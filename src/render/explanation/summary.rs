//! Below the table: why, the fix with its trade-off, slow servers.

use std::io;

use super::group::{joined, shared, whose};
use super::{Text, decisions, few, members};
use crate::explain::{Context, Explanation, Member, timeline};
use crate::render::live::bars;
use crate::render::{loopback, shortened, words};

impl Text<'_> {
    pub(super) fn why(&mut self, explanation: &Explanation<'_>) -> io::Result<()> {
        writeln!(self.out)?;
        self.some("Why", explanation, &decisions(explanation))
    }

    /// Who is waited for, and how long, where answers are assumed and some do not
    /// come: by the slowest resolver.
    pub(super) fn bars(&mut self, explanation: &Explanation<'_>) -> io::Result<()> {
        if explanation.scenario.answers.is_empty() {
            return Ok(());
        }
        let Some(slowest) = members(explanation).max_by_key(|it| it.run.elapsed) else {
            return Ok(());
        };
        let is_one = members(explanation).nth(1).is_none();
        let whose = if is_one { "" } else { slowest.resolver.id };
        let played = timeline::played(slowest.resolver, &slowest.run);
        bars::write(self, &played, whose)
    }

    /// What else may be, where it was not seen.
    pub(super) fn limits(&mut self, explanation: &Explanation<'_>) -> io::Result<()> {
        let mut limits = shared(members(explanation), |it| it.run.limits.join("; "));
        limits.retain(|(limit, _)| !limit.is_empty());
        if limits.is_empty() {
            return Ok(());
        }
        self.paragraph(0, &joined("Note", members(explanation).count(), limits))
    }

    /// How long silent servers take, and whom resolvers believe.
    pub(super) fn servers(&mut self, explanation: &Explanation<'_>) -> io::Result<()> {
        let is_assumed = !explanation.scenario.answers.is_empty();
        let asks = members(explanation).any(|it| !it.plan.sent.is_empty());
        if asks && !is_assumed {
            let asking = members(explanation).filter(|it| !it.plan.sent.is_empty());
            let mut silences = shared(asking, silent);
            silences.sort_by_key(|(after, _)| after == NEVER);
            let shown = self.shown(explanation, silences.len());
            let ends = match silences.as_slice() {
                [(after, _)] if after == NEVER => "never ends".to_owned(),
                // One line, where many resolvers differ.
                [(after, resolvers), _, ..] if shown == 1 => {
                    format!(
                        "ends after {after} ({}); some differ (-v)",
                        few(resolvers.get(..1).unwrap_or_default())
                    )
                }
                silences => {
                    let all = self.first(explanation, &whose(silences), ", ");
                    format!("ends after {all}")
                }
            };
            self.titled("If no server answers", &format!("the lookup {ends}."))?;
        }
        self.disagreement(explanation)
    }

    /// Whose NXDOMAIN counts, where there are several servers.
    fn disagreement(&mut self, explanation: &Explanation<'_>) -> io::Result<()> {
        let believes = |it: &Member<'_>| match it.believed.as_slice() {
            [] => String::new(),
            [one] => format!("from {one}"),
            all => {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                format!("from {}, whichever answers first", all.join(" or "))
            }
        };
        let mut servers = shared(members(explanation), believes);
        servers.retain(|(sentence, _)| !sentence.is_empty());
        if servers.is_empty() {
            return Ok(());
        }
        let sentence = format!(
            "NXDOMAIN ends the search although another has the name: {}.",
            whose(&servers).join(", ")
        );
        self.titled("If servers disagree", &sentence)
    }

    /// What was read, and where its loopback servers lead.
    pub(in crate::render) fn about(&mut self, context: &Context) -> io::Result<()> {
        for lead in &context.leads {
            let sentence = format!("{}: {}", lead.place, loopback::lead(&lead.lead));
            self.headed(0, &self.yellow(&sentence), "")?;
        }
        let is_verbose = self.style.verbose;
        context.about.iter().try_for_each(|it| {
            if is_verbose {
                self.paragraph(0, it)
            } else {
                self.paragraph(0, &shortened::ids(it))
            }
        })
    }

    /// The first sentences of a kind, and how many there are more.
    pub(super) fn some(
        &mut self,
        title: &str,
        explanation: &Explanation<'_>,
        sentences: &[String],
    ) -> io::Result<()> {
        let shown = self.shown(explanation, sentences.len());
        for (index, sentence) in sentences.iter().take(shown).enumerate() {
            let more = match sentences.len() - shown {
                more @ 1.. if index + 1 == shown => format!(" And {more} more (-v)."),
                _ => String::new(),
            };
            self.titled(title, &format!("{sentence}.{more}"))?;
        }
        Ok(())
    }

    /// The first parts of a sentence, and how many there are more.
    pub(super) fn first(
        &self,
        explanation: &Explanation<'_>,
        parts: &[String],
        separator: &str,
    ) -> String {
        let shown = self.shown(explanation, parts.len());
        let text = parts.get(..shown).unwrap_or(parts).join(separator);
        match parts.len() - shown {
            0 => text,
            more => format!("{text}{separator}and {more} more (-v)"),
        }
    }

    /// So many of a kind are shown: fewer where many resolvers differ.
    fn shown(&self, explanation: &Explanation<'_>, count: usize) -> usize {
        let most = if explanation.groups.len() > 3 { 1 } else { 3 };
        if self.style.verbose {
            count
        } else {
            count.min(most)
        }
    }

    /// A bold title and a sentence.
    pub(in crate::render) fn titled(&mut self, title: &str, text: &str) -> io::Result<()> {
        let title = self.bold(&format!("{title}:"));
        self.headed(0, &title, &format!(" {text}"))
    }
}

const NEVER: &str = "never";

/// `20 s`, as the end of a sentence.
fn silent(member: &Member<'_>) -> String {
    match member.silence.after {
        Some(after) if !member.silence.is_cut => words::seconds(after),
        _ => NEVER.to_owned(),
    }
}
