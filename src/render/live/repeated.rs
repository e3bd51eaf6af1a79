//! The same lookup many times.

use std::io::{self, Write};
use std::time::Duration;

use super::conclusion::ended;
use super::{Lived, bars, conclusion, time};
use crate::engine::machine::Outcome;
use crate::explain::live::{Cause, Played};
use crate::render::Style;
use crate::render::explanation::Text;
use crate::scenario::Scenario;
use crate::text::counted;

/// A run is worth a line if something was wrong with it.
fn is_odd(played: &Played) -> bool {
    !matches!(
        played.cause(),
        Cause::Nothing | Cause::NotAsked | Cause::NoSuchName
    ) || played.cut.is_some()
}

/// Says how one run of many ended, if something was wrong with it.
///
/// # Errors
///
/// Any error of `out`.
pub fn run_line(number: usize, lived: &Lived, style: Style, out: &mut dyn Write) -> io::Result<()> {
    if !is_odd(&lived.played) {
        return Ok(());
    }
    let sentence = format!("lookup {number:>4} {}", ended(lived));
    Text::new(style, out).headed(2, "", &sentence)?;
    out.flush()
}

/// Writes what many runs of one resolver have in common, and about the worst one.
///
/// # Errors
///
/// Any error of `out`.
pub fn repeated(
    scenario: &Scenario,
    lived: &[Lived],
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(first) = lived.first() else {
        return Ok(());
    };
    let mut text = Text::new(style, out);
    let odd: Vec<&Lived> = lived.iter().filter(|it| is_odd(&it.played)).collect();
    let good = lived.iter().filter(|it| !is_odd(&it.played));
    let times: Vec<Duration> = good.map(|it| it.played.elapsed).collect();
    let resolver = first.played.resolver;
    let head = format!(
        "{} as {} ({}), {}: ",
        scenario.name,
        resolver.id,
        resolver.version,
        counted(lived.len(), "lookup", "lookups")
    );
    let usual = match (times.iter().min(), times.iter().max()) {
        (Some(least), Some(most)) => format!(
            "{} {} {} to {}",
            times.len(),
            if times.len() == 1 { "takes" } else { "take" },
            time(*least),
            time(*most)
        ),
        _ => "none is without trouble".to_owned(),
    };
    let sentence = match odd.len() {
        0 => format!("{head}{usual}; nothing went wrong."),
        odd => format!("{head}{usual}; {odd} went wrong."),
    };
    let shown = if odd.is_empty() {
        text.green(&sentence)
    } else {
        text.yellow(&sentence)
    };
    text.headed(0, &shown, "")?;
    let is_failed = |it: &Lived| !matches!(it.played.outcome, Outcome::Found(_));
    let worst = odd
        .iter()
        .max_by_key(|it| (is_failed(it), it.played.elapsed));
    if let Some(worst) = worst {
        bars::write(&mut text, &worst.played, "")?;
        text.line("")?;
        conclusion::write(&mut text, scenario, worst)?;
    }
    text.line("")
}
