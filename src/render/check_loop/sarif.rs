//! A report as SARIF 2.1.0.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::Value;
use serde_sarif::sarif::{
    ArtifactChange, ArtifactContent, ArtifactLocation, CodeFlow, Fix, Invocation, Location,
    Message, MultiformatMessageString, Notification, PhysicalLocation, PropertyBag, Region,
    Replacement, ReportingDescriptor, Result as Finding, ResultKind, ResultLevel, Run, Sarif,
    ThreadFlow, ThreadFlowLocation, Tool, ToolComponent,
};

use super::findings::{self, Level, shown};
use super::{state_word, verdict_word};
use crate::check_loop::{Chain, Edit, Report, Sighting, Verdict};
use crate::render::json;
use crate::text::Place;

/// Writes a log with one result: that DNS loops, will loop, is refused, or
/// that this is open. Without a result, nothing loops.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let missing = report.missing.iter().map(|it| (Level::Warning, it));
    let others = report.skipped.iter().chain(&report.remarks);
    let notes = missing.chain(others.map(|it| (Level::Note, it)));
    let notifications = notes.map(|(level, text)| notification(level, text));
    let invocation = Invocation::builder()
        .execution_successful(report.verdict != Verdict::Unknown)
        .tool_execution_notifications(notifications.collect::<Vec<_>>())
        .build();
    let mut states = BTreeMap::new();
    for (name, word) in [
        ("verdict", verdict_word(report.verdict)),
        ("now", state_word(report.now)),
        ("next_start", state_word(report.next_start)),
    ] {
        states.insert(name.to_owned(), Value::from(word));
    }
    log(result(report), invocation, states, out)
}

/// Writes a log that says only what went wrong.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_error(message: &str, out: &mut dyn Write) -> io::Result<()> {
    let invocation = Invocation::builder()
        .execution_successful(false)
        .tool_execution_notifications(vec![notification(Level::Error, message)])
        .build();
    log(None, invocation, BTreeMap::new(), out)
}

fn log(
    result: Option<Finding>,
    invocation: Invocation,
    states: BTreeMap<String, Value>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let driver = ToolComponent::builder()
        .name("kdns")
        .version(env!("CARGO_PKG_VERSION"))
        .information_uri(env!("CARGO_PKG_REPOSITORY"))
        .rules(RULES.iter().map(rule).collect::<Vec<_>>())
        .build();
    let run = Run::builder()
        .tool(Tool::builder().driver(driver).build())
        .column_kind("unicodeCodePoints")
        .invocations(vec![invocation])
        .results(result.into_iter().collect::<Vec<_>>())
        .properties(PropertyBag::builder().additional_properties(states).build())
        .build();
    let log = Sarif::builder()
        .schema("https://json.schemastore.org/sarif-2.1.0.json")
        .version("2.1.0")
        .runs(vec![run])
        .build();
    json::document(&log, out)
}

/// Id, short and full description.
type Rule = (&'static str, &'static str, &'static str);

const RULES: [Rule; 5] = [
    (
        "dns-loop",
        "The cluster's DNS server forwards queries to itself.",
        "Each query comes back to the server that forwarded it, until memory or time runs out.",
    ),
    (
        "dns-loop-mixed",
        "Some of the upstream servers of the cluster's DNS server loop or refuse.",
        "Queries that happen to be forwarded there fail; the others are answered.",
    ),
    (
        "dns-refused",
        "The cluster's DNS server forwards to a loopback address where nobody listens.",
        "A loopback address in a pod is the pod's own; the node's resolver is not behind it.",
    ),
    (
        "dns-loop-at-next-start",
        "The cluster's DNS server will forward to itself after its next start.",
        "The running pods have an older file than the one that the kubelet would write now.",
    ),
    (
        "dns-loop-unknown",
        "Whether the cluster's DNS server loops could not be told.",
        "The notifications of the run say what is missing.",
    ),
];

fn rule_id(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Loop => Some("dns-loop"),
        Verdict::Mixed => Some("dns-loop-mixed"),
        Verdict::Refused => Some("dns-refused"),
        Verdict::WillLoop => Some("dns-loop-at-next-start"),
        Verdict::Unknown => Some("dns-loop-unknown"),
        Verdict::NoLoop => None,
    }
}

