//! Findings as SARIF 2.1.0.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{Lint, page_uri};
use crate::finding::{Finding, Label};
use crate::lint::{Rule, rules};
use crate::render::findings::sarif::{self, Parts, RuleWords};
use crate::text::{escaped, ordered};

/// What GitHub knows the line of a label by, if its file is at hand.
pub type Fingerprint<'f> = &'f dyn Fn(&Label) -> Option<String>;

/// Writes a log; what is suppressed is in it, and says so.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(lint: &Lint<'_>, fingerprint: Fingerprint<'_>, out: &mut dyn Write) -> io::Result<()> {
    let result = |finding: &Finding| {
        let mut found = sarif::result(finding);
        // An empty list says that nothing suppresses it.
        found.suppressions = Some(Vec::new());
        found.partial_fingerprints = fingerprint(&finding.primary)
            .map(|hash| BTreeMap::from([("primaryLocationLineHash".to_owned(), hash)]));
        found
    };
    let suppressed = lint
        .suppressed
        .iter()
        .map(|(finding, reason)| sarif::suppressed(result(finding), &escaped(reason.as_bytes())));
    let parts = Parts {
        rules: found_by(lint).map(words).collect(),
        results: Box::new(lint.findings.iter().map(result).chain(suppressed)),
        notices: &lint.notices,
        is_complete: lint.is_complete(),
        properties: BTreeMap::new(),
    };
    sarif::write(parts, out)
}

/// The rules that found something.
fn found_by(lint: &Lint<'_>) -> impl Iterator<Item = &'static Rule> {
    let suppressed = lint.suppressed.iter().map(|(finding, _)| finding.code);
    let codes = lint.findings.iter().map(|it| it.code).chain(suppressed);
    let codes: std::collections::BTreeSet<&str> = ordered(codes);
    rules::all().filter(move |rule| codes.contains(rule.code))
}

fn words(rule: &'static Rule) -> RuleWords<'static> {
    RuleWords {
        id: rule.code,
        name: Some(rule.name),
        severity: rule.severity,
        short: rule.summary,
        full: rule.summary,
        page: Some(rule.page()),
        uri: Some(page_uri(rule)),
    }
}
