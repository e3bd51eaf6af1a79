//! Findings as SARIF 2.1.0, as GitHub's code scanning wants it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use std::cell::RefCell;

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_sarif::sarif::{
    ArtifactChange, ArtifactContent, ArtifactLocation, Fix, Invocation, Location, LogicalLocation,
    Message, MultiformatMessageString, Notification, PhysicalLocation, PropertyBag, Region,
    Replacement, ReportingConfiguration, ReportingDescriptor, Result as Found, ResultLevel,
    Suppression, Tool, ToolComponent,
};

use super::{Notice, level, remarks};
use crate::finding::{self, Edit, Finding, Label, Severity};
use crate::render::json;
use crate::text::Position;

/// What a log says.
#[expect(missing_debug_implementations, reason = "an iterator has none")]
pub struct Parts<'p> {
    /// The rules that results have, in order.
    pub rules: Vec<RuleWords<'p>>,
    /// What was found, made one by one: each takes two kilobytes.
    pub results: Box<dyn Iterator<Item = Found> + 'p>,
    /// What there is to say about the run.
    pub notices: &'p [Notice],
    /// Whether all was looked at.
    pub is_complete: bool,
    /// More about the run.
    pub properties: BTreeMap<String, Value>,
}

/// What is said about a rule.
#[derive(Clone, Debug)]
pub struct RuleWords<'p> {
    /// What results name it by.
    pub id: &'p str,
    /// Its name, if it has another one.
    pub name: Option<&'p str>,
    /// How bad it is, if a result does not say otherwise.
    pub severity: Severity,
    /// One line.
    pub short: &'p str,
    /// More lines.
    pub full: &'p str,
    /// A page in Markdown.
    pub page: Option<String>,
    /// Where that page is.
    pub uri: Option<String>,
}

/// What relative paths are relative to.
const BASE: &str = "%SRCROOT%";

/// Writes a log with one run.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(parts: Parts<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Parts {
        rules,
        results,
        notices,
        is_complete,
        properties,
    } = parts;
    let mut results = results.map(|mut found| {
        let id = found.rule_id.as_deref();
        let index = rules.iter().position(|rule| Some(rule.id) == id);
        found.rule_index = index.and_then(|it| i64::try_from(it).ok());
        found
    });
    let driver = ToolComponent::builder()
        .name("kdns")
        .version(env!("CARGO_PKG_VERSION"))
        .semantic_version(env!("CARGO_PKG_VERSION"))
        .information_uri(env!("CARGO_PKG_REPOSITORY"))
        .rules(rules.iter().map(rule).collect::<Vec<_>>())
        .build();
    let notifications: Vec<Notification> = notices.iter().map(notification).collect();
    let invocation = Invocation::builder()
        .execution_successful(is_complete)
        .tool_execution_notifications(notifications)
        .build();
    let base = ArtifactLocation::builder()
        .description(message("the directory that kdns was started in"))
        .build();
    let run = Run {
        // As `text::Position` counts.
        column_kind: "unicodeCodePoints",
        invocations: [invocation],
        original_uri_base_ids: BTreeMap::from([(BASE, base)]),
        properties: bag(properties),
        results: RefCell::new(&mut results),
        tool: Tool::builder().driver(driver).build(),
    };
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        runs: [run],
        version: "2.1.0",
    };
    json::document(&log, out)
}

#[derive(Serialize)]
struct Log<'r> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    runs: [Run<'r>; 1],
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'r> {
    column_kind: &'static str,
    invocations: [Invocation; 1],
    original_uri_base_ids: BTreeMap<&'static str, ArtifactLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<PropertyBag>,
    #[serde(serialize_with = "one_by_one")]
    results: RefCell<&'r mut dyn Iterator<Item = Found>>,
    tool: Tool,
}

fn one_by_one<S: Serializer>(
    results: &RefCell<&mut dyn Iterator<Item = Found>>,
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_seq(&mut **results.borrow_mut())
}

/// A finding as a result, without its rule's index.
pub fn result(finding: &Finding) -> Found {
    let lines: Vec<String> = std::iter::once(finding.message.clone())
        .chain(remarks(finding))
        .collect();
    let mut found = Found::builder()
        .rule_id(finding.code)
        .message(message(&lines.join("\n")))
        .level(match finding.severity {
            Severity::Error => ResultLevel::Error,
            Severity::Warning => ResultLevel::Warning,
            Severity::Info => ResultLevel::Note,
        })
        .build();
    found.locations = location(&finding.primary, None).map(|it| vec![it]);
    let related = finding.secondary.iter().zip(1..);
    let related = related.filter_map(|(label, id)| {
        let mut location = location(label, Some(&label.text))?;
        location.id = Some(id);
        Some(location)
    });
    found.related_locations = some(related.collect());
    found.fixes = finding.fix.as_ref().map(|it| vec![fix(it)]);
    found
}

