//! One line for each outcome and each finding.

use std::io::{self, Write};

use super::{Shown, conditions, findings, words};

/// Writes `DESTINATION: VERDICT: SHARE KIND ADDRESS`, and findings as compilers
/// write them.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(shown: &Shown<'_>, out: &mut dyn Write) -> io::Result<()> {
    for tree in shown.trees {
        let asked = words::asked(tree);
        let verdict = tree.verdict.word();
        if tree.outcomes.is_empty() {
            writeln!(out, "{asked}: {verdict}")?;
        }
        for outcome in &tree.outcomes {
            let kind = outcome.kind.word();
            let end = words::end(outcome);
            let assumed: Vec<String> = outcome
                .depends_on
                .iter()
                .map(|it| conditions::assumption(it).text)
                .collect();
            let assumed = if assumed.is_empty() {
                String::new()
            } else {
                format!(" if {}", assumed.join(" and "))
            };
            writeln!(
                out,
                "{asked}: {verdict}: {} {kind} {end}{assumed}",
                outcome.share
            )?;
        }
    }
    for finding in shown.findings {
        let said = findings::words(finding);
        let severity = finding.severity.word();
        let place = finding.evidence.first().map(|it| &it.place);
        let place = place.filter(|it| it.line > 0);
        let place = place.map_or_else(|| "kdns".to_owned(), words::line_of);
        writeln!(
            out,
            "{place}: {severity}: {}[{}]",
            said.what.text, said.what.code
        )?;
    }
    Ok(())
}
