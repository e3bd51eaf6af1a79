//! What the servers of the scenario answer.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::io::{Came, Wrong};
use crate::engine::message::{Because, Data, Record};
use crate::explain::{Explanation, Group};
use crate::name::Name;
use crate::scenario::record_type::Shown;
use crate::simulation::Sent;
use crate::text::ordered;

/// What came back for each candidate.
pub(super) type Answers<'g> = BTreeMap<(Option<&'g Name>, &'g Because), Vec<Answer>>;

/// A kind of reply, with all that got it.
#[derive(Debug, Default)]
pub(super) struct Answer {
    came: &'static str,
    types: Vec<String>,
    servers: Vec<String>,
}

/// What the scenario's servers answer to the first member; nothing to say
/// where no answer was assumed.
pub(super) fn answers<'g>(explanation: &Explanation<'_>, group: &'g Group<'_>) -> Answers<'g> {
    let mut answers = Answers::new();
    if explanation.scenario.answers.is_empty() {
        return answers;
    }
    let sent = group
        .members
        .first()
        .map(|member| member.run.sent.as_slice());
    for sent in sent.unwrap_or_default() {
        let query = &sent.query;
        let replies: &mut Vec<Answer> = answers.entry((query.name(), &query.because)).or_default();
        let came = came(sent);
        let at = replies.iter().position(|it| it.came == came);
        let at = at.unwrap_or(replies.len());
        if at == replies.len() {
            replies.push(Answer {
                came,
                ..Answer::default()
            });
        }
        let record_type = query.record_type().map(Shown);
        if let Some(answer) = replies.get_mut(at) {
            let record_type = record_type.map(|it| it.to_string());
            add(record_type.unwrap_or_default(), &mut answer.types);
            add(query.server.to_string(), &mut answer.servers);
        }
    }
    answers
}

/// Adds what is not there yet.
fn add(word: String, list: &mut Vec<String>) {
    if !list.contains(&word) {
        list.push(word);
    }
}

fn came(sent: &Sent) -> &'static str {
    match sent.wrong {
        Some(Wrong::Id) => return "an answer with another id",
        Some(Wrong::Question) => return "an answer to another question",
        Some(Wrong::Source) => return "an answer from another address",
        None => {}
    }
    match &sent.came {
        None => "no answer",
        Some(Came::Refused) => "a closed port",
        Some(Came::Closed) => "a closed connection",
        Some(Came::Reset) => "a reset connection",
        Some(Came::Reply(reply)) if reply.truncated => "a truncated answer",
        Some(Came::Reply(reply)) if reply.answers.iter().any(is_address) => "an answer",
        Some(Came::Reply(reply)) if !reply.answers.is_empty() => "an alias and no address",
        Some(Came::Reply(reply)) if reply.rcode.as_str() == "NOERROR" => "NODATA",
        Some(Came::Reply(reply)) => reply.rcode.as_str(),
    }
}

fn is_address(record: &Record) -> bool {
    !matches!(record.data, Data::Cname(_))
}

/// `gets NXDOMAIN`, or by type where they differ: `A gets an answer, AAAA NODATA`;
/// with the servers where there are several: `gets SERVFAIL from 10.0.0.1, 10.0.0.2`.
pub(super) fn said(answers: &[Answer]) -> String {
    let servers: BTreeSet<&String> = ordered(answers.iter().flat_map(|it| &it.servers));
    let from = |answer: &Answer| match servers.len() {
        0 | 1 => String::new(),
        _ => format!(" from {}", answer.servers.join(", ")),
    };
    if let [answer] = answers {
        return format!("gets {}{}", answer.came, from(answer));
    }
    let part = |it: &Answer| format!("{} gets {}{}", it.types.join(" "), it.came, from(it));
    let separator = if servers.len() > 1 { "; " } else { ", " };
    answers.iter().map(part).collect::<Vec<_>>().join(separator)
}
