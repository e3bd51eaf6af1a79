//! A report as one JSON document. Fields are only added within a format
//! version.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::step::Step;
use super::{word, words};
use crate::doctor::{Cause, Check, Fact, Report, Verdict};
use crate::render::check_loop::json::{self as check_loop, CheckLoopDocument};
use crate::render::json;

const FORMAT: u32 = 1;

/// What `kdns doctor --format json` writes.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Doctor")]
pub(in crate::render) struct DoctorDocument<'r> {
    /// Version of this format.
    format: u32,
    /// The node's name, if it is known.
    node: Option<&'r str>,
    /// Whether something that was seen is wrong.
    #[schemars(extend("enum" = ["ok", "wrong", "unknown"]))]
    verdict: &'static str,
    /// The verdict in one line.
    headline: String,
    /// What each command says, where queries go first.
    checks: Vec<CheckForm>,
    /// What is wrong, the likeliest cause of trouble first.
    causes: Vec<CauseForm>,
    /// What `kdns check-loop --format json` writes, for `report merge`; absent: this is
    /// no node.
    #[serde(skip_serializing_if = "Option::is_none")]
    check_loop: Option<CheckLoopDocument<'r>>,
}

/// The answer of one command.
#[derive(Debug, Serialize, JsonSchema)]
struct CheckForm {
    /// The check's stable code.
    code: &'static str,
    /// `ok`, `warning`, `error` or `unknown`.
    #[schemars(extend("enum" = ["ok", "warning", "error", "unknown"]))]
    state: &'static str,
    /// What was found.
    fact: String,
    /// The files and lines that show it: `FILE:LINE:COLUMN`.
    places: Vec<String>,
    /// What shows more of it.
    command: String,
}

/// Something that is wrong.
#[derive(Debug, Serialize, JsonSchema)]
struct CauseForm {
    /// What it is. It stays when the words change.
    code: &'static str,
    /// The same in words.
    text: String,
    /// The codes of the checks that show it.
    evidence: Vec<&'static str>,
    /// What to do, in order; empty: nothing that was tried.
    fix: Vec<String>,
}

/// Writes `report` as a document of several lines.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    json::document(&document(report), out)
}

/// The same on one line.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_line(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    json::line(&document(report), out)
}

fn document<'r>(report: &'r Report<'_>) -> DoctorDocument<'r> {
    DoctorDocument {
        format: FORMAT,
        node: report.node,
        verdict: match report.verdict {
            Verdict::Ok => "ok",
            Verdict::Wrong => "wrong",
            Verdict::Unknown => "unknown",
        },
        headline: words::headline(report),
        checks: report.checks.iter().map(check).collect(),
        causes: report.causes.iter().map(|it| cause(it, report)).collect(),
        check_loop: report.checks.iter().find_map(|it| match &it.fact {
            Fact::Loop(report) => Some(check_loop::document(report)),
            _ => None,
        }),
    }
}

fn check(check: &Check<'_>) -> CheckForm {
    CheckForm {
        code: check.code,
        state: word(check.state),
        fact: words::fact(check),
        places: check.places.iter().map(ToString::to_string).collect(),
        command: words::command(&check.fact).to_string(),
    }
}

fn cause(cause: &Cause<'_>, report: &Report<'_>) -> CauseForm {
    let sentence = words::cause_text(&cause.kind);
    let checks = cause
        .evidence
        .iter()
        .filter_map(|it| report.checks.get(*it));
    CauseForm {
        code: sentence.code,
        text: sentence.text,
        evidence: checks.map(|it| it.code).collect(),
        fix: words::fix(&cause.kind).iter().map(Step::line).collect(),
    }
}
