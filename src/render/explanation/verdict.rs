//! The first line: what the lookup costs, and what it would cost at best.

use std::io;
use std::time::Duration;

use super::group::{outcome, ranges, shared, whose};
use super::{Text, elsewhere, few, members};
use crate::engine::machine::Outcome;
use crate::explain::{Explanation, Member};
use crate::name::Name;
use crate::render::words;
use crate::resolver::Resolver;
use crate::simulation::MAX_QUERIES;
use crate::text::counted;

impl Text<'_> {
    /// The verdict; with answers assumed, also how each resolver ends.
    pub(super) fn verdict(&mut self, explanation: &Explanation<'_>) -> io::Result<()> {
        let name = &explanation.scenario.name;
        let (is_good, what) = if explanation.scenario.answers.is_empty() {
            costs(explanation)
        } else {
            with_answers(explanation)
        };
        let line = format!("{name} {what}.");
        let line = if is_good {
            self.green(&line)
        } else {
            self.yellow(&line)
        };
        self.headed(0, &line, "")?;
        if explanation.scenario.answers.is_empty() {
            return Ok(());
        }
        let ends = shared(members(explanation), end);
        let ends = self.first(explanation, &whose(&ends), "; ");
        self.titled("Outcome", &format!("{ends}."))
    }
}

/// Who never asks for the name that is most likely meant, as the end of the verdict.
fn never_found(explanation: &Explanation<'_>) -> Option<String> {
    let is_found = |it: &&Member<'_>| it.cost.is_some();
    let (found, others): (Vec<_>, Vec<_>) = members(explanation).partition(is_found);
    let verb = if others.len() == 1 { "asks" } else { "ask" };
    let is_said = !found.is_empty() && !others.is_empty();
    is_said.then(|| {
        format!(
            ", but {} never {verb} for the name that you mean",
            named(&others)
        )
    })
}

