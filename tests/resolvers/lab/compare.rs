//! Whether a prediction is what was observed: the rules of the vectors.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::observation::{Observation, Query, Scenario};
use super::rules::Reply;

/// What differs first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Difference {
    /// The prediction is not one.
    Malformed(String),
    /// Other queries.
    Queries(String),
    /// The same queries, but another end.
    Outcome(String),
    /// The same queries, but of another form: `sock`, `edns` or `ad`.
    Form(String),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(text) => write!(f, "malformed: {text}"),
            Self::Queries(text) => write!(f, "queries: {text}"),
            Self::Outcome(text) => write!(f, "outcome: {text}"),
            Self::Form(text) => write!(f, "form: {text}"),
        }
    }
}

/// Whether this resolver asks A and AAAA at once, so that either may come first.
pub(crate) fn races(resolver: &str) -> bool {
    ["go-", "systemd-resolved", "hickory-"]
        .iter()
        .any(|start| resolver.starts_with(start))
}

/// Whether lots are drawn here: another run may ask in another order, or other servers.
///
/// `rotate` starts anywhere; hickory orders several servers by drawn round-trip times, and asks two at once. After a silent server c-ares 1.34 draws the length of its later waits, and glibc's resending
/// through systemd-resolved's stub meets resolved's own.
pub(crate) fn draws_lots(scenario: &Scenario, resolver: &str) -> bool {
    let rotate = |text: &String| text.contains("rotate");
    let told =
        scenario.resolv_conf.as_ref().is_some_and(rotate) || scenario.env.values().any(rotate);
    let silent = scenario.answers.iter().any(|r| r.reply() == Reply::Timeout);
    let several = scenario
        .resolv_conf
        .as_ref()
        .is_some_and(|t| t.matches("nameserver").count() > 1);
    let replies = |wanted: &[Reply]| scenario.answers.iter().any(|r| wanted.contains(&r.reply()));
    let failed = replies(&[Reply::ServFail, Reply::Refused, Reply::NotImp, Reply::Icmp]);
    match resolver {
        _ if resolver.starts_with("glibc") || resolver.starts_with("go-") => told,
        _ if resolver.starts_with("c-ares-1.18") => told || several && replies(&[Reply::Tc]),
        _ if resolver.starts_with("c-ares-1.34") => told || silent || several && failed,
        "systemd-resolved-stub" => silent,
        _ if resolver.starts_with("hickory-") => several,
        _ => false,
    }
}

type Step = (String, String, Option<String>, Option<String>);

/// Compares a prediction (a line of `explain --format jsonl`, or another observation as JSON) with what was observed
/// in one run: where A and AAAA race, either may have come first.
pub(crate) fn judge(prediction: &Value, observed: &Observation) -> Result<(), Difference> {
    compare(prediction, observed, races(&observed.resolver))
}

/// Compares a prediction with an observation of the vectors, which says itself whether it is stable.
pub(crate) fn judge_recorded(prediction: &Value, observed: &Observation) -> Result<(), Difference> {
    compare(prediction, observed, false)
}

fn compare(prediction: &Value, observed: &Observation, races: bool) -> Result<(), Difference> {
    let predicted = steps(prediction)?;
    let varied = !observed.stable.is_null() && observed.stable != Value::Bool(true);
    let loose = varied || races;
    let mut first = None;
    for one in std::iter::once(observed).chain(&observed.variants) {
        match against(prediction, &predicted, one, (loose, races)) {
            Ok(()) => return Ok(()),
            Err(e) => first = Some(first.map_or(e.clone(), |f| worse(f, e))),
        }
    }
    first.map_or(Ok(()), Err)
}

/// Of two differences the one that is closer to agreement.
fn worse(a: Difference, b: Difference) -> Difference {
    if matches!(a, Difference::Queries(_)) && !matches!(b, Difference::Queries(_)) {
        b
    } else {
        a
    }
}

fn steps(prediction: &Value) -> Result<Vec<Step>, Difference> {
    let list = prediction.get("queries").and_then(Value::as_array);
    let list = list.ok_or_else(|| Difference::Malformed("no queries".to_owned()))?;
    let text = |q: &Value, key: &str| q.get(key).and_then(Value::as_str).map(str::to_owned);
    let step = |q: &Value| {
        let server =
            text(q, "server").ok_or_else(|| Difference::Malformed(format!("no server in {q}")))?;
        Ok((
            text(q, "proto").unwrap_or_else(|| "udp".to_owned()),
            server,
            text(q, "qname"),
            text(q, "qtype"),
        ))
    };
    list.iter().map(step).collect()
}

fn observed_steps(queries: &[Query]) -> Vec<Step> {
    queries
        .iter()
        .map(|q| {
            (
                q.proto.clone(),
                q.server.clone(),
                q.qname.clone(),
                q.qtype.clone(),
            )
        })
        .collect()
}

