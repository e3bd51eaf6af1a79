//! Whether a prediction is what was observed: the rules of the vectors.

use std::fmt;

use serde_json::Value;

use super::courses::Course;
use super::observation::{Observation, Query};

/// So many queries over UDP pass one over TCP at most.
const MOST_PASSED: usize = 3;

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

/// A query as a server sees it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Step {
    proto: String,
    server: String,
    qname: Option<String>,
    qtype: Option<String>,
    /// `size` and `do` of `edns`, and `ad`.
    form: [Value; 3],
}

impl Step {
    /// A query of a prediction or an observation.
    pub(crate) fn of(query: &Value) -> Result<Self, Difference> {
        let text = |key: &str| query.get(key).and_then(Value::as_str).map(str::to_owned);
        let server = text("server");
        Ok(Self {
            proto: text("proto").unwrap_or_else(|| "udp".to_owned()),
            server: server.ok_or_else(|| Difference::Malformed(format!("no server in {query}")))?,
            qname: text("qname"),
            qtype: text("qtype"),
            form: ["size", "do", "ad"].map(|key| {
                // Whether a server gets a cookie depends on whether it was asked before.
                let edns = form(query, "edns");
                form(if key == "ad" { query } else { edns }, key).clone()
            }),
        })
    }

    fn asks_like(&self, other: &Self) -> bool {
        self.proto == other.proto
            && self.server == other.server
            && self.qname == other.qname
            && self.qtype == other.qtype
    }
}

/// Compares a prediction (a line of `explain --format jsonl`, or another observation as JSON) with what was observed:
/// the run, and every other one that the vectors list beside it, is one of those predicted.
pub(crate) fn judge(prediction: &Value, observed: &Observation) -> Result<(), Difference> {
    let course = Course::of(prediction)?;
    let runs = std::iter::once(observed).chain(&observed.variants);
    for run in runs {
        against(prediction, &course, run)?;
    }
    Ok(())
}

/// The same of a run just made, of which only the order is known in which queries reached the server.
pub(crate) fn judge_as_sent(prediction: &Value, observed: &Observation) -> Result<(), Difference> {
    judge(prediction, observed).or_else(|difference| {
        let mut orders = as_sent(&Course::of(prediction)?, observed)?.into_iter();
        if orders.any(|it| judge(prediction, &it).is_ok()) {
            Ok(())
        } else {
            Err(difference)
        }
    })
}

/// A query over TCP reaches the server a handshake after it is sent: what is sent over UDP meanwhile comes before it.
/// Other orders in which the queries can have been sent, as far as they begin like a run of `course`.
fn as_sent(course: &Course, seen: &Observation) -> Result<Vec<Observation>, Difference> {
    let is_udp = |at: usize| seen.queries.get(at).is_some_and(|it| it.proto == "udp");
    let numbered = seen.queries.iter().enumerate();
    let late = numbered.filter(|(at, it)| it.proto == "tcp" && *at > 0 && is_udp(at - 1));
    let mut orders = vec![seen.clone()];
    for (at, _) in late {
        for order in orders.clone() {
            let passed = (1..=at.min(MOST_PASSED)).take_while(|back| is_udp(at - back));
            orders.extend(passed.map(|back| {
                let mut sent = order.clone();
                if let Some(turned) = sent.queries.get_mut(at - back..=at) {
                    turned.rotate_right(1);
                }
                sent
            }));
        }
        // What comes later does not come before this.
        let settled = (at + 1).saturating_sub(MOST_PASSED);
        let mut begins = Vec::with_capacity(orders.len());
        for order in orders {
            let steps = steps(order.queries.get(..settled).unwrap_or_default())?;
            if !course.ends(&steps, true, Step::asks_like).is_empty() {
                begins.push(order);
            }
        }
        orders = begins;
    }
    Ok(orders)
}

/// The queries as steps.
fn steps(queries: &[Query]) -> Result<Vec<Step>, Difference> {
    let values = queries
        .iter()
        .map(|it| serde_json::to_value(it).unwrap_or_default());
    values.map(|it| Step::of(&it)).collect()
}

fn against(prediction: &Value, course: &Course, observed: &Observation) -> Result<(), Difference> {
    let queries = serde_json::to_value(&observed.queries).unwrap_or_default();
    let queries = queries.as_array().map(Vec::as_slice).unwrap_or_default();
    let seen: Result<Vec<Step>, Difference> = queries.iter().map(Step::of).collect();
    let seen = seen?;
    let cut = observed.outcome.code.as_deref() == Some("STILL_RUNNING_AT_LIMIT");
    let ends = course.ends(&seen, cut, Step::asks_like);
    if ends.is_empty() {
        return Err(Difference::Queries(first_difference(course.steps(), &seen)));
    }
    let own = prediction.get("outcome").unwrap_or(&Value::Null);
    if !cut {
        let ends = ends.iter().map(|end| end.unwrap_or(own));
        let mut same = ends.map(|end| same_outcome(end, observed));
        let first = same.next().unwrap_or(Ok(()));
        if first.is_err() && !same.any(|it| it.is_ok()) {
            return first;
        }
    }
    let varied = !observed.stable.is_null() && observed.stable != Value::Bool(true);
    if course.is_certain() && !varied {
        return same_form(prediction, queries);
    }
    if course.ends(&seen, cut, Step::eq).is_empty() {
        return Err(Difference::Form("edns or ad".to_owned()));
    }
    Ok(())
}

fn first_difference(predicted: &[Step], seen: &[Step]) -> String {
    let at = predicted
        .iter()
        .zip(seen)
        .take_while(|(p, s)| p.asks_like(s))
        .count();
    let show = |list: &[Step]| {
        list.get(at).map_or_else(
            || "nothing".to_owned(),
            |step| {
                format!(
                    "{} {} {} {}",
                    step.proto,
                    step.server,
                    step.qname.as_deref().unwrap_or("(bad)"),
                    step.qtype.as_deref().unwrap_or("?")
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
fn same_form(prediction: &Value, seen: &[Value]) -> Result<(), Difference> {
    let predicted = prediction
        .get("queries")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    for (number, (p, observed)) in predicted.zip(seen).enumerate() {
        for key in ["sock", "edns", "ad"] {
            let stated = form(p, key);
            if key == "sock" && stated.is_null() {
                continue;
            }
            let other = form(observed, key);
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
