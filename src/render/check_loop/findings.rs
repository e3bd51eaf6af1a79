//! A report as one finding, for the formats that every command has.

use super::words::{self, headline};
use crate::check_loop::{self, Edit, Hop, Report, Sighting, Verdict};
use crate::finding::{self, Finding, Fix, Label, Severity};
use crate::render::findings::{Log, Notice};
use crate::text::{Place, Position, Span, escaped};

/// The command's name in messages.
const COMMAND: &str = "kdns check-loop";

/// The verdict with its proof, what was seen, and what fixes it, at the place
/// that is to be changed, else at the last place of the proof.
pub(super) fn verdict(report: &Report) -> Finding {
    let proofs = deciding_hops(report).iter().flat_map(|hop| {
        let label = |it: &check_loop::Proof| label(&it.place, sends(hop, &it.text));
        hop.proof.iter().map(label)
    });
    let sightings = report.evidence.iter().map(|it| label(&it.place, seen(it)));
    let id = rule_id(report.verdict);
    Finding {
        code: id,
        name: id,
        severity: severity(report.verdict),
        message: shown(&headline(report)),
        primary: label(place(report).unwrap_or(&Place::nowhere("")), String::new()),
        secondary: proofs.chain(sightings).collect(),
        help: None,
        notes: steps(report).collect(),
        fix: report
            .fix
            .as_ref()
            .and_then(|it| fix(&it.edit, report.verdict)),
    }
}

/// Where the verdict is.
pub(super) fn place(report: &Report) -> Option<&Place> {
    let fix = report.fix.as_ref().map(|fix| &fix.edit.place);
    let proof = deciding_hops(report).iter().rev();
    let mut proof = proof.filter_map(|hop| Some(&hop.proof.last()?.place));
    fix.or_else(|| proof.next())
}

/// What there is to say about the run: what is missing, worth knowing, and
/// could not be read.
pub(super) fn notices(report: &Report) -> Vec<Notice> {
    let missing = report.missing.iter().map(words::missing);
    let missing = missing.map(|it| (Severity::Warning, it.begun().text));
    let remarks = report
        .remarks
        .iter()
        .map(|it| words::remark(it).begun().text);
    let others = remarks.chain(report.skipped.iter().cloned());
    let all = missing.chain(others.map(|it| (Severity::Info, it)));
    all.map(|(severity, text)| Notice::new(severity, &text))
        .collect()
}

/// The finding and the notices for a format.
pub(super) fn log(findings: &[Finding], notices: Vec<Notice>) -> Log<'_> {
    Log {
        command: COMMAND,
        findings,
        notices,
    }
}

/// A log that says only what went wrong.
pub(super) fn failed(message: &str) -> Log<'static> {
    log(&[], vec![Notice::new(Severity::Error, message)])
}

/// What other programs know a verdict by.
pub(super) fn rule_id(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Loop => "dns-loop",
        Verdict::Mixed => "dns-loop-mixed",
        Verdict::Refused => "dns-refused",
        Verdict::WillLoop => "dns-loop-at-next-start",
        Verdict::Unknown => "dns-loop-unknown",
        Verdict::NoLoop => "no-dns-loop",
    }
}

/// A place with words for it, safe to print.
pub(super) fn label(place: &Place, text: String) -> Label {
    let mut label = Label::at(place, text);
    label.file = shown(&label.file);
    label
}

/// The change, if something is left to change.
fn fix(edit: &Edit, verdict: Verdict) -> Option<Fix> {
    if edit.old.as_ref() == Some(&edit.new) || edit.place.line == 0 {
        return None;
    }
    let Place { file, line, column } = &edit.place;
    let (line, column) = (*line, *column);
    let old = edit.old.as_deref().unwrap_or_default();
    let end = if edit.old.is_none() { "\n" } else { "" };
    let change = finding::Edit {
        file: shown(file),
        span: Span::default(),
        start: Position { line, column },
        end: Position {
            line,
            column: column + old.chars().count(),
        },
        text: format!("{}{end}", edit.new),
    };
    Some(Fix {
        title: shown(&self::change(edit, verdict)),
        edits: vec![change],
        is_safe: false,
    })
}

/// How bad a verdict is.
pub(super) fn severity(verdict: Verdict) -> Severity {
    match verdict {
        Verdict::Loop | Verdict::WillLoop | Verdict::Refused | Verdict::Mixed => Severity::Error,
        Verdict::Unknown => Severity::Warning,
        Verdict::NoLoop => Severity::Info,
    }
}

/// The hops of the chain that decides.
pub(super) fn deciding_hops(report: &Report) -> &[Hop] {
    report.chains.first().map_or(&[], |chain| &chain.hops)
}

/// The fix as sentences: the change, what follows, what would undo it, what
/// does not help.
pub(super) fn steps(report: &Report) -> impl Iterator<Item = String> {
    report.fix.iter().flat_map(|it| of_fix(it, report.verdict))
}

fn of_fix(fix: &check_loop::Fix, verdict: Verdict) -> impl Iterator<Item = String> {
    let then = fix.then.iter().map(|it| words::action(it).sentence());
    let then = then.map(|it| format!("then: {}", it.text));
    let but = fix
        .but
        .iter()
        .map(|it| format!("but: {}", words::caveat(it).text));
    let not = fix
        .not
        .iter()
        .map(|it| format!("does not help: {}", words::useless(it).text));
    let all = std::iter::once(change(&fix.edit, verdict))
        .chain(then)
        .chain(but);
    all.chain(not).map(|it| shown(&it))
}

fn change(edit: &Edit, verdict: Verdict) -> String {
    let to = match verdict {
        // What comes is known, and nothing loops yet.
        Verdict::NoLoop => "before the kubelet is restarted",
        _ => "to fix it",
    };
    let new = &edit.new;
    match &edit.old {
        Some(old) if old == new => format!("\"{new}\" is right and stays"),
        Some(old) if new.is_empty() => format!("{to}, remove \"{old}\""),
        Some(old) => format!("{to}, replace \"{old}\" by \"{new}\""),
        None => format!("{to}, add \"{new}\""),
    }
}

/// A hop as words, with the text that says so.
pub(super) fn sends(hop: &Hop, text: &str) -> String {
    let (who, network) = words::who(&hop.who);
    let sends_to = &hop.sends_to;
    shown(&format!("{who} {network} sends to {sends_to}: {text}"))
}

/// A sighting as words.
fn seen(sighting: &Sighting) -> String {
    let times = match (&sighting.first, &sighting.last) {
        (Some(first), Some(last)) if first != last => format!(", from {first} to {last}"),
        (Some(time), _) | (None, Some(time)) => format!(", at {time}"),
        (None, None) => String::new(),
    };
    let kind = sighting.kind.word();
    let count = sighting.count;
    shown(&format!("{kind}, seen {count}×{times}: {}", sighting.text))
}

/// On one line and safe to print, whatever it holds.
pub(super) fn shown(text: &str) -> String {
    escaped(text.as_bytes())
}
