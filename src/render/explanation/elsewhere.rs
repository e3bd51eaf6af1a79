//! Names of the search list that are answered in place of the one that is meant.

use std::io;

use super::verdict::named;
use super::{Text, members};
use crate::engine::message::Because;
use crate::explain::elsewhere::{Elsewhere, before};
use crate::explain::{Explanation, Member};
use crate::render::words;
use crate::resolver::reading::Reading;
use crate::scenario::Scenario;
use crate::simulation::Run;
use crate::text::escaped;

/// What only a wildcard record answers, below a search domain.
const NOBODYS: &str = "kdns-check";

/// `is answered as NAME.EXAMPLE; NAME itself is never asked`, where lookups end
/// elsewhere; by whom, where not all do.
pub(super) fn verdict(explanation: &Explanation<'_>) -> Option<String> {
    let ends_there = |it: &&Member<'_>| it.elsewhere.is_some();
    let (there, others): (Vec<_>, Vec<_>) = members(explanation).partition(ends_there);
    let first = there.first()?;
    let elsewhere = first.elsewhere.as_ref()?;
    if others.is_empty() {
        return Some(answered_as(
            &explanation.scenario.name,
            elsewhere,
            &first.run,
        ));
    }
    let (by, not_by) = (named(&there), named(&others));
    let name = &elsewhere.name;
    Some(format!("is answered as {name} by {by}, not by {not_by}"))
}

/// `is answered as NAME.EXAMPLE; NAME itself is never asked`
pub(in crate::render) fn answered_as(name: &str, elsewhere: &Elsewhere, run: &Run) -> String {
    let mut asked = run.sent.iter().map(|it| &it.query.because);
    let itself = if asked.any(|it| *it == Because::AsIs) {
        "does not exist"
    } else {
        "is never asked"
    };
    format!("is answered as {}; {name} itself {itself}", elsewhere.name)
}

/// `ocp.example.com (FILE:1:66) is in the search list…`, and what decides it.
pub(in crate::render) fn why(
    scenario: &Scenario,
    reading: &Reading<'_>,
    elsewhere: &Elsewhere,
) -> Option<String> {
    let entry = reading.search.get(elsewhere.entry)?;
    let domain = domain(&entry.value);
    Some(format!(
        "{domain} ({}) is in the search list, and a name below it ends the lookup; most likely \
         it has a wildcard record, *.{domain}, which answers every name: kdns dig \
         {NOBODYS}.{domain} tells, because only a wildcard answers that",
        words::origin(scenario, entry.origin)
    ))
}

fn domain(entry: &[u8]) -> String {
    let text = escaped(entry);
    text.trim_end_matches('.').to_owned()
}

impl Text<'_> {
    /// Why a lookup ended elsewhere, or what would make it.
    pub(super) fn elsewhere(&mut self, explanation: &Explanation<'_>) -> io::Result<()> {
        let scenario = explanation.scenario;
        let ended = members(explanation).find_map(|it| Some((it, it.elsewhere.as_ref()?)));
        if let Some((member, elsewhere)) = ended {
            let why = why(scenario, &member.reading, elsewhere);
            return why.map_or(Ok(()), |it| self.titled("Not meant", &format!("{it}.")));
        }
        if !scenario.answers.is_empty() {
            return Ok(());
        }
        let mut domains: Vec<String> = Vec::new();
        for group in &explanation.groups {
            let entries = before(&scenario.name, &group.candidates);
            let search = group.members.first().map(|it| &it.reading.search);
            let values = entries.iter().filter_map(|it| search?.get(*it));
            for domain in values.map(|it| domain(&it.value)) {
                if !domains.contains(&domain) && domains.len() < 3 {
                    domains.push(domain);
                }
            }
        }
        let Some(first) = domains.first() else {
            return Ok(());
        };
        let sentence = format!(
            "the lookup ends there, and {} is never asked; kdns dig {NOBODYS}.{first} tells, \
             because only a wildcard answers that.",
            scenario.name
        );
        let title = format!("If {} has a wildcard record", domains.join(" or "));
        self.titled(&title, &sentence)
    }
}
