//! Queries over time, as bars in a terminal and as a picture.

use std::io::{self, Write};

use svg::Document;
use svg::node::element::{Group, Rectangle, Style, Text, Title};

use crate::render::why::numbers::{clock, grouped};
use crate::text::counted;
use crate::why::log::{Minute, Periods};

/// Bars of the chart in a terminal.
const MAX_BARS: usize = 24;
/// Bars of the picture.
const MAX_COLUMNS: usize = 240;

/// Width and height of the picture, and of what is around its bars, in pixels.
const WIDTH: u32 = 960;
const HEIGHT: u32 = 320;
const MARGIN: u32 = 40;

/// The colours of a light page, and of a dark one.
const STYLE: &str = "\
.paper{fill:#ffffff}.all{fill:#54aeff}.failed{fill:#cf222e}
text{font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:#32383f}
@media (prefers-color-scheme: dark) {
.paper{fill:#0d1117}.all{fill:#388bfd}.failed{fill:#f85149}text{fill:#d1d7e0}
}";

/// The first minute since 1970 of a part, its queries, and those of them that got no
/// record.
type Part = (i64, u64, u64);

/// Equal parts of the time between the first and the last minute: where each
/// begins, its minutes, its queries and those that got no record.
struct Parts {
    length: i64,
    parts: Vec<Part>,
}

fn parts(minutes: &Periods<Minute>, most: usize) -> Parts {
    let first = minutes.iter().next().map_or(0, |it| it.0);
    let last = minutes.iter().last().map_or(0, |it| it.0);
    let each = minutes.length();
    let all = last - first + each;
    let most = i64::try_from(most).unwrap_or(i64::MAX).max(1);
    // Lengths that people count in.
    let lengths = [1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720, 1440];
    let count = |length: i64| (all + length - 1) / length;
    let length = lengths
        .into_iter()
        .find(|&length| length % each == 0 && count(length) <= most)
        .unwrap_or_else(|| (count(most) + each - 1) / each * each);
    let start = first - first.rem_euclid(length);
    let count = usize::try_from((last - start) / length + 1).unwrap_or(0);
    let mut parts: Vec<Part> = (0..)
        .map(|it| (start + it * length, 0, 0))
        .take(count)
        .collect();
    for (minute, counts) in minutes.iter() {
        let index = usize::try_from((minute - start) / length).unwrap_or(0);
        if let Some(part) = parts.get_mut(index) {
            part.1 += counts.queries;
            part.2 += counts.failed;
        }
    }
    Parts { length, parts }
}

/// Writes bars, a line each.
///
/// # Errors
///
/// Any error of `out`.
#[expect(clippy::cast_possible_wrap, reason = "small numbers")]
pub fn write(minutes: &Periods<Minute>, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    let Parts { length, parts } = parts(minutes, MAX_BARS);
    let with_day = parts.len() > 1 && length * parts.len() as i64 > 1440;
    let most = parts.iter().map(|it| it.1).max().unwrap_or(0).max(1);
    let number = grouped(most).len();
    let label = if with_day { 11 } else { 5 };
    let room = columns.saturating_sub(label + number + 6).clamp(10, 100) as u64;
    for (start, queries, failed) in parts {
        let scaled = |count: u64| {
            let cells = count.saturating_mul(room) / most;
            // What is there is seen.
            let cells = cells.max(u64::from(count > 0));
            usize::try_from(cells).unwrap_or(0)
        };
        let bad = scaled(failed);
        let good = scaled(queries).saturating_sub(bad);
        let label = clock(start, with_day);
        let line = format!(
            "  {label} {:>number$} {}{}",
            grouped(queries),
            "#".repeat(bad),
            "█".repeat(good)
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Writes a picture.
///
/// # Errors
///
/// Any error of `out`.
#[expect(clippy::too_many_lines, reason = "one case after the other")]
pub fn write_svg(minutes: &Periods<Minute>, out: &mut dyn Write) -> io::Result<()> {
    let Parts { length, parts } = parts(minutes, MAX_COLUMNS);
    let most = parts.iter().map(|it| it.1).max().unwrap_or(0).max(1);
    let plot = (WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN);
    let step = f64::from(plot.0) / as_number(parts.len().max(1) as u64);
    let with_day = length * i64::try_from(parts.len()).unwrap_or(0) > 1440;
    let mut bars = Group::new();
    for (index, (start, queries, failed)) in parts.iter().enumerate() {
        let left = f64::from(MARGIN) + step * as_number(index as u64);
        let width = (step - 1.0).max(0.5);
        let mut bar = Group::new().add(Title::new(format!(
            "{}: {} queries, {} without a record",
            clock(*start, with_day),
            grouped(*queries),
            grouped(*failed)
        )));
        for (count, class) in [(queries, "all"), (failed, "failed")] {
            let height = f64::from(plot.1) * as_number(*count) / as_number(most);
            let top = f64::from(HEIGHT - MARGIN) - height;
            bar = bar.add(
                Rectangle::new()
                    .set("class", class)
                    .set("x", rounded(left))
                    .set("y", rounded(top))
                    .set("width", rounded(width))
                    .set("height", rounded(height)),
            );
        }
        bars = bars.add(bar);
    }
    let text = |x: u32, y: u32, anchor: &str, words: String| {
        Text::new(words)
            .set("x", x)
            .set("y", y)
            .set("text-anchor", anchor)
    };
    let label = |at: Option<&Part>| at.map_or_else(String::new, |it| clock(it.0, with_day));
    let head = format!(
        "Queries in {}, at most {} (red: without a record)",
        counted(length, "minute", "minutes"),
        grouped(most)
    );
    let bottom = HEIGHT - MARGIN / 2;
    let document = Document::new()
        .set("viewBox", (0, 0, WIDTH, HEIGHT))
        .set("width", WIDTH)
        .set("height", HEIGHT)
        .set("role", "img")
        .add(Title::new("Queries over time"))
        .add(Style::new(STYLE))
        .add(
            Rectangle::new()
                .set("class", "paper")
                .set("width", WIDTH)
                .set("height", HEIGHT),
        )
        .add(text(MARGIN, MARGIN / 2, "start", head))
        .add(bars)
        .add(text(MARGIN, bottom, "start", label(parts.first())))
        .add(text(WIDTH - MARGIN, bottom, "end", label(parts.last())));
    svg::write(&mut *out, &document)?;
    writeln!(out)
}

#[expect(clippy::cast_precision_loss, reason = "pixels")]
fn as_number(count: u64) -> f64 {
    count as f64
}

fn rounded(pixels: f64) -> f64 {
    (pixels * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(range: std::ops::Range<i64>, queries: u64, failed: u64) -> Periods<Minute> {
        let mut minutes = Periods::default();
        for minute in range {
            minutes.add(minute, Minute { queries, failed });
        }
        minutes
    }

    #[test]
    fn bars_are_as_long_as_their_counts() {
        let minutes = minutes(29_920_440..29_920_470, 100, 50);
        let mut out = Vec::new();
        write(&minutes, 80, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 15, "{text}");
        for line in text.lines() {
            let count = |mark: char| line.chars().filter(|it| *it == mark).count();
            assert_eq!(count('#'), count('█'), "{line}");
            assert!(line.chars().count() <= 80, "{line}");
        }
        let mut out = Vec::new();
        write_svg(&minutes, &mut out).unwrap();
        let picture = String::from_utf8(out).unwrap();
        assert!(picture.matches("<rect").count() == 1 + 2 * 30, "{picture}");
    }

    #[test]
    fn gaps_are_seen() {
        let mut gap = minutes(100..101, 7, 0);
        gap.merge(minutes(5000..5001, 1, 1));
        let found = parts(&gap, MAX_BARS);
        assert!(found.parts.len() <= MAX_BARS);
        assert_eq!(found.parts.iter().map(|it| it.1).sum::<u64>(), 8);
        assert!(found.parts.iter().any(|it| it.1 == 0));
        assert_eq!(parts(&Periods::default(), MAX_BARS).parts.len(), 1);
    }
}
