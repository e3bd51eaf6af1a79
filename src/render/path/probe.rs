//! What a probe of `kdns path` has seen: a table, and what it says.

use std::io::{self, Write};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::findings::words;
use crate::path::Protocol;
use crate::path::findings::Finding;
use crate::path::probe::{Came, ProbeSeen, Question, Row, Trouble};
use crate::render::paragraph;
use crate::render::sentence::{Sentence, sentence};

/// What a probe has seen.
#[derive(Serialize, JsonSchema)]
pub(in crate::render) struct ProbeJson {
    /// How many queries were sent.
    queries: usize,
    /// Whether there are more addresses than the packets were enough for.
    is_cut: bool,
    /// What came of each question.
    rows: Vec<RowJson>,
    /// What is wrong.
    troubles: Vec<TroubleJson>,
}

/// What came of a question.
#[derive(Serialize, JsonSchema)]
struct RowJson {
    /// Who was asked: `ADDRESS:PORT`.
    to: String,
    /// `udp` or `tcp`.
    protocol: &'static str,
    /// What was asked: `version` (`version.bind`, class CH), `status` (a message of
    /// opcode STATUS) or `keys` (DNSKEY of the root).
    question: &'static str,
    /// The most bytes that the reply could have (EDNS); absent: a short one was
    /// asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    up_to: Option<u16>,
    /// How many queries were sent.
    sent: usize,
    /// How many were answered.
    answered: usize,
    /// The shortest, the median and the longest time, in milliseconds; absent:
    /// nothing came.
    #[serde(skip_serializing_if = "Option::is_none")]
    milliseconds: Option<[f64; 3]>,
    /// The longest reply in bytes.
    bytes: usize,
    /// What came in place of replies, with how often.
    others: Vec<(String, usize)>,
    /// The ports from which nothing came back.
    lost_ports: Vec<u16>,
}

/// Something that is wrong.
#[derive(Serialize, JsonSchema)]
struct TroubleJson {
    /// What it is; it stays when the words change.
    code: &'static str,
    /// In words.
    message: String,
    /// The codes of the findings that explain it.
    explained_by: Vec<&'static str>,
}

/// A probe for JSON.
pub(in crate::render) fn json(seen: &ProbeSeen, findings: &[Finding]) -> ProbeJson {
    let troubles = seen.troubles.iter().map(|it| {
        let Sentence { code, text } = trouble(it);
        let explained_by = explaining(it, findings);
        TroubleJson {
            code,
            message: text,
            explained_by,
        }
    });
    ProbeJson {
        queries: seen.rows.iter().map(|it| it.times).sum(),
        is_cut: seen.is_cut,
        rows: seen.rows.iter().map(row).collect(),
        troubles: troubles.collect(),
    }
}

fn row(row: &Row) -> RowJson {
    RowJson {
        to: row.ask.to.to_string(),
        protocol: row.ask.protocol.word(),
        question: match row.ask.question {
            Question::Version => "version",
            Question::Status => "status",
            Question::Keys(_) => "keys",
        },
        up_to: match row.ask.question {
            Question::Version | Question::Status => None,
            Question::Keys(bytes) => Some(bytes),
        },
        sent: row.times,
        answered: row.answered,
        milliseconds: times(row),
        bytes: row.bytes,
        others: row
            .others
            .iter()
            .map(|(came, count)| (other(came), *count))
            .collect(),
        lost_ports: row.lost_ports.clone(),
    }
}

/// The shortest, the median and the longest time.
fn times(row: &Row) -> Option<[f64; 3]> {
    let milliseconds = |it: &Duration| (it.as_secs_f64() * 10_000.0).round() / 10.0;
    let median = row.after.get(row.after.len() / 2)?;
    Some([row.after.first()?, median, row.after.last()?].map(milliseconds))
}

/// What came in place of a reply.
fn other(came: &Came) -> String {
    match came {
        Came::Reply { .. } => "a reply".to_owned(),
        Came::Elsewhere(from) => format!("a reply from {from}"),
        Came::Error(errno) | Came::NotSent(errno) => {
            let error = io::Error::from_raw_os_error(*errno).to_string();
            error
                .split(" (os error")
                .next()
                .unwrap_or_default()
                .to_lowercase()
        }
        Came::Silence => "nothing".to_owned(),
        Came::Connected => "connected, then nothing".to_owned(),
    }
}

