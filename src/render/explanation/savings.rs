//! What would save queries, and its trade-off.

use std::io;

use super::{Text, first_of, members};
use crate::explain::Explanation;
use crate::explain::advice::{Advice, Change, Harm};
use crate::order::together;
use crate::render::words;
use crate::text::counted;

impl Text<'_> {
    /// The change that saves most with its trade-off; if it is to be verbose, the others.
    pub(super) fn fix(&mut self, explanation: &Explanation<'_>) -> io::Result<()> {
        let most = if self.style.verbose { usize::MAX } else { 1 };
        for (index, advice) in explanation.advice.iter().enumerate().take(most) {
            let place = members(explanation).find_map(|it| it.reading.ndots);
            let place = match (&advice.change, place) {
                (Change::Ndots(_), Some(it)) => {
                    format!(" ({})", words::origin(explanation.scenario, it.origin))
                }
                _ => String::new(),
            };
            let change = words::change(&advice.change);
            let (first, rest) = change.split_at_checked(1).unwrap_or_default();
            let change = format!("{}{rest}{place}", first.to_lowercase());
            let title = if index == 0 { "Fix" } else { "Or" };
            let counts = self.first(
                explanation,
                &counts(advice, members(explanation).count()),
                ", ",
            );
            self.titled(title, &format!("{change}: {counts}."))?;
            let trade_off = words::trade_off(&advice.change);
            self.titled("Trade-off", &format!("{trade_off}."))?;
            if self.style.verbose {
                let mut costs = costs(advice).into_iter();
                costs.try_for_each(|cost| self.paragraph(2, &cost))?;
            }
        }
        Ok(())
    }
}

/// What the change does to other names, resolvers with the same put together.
fn costs(advice: &Advice) -> Vec<String> {
    let costs = advice.costs.iter().map(|cost| {
        let sentence = match cost.effect {
            Harm::Lost => format!("{} is not found any more", cost.name),
            Harm::Slower(more) => {
                let name = &cost.name;
                format!(
                    "{name} takes {more} queries more and is asked outside of the cluster first"
                )
            }
        };
        (sentence, cost.resolver)
    });
    put_together(costs, 0)
}

/// `2 queries instead of 8 (glibc, go-1.27)`, equal ones put together.
fn counts(advice: &Advice, all: usize) -> Vec<String> {
    let counts = advice.savings.iter().map(|saving| {
        let queries = counted(saving.after, "query", "queries");
        (
            format!("{queries} instead of {}", saving.before),
            saving.resolver,
        )
    });
    put_together(counts, all)
}

/// Equal sentences once, with their resolvers unless it is all of them.
fn put_together(all: impl Iterator<Item = (String, &'static str)>, count: usize) -> Vec<String> {
    let whose = |(sentence, resolvers): (String, Vec<&str>)| {
        if resolvers.len() == count {
            return sentence;
        }
        format!("{sentence} ({})", first_of(&resolvers))
    };
    together(all).into_iter().map(whose).collect()
}
