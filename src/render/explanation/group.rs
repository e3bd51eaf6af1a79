//! A group of resolvers: what they ask, and what follows.

use std::io;

use super::verdict::{queries, range};
use super::{Text, few, first_of, ids};
use crate::address::Server;
use crate::engine::machine::Outcome;
use crate::explain::plan::{self, Candidate};
use crate::explain::transition::{REPLIES, Reply, Silence, Then};
use crate::explain::{Explanation, Group, Member};
use crate::order::{once, together};
use crate::render::words;
use crate::resolver::Resolver;
use crate::resolver::reading::{Origin, Setting};
use crate::simulation::MAX_QUERIES;
use crate::text::counted;
use crate::text::escaped;

impl Text<'_> {
    pub(super) fn group(
        &mut self,
        explanation: &Explanation<'_>,
        group: &Group<'_>,
    ) -> io::Result<()> {
        writeln!(self.out)?;
        let names: Vec<String> = group
            .members
            .iter()
            .map(|it| versioned(it.resolver))
            .collect();
        self.headed(0, &self.bold(&names.join(", ")), "")?;
        self.ends(explanation, group)?;
        self.transitions(group)?;
        self.silence(group)?;
        self.notes(group)
    }

    fn ends(&mut self, explanation: &Explanation<'_>, group: &Group<'_>) -> io::Result<()> {
        let ends = shared(&group.members, |member| outcome(&member.run.outcome));
        let is_silent = group.members.iter().all(|it| it.run.sent.is_empty());
        let title = if is_silent {
            "Outcome"
        } else if explanation.scenario.answers.is_empty() {
            "If nothing exists"
        } else {
            "With the answers assumed"
        };
        self.per_resolver(title, group, ends)
    }

    fn transitions(&mut self, group: &Group<'_>) -> io::Result<()> {
        let sentences = shared(&group.members, transitions);
        if sentences.iter().all(|(sentence, _)| sentence.is_empty()) {
            return Ok(());
        }
        self.per_resolver("What follows", group, sentences)
    }

    fn silence(&mut self, group: &Group<'_>) -> io::Result<()> {
        if group
            .members
            .iter()
            .all(|member| member.plan.sent.is_empty())
        {
            return Ok(());
        }
        let sentences = shared(&group.members, |member| silence(&member.silence));
        self.per_resolver("If the servers are silent", group, sentences)
    }

    fn notes(&mut self, group: &Group<'_>) -> io::Result<()> {
        let notes = shared(&group.members, |member| member.run.notes.join("; "));
        let notes: Vec<_> = notes
            .into_iter()
            .filter(|(note, _)| !note.is_empty())
            .collect();
        if notes.is_empty() {
            return Ok(());
        }
        self.per_resolver("Note", group, notes)
    }

    /// A title, and below it what is said of which resolvers.
    fn per_resolver(
        &mut self,
        title: &str,
        group: &Group<'_>,
        sentences: Vec<(String, Vec<&Resolver>)>,
    ) -> io::Result<()> {
        if let [(sentence, resolvers)] = sentences.as_slice()
            && resolvers.len() == group.members.len()
        {
            return self.under(2, title, sentence);
        }
        writeln!(self.out, "  {title}:")?;
        for (sentence, resolvers) in sentences {
            self.under(4, &ids(&resolvers), &sentence)?;
        }
        Ok(())
    }

    /// A title and one sentence behind it, or several below it.
    fn under(&mut self, indent: usize, title: &str, sentences: &str) -> io::Result<()> {
        if !sentences.contains('\n') {
            return self.paragraph(indent, &format!("{title}: {sentences}"));
        }
        self.paragraph(indent, &format!("{title}:"))?;
        let mut lines = sentences.lines();
        lines.try_for_each(|line| self.paragraph(indent + 2, line))
    }
}

/// The candidate with its final dot.
pub(super) fn fqdn(candidate: &Candidate) -> String {
    match &candidate.name {
        None => "(a malformed message)".to_owned(),
        Some(name) if name.as_wire().is_empty() => ".".to_owned(),
        Some(name) => format!("{}.", escaped(name.to_string().as_bytes())),
    }
}

/// How a lookup ends, without its resolver.
pub(in crate::render) fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Found(addresses) if addresses.is_empty() => {
            "succeeds without an address".to_owned()
        }
        Outcome::Found(addresses) => {
            let list: Vec<String> = addresses.iter().map(ToString::to_string).collect();
            format!("finds {}", list.join(", "))
        }
        failed => format!("ends with {}", failed.code().unwrap_or_default()),
    }
}

/// What silent servers cost.
pub(in crate::render) fn silence(silence: &Silence) -> String {
    let queries = counted(silence.queries, "query", "queries");
    match (silence.after, silence.code) {
        _ if silence.is_cut => format!("more than {queries}"),
        (None, _) => format!("{queries}, then it waits for ever"),
        (Some(after), Some(code)) => {
            format!("{code} after {} and {queries}", words::seconds(after))
        }
        (Some(after), None) => format!("ends after {} and {queries}", words::seconds(after)),
    }
}

/// Versions of the members, and how much they ask whom.
pub(super) fn heading(
    explanation: &Explanation<'_>,
    group: &Group<'_>,
    verbose: bool,
) -> (String, String) {
    let names = group.members.iter().map(|it| versioned(it.resolver));
    let names: Vec<String> = names.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let names = if verbose {
        names.join(", ")
    } else {
        first_of(&names)
    };
    let counts = group.members.iter().map(|it| queries(explanation, it));
    let is_cut = counts.clone().any(|it| it >= MAX_QUERIES);
    let counts = range(counts);
    let what = match counts.as_str() {
        "0" => "no query".to_owned(),
        "1" => "1 query".to_owned(),
        _ if is_cut => format!("more than {counts} queries"),
        _ => format!("{counts} queries"),
    };
    let to = match common_servers(group) {
        Some(servers) if counts != "0" => {
            format!(" to {}", servers_of(explanation, group, &servers))
        }
        _ => String::new(),
    };
    (names, format!(": {what}{to}"))
}