/// What the table is headed by.
const HEAD: [&str; 6] = ["ASKED", "OVER", "REPLY", "SENT", "ANSWERED", "TIME IN MS"];

/// Writes the table and what it says, for people.
///
/// # Errors
///
/// It cannot be written.
pub(in crate::render) fn write(
    seen: &ProbeSeen,
    findings: &[Finding],
    out: &mut dyn Write,
) -> io::Result<()> {
    let queries: usize = seen.rows.iter().map(|it| it.times).sum();
    writeln!(out, "Probe: {queries} queries were sent.\n")?;
    let cells = seen.rows.iter().map(cells);
    let table: Vec<[String; 6]> = std::iter::once(HEAD.map(str::to_owned))
        .chain(cells)
        .collect();
    let width = |column: usize| {
        let cells = table.iter().filter_map(|it| it.get(column));
        cells.map(|it| it.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    for line in &table {
        let padded = line
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        let line = padded.collect::<Vec<_>>().join("  ");
        writeln!(out, "  {}", line.trim_end())?;
    }
    if seen.is_cut {
        writeln!(
            out,
            "\nThere are more addresses than --max-packets allows to ask as often."
        )?;
    }
    for one in &seen.troubles {
        let Sentence { text, .. } = trouble(one).begun();
        let by = match explaining(one, findings).as_slice() {
            [] => "no finding explains it".to_owned(),
            codes => format!("see {}", codes.join(", ")),
        };
        writeln!(out)?;
        paragraph::write(out, "", "  ", &format!("{text}: {by}."))?;
    }
    Ok(())
}

fn cells(row: &Row) -> [String; 6] {
    let time = match times(row) {
        Some([shortest, median, longest]) => format!("{shortest} / {median} / {longest}"),
        None => String::new(),
    };
    let others = row
        .others
        .iter()
        .map(|(came, count)| format!("{count} × {}", other(came)));
    let others: Vec<String> = others.collect();
    [
        row.ask.to.to_string(),
        row.ask.protocol.word().to_uppercase(),
        match row.ask.question {
            Question::Version => "version".to_owned(),
            Question::Status => "status".to_owned(),
            Question::Keys(bytes) => format!("up to {bytes}"),
        },
        row.times.to_string(),
        row.answered.to_string(),
        [time, others.join(", ")].join("  ").trim().to_owned(),
    ]
}

/// What is wrong, in words.
fn trouble(trouble: &Trouble) -> Sentence {
    match trouble {
        Trouble::OnlyService {
            service,
            protocol,
            lost,
        } => sentence!(
            "probe-service-loses",
            "{} of {} queries to {service} over {} were not answered, though every endpoint that was asked answers",
            lost.0,
            lost.1,
            upper(*protocol)
        ),
        Trouble::Elsewhere { asked, from } => sentence!(
            "probe-other-address",
            "{asked} was asked, and the reply came from {from}: a resolver drops it"
        ),
        Trouble::Endpoint {
            endpoint,
            protocol,
            lost,
        } => sentence!(
            "probe-endpoint-loses",
            "{} of {} queries to the endpoint {endpoint} over {} were not answered",
            lost.0,
            lost.1,
            upper(*protocol)
        ),
        Trouble::NotPassedOn { to, lost } => sentence!(
            "probe-not-passed-on",
            "{to} itself answers, and {} of {} queries for the keys of the root, for which a server asks its upstream, were not answered within 1.5 s",
            lost.0,
            lost.1
        ),
        Trouble::Long { to, bytes } => sentence!(
            "probe-long-lost",
            "{to} answers, but not where the reply may have {bytes} bytes"
        ),
    }
}

fn upper(protocol: Protocol) -> String {
    protocol.word().to_uppercase()
}

/// Findings that explain a trouble, by what they are about, in their order.
fn explaining(trouble: &Trouble, findings: &[Finding]) -> Vec<&'static str> {
    let found = findings
        .iter()
        .filter(|it| trouble.is_explained_by(&it.fact));
    found.map(|it| words(it).what.code).collect()
}
