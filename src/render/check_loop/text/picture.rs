//! A query path, drawn.

use super::{shown, words};
use crate::check_loop::{Chain, End, Proof, When};
use crate::render::paragraph;

/// What the picture shows.
pub(super) fn title(chain: &Chain) -> String {
    let names = match chain.zone.as_str() {
        "." => "Query path".to_owned(),
        zone => format!("Query path for {}", shown(zone.trim_end_matches('.'))),
    };
    let when = match chain.when {
        When::Now => "now",
        When::NextStart => "after the next start",
    };
    let share = match chain.share {
        (1, 1) => String::new(),
        (some, all) => format!(", {some} of {all} times"),
    };
    format!("{names} {when}{share}")
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
    // The arrow into the next hop.
    let mut into = String::new();
    for (number, hop) in chain.hops.iter().enumerate() {
        let (head, side) = match first {
            Some(first) if number == first => ("  ┌─▶ ", "  │   "),
            Some(first) if number > first => ("  │   ", "  │   "),
            _ => ("      ", "      "),
        };
        if first == Some(number) && number > 0 {
            lines.push(format!("      {into}"));
            into.clear();
        } else if number > 0 {
            into.push_str(" is ");
        }
        let (who, network) = words::who(&hop.who);
        lines.push(format!("{head}{into}{} {network}", shown(&who)));
        lines.extend(hop.proof.iter().flat_map(|it| proof(it, side)));
        let is_last = number + 1 == chain.hops.len();
        let to = shown(&hop.sends_to.to_string());
        into = format!("  ▼ {to}");
        match (is_last, first) {
            (true, Some(_)) => lines.push(format!("  └──── {to}: a loop")),
            (true, None) => {
                let (first, rest) = (format!("{side}  ▼ "), format!("{side}    "));
                let last = paragraph::hanging(&first, &rest, &format!("{to}{}", end(chain)));
                lines.extend(last.lines().map(str::to_owned));
            }
            (false, _) => {}
        }
    }
    lines
}

/// What stands in a file and its place, beside it or below it.
fn proof(proof: &Proof, side: &str) -> Vec<String> {
    let place = shown(&proof.place.to_string());
    let words = format!("{side}  │ {}", shown(&proof.text));
    let beside = format!("{words}  ({place})");
    if beside.chars().count() <= paragraph::WIDTH {
        return vec![beside];
    }
    vec![words, format!("{side}  │   {place}")]
}

fn end(chain: &Chain) -> String {
    match &chain.end {
        End::Cycle(_) => String::new(),
        End::Refused | End::Stopped => ": nobody answers there, refused".to_owned(),
        End::Outside => ", outside of this node (not asked)".to_owned(),
        End::Unknown(reason) => format!(", not known: {}", shown(&words::unknown(reason).text)),
    }
}

/// The query path in one line.
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
        .map(|hop| format!("{} -> {}", words::who(&hop.who).0, hop.sends_to))
        .collect();
    let end = match &chain.end {
        End::Cycle(_) => "loop".to_owned(),
        End::Refused | End::Stopped => "refused".to_owned(),
        End::Outside => "not asked".to_owned(),
        End::Unknown(reason) => format!("not known: {}", words::unknown(reason).text),
    };
    format!("{when}{zone}: {} ({end})", hops.join(" -> "))
}
