//! What would save queries, and its price.

use std::io;

use super::Text;
use crate::explain::advice::{Advice, Harm};
use crate::render::words;

impl Text<'_> {
    pub(super) fn savings(&mut self, advice: &[Advice]) -> io::Result<()> {
        if advice.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n{}", self.bold("What would save queries"))?;
        for advice in advice {
            let savings = counts(advice);
            let sentence = format!("{}: {}", words::change(&advice.change), savings.join(", "));
            self.paragraph(2, &sentence)?;
            self.paragraph(4, &format!("Price: {}", words::price(&advice.change)))?;
            for cost in costs(advice) {
                self.paragraph(4, &format!("Price: {cost}"))?;
            }
        }
        Ok(())
    }
}

/// What the change does to other names, resolvers with the same put together.
fn costs(advice: &Advice) -> Vec<String> {
    let mut sentences: Vec<(String, Vec<&str>)> = Vec::new();
    for cost in &advice.costs {
        let sentence = match cost.effect {
            Harm::Lost => format!("{} is not found any more", cost.name),
            Harm::Slower(more) => {
                format!(
                    "{} takes {more} queries more and is asked outside of the cluster first",
                    cost.name
                )
            }
        };
        match sentences.iter_mut().find(|(other, _)| *other == sentence) {
            Some((_, resolvers)) => resolvers.push(cost.resolver),
            None => sentences.push((sentence, vec![cost.resolver])),
        }
    }
    sentences
        .into_iter()
        .map(|(sentence, resolvers)| format!("{sentence} ({})", resolvers.join(", ")))
        .collect()
}

/// `2 queries instead of 8 (glibc, go-1.27)`, equal ones put together.
fn counts(advice: &Advice) -> Vec<String> {
    let mut counts: Vec<(String, Vec<&str>)> = Vec::new();
    for saving in &advice.savings {
        let queries = words::counted(saving.after, "query", "queries");
        let sentence = format!("{queries} instead of {}", saving.before);
        match counts.iter_mut().find(|(other, _)| *other == sentence) {
            Some((_, resolvers)) => resolvers.push(saving.resolver),
            None => counts.push((sentence, vec![saving.resolver])),
        }
    }
    counts
        .into_iter()
        .map(|(sentence, resolvers)| format!("{sentence} ({})", resolvers.join(", ")))
        .collect()
}
