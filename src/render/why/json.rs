//! `kdns why MESSAGE` as JSON.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::{Answer, IN_LOGS};
use crate::render::json;
use crate::why::judged::Judged;
use crate::why::{self, Catalogue, Likely, Recognised, Unknown};

/// What a message says.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "kdns why MESSAGE")]
pub(in crate::render) struct Why<'a> {
    /// Which message it is: `go-no-such-host`; null: it is not known.
    id: Option<&'a str>,
    /// Who says it: `glibc`, `go`, `coredns`; `other` if it is not known.
    speaker: &'a str,
    /// Whom it says was asked, and who that is; null: it does not say.
    asked: Option<String>,
    /// What rows of a listing in the text show; null: the message does not rest on such rows.
    shown: Option<&'a str>,
    /// What it means.
    meaning: &'a str,
    /// What it proves.
    proves: &'a [&'a str],
    /// What it rules out.
    rules_out: &'a [&'a str],
    /// What it can come from, the likeliest first, what the node says is the case before all; empty:
    /// it is no DNS error, or not known.
    causes: Vec<Cause<'a>>,
    /// What other programs say elsewhere in the text, at most three.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<Also<'a>>,
    /// Known messages that look like it; only of one that is not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nearest: Vec<&'a str>,
}

/// A cause of a message.
#[derive(Debug, Serialize, JsonSchema)]
struct Cause<'a> {
    /// Which it is: `conntrack-race`.
    code: &'a str,
    /// How likely it is, from the message alone: `high`, `medium`, `low`.
    likely: &'a str,
    /// The command that decides it.
    decide: String,
    /// What fixes it.
    fix: &'a str,
    /// Whether it is the case: `true`, `false` or `unknown`; without a node always `unknown`.
    state: &'a str,
    /// Where the node says so; only where it does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    places: Vec<String>,
}

/// What another program says elsewhere in a text.
#[derive(Debug, Serialize, JsonSchema)]
struct Also<'a> {
    /// Which message it is: `curl-could-not-resolve`.
    id: &'a str,
    /// What it means.
    meaning: &'a str,
    /// Its likeliest causes, at most three.
    causes: Vec<&'a str>,
}

/// A message found in a log.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WorstForm<'a> {
    /// Which message it is: `coredns-udp-timeout`.
    id: &'a str,
    /// Whom it says was asked, and who that is; null: it does not say.
    asked: Option<String>,
    /// What it means.
    meaning: &'a str,
    /// Its likeliest causes, at most three; `state` is always `unknown`.
    causes: Vec<Cause<'a>>,
}

impl<'a> Cause<'a> {
    fn new(
        likely: Likely,
        cause: &'a why::Cause,
        judged: &Judged,
        recognised: &Recognised<'_>,
    ) -> Self {
        Self {
            code: cause.code,
            likely: likely.word(),
            decide: super::decide(cause, recognised),
            fix: &cause.fix,
            state: judged.state.word(),
            places: judged.places.iter().map(ToString::to_string).collect(),
        }
    }
}

impl<'a> WorstForm<'a> {
    pub(super) fn new(recognised: &Recognised<'a>) -> Self {
        let judged = Judged::default();
        let causes = recognised.causes.iter().take(IN_LOGS);
        Self {
            id: recognised.message.id,
            asked: recognised.asked.as_ref().map(super::who),
            meaning: &recognised.message.meaning,
            causes: causes
                .map(|&(likely, cause)| Cause::new(likely, cause, &judged, recognised))
                .collect(),
        }
    }
}

/// A message of the list.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    id: &'a str,
    speaker: &'a str,
    meaning: &'a str,
    patterns: Vec<&'a str>,
    causes: Vec<&'a str>,
    sources: &'a [&'a str],
}

/// Writes what a message says.
///
/// # Errors
///
/// `out` cannot be written.
pub fn write(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let message = answer.recognised.message;
    let causes = answer
        .causes
        .iter()
        .map(|it| Cause::new(it.likely, it.cause, &it.judged, &answer.recognised));
    let also = answer.recognised.besides.iter().map(|it| Also {
        id: it.0.id,
        meaning: &it.0.meaning,
        causes: it.1.iter().map(|it| it.code).collect(),
    });
    let why = Why {
        id: Some(message.id),
        speaker: message.speaker.id,
        asked: answer.recognised.asked.as_ref().map(super::who),
        shown: answer.recognised.shown.as_deref(),
        meaning: &message.meaning,
        proves: answer.recognised.proves(),
        rules_out: answer.recognised.rules_out(),
        causes: causes.collect(),
        also: also.collect(),
        nearest: Vec::new(),
    };
    json::document(&why, out)
}

/// Writes that a message is not known.
///
/// # Errors
///
/// `out` cannot be written.
pub fn write_unknown(unknown: &Unknown<'_>, out: &mut dyn Write) -> io::Result<()> {
    let why = Why {
        id: None,
        speaker: "other",
        asked: unknown.asked.as_ref().map(super::who),
        shown: None,
        meaning: "This message is not known.",
        proves: &[],
        rules_out: &[],
        causes: Vec::new(),
        also: Vec::new(),
        nearest: unknown.nearest.iter().map(|it| it.id).collect(),
    };
    json::document(&why, out)
}

/// Writes the list of the messages that are known.
///
/// # Errors
///
/// `out` cannot be written.
pub fn write_list(catalogue: &Catalogue, out: &mut dyn Write) -> io::Result<()> {
    let list = catalogue.messages.iter().map(|it| Listed {
        id: it.id,
        speaker: it.speaker.id,
        meaning: &it.meaning,
        patterns: it.patterns.iter().map(|it| it.text).collect(),
        causes: catalogue
            .causes_of(it, None, None)
            .iter()
            .map(|it| it.1.code)
            .collect(),
        sources: &it.sources,
    });
    json::document(&list.collect::<Vec<_>>(), out)
}
