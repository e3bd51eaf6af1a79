//! A group of resolvers: what they ask, and what follows.

use std::io;

use super::{Text, ids};
use crate::engine::io::Came;
use crate::engine::machine::Outcome;
use crate::explain::plan::Candidate;
use crate::explain::transition::{REPLIES, Reply, Then};
use crate::explain::{Explanation, Group, Member, Row};
use crate::render::words;
use crate::resolver::Resolver;
use crate::text::escaped;

impl Text<'_> {
    pub(super) fn group(
        &mut self,
        explanation: &Explanation<'_>,
        group: &Group<'_>,
    ) -> io::Result<()> {
        writeln!(self.out)?;
        self.paragraph(0, &self.heading(group))?;
        let servers = common_servers(group);
        let longest = group
            .candidates
            .iter()
            .map(|row| fqdn(&row.candidate).chars().count());
        let width = longest.max().unwrap_or(0).min(48);
        for (index, row) in group.candidates.iter().enumerate() {
            self.row(index, row, width, servers.is_none())?;
            self.row_details(explanation, group, row)?;
        }
        self.ends(explanation, group)?;
        self.transitions(group)?;
        self.silence(group)?;
        self.notes(group)
    }

    fn heading(&self, group: &Group<'_>) -> String {
        let names: Vec<String> = group
            .members
            .iter()
            .map(|member| format!("{} {}", family(member.resolver), member.resolver.version))
            .collect();
        let counts = ranges(group.members.iter().map(|member| member.run.sent.len()));
        let what = if counts == "0" {
            "no query".to_owned()
        } else if counts == "1" {
            "1 query".to_owned()
        } else {
            format!("{counts} queries")
        };
        let to = match common_servers(group) {
            Some(servers) if !servers.is_empty() => format!(" to {servers}"),
            _ => String::new(),
        };
        let asked_all = group.candidates.iter().all(|row| row.is_asked);
        let until = if asked_all && counts != "0" {
            " until nothing is left"
        } else {
            ""
        };
        format!("{}: {what}{to}{until}", self.bold(&names.join(", ")))
    }

    fn row(&mut self, index: usize, row: &Row, width: usize, show_servers: bool) -> io::Result<()> {
        let candidate = &row.candidate;
        let name = fqdn(candidate);
        let padding = width.saturating_sub(name.chars().count());
        let types: Vec<String> = candidate
            .record_types()
            .iter()
            .map(ToString::to_string)
            .collect();
        let mut details = format!(
            "{}  {}",
            types.join(" "),
            words::because(&candidate.because)
        );
        if show_servers {
            let servers: Vec<String> = candidate
                .servers()
                .iter()
                .map(ToString::to_string)
                .collect();
            details = format!("{details}  {}", servers.join(" "));
        }
        let number = format!("{:>4}", index + 1);
        let shown = if row.is_useful {
            self.green(&name)
        } else {
            self.bold(&name)
        };
        let shown = if row.is_asked { shown } else { self.dim(&name) };
        if name.chars().count() > width {
            writeln!(self.out, "{number}  {shown}")?;
            writeln!(self.out, "      {}", self.dim(&details))
        } else {
            let blank = " ".repeat(padding);
            writeln!(self.out, "{number}  {shown}{blank}  {}", self.dim(&details))
        }
    }

    fn row_details(
        &mut self,
        explanation: &Explanation<'_>,
        group: &Group<'_>,
        row: &Row,
    ) -> io::Result<()> {
        let mut parts = Vec::new();
        let name = row.candidate.name.as_ref();
        if let Some((name, meaning)) = name.zip(row.meaning.as_ref()) {
            if !self.explained.contains(name) {
                self.explained.push(name.clone());
                parts.push(words::meaning(meaning));
            }
        }
        if row.is_useful {
            parts.push("what you most likely mean".to_owned());
        }
        if !row.is_asked {
            parts.push("not asked".to_owned());
        } else if !explanation.scenario.answers.is_empty() {
            parts.extend(
                group
                    .members
                    .first()
                    .and_then(|member| answers(member, &row.candidate)),
            );
        }
        if self.style.verbose {
            let key = explanation
                .cluster
                .as_ref()
                .zip(row.candidate.name.as_ref());
            let key = key.and_then(|(cluster, name)| cluster.skydns_key(name));
            parts.extend(key.map(|key| format!("kube-dns: {}", escaped(key.as_bytes()))));
        }
        if parts.is_empty() {
            return Ok(());
        }
        self.paragraph(6, &parts.join("; "))
    }

    fn ends(&mut self, explanation: &Explanation<'_>, group: &Group<'_>) -> io::Result<()> {
        let ends = shared(group, |member| match &member.run.outcome {
            Outcome::Found(addresses) if addresses.is_empty() => {
                "succeeds without an address".to_owned()
            }
            Outcome::Found(addresses) => {
                let list: Vec<String> = addresses.iter().map(ToString::to_string).collect();
                format!("finds {}", list.join(", "))
            }
            Outcome::Failed(code) => format!("ends with {code}"),
        });
        let title = if explanation.scenario.answers.is_empty() {
            "If nothing exists"
        } else {
            "With the answers assumed"
        };
        self.per_resolver(title, group, ends)
    }

    fn transitions(&mut self, group: &Group<'_>) -> io::Result<()> {
        let sentences = shared(group, transitions);
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
        let sentences = shared(group, |member| {
            let silence = &member.silence;
            let queries = words::counted(silence.queries, "query", "queries");
            match (silence.after, silence.code) {
                (None, _) => format!("{queries}, then it waits for ever"),
                (Some(after), Some(code)) => {
                    format!("{code} after {} and {queries}", words::seconds(after))
                }
                (Some(after), None) => {
                    format!("ends after {} and {queries}", words::seconds(after))
                }
            }
        });
        self.per_resolver("If the servers are silent", group, sentences)
    }

    fn notes(&mut self, group: &Group<'_>) -> io::Result<()> {
        let notes = shared(group, |member| member.run.notes.join("; "));
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
        if let [(sentence, resolvers)] = sentences.as_slice() {
            if resolvers.len() == group.members.len() {
                return self.paragraph(2, &format!("{title}: {sentence}"));
            }
        }
        writeln!(self.out, "  {title}:")?;
        for (sentence, resolvers) in sentences {
            self.paragraph(4, &format!("{}: {sentence}", ids(&resolvers)))?;
        }
        Ok(())
    }
}

