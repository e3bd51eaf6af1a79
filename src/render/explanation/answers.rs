//! What the servers of the scenario answer.

use std::collections::BTreeMap;

use crate::engine::io::Came;
use crate::engine::message::{Because, Data, Record};
use crate::explain::{Explanation, Group};
use crate::name::Name;
use crate::scenario::record_type::Shown;
use crate::simulation::Sent;

/// What came back for each candidate: the types with the same reply.
pub(super) type Answers<'g> =
    BTreeMap<(Option<&'g Name>, &'g Because), Vec<(&'static str, Vec<String>)>>;

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
        let replies = answers.entry((query.name(), &query.because)).or_default();
        let came = came(sent);
        let record_type = query.record_type().map(Shown);
        let record_type = record_type.map(|it| it.to_string()).unwrap_or_default();
        match replies.iter_mut().find(|(other, _)| *other == came) {
            Some((_, types)) if types.contains(&record_type) => {}
            Some((_, types)) => types.push(record_type),
            None => replies.push((came, vec![record_type])),
        }
    }
    answers
}

fn came(sent: &Sent) -> &'static str {
    match &sent.came {
        None => "no answer",
        Some(Came::Refused) => "a closed port",
        Some(Came::Closed) => "a closed connection",
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

/// `gets NXDOMAIN`, or by type where they differ: `A gets an answer, AAAA NODATA`.
pub(super) fn said(answers: &[(&'static str, Vec<String>)]) -> String {
    if let [(came, _)] = answers {
        return format!("gets {came}");
    }
    let part = |(came, types): &(&str, Vec<String>)| format!("{} gets {came}", types.join(" "));
    answers.iter().map(part).collect::<Vec<_>>().join(", ")
}