fn by_type(steps: &[Step]) -> BTreeMap<Option<&str>, Vec<&Step>> {
    let mut lists: BTreeMap<Option<&str>, Vec<&Step>> = BTreeMap::new();
    for step in steps {
        lists.entry(step.3.as_deref()).or_default().push(step);
    }
    lists
}

fn against(
    prediction: &Value,
    predicted: &[Step],
    observed: &Observation,
    (loose, races): (bool, bool),
) -> Result<(), Difference> {
    let seen = observed_steps(&observed.queries);
    let cut = observed.outcome.code.as_deref() == Some("STILL_RUNNING_AT_LIMIT");
    let exact = predicted == seen || cut && predicted.starts_with(&seen);
    let cached = observed.resolver == "systemd-resolved-stub";
    let alike = exact
        || loose && same_by_type(predicted, &seen, cached, cut)
        || races && cached && same_names(predicted, &seen);
    if !alike {
        return Err(Difference::Queries(first_difference(predicted, &seen)));
    }
    if !cut {
        same_outcome(prediction.get("outcome").unwrap_or(&Value::Null), observed)?;
    }
    if exact {
        same_form(prediction, &observed.queries, loose)
    } else {
        Ok(())
    }
}

/// Whether each type's own list is the same, or of a `cut` run begins so; with a `cache` a negative answer to A may have
/// answered AAAA, or the reverse.
fn same_by_type(predicted: &[Step], seen: &[Step], cache: bool, cut: bool) -> bool {
    let (mut predicted, mut seen) = (by_type(predicted), by_type(seen));
    if cache {
        let p = predicted.remove(&Some("AAAA")).unwrap_or_default();
        let s = seen.remove(&Some("AAAA")).unwrap_or_default();
        let (few, many) = if p.len() < s.len() { (p, s) } else { (s, p) };
        let mut rest = many.iter();
        if !few.iter().all(|step| rest.any(|other| other == step)) {
            return false;
        }
    }
    if cut {
        return seen
            .iter()
            .all(|(qtype, list)| predicted.get(qtype).is_some_and(|p| p.starts_with(list)));
    }
    predicted == seen
}

/// Whether the same names are asked for in the same order, with whatever type: on a busy machine a cache answers now the
/// one, now the other.
fn same_names(predicted: &[Step], seen: &[Step]) -> bool {
    let names = |steps: &[Step]| {
        let mut names: Vec<_> = steps
            .iter()
            .map(|(_, server, name, _)| (server.clone(), name.clone()))
            .collect();
        names.dedup();
        names
    };
    names(predicted) == names(seen)
}

fn first_difference(predicted: &[Step], seen: &[Step]) -> String {
    let at = predicted
        .iter()
        .zip(seen)
        .take_while(|(p, s)| p == s)
        .count();
    let show = |list: &[Step]| {
        list.get(at).map_or_else(
            || "nothing".to_owned(),
            |(proto, server, qname, qtype)| {
                format!(
                    "{proto} {server} {} {}",
                    qname.as_deref().unwrap_or("(bad)"),
                    qtype.as_deref().unwrap_or("?")
                )
            },
        )
    };
    format!(
        "query {} predicted {}, observed {} ({} and {} in all)",
        at + 1,
        show(predicted),
        show(seen),
        predicted.len(),
        seen.len()
    )
}

fn same_outcome(predicted: &Value, observed: &Observation) -> Result<(), Difference> {
    let text = |key: &str| predicted.get(key).and_then(Value::as_str);
    let outcome = &observed.outcome;
    let mut addrs: Vec<&str> = predicted
        .get("addrs")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    addrs.sort_unstable();
    let mut seen: Vec<&str> = outcome.addrs.iter().flatten().map(String::as_str).collect();
    seen.sort_unstable();
    let same = text("status") == Some(outcome.status.as_str())
        && if outcome.status == "ok" {
            addrs == seen
        } else {
            text("code") == outcome.code.as_deref()
        };
    if same {
        return Ok(());
    }
    let observed = serde_json::to_string(outcome).unwrap_or_default();
    Err(Difference::Outcome(format!(
        "predicted {predicted}, observed {observed}"
    )))
}

/// `sock` where the prediction states it, `edns` and `ad`: what it does not state of these, the query has not.
fn same_form(prediction: &Value, seen: &[Query], loose: bool) -> Result<(), Difference> {
    let predicted = prediction
        .get("queries")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    for (number, (p, q)) in predicted.zip(seen).enumerate() {
        let observed = serde_json::to_value(q).unwrap_or_default();
        for key in ["sock", "edns", "ad"] {
            let stated = form(p, key);
            if key == "sock" && (loose || stated.is_null()) {
                continue;
            }
            let other = form(&observed, key);
            if stated != other {
                return Err(Difference::Form(format!(
                    "query {}: {key} predicted {stated}, observed {other}",
                    number + 1
                )));
            }
        }
    }
    Ok(())
}

/// A query's `key`; `false` is as good as nothing.
fn form<'q>(query: &'q Value, key: &str) -> &'q Value {
    query
        .get(key)
        .filter(|value| **value != Value::Bool(false))
        .unwrap_or(&Value::Null)
}
