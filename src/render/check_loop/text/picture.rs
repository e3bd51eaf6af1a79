//! A way that queries take, drawn.

use super::shown;
use crate::check_loop::{Chain, End, Hop, When};

/// What the picture shows.
pub(super) fn title(chain: &Chain) -> String {
    let names = match chain.zone.as_str() {
        "." => "queries".to_owned(),
        zone => format!("queries for {}", shown(zone.trim_end_matches('.'))),
    };
    let when = match chain.when {
        When::Now => "go now",
        When::NextStart => "will go after the next start",
    };
    let share = match chain.share {
        (1, 1) => String::new(),
        (some, all) => format!(", {some} of {all} times"),
    };
    format!("The way that {names} {when}{share}")
}

/// The picture: a box for each server, the words of the files that send on in
/// it, arrows between; a line at the left from the end of a circle to its
/// beginning.
pub(super) fn lines(chain: &Chain) -> Vec<String> {
    let first = match chain.end {
        End::Cycle(first) => Some(first),
        _ => None,
    };
    let mut lines = Vec::new();
    for (number, hop) in chain.hops.iter().enumerate() {
        let (head, side) = match first {
            Some(first) if number == first => ("  ┌─▶ ", "  │   "),
            Some(first) if number > first => ("  │   ", "  │   "),
            _ => ("      ", "      "),
        };
        lines.push(format!("{head}{} {}", shown(&hop.who), shown(&hop.network)));
        lines.extend(words(hop, side));
        let is_last = number + 1 == chain.hops.len();
        let to = shown(&hop.sends_to);
        lines.push(match (is_last, first) {
            (true, Some(_)) => format!("  └──── {to}"),
            _ => format!("{side}  ▼ {to}"),
        });
    }
    lines.push(format!("      {}", end(chain)));
    lines
}

/// What stands in the files, each with its place below.
fn words(hop: &Hop, side: &str) -> Vec<String> {
    let proof = hop.proof.iter().flat_map(|it| {
        [
            format!("{side}  │ {}", shown(&it.text)),
            format!("{side}  │   {}", shown(&it.place.to_string())),
        ]
    });
    proof.collect()
}

fn end(chain: &Chain) -> String {
    match &chain.end {
        End::Cycle(first) => {
            let who = chain.hops.get(*first).map(|hop| shown(&hop.who));
            format!("That is {} again: a loop.", who.unwrap_or_default())
        }
        End::Refused => "Nobody answers there: refused.".to_owned(),
        End::Outside => "That answers, or leads outside.".to_owned(),
        End::Unknown(reason) => format!("Not known: {}.", shown(reason)),
    }
}

/// The way in one line.
pub(super) fn line(chain: &Chain) -> String {
    let when = match chain.when {
        When::Now => "now",
        When::NextStart => "next start",
    };
    let zone = match chain.zone.as_str() {
        "." => String::new(),
        zone => format!(", {}", zone.trim_end_matches('.')),
    };
    let hops: Vec<String> = chain
        .hops
        .iter()
        .map(|hop| format!("{} -> {}", hop.who, hop.sends_to))
        .collect();
    let end = match &chain.end {
        End::Cycle(_) => "loop".to_owned(),
        End::Refused => "refused".to_owned(),
        End::Outside => "answered".to_owned(),
        End::Unknown(reason) => format!("not known: {reason}"),
    };
    format!("{when}{zone}: {} ({end})", hops.join(" -> "))
}
