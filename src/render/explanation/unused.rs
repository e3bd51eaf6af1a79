//! What the file says in vain.

use std::collections::BTreeMap;
use std::io;

use super::group::shared;
use super::{Text, few, ids, members};
use crate::explain::{Explanation, Member};
use crate::resolver::Resolver;
use crate::text::{Span, excerpt};

/// So many words with the same fate are shown; the others are counted.
const SHOWN: usize = 3;

/// Where more groups of resolvers differ, only -v tells it.
const MOST: usize = 3;

/// So many bytes of a word are shown.
const LONGEST: usize = 40;

/// What is said about words, and of which resolvers it is true.
type Reasons<'e> = Vec<(&'e str, Vec<&'e Resolver>)>;

impl Text<'_> {
    pub(super) fn unused(&mut self, explanation: &Explanation<'_>) -> io::Result<()> {
        let fates = fates(explanation);
        if fates.is_empty() {
            return Ok(());
        }
        if !self.style.verbose {
            if explanation.groups.len() > MOST {
                return Ok(());
            }
            let ignored = fates.iter().filter_map(|(spans, reasons)| {
                let (why, whose) = reasons.first()?;
                let others = reasons.iter().skip(1).flat_map(|it| it.1.clone());
                let others: Vec<&Resolver> = others.collect();
                let too = if others.is_empty() {
                    String::new()
                } else {
                    format!("; ignored by {} too", few(&others))
                };
                let words = words(explanation, spans, 1);
                Some(format!("{words}: {why} ({}){too}", few(whose)))
            });
            return self.some("Ignored", explanation, &ignored.collect::<Vec<_>>());
        }
        let title = self.bold("Without effect, or not as written");
        writeln!(self.out, "\n{title}")?;
        for (spans, reasons) in fates {
            self.paragraph(2, &words(explanation, &spans, SHOWN))?;
            for (why, resolvers) in reasons {
                self.paragraph(4, &format!("{}: {why}", ids(&resolvers)))?;
            }
        }
        let more = |it: &Member<'_>| it.reading.dropped.more().to_string();
        for (more, resolvers) in shared(members(explanation), more) {
            if more != "0" {
                let whose = ids(&resolvers);
                self.paragraph(2, &format!("{more} more words are not listed ({whose})"))?;
            }
        }
        Ok(())
    }
}

/// The words that the file has in vain, in file order, those with the same
/// fate put together.
fn fates<'e>(explanation: &'e Explanation<'_>) -> Vec<(Vec<Span>, Reasons<'e>)> {
    let mut words: BTreeMap<Span, Reasons<'e>> = BTreeMap::new();
    for member in members(explanation) {
        let listed = member.reading.dropped.first();
        for dropped in member.reading.refused.iter().chain(listed) {
            let reasons = words.entry(dropped.span).or_default();
            match reasons.iter_mut().find(|(why, _)| *why == dropped.why) {
                Some((_, resolvers)) => resolvers.push(member.resolver),
                None => reasons.push((&dropped.why, vec![member.resolver])),
            }
        }
    }
    let mut fates: Vec<(Vec<Span>, Reasons<'e>)> = Vec::new();
    for (span, reasons) in words {
        match fates.last_mut() {
            Some((spans, other)) if is_same(other, &reasons) => spans.push(span),
            _ => fates.push((vec![span], reasons)),
        }
    }
    fates
}

fn is_same(one: &Reasons<'_>, other: &Reasons<'_>) -> bool {
    let form = |reasons: &Reasons<'_>| -> Vec<_> {
        reasons
            .iter()
            .map(|(why, resolvers)| ((*why).to_owned(), ids(resolvers)))
            .collect()
    };
    form(one) == form(other)
}

/// The words with their places, cut where they are long or many.
fn words(explanation: &Explanation<'_>, spans: &[Span], most: usize) -> String {
    let Some(conf) = &explanation.scenario.resolv_conf else {
        return String::new();
    };
    let shown = spans.iter().take(most).enumerate().map(|(index, span)| {
        let at = conf.position(span.start);
        let place = match index {
            0 => conf.place(span.start),
            _ => format!("{}:{}", at.line, at.column),
        };
        format!("{place} `{}`", excerpt(conf.bytes(*span), LONGEST))
    });
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if let Some(last) = spans.get(most..).and_then(<[Span]>::last) {
        let more = spans.len() - most;
        let at = conf.position(last.start);
        text = format!("{text} and {more} more, up to {}:{}", at.line, at.column);
    }
    text
}