pub(super) fn named(members: &[&Member<'_>]) -> String {
    let resolvers: Vec<&Resolver> = members.iter().map(|it| it.resolver).collect();
    few(&resolvers)
}

/// Answers that take no longer are not worth a word.
const BRIEF: Duration = Duration::from_millis(50);

/// How many queries a member makes: until the name is found that is most
/// likely meant, or else all that it would.
pub(super) fn queries(explanation: &Explanation<'_>, member: &Member<'_>) -> usize {
    let cost = member
        .cost
        .filter(|_| explanation.scenario.answers.is_empty());
    cost.unwrap_or(member.run.sent.len())
}

/// `8 DNS queries`, `4-12 DNS queries`.
fn dns_queries(counts: impl Iterator<Item = usize> + Clone) -> String {
    let more = if counts.clone().any(|it| it >= MAX_QUERIES) {
        "more than "
    } else {
        ""
    };
    match range(counts).as_str() {
        "0" => "no DNS query".to_owned(),
        "1" => "1 DNS query".to_owned(),
        counts => format!("{more}{counts} DNS queries"),
    }
}

/// `8`, or `4 to 12` where members differ.
pub(super) fn range(counts: impl Iterator<Item = usize> + Clone) -> String {
    ranges(counts).replace('-', " to ")
}

fn costs(explanation: &Explanation<'_>) -> (bool, String) {
    let is_any_found = members(explanation).any(|it| it.cost.is_some());
    // Who never finds it does not count.
    let members = || members(explanation).filter(move |it| it.cost.is_some() || !is_any_found);
    let never = never_found(explanation).unwrap_or_default();
    let counts = members().map(|it| queries(explanation, it));
    let costs = format!("costs {}", dns_queries(counts.clone()));
    if counts.clone().all(|it| it == 0) {
        let is_found = |it: &&Member<'_>| matches!(it.run.outcome, Outcome::Found(_));
        let (found, failed): (Vec<_>, Vec<_>) = members().partition(is_found);
        if failed.is_empty() {
            return (true, format!("{costs}: the answer is known without DNS"));
        }
        if !found.is_empty() {
            let (found, failed) = (named(&found), named(&failed));
            let what = format!("{costs}: known to {found}, refused by {failed}");
            return (false, what);
        }
        let why = Name::from_plain(explanation.scenario.name.as_bytes()).err();
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        return (false, format!("fails without a DNS query{why}"));
    }
    if let Some(advice) = explanation.advice.first() {
        let after = members().map(|it| {
            let mut savings = advice.savings.iter();
            let saving = savings.find(|saving| saving.resolver == it.resolver.id);
            saving.map_or_else(|| queries(explanation, it), |it| it.after)
        });
        return (false, format!("{costs}; {} would do{never}", range(after)));
    }
    let is_one = explanation.groups.iter().all(|it| it.candidates.len() < 2);
    let what = match () {
        () if is_one => format!("{costs}: only one name is tried"),
        () if is_any_found => {
            format!("{costs}; writing a final dot would not save any{never}")
        }
        () => {
            let names = explanation.groups.iter().map(|it| it.candidates.len());
            let (most, names) = (counts.max(), names.max());
            let most = dns_queries(most.into_iter());
            let names = names.unwrap_or_default();
            format!("costs up to {most}: up to {names} names are tried until one exists")
        }
    };
    (never.is_empty(), what)
}

fn with_answers(explanation: &Explanation<'_>) -> (bool, String) {
    let is_found = |it: &&Member<'_>| matches!(it.run.outcome, Outcome::Found(_));
    let (found, failed): (Vec<_>, Vec<_>) = members(explanation).partition(is_found);
    let counts = members(explanation).map(|it| it.run.sent.len());
    let queries = dns_queries(counts);
    if let Some(elsewhere) = elsewhere::verdict(explanation) {
        return (false, elsewhere);
    }
    let (slowness, silent) = (slowness(explanation), silent(explanation));
    match (found.is_empty(), failed.is_empty()) {
        (_, true) if slowness.is_empty() => (true, format!("is found with {queries}")),
        (_, true) => (false, format!("is found{slowness} and {queries}{silent}")),
        (true, false) => (
            false,
            format!(
                "is not found{slowness} {} {queries}{silent}",
                if slowness.is_empty() { "after" } else { "and" }
            ),
        ),
        (false, false) => {
            let (found, failed) = (named(&found), named(&failed));
            (false, format!("is found by {found}, not by {failed}"))
        }
    }
}

/// ` only after 5 s`, or nothing where all are fast.
fn slowness(explanation: &Explanation<'_>) -> String {
    let elapsed = members(explanation).map(|it| it.run.elapsed);
    let (Some(least), Some(most)) = (elapsed.clone().min(), elapsed.max()) else {
        return String::new();
    };
    match (words::seconds(least), words::seconds(most)) {
        _ if most < BRIEF => String::new(),
        (least, most) if least == most => format!(" after {most}"),
        (_, most) => format!(" after up to {most}"),
    }
}

/// The servers that answer nobody, as the end of the verdict.
fn silent(explanation: &Explanation<'_>) -> String {
    let sent = || members(explanation).flat_map(|it| &it.run.sent);
    let mut silent: Vec<String> = Vec::new();
    for query in sent() {
        let server = &query.query.server;
        let is_silent = sent()
            .filter(|it| it.query.server == *server)
            .all(|it| it.came.is_none() && it.wrong.is_none());
        let name = server.to_string();
        if is_silent && !silent.contains(&name) {
            silent.push(name);
        }
    }
    match silent.as_slice() {
        [] => String::new(),
        [one] => format!("; {one} never answers"),
        all => format!("; {} never answer", all.join(", ")),
    }
}

/// `finds 10.100.0.7 with 4 queries`, `fails after 20 s and 8 queries`
fn end(member: &Member<'_>) -> String {
    let run = &member.run;
    let queries = counted(run.sent.len(), "query", "queries");
    let after = if run.elapsed < BRIEF {
        format!("with {queries}")
    } else {
        format!("after {} and {queries}", words::seconds(run.elapsed))
    };
    match &run.outcome {
        Outcome::Hung => format!("waits for ever, {after}"),
        Outcome::Found(_) => format!("{} {after}", outcome(&run.outcome)),
        _ => format!("fails {after}"),
    }
}
