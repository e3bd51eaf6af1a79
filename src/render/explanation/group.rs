//! A group of resolvers: what they ask, and what follows.

use std::io;

use super::answers::{Answers, answers, said};
use super::{Text, ids};
use crate::engine::machine::Outcome;
use crate::explain::plan::{self, Candidate};
use crate::explain::transition::{REPLIES, Reply, Silence, Then};
use crate::explain::{Explanation, Group, Member, Row};
use crate::name::Name;
use crate::render::words;
use crate::resolver::Resolver;
use crate::resolver::reading::Origin;
use crate::scenario::record_type::Shown;
use crate::simulation::MAX_QUERIES;
use crate::text::escaped;

impl Text<'_> {
    pub(super) fn group(
        &mut self,
        explanation: &Explanation<'_>,
        group: &Group<'_>,
    ) -> io::Result<()> {
        writeln!(self.out)?;
        let (names, rest) = heading(group);
        self.headed(0, &self.bold(&names), &rest)?;
        let answers = answers(explanation, group);
        let servers = common_servers(group);
        let longest = group
            .candidates
            .iter()
            .map(|row| fqdn(&row.candidate).chars().count());
        let width = longest.max().unwrap_or(0).min(48);
        for (index, row) in group.candidates.iter().enumerate() {
            self.row(index, row, width, servers.is_none())?;
            self.row_details(explanation, &answers, row)?;
        }
        self.ends(explanation, group)?;
        self.transitions(group)?;
        self.silence(group)?;
        self.notes(group)
    }

    fn row(&mut self, index: usize, row: &Row, width: usize, show_servers: bool) -> io::Result<()> {
        let candidate = &row.candidate;
        let name = fqdn(candidate);
        let padding = width.saturating_sub(name.chars().count());
        let types: Vec<String> = candidate
            .record_types()
            .iter()
            .map(|it| Shown(*it).to_string())
            .collect();
        let because = words::because(&candidate.because);
        let mut details = format!("{}  {because}", types.join(" "));
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
        answers: &Answers<'_>,
        row: &Row,
    ) -> io::Result<()> {
        let mut parts = Vec::new();
        let name = row.candidate.name.as_ref();
        if let Some((name, meaning)) = name.zip(row.meaning.as_ref())
            && self.explained.insert(name.clone())
        {
            parts.push(words::meaning(meaning));
        }
        if row.is_useful {
            parts.push("what you most likely mean".to_owned());
        }
        let has_return = |name: &Name| name.labels().any(|label| label.contains(&b'\r'));
        if name.is_some_and(has_return) {
            parts.push("\\013 is a carriage return: the file has the line ends of Windows".into());
        }
        if !row.is_asked {
            parts.push("not asked".to_owned());
        } else if let Some(answers) = answers.get(&row.candidate.key()) {
            parts.push(said(answers));
        }
        if !parts.is_empty() {
            self.paragraph(6, &parts.join("; "))?;
        }
        if !self.style.verbose {
            return Ok(());
        }
        let key = explanation.cluster.as_ref().zip(name);
        match key.and_then(|(cluster, name)| cluster.skydns_key(name)) {
            Some(key) => self.paragraph(6, &format!("kube-dns: {key}")),
            None => Ok(()),
        }
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
            return self.titled(2, title, sentence);
        }
        writeln!(self.out, "  {title}:")?;
        for (sentence, resolvers) in sentences {
            self.titled(4, &ids(&resolvers), &sentence)?;
        }
        Ok(())
    }

    /// A title and one sentence behind it, or several below it.
    fn titled(&mut self, indent: usize, title: &str, sentences: &str) -> io::Result<()> {
        if !sentences.contains('\n') {
            return self.paragraph(indent, &format!("{title}: {sentences}"));
        }
        self.paragraph(indent, &format!("{title}:"))?;
        let mut lines = sentences.lines();
        lines.try_for_each(|line| self.paragraph(indent + 2, line))
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
        Outcome::Failed(code) => format!("ends with {code}"),
    }
}

/// What silent servers cost.
pub(in crate::render) fn silence(silence: &Silence) -> String {
    let queries = words::counted(silence.queries, "query", "queries");
    match (silence.after, silence.code) {
        _ if silence.is_cut => format!("more than {queries}"),
        (None, _) => format!("{queries}, then it waits for ever"),
        (Some(after), Some(code)) => {
            format!("{code} after {} and {queries}", words::seconds(after))
        }
        (Some(after), None) => format!("ends after {} and {queries}", words::seconds(after)),
    }
}

/// Versions of the members, and how much they ask.
fn heading(group: &Group<'_>) -> (String, String) {
    let names: Vec<String> = group
        .members
        .iter()
        .map(|member| versioned(member.resolver))
        .collect();
    let counts = ranges(group.members.iter().map(|member| member.run.sent.len()));
    let is_cut = |member: &Member<'_>| member.run.sent.len() >= MAX_QUERIES;
    let is_cut = group.members.iter().any(is_cut);
    let what = match counts.as_str() {
        "0" => "no query".to_owned(),
        "1" => "1 query".to_owned(),
        _ if is_cut => format!("more than {counts} queries"),
        _ => format!("{counts} queries"),
    };
    let to = match common_servers(group) {
        Some(servers) if !servers.is_empty() && counts != "0" => format!(" to {servers}"),
        _ => String::new(),
    };
    // Where the file names none.
    let is_built_in = |member: &Member<'_>| {
        let mut servers = member.reading.servers.iter();
        servers.all(|server| server.origin == Origin::BuiltIn)
    };
    let default = if group.members.iter().all(is_built_in) && !to.is_empty() {
        " (default)"
    } else {
        ""
    };
    let asked_all = group.candidates.iter().all(|row| row.is_asked);
    let until = if asked_all && counts != "0" && !is_cut {
        " until nothing is left"
    } else {
        ""
    };
    (names.join(", "), format!(": {what}{to}{default}{until}"))
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
    let mut targets: Vec<(String, Vec<&str>)> = Vec::new();
    for (reply, then) in replies {
        let target = match then {
            Then::Candidate(next) if *next == index + 1 => "the next on".to_owned(),
            Then::Candidate(other) => format!("number {} on", other + 1),
            Then::Fails(code) if *code == words::reply(*reply) => "ends on".to_owned(),
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
    let mut sentences: Vec<(String, Vec<&Resolver>)> = Vec::new();
    for member in members {
        let text = sentence(member);
        match sentences.iter_mut().find(|(other, _)| *other == text) {
            Some((_, resolvers)) => resolvers.push(member.resolver),
            None => sentences.push((text, vec![member.resolver])),
        }
    }
    sentences
}

/// The servers of the group if every candidate goes to the same ones: those of
/// the queries that are made, also where the plan needs only the first.
fn common_servers(group: &Group<'_>) -> Option<String> {
    let made = plan::candidates(&group.members.first()?.run);
    let mut lists = made.iter().map(Candidate::servers);
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
