//! A lookup as bars by time: who was waited for, and how long.

use std::io;
use std::time::Duration;

use super::time;
use crate::explain::live::{AT_ONCE, Exchange, Played, Silence};
use crate::render::explanation::Text;
use crate::scenario::record_type::Shown;

/// Faster lookups have nothing to see.
const SLOW: Duration = Duration::from_millis(100);
/// So many rows are shown; the others are counted.
const ROWS: usize = 6;

/// What was asked of one server at one time and ended alike.
struct Row {
    types: Vec<String>,
    server: String,
    begin: Duration,
    end: Duration,
    is_silent: bool,
    /// What came is no reply to it.
    is_wrong: bool,
}

/// Writes the bars of a slow lookup, and below them whose it is: nothing for
/// others.
pub(in crate::render) fn write(
    text: &mut Text<'_>,
    played: &Played,
    whose: &str,
) -> io::Result<()> {
    let rows = rows(played);
    if played.elapsed < SLOW || rows.is_empty() {
        return Ok(());
    }
    let heads: Vec<String> = rows
        .iter()
        .map(|it| format!("{:<6} {}", it.types.join(" "), it.server))
        .collect();
    let shown = heads.iter().take(ROWS);
    let width = shown.clone().map(|it| it.chars().count()).max();
    let width = width.unwrap_or_default();
    // Beside it stand two blanks on each side and `no answer`.
    let room = text.columns().saturating_sub(width + 2 + 2 + 2 + 9).max(10);
    text.line("")?;
    for (row, head) in rows.iter().zip(shown) {
        let begin = column(row.begin, played.elapsed, room);
        let end = column(row.end, played.elapsed, room).max(begin + 1);
        let bar = "█".repeat(end - begin);
        let (bar, note) = if row.is_wrong {
            (text.yellow(&bar), "mismatch".to_owned())
        } else if row.is_silent {
            (text.yellow(&bar), "no answer".to_owned())
        } else if row.end == row.begin {
            // Of a simulation: how long it takes is not known.
            (text.green(&bar), "answer".to_owned())
        } else {
            (text.green(&bar), time(row.end.saturating_sub(row.begin)))
        };
        let before = " ".repeat(begin);
        let after = " ".repeat((room + 1).saturating_sub(end));
        text.line(&format!("  {head:<width$}  {before}{bar}{after} {note}"))?;
    }
    if rows.len() > ROWS {
        text.line(&format!("  … {} more", rows.len() - ROWS))?;
    }
    let scale = format!("{:>room$}", time(played.elapsed));
    let scale = scale.replacen("  ", "0 ", 1);
    text.line(&format!("  {whose:width$}  {}", text.dim(&scale)))
}

/// Where a time is, from the left.
fn column(at: Duration, all: Duration, room: usize) -> usize {
    let (at, all) = (at.as_micros(), all.as_micros().max(1));
    let column = at.saturating_mul(room as u128) / all;
    usize::try_from(column).unwrap_or(room).min(room)
}

fn rows(played: &Played) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for exchange in &played.exchanges {
        let Some((end, is_silent)) = end(played, exchange) else {
            continue;
        };
        let server = exchange.query.server.to_string();
        let record_type = exchange.query.record_type();
        let record_type = record_type.map_or_else(String::new, |it| Shown(it).to_string());
        let is_alike = |it: &&mut Row| {
            let near = |one: Duration, other: Duration| one.abs_diff(other) < AT_ONCE;
            it.server == server
                && it.is_silent == is_silent
                && it.is_wrong == exchange.wrong.is_some()
                && near(it.begin, exchange.at)
                && near(it.end, end)
                && !it.types.contains(&record_type)
        };
        match rows.iter_mut().find(is_alike) {
            Some(row) => row.types.push(record_type),
            None => rows.push(Row {
                types: vec![record_type],
                server,
                begin: exchange.at,
                end,
                is_silent,
                is_wrong: exchange.wrong.is_some(),
            }),
        }
    }
    rows
}

/// When nobody waited for it any more, and whether in vain.
fn end(played: &Played, exchange: &Exchange) -> Option<(Duration, bool)> {
    if let Some(at) = exchange.answered_at() {
        return Some((at, false));
    }
    match played.silence(exchange)? {
        Silence::Waited(waited) => Some((exchange.at + waited, true)),
        Silence::NotWaitedFor => None,
    }
}