fn rule((id, short, full): &Rule) -> ReportingDescriptor {
    let text = |text: &str| MultiformatMessageString::builder().text(text).build();
    ReportingDescriptor::builder()
        .id(*id)
        .short_description(text(short))
        .full_description(text(full))
        .build()
}

fn result(report: &Report) -> Option<Finding> {
    let id = rule_id(report.verdict)?;
    let verdict = findings::verdict(report);
    let steps = report.mend.iter().flat_map(findings::steps);
    let lines: Vec<String> = std::iter::once(verdict.message).chain(steps).collect();
    let mut finding = Finding::builder()
        .rule_id(id)
        .message(message(&lines.join("\n")))
        .build();
    // A result that is open has no level (SARIF 2.1.0, section 3.27.10).
    (finding.kind, finding.level) = match verdict.level {
        Level::Error => (None, Some(ResultLevel::Error)),
        Level::Warning | Level::Note => (Some(ResultKind::Open), Some(ResultLevel::None)),
    };
    finding.rule_index = RULES
        .iter()
        .position(|(rule, ..)| *rule == id)
        .and_then(|index| i64::try_from(index).ok());
    finding.locations = verdict.place.map(|place| vec![location(place, None)]);
    finding.code_flows = some(report.chains.iter().filter_map(flow).collect());
    finding.related_locations = some(report.evidence.iter().map(related).collect());
    let edit = report.mend.as_ref().map(|mend| &mend.edit);
    let edit = edit.filter(|edit| edit.old.as_ref() != Some(&edit.new));
    finding.fixes = edit.map(|edit| vec![fix(edit)]);
    Some(finding)
}

/// A way that queries take, one location for each proof.
fn flow(chain: &Chain) -> Option<CodeFlow> {
    let proofs = chain.hops.iter().flat_map(|hop| {
        let step = |proof: &crate::check_loop::Proof| {
            let text = findings::sends(hop, &proof.text);
            let location = location(&proof.place, Some(&text));
            ThreadFlowLocation::builder().location(location).build()
        };
        hop.proof.iter().map(step)
    });
    let locations = some(proofs.collect())?;
    let thread = ThreadFlow::builder().locations(locations).build();
    let zone = shown(&chain.zone);
    let of = message(&format!("the way of queries for {zone}"));
    let flow = CodeFlow::builder().thread_flows(vec![thread]).message(of);
    Some(flow.build())
}

fn related(sighting: &Sighting) -> Location {
    location(&sighting.place, Some(&findings::seen(sighting)))
}

fn fix(edit: &Edit) -> Fix {
    let mut region = region(&edit.place);
    let old = edit.old.as_deref().unwrap_or_default();
    region.end_column = Some(number(edit.place.column + old.chars().count()));
    let end = if edit.old.is_none() { "\n" } else { "" };
    let new = ArtifactContent::builder().text(format!("{}{end}", edit.new));
    let replacement = Replacement::builder()
        .deleted_region(region)
        .inserted_content(new.build())
        .build();
    let change = ArtifactChange::builder()
        .artifact_location(artifact(&edit.place.file))
        .replacements(vec![replacement])
        .build();
    Fix::builder().artifact_changes(vec![change]).build()
}

fn location(place: &Place, text: Option<&str>) -> Location {
    let physical = PhysicalLocation::builder()
        .artifact_location(artifact(&place.file))
        .region(region(place))
        .build();
    let mut location = Location::builder().physical_location(physical).build();
    location.message = text.map(message);
    location
}

fn region(place: &Place) -> Region {
    Region::builder()
        .start_line(number(place.line))
        .start_column(number(place.column))
        .build()
}

fn artifact(file: &str) -> ArtifactLocation {
    ArtifactLocation::builder().uri(uri(file)).build()
}

/// A path as a URI: absolute ones with their scheme, others as a reference
/// relative to where kdns was started.
///
/// Source: RFC 3986, section 2.3 (what needs no escape); RFC 8089, section 2.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len() + "file://".len());
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.extend([format!("%{byte:02X}")]);
        }
    }
    uri
}

fn notification(level: Level, text: &str) -> Notification {
    let word = match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    };
    Notification::builder()
        .level(word)
        .message(message(&shown(text)))
        .build()
}

fn message(text: &str) -> Message {
    Message::builder().text(text).build()
}

fn number(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Nothing in place of an empty list.
fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    Some(list).filter(|list| !list.is_empty())
}