/// The candidate with its final dot.
fn fqdn(candidate: &Candidate) -> String {
    match &candidate.name {
        None => "(a malformed message)".to_owned(),
        Some(name) if name.as_wire().is_empty() => ".".to_owned(),
        Some(name) => format!("{}.", escaped(name.to_string().as_bytes())),
    }
}

/// What came back for a candidate, as in `A NXDOMAIN, AAAA NXDOMAIN`.
fn answers(member: &Member<'_>, candidate: &Candidate) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for sent in &member.run.sent {
        let query = &sent.query;
        if query.name() != candidate.name.as_ref() || query.because != candidate.because {
            continue;
        }
        let came = match &sent.came {
            None => "silence",
            Some(Came::Refused) => "a closed port",
            Some(Came::Closed) => "a closed connection",
            Some(Came::Reply(reply)) if reply.truncated => "a truncated answer",
            Some(Came::Reply(reply)) if !reply.answers.is_empty() => "an answer",
            Some(Came::Reply(reply)) if reply.rcode.as_str() == "NOERROR" => "NODATA",
            Some(Came::Reply(reply)) => reply.rcode.as_str(),
        };
        let record_type = query
            .record_type()
            .map(|it| it.to_string())
            .unwrap_or_default();
        let part = format!("{record_type} {came}");
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What follows each candidate, with equal neighbours put together.
fn transitions(member: &Member<'_>) -> String {
    let mut ranges: Vec<(usize, usize, String)> = Vec::new();
    for (index, replies) in member.transitions.iter().enumerate() {
        if replies.is_empty() {
            continue;
        }
        let sentence = replies_sentence(index, replies);
        match ranges.last_mut() {
            Some((_, last, other)) if *other == sentence => *last = index,
            _ => ranges.push((index, index, sentence)),
        }
    }
    let parts: Vec<String> = ranges
        .iter()
        .map(|(first, last, sentence)| match first == last {
            true => format!("after {}: {sentence}", first + 1),
            false => format!("after {}-{}: {sentence}", first + 1, last + 1),
        })
        .collect();
    parts.join(". ")
}

fn replies_sentence(index: usize, replies: &[(Reply, Then)]) -> String {
    let mut targets: Vec<(String, Vec<&str>)> = Vec::new();
    for (reply, then) in replies {
        let target = match then {
            Then::Candidate(next) if *next == index + 1 => "next on".to_owned(),
            Then::Candidate(other) => format!("{} on", other + 1),
            Then::Fails(code) => format!("ends with {code} on"),
            Then::Succeeds => "succeeds on".to_owned(),
        };
        match targets.iter_mut().find(|(other, _)| *other == target) {
            Some((_, list)) => list.push(words::reply(*reply)),
            None => targets.push((target, vec![words::reply(*reply)])),
        }
    }
    let parts: Vec<String> = targets
        .iter()
        .map(|(target, list)| match list.len() == REPLIES.len() {
            true => format!("{target} any failure"),
            false => format!("{target} {}", list.join(", ")),
        })
        .collect();
    parts.join("; ")
}

/// A sentence for each member, equal ones put together, in order.
fn shared<'m>(
    group: &'m Group<'_>,
    sentence: impl Fn(&Member<'_>) -> String,
) -> Vec<(String, Vec<&'m Resolver>)> {
    let mut sentences: Vec<(String, Vec<&Resolver>)> = Vec::new();
    for member in &group.members {
        let text = sentence(member);
        match sentences.iter_mut().find(|(other, _)| *other == text) {
            Some((_, resolvers)) => resolvers.push(member.resolver),
            None => sentences.push((text, vec![member.resolver])),
        }
    }
    sentences
}

/// The servers of the group if every candidate goes to the same ones.
fn common_servers(group: &Group<'_>) -> Option<String> {
    let mut lists = group.candidates.iter().map(|row| row.candidate.servers());
    let first = lists.next().unwrap_or_default();
    if !lists.all(|list| list == first) {
        return None;
    }
    let names: Vec<String> = first.iter().map(ToString::to_string).collect();
    Some(names.join(", "))
}

/// The id without the version that follows it anyway.
fn family(resolver: &Resolver) -> &'static str {
    match resolver.id.rsplit_once('-') {
        Some((family, version)) if resolver.version.starts_with(version) => family,
        _ => resolver.id,
    }
}

/// `8`, or `6-8` where members differ.
fn ranges(counts: impl Iterator<Item = usize> + Clone) -> String {
    let (least, most) = (counts.clone().min(), counts.max());
    match (least, most) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least}-{most}"),
        _ => "0".to_owned(),
    }
}
