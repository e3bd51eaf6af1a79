//! A report as SARIF 2.1.0.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::Value;
use serde_sarif::sarif::{
    CodeFlow, Result as Found, ResultKind, ResultLevel, ThreadFlow, ThreadFlowLocation,
};

use super::findings::{self, label, shown};
use crate::check_loop::{Chain, Report, Verdict};
use crate::finding::Severity;
use crate::render::findings::Notice;
use crate::render::findings::sarif::{self, Parts, RuleWords, message, some};

/// Writes a log with one result: that DNS loops, will loop, is refused, or
/// that this is open. Without a result, nothing loops.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut states = BTreeMap::new();
    for (name, word) in [
        ("verdict", report.verdict.word()),
        ("now", report.now.word()),
        ("next_start", report.next_start.word()),
    ] {
        states.insert(name.to_owned(), Value::from(word));
    }
    let mut notices = findings::notices(report);
    if report.verdict == Verdict::NoLoop {
        let steps = findings::steps(report);
        notices.extend(steps.map(|it| Notice::new(Severity::Info, &it)));
    }
    let parts = Parts {
        rules: rules(),
        results: Box::new(result(report).into_iter()),
        notices: &notices,
        is_complete: report.verdict != Verdict::Unknown,
        properties: states,
    };
    sarif::write(parts, out)
}

/// Writes a log that says only what went wrong.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_error(message: &str, out: &mut dyn Write) -> io::Result<()> {
    let parts = Parts {
        rules: rules(),
        results: Box::new(std::iter::empty()),
        notices: &[Notice::new(Severity::Error, message)],
        is_complete: false,
        properties: BTreeMap::new(),
    };
    sarif::write(parts, out)
}

/// Verdict, short and full description.
type Rule = (Verdict, &'static str, &'static str);

#[rustfmt::skip]
const RULES: [Rule; 5] = [
    (Verdict::Loop, "The cluster's DNS server forwards queries to itself.", "Each query comes back to the server that forwarded it, until memory or time runs out."),
    (Verdict::Mixed, "Some of the upstream servers of the cluster's DNS server, or some of its pods, loop or refuse.", "Queries that happen to come there fail; the others are answered."),
    (Verdict::Refused, "The cluster's DNS server forwards to a loopback address where nobody listens.", "A loopback address in a pod is the pod's own; the node's resolver is not behind it."),
    (Verdict::WillLoop, "The cluster's DNS server will forward to itself after its next start.", "The running pods have an older file than the one that the kubelet would write now, or a cache on the node has yet to write its rules."),
    (Verdict::Unknown, "Whether the cluster's DNS server loops could not be told.", "The notifications of the run say what is missing."),
];

fn rules() -> Vec<RuleWords<'static>> {
    let words = RULES.iter().map(|(verdict, short, full)| RuleWords {
        id: findings::rule_id(*verdict),
        name: None,
        severity: findings::severity(*verdict),
        short,
        full,
        page: None,
        uri: None,
    });
    words.collect()
}

fn result(report: &Report) -> Option<Found> {
    if report.verdict == Verdict::NoLoop {
        return None;
    }
    let mut found = sarif::result(&findings::verdict(report));
    // A result that is open has no level (SARIF 2.1.0, section 3.27.10).
    if report.verdict == Verdict::Unknown {
        found.kind = Some(ResultKind::Open);
        found.level = Some(ResultLevel::None);
    }
    found.code_flows = some(report.chains.iter().filter_map(flow).collect());
    Some(found)
}

/// A query path, one location for each proof.
fn flow(chain: &Chain) -> Option<CodeFlow> {
    let proofs = chain.hops.iter().flat_map(|hop| {
        let step = |proof: &crate::check_loop::Proof| {
            let text = findings::sends(hop, &proof.text);
            let place = label(&proof.place, String::new());
            let location = sarif::location(&place, Some(&text))?;
            Some(ThreadFlowLocation::builder().location(location).build())
        };
        hop.proof.iter().filter_map(step)
    });
    let locations = some(proofs.collect())?;
    let thread = ThreadFlow::builder().locations(locations).build();
    let zone = shown(&chain.zone);
    let of = message(&format!("the query path for {zone}"));
    let flow = CodeFlow::builder().thread_flows(vec![thread]).message(of);
    Some(flow.build())
}
