//! A report as messages about places, for the formats that know nothing else.

use crate::check_loop::{Edit, Hop, Mend, Report, Sighting, Verdict};
use crate::text::{Place, escaped};

/// One message.
#[derive(Debug)]
pub(super) struct Finding<'r> {
    pub(super) level: Level,
    /// What it is about, if that is a place in a file.
    pub(super) place: Option<&'r Place>,
    /// One line, safe to print.
    pub(super) message: String,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Level {
    Error,
    Warning,
    Note,
}

/// The report's messages: the verdict, its proof, what mends it, the rest.
pub(super) fn of(report: &Report) -> Vec<Finding<'_>> {
    let note = |place, message: String| Finding {
        level: Level::Note,
        place,
        message: shown(&message),
    };
    let mut findings = vec![verdict(report)];
    for hop in deciding_hops(report) {
        let hop_notes = hop
            .proof
            .iter()
            .map(|proof| note(Some(&proof.place), sends(hop, &proof.text)));
        findings.extend(hop_notes);
    }
    if let Some(mend) = &report.mend {
        let place = Some(&mend.edit.place);
        findings.extend(steps(mend).map(|step| note(place, step)));
    }
    let sightings = report.evidence.iter();
    findings.extend(sightings.map(|it| note(Some(&it.place), seen(it))));
    findings.extend(report.missing.iter().map(|it| Finding {
        level: Level::Warning,
        place: None,
        message: shown(it),
    }));
    let others = report.remarks.iter().chain(&report.skipped);
    findings.extend(others.map(|it| note(None, it.clone())));
    findings
}

/// The verdict, at the place that is to be changed, else at the last place of
/// the proof.
pub(super) fn verdict(report: &Report) -> Finding<'_> {
    let mend = report.mend.as_ref().map(|mend| &mend.edit.place);
    let proof = deciding_hops(report).iter().rev();
    let mut proof = proof.filter_map(|hop| Some(&hop.proof.last()?.place));
    Finding {
        level: level(report.verdict),
        place: mend.or_else(|| proof.next()),
        message: shown(&report.headline),
    }
}

/// How bad a verdict is.
pub(super) fn level(verdict: Verdict) -> Level {
    match verdict {
        Verdict::Loop | Verdict::WillLoop | Verdict::Refused | Verdict::Mixed => Level::Error,
        Verdict::Unknown => Level::Warning,
        Verdict::NoLoop => Level::Note,
    }
}

/// The hops of the chain that decides.
pub(super) fn deciding_hops(report: &Report) -> &[Hop] {
    report.chains.first().map_or(&[], |chain| &chain.hops)
}

/// The mend as sentences: the change, what follows, what would undo it, what
/// does not help.
pub(super) fn steps(mend: &Mend) -> impl Iterator<Item = String> {
    let then = mend.then.iter().map(|it| format!("then: {it}"));
    let but = mend.but.iter().map(|it| format!("but: {it}"));
    let not = mend.not.iter().map(|it| format!("does not help: {it}"));
    let all = std::iter::once(change(&mend.edit)).chain(then).chain(but);
    all.chain(not).map(|it| shown(&it))
}

fn change(edit: &Edit) -> String {
    let new = &edit.new;
    match &edit.old {
        Some(old) if old == new => format!("\"{new}\" is right and stays"),
        Some(old) if new.is_empty() => format!("to mend it, remove \"{old}\""),
        Some(old) => format!("to mend it, replace \"{old}\" by \"{new}\""),
        None => format!("to mend it, add \"{new}\""),
    }
}

/// A hop as words, with the text that says so.
pub(super) fn sends(hop: &Hop, text: &str) -> String {
    let Hop {
        who,
        network,
        sends_to,
        ..
    } = hop;
    shown(&format!("{who} {network} sends to {sends_to}: {text}"))
}

/// A sighting as words.
pub(super) fn seen(sighting: &Sighting) -> String {
    let times = match (&sighting.first, &sighting.last) {
        (Some(first), Some(last)) if first != last => format!(", from {first} to {last}"),
        (Some(time), _) | (None, Some(time)) => format!(", at {time}"),
        (None, None) => String::new(),
    };
    let kind = sighting.kind;
    let count = sighting.count;
    shown(&format!("{kind}, seen {count}×{times}: {}", sighting.text))
}

/// On one line and safe to print, whatever it holds.
pub(super) fn shown(text: &str) -> String {
    escaped(text.as_bytes())
}