/// The servers asked, and those of the file that are asked when these fail.
fn servers_of(explanation: &Explanation<'_>, group: &Group<'_>, asked: &[String]) -> String {
    let readings = || group.members.iter().map(|it| &it.reading.servers);
    let is_built_in = |it: &Setting<Server>| it.origin == Origin::BuiltIn;
    if readings().all(|it| it.iter().all(is_built_in)) {
        return format!("{} (default)", asked.join(", "));
    }
    let servers = readings().flatten().map(|it| it.value.to_string());
    let others = once(servers.filter(|it| !asked.contains(it)));
    let at_once = asked.len() > 1 && explanation.scenario.answers.is_empty();
    let at_once = if at_once { " at once" } else { "" };
    let asked = asked.join(", ");
    if others.is_empty() {
        return format!("{asked}{at_once}");
    }
    format!("{asked}{at_once}, then {} if it fails", others.join(", "))
}

/// `glibc 2.36`
pub(in crate::render) fn versioned(resolver: &Resolver) -> String {
    format!("{} {}", family(resolver), resolver.version)
}

/// What follows each candidate, with equal neighbours put together.
fn transitions(member: &Member<'_>) -> String {
    let mut spans: Vec<(usize, usize, String)> = Vec::new();
    for (index, replies) in member.transitions.iter().enumerate() {
        if replies.is_empty() {
            continue;
        }
        let sentence = replies_sentence(index, replies);
        match spans.last_mut() {
            Some((_, last, other)) if *other == sentence => *last = index,
            _ => spans.push((index, index, sentence)),
        }
    }
    let parts: Vec<String> = spans
        .iter()
        .map(|(first, last, sentence)| {
            let numbers = ranges([first + 1, last + 1].into_iter());
            format!("after {numbers}: {sentence}")
        })
        .collect();
    parts.join("\n")
}

fn replies_sentence(index: usize, replies: &[(Reply, Then)]) -> String {
    let targets = together(replies.iter().map(|(reply, then)| {
        let target = match then {
            Then::Candidate(next) if *next == index + 1 => "the next on".to_owned(),
            Then::Candidate(other) => format!("number {} on", other + 1),
            Then::Fails(code) if *code == words::reply(*reply) => "ends on".to_owned(),
            Then::Fails(code) => format!("ends with {code} on"),
            Then::Succeeds => "succeeds on".to_owned(),
        };
        (target, words::reply(*reply))
    }));
    let parts: Vec<String> = targets
        .iter()
        .map(|(target, list)| {
            let is_any = list.len() == REPLIES.len();
            let replies = if is_any {
                "any failure"
            } else {
                &list.join(", ")
            };
            format!("{target} {replies}")
        })
        .collect();
    parts.join("; ")
}

/// A sentence for each member, equal ones put together, in order.
pub(in crate::render) fn shared<'m>(
    members: impl IntoIterator<Item = &'m Member<'m>>,
    sentence: impl Fn(&Member<'_>) -> String,
) -> Vec<(String, Vec<&'m Resolver>)> {
    let members = members.into_iter();
    together(members.map(|it| (sentence(it), it.resolver)))
}

/// A sentence for all, or one for each resolver.
pub(in crate::render) fn joined(
    begin: &str,
    count: usize,
    sentences: Vec<(String, Vec<&Resolver>)>,
) -> String {
    let one = |(sentence, resolvers): (String, Vec<&Resolver>)| {
        if resolvers.len() == count {
            sentence
        } else {
            format!("{}: {sentence}", few(&resolvers))
        }
    };
    let parts: Vec<String> = sentences.into_iter().map(one).collect();
    format!("{begin}: {}.", parts.join("; "))
}

/// What is said of which resolvers: `5 s (musl-1.2.5), 20 s (glibc)`; without
/// them where it is the same for all.
pub(super) fn whose(sentences: &[(String, Vec<&Resolver>)]) -> Vec<String> {
    let one = |(sentence, resolvers): &(String, Vec<&Resolver>)| match sentences.len() {
        1 => sentence.clone(),
        _ => format!("{sentence} ({})", few(resolvers)),
    };
    sentences.iter().map(one).collect()
}

/// The servers of the group if every candidate goes to the same ones: those of
/// the queries that are made, also where the plan needs only the first.
fn common_servers(group: &Group<'_>) -> Option<Vec<String>> {
    let made = plan::candidates(&group.members.first()?.run);
    let mut lists = made.iter().map(Candidate::servers);
    let first = lists.next().unwrap_or_default();
    if !lists.all(|list| list == first) {
        return None;
    }
    let names: Vec<String> = first.iter().map(ToString::to_string).collect();
    Some(names).filter(|it| !it.is_empty())
}

/// The id without the version that follows it anyway.
fn family(resolver: &Resolver) -> &'static str {
    match resolver.id.rsplit_once('-') {
        Some((family, version)) if resolver.version.starts_with(version) => family,
        _ => resolver.id,
    }
}

/// `8`, or `6-8` where members differ.
pub(super) fn ranges(counts: impl Iterator<Item = usize> + Clone) -> String {
    let (least, most) = (counts.clone().min(), counts.max());
    match (least, most) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least}-{most}"),
        _ => "0".to_owned(),
    }
}
