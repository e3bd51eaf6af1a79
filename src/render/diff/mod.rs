//! `kdns diff` as text for people.

pub mod json;

use std::io::{self, Write};

use colored::{Color, Colorize as _};

use crate::diff::{Difference, What};
use crate::render::Style;
use crate::render::paragraph;
use crate::render::report::title;
use crate::render::style::painted;

/// Writes what differs between the nodes `names`, which have these verdicts.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(
    names: [&str; 2],
    verdicts: [&str; 2],
    differences: &[Difference],
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let colors = style.colors;
    let headline = match differences {
        [] => "Nothing that matters for DNS differs.".to_owned(),
        _ if verdicts[0] != verdicts[1] => {
            format!("The verdict differs: {}.", verdicts.join(" | "))
        }
        [first, ..] if first.changes_verdict => {
            format!("{}: {}.", words(first.what), values(first).join(" | "))
        }
        _ => "The verdict is the same; what leads to it differs.".to_owned(),
    };
    let color = if differences.is_empty() {
        Color::Green
    } else {
        Color::Yellow
    };
    let headline = painted(colors, &headline, |it| it.color(color).bold());
    writeln!(out, "{headline}")?;
    if differences.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n  A  {}\n  B  {}\n", names[0], names[1])?;
    for difference in differences {
        let title = words(difference.what);
        writeln!(out, "{}", painted(colors, title, |it| it.bold()))?;
        for (side, values) in [("A", &difference.first), ("B", &difference.second)] {
            of_side(side, values, out)?;
        }
    }
    Ok(())
}

fn of_side(side: &str, values: &[String], out: &mut dyn Write) -> io::Result<()> {
    let mut first = format!("  {side}  ");
    if values.is_empty() {
        writeln!(out, "{first}-")?;
    }
    for value in values {
        paragraph::write(out, &first, "     ", value)?;
        "     ".clone_into(&mut first);
    }
    Ok(())
}

fn values(difference: &Difference) -> [String; 2] {
    [&difference.first, &difference.second].map(|it| it.join(", "))
}

/// What it is called.
pub(super) fn words(what: What) -> &'static str {
    match what {
        What::Now => "Queries now",
        What::NextStart => "Queries after the next start of the DNS pods",
        What::Setup(part) => title(part),
        What::NodeFile => "The node's /etc/resolv.conf",
        What::ClusterDns => "The kubelet's clusterDNS",
        What::ClusterDomain => "The kubelet's clusterDomain",
        What::KubeletVersion => "The kubelet's version",
        What::Runtime => "The container runtime",
        What::DnsPods => "Name servers of the DNS pods",
        What::Findings => "Findings of kdns lint --node",
    }
}