/// A result that a comment suppresses, with the reason that it gives.
pub fn suppressed(mut found: Found, reason: &str) -> Found {
    let mut suppression = Suppression::builder().kind("inSource").build();
    suppression.justification = Some(reason.to_owned()).filter(|it| !it.is_empty());
    found.suppressions = Some(vec![suppression]);
    found
}

/// A place with words for it. `None`: there is nothing to show.
pub fn location(label: &Label, text: Option<&str>) -> Option<Location> {
    if label.file.is_empty() {
        return None;
    }
    let mut location = Location::builder().build();
    if label.start.line == 0 {
        let name = LogicalLocation::builder().fully_qualified_name(label.file.as_str());
        location.logical_locations = Some(vec![name.build()]);
    } else {
        let physical = PhysicalLocation::builder()
            .artifact_location(artifact(&label.file))
            .region(region(label.start, label.end));
        location.physical_location = Some(physical.build());
    }
    location.message = text.filter(|it| !it.is_empty()).map(message);
    Some(location)
}

fn rule(words: &RuleWords<'_>) -> ReportingDescriptor {
    let text = |text: &str| MultiformatMessageString::builder().text(text).build();
    let level = level(words.severity);
    let mut rule = ReportingDescriptor::builder()
        .id(words.id)
        .short_description(text(words.short))
        .full_description(text(words.full))
        .default_configuration(ReportingConfiguration::builder().level(level).build())
        .build();
    rule.name = words.name.map(str::to_owned);
    rule.help_uri.clone_from(&words.uri);
    rule.help = words.page.as_ref().map(|page| {
        let mut help = text(page);
        help.markdown = Some(page.clone());
        help
    });
    let tags = ["dns", "kubernetes", "reliability"].map(str::to_owned);
    rule.properties = Some(
        PropertyBag::builder()
            .tags(tags.to_vec())
            .additional_properties(BTreeMap::new())
            .build(),
    );
    rule
}

/// The changes, those of one file together.
fn fix(fix: &finding::Fix) -> Fix {
    let mut files: BTreeMap<&str, Vec<Replacement>> = BTreeMap::new();
    for edit in &fix.edits {
        files.entry(&edit.file).or_default().push(replacement(edit));
    }
    let changes = files.into_iter().map(|(file, replacements)| {
        ArtifactChange::builder()
            .artifact_location(artifact(file))
            .replacements(replacements)
            .build()
    });
    Fix::builder()
        .artifact_changes(changes.collect::<Vec<_>>())
        .description(message(&fix.title))
        .build()
}

fn replacement(edit: &Edit) -> Replacement {
    let new = ArtifactContent::builder().text(edit.text.as_str()).build();
    Replacement::builder()
        .deleted_region(region(edit.start, edit.end))
        .inserted_content(new)
        .build()
}

fn region(start: Position, end: Position) -> Region {
    Region::builder()
        .start_line(number(start.line))
        .start_column(number(start.column))
        .end_line(number(end.line))
        .end_column(number(end.column))
        .build()
}

fn artifact(file: &str) -> ArtifactLocation {
    let mut artifact = ArtifactLocation::builder().uri(uri(file)).build();
    artifact.uri_base_id = (!file.starts_with('/')).then(|| BASE.to_owned());
    artifact
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

fn notification(notice: &Notice) -> Notification {
    Notification::builder()
        .level(level(notice.severity))
        .message(message(&notice.message))
        .build()
}

/// A text in which nothing is a link (SARIF 2.1.0, section 3.11.6).
pub(in crate::render) fn message(text: &str) -> Message {
    Message::builder().text(text.replace("](", "\\](")).build()
}

/// More about something; nothing in place of an empty list.
fn bag(properties: BTreeMap<String, Value>) -> Option<PropertyBag> {
    let bag = |it| PropertyBag::builder().additional_properties(it).build();
    Some(properties).filter(|it| !it.is_empty()).map(bag)
}

fn number(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Nothing in place of an empty list.
pub(in crate::render) fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    Some(list).filter(|list| !list.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        for (path, expected) in [
            ("etc/resolv.conf", "etc/resolv.conf"),
            ("/etc/resolv.conf", "file:///etc/resolv.conf"),
            ("a b/é#?.yaml", "a%20b/%C3%A9%23%3F.yaml"),
            ("c:d", "c%3Ad"),
            ("100%", "100%25"),
            ("<stdin>", "%3Cstdin%3E"),
            ("../x", "../x"),
        ] {
            assert_eq!(uri(path), expected);
        }
    }

    #[test]
    fn nothing_in_a_message_is_a_link() {
        let text = message("[see](http://example.test) [a] (b)").text.unwrap();
        assert_eq!(text, "[see\\](http://example.test) [a] (b)");
    }
}
