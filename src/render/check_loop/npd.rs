//! A report as the one line that node-problem-detector takes from a custom
//! plugin, to stand in a node's condition.

use std::io::{self, Write};

use super::{findings, words};
use crate::check_loop::{Edit, Report, Verdict};
use crate::text::Place;

/// Longest line, its end included. node-problem-detector cuts longer ones.
///
/// Source: kubernetes/node-problem-detector config/custom-plugin-monitor.json
/// `max_output_length`.
const MAX_BYTES: usize = 80;

/// What a reader needs to recognise a path: the last directory and the name.
const SHORTEST_PATH: usize = 16;

/// Writes `report` as one line of ASCII that names the verdict, the culprit
/// and the key to change.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let word = report.verdict.word();
    match report.verdict {
        Verdict::NoLoop => line("no loop: DNS of this node leads outside", out),
        Verdict::Unknown => {
            let reason = report
                .missing
                .first()
                .map(|it| words::missing(it).begun().text);
            let reason = reason.unwrap_or_else(|| words::headline(report));
            line(&format!("{word}: {reason}"), out)
        }
        Verdict::Loop | Verdict::WillLoop | Verdict::Refused | Verdict::Mixed => {
            line(&accusation(word, report), out)
        }
    }
}

/// Writes the line that says what went wrong.
///
/// # Errors
///
/// Any error of `out`.
pub fn write_error(message: &str, out: &mut dyn Write) -> io::Result<()> {
    line(&format!("unknown: {message}"), out)
}

/// `loop: 127.0.0.53:53; fix resolvConf in /var/lib/kubelet/config.yaml:8`
fn accusation(word: &str, report: &Report) -> String {
    let hops = findings::deciding_hops(report);
    let culprit = hops.last().map(|hop| ascii(&hop.sends_to.to_string()));
    let culprit = culprit.map_or_else(String::new, |it| cut_end(&it, MAX_BYTES / 3));
    let Some(place) = findings::place(report) else {
        return format!("{word}: {culprit} {}", words::headline(report));
    };
    let proof = hops.iter().rev().find_map(|hop| hop.proof.last());
    if report.fix.as_ref().is_some_and(|fix| fix.is_restart) {
        return format!("{word}: {culprit}; restart the kubelet, then recreate the DNS pods");
    }
    let (todo, about) = match report.fix.as_ref().map(|fix| &fix.edit) {
        Some(Edit { old, new, .. }) if old.as_ref() == Some(new) => {
            ("recreate pods:", new.as_str())
        }
        Some(Edit { old, new, .. }) if new.is_empty() => {
            ("remove", old.as_deref().unwrap_or_default())
        }
        Some(edit) => ("fix", edit.new.as_str()),
        None => ("see", proof.map_or("", |it| &it.text)),
    };
    let key = cut_end(&ascii(key(about).unwrap_or_default()), MAX_BYTES / 4);
    let text = format!("{word}: {culprit}; {todo} {key} in ");
    let room = (MAX_BYTES - 1).saturating_sub(text.len());
    format!("{text}{}", short_place(place, room))
}

/// The first word that could be a key: `resolvConf` of `resolvConf: /x`.
fn key(text: &str) -> Option<&str> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, ':' | '=' | '"' | '\'' | ',');
    text.split(is_end).find(|word| !word.is_empty())
}

/// `FILE:LINE` in at most `room` bytes: a long path loses its beginning.
fn short_place(place: &Place, room: usize) -> String {
    let text = ascii(&format!("{}:{}", place.file, place.line));
    let room = room.max(SHORTEST_PATH);
    let too_long = text.len().saturating_sub(room);
    if too_long == 0 {
        return text;
    }
    let end = text.get(too_long + "...".len()..).unwrap_or_default();
    format!("...{end}")
}

fn line(text: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", cut_end(&ascii(text), MAX_BYTES - 1))
}

/// At most `room` bytes of `text`, which is ASCII.
fn cut_end(text: &str, room: usize) -> String {
    if text.len() <= room {
        return text.to_owned();
    }
    let start = text.get(..room.saturating_sub("...".len()));
    format!("{}...", start.unwrap_or_default())
}

/// The text with `?` for every character that is not printable ASCII.
fn ascii(text: &str) -> String {
    let plain = |c| if matches!(c, ' '..='~') { c } else { '?' };
    text.chars().map(plain).collect()
}
