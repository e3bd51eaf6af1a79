//! The tree with its shares as a picture, readable in light and dark.
//!
//! One SVG document without scripts, links or fonts of its own.

use std::io::{self, Write};

use svg::Document;
use svg::node::element::{Description, Group, Path, Style, Text, Title};

use super::{Shown, conditions, words};
use crate::path::{Outcome, Tree};

const WIDTH: u32 = 960;
const ROW: u32 = 46;
const TOP: u32 = 30;
/// Where the packet stands, and where its ends do.
const LEFT: u32 = 24;
const RIGHT: u32 = 430;
/// So many ends are drawn; the rest are counted.
const MOST: usize = 40;
/// So many characters of a line fit.
const FITS: usize = 70;

const STYLE: &str = "svg { color-scheme: light dark; font: 14px system-ui, sans-serif; } \
.name { font-family: ui-monospace, monospace; } \
text { fill: #1a1a1a; } .soft { fill: #555; } .good { fill: none; stroke: #1a7f37; } \
.bad { fill: none; stroke: #cf222e; } .maybe { fill: none; stroke: #9a6700; } \
@media (prefers-color-scheme: dark) { text { fill: #eee; } .soft { fill: #aaa; } \
.good { stroke: #4ac26b; } .bad { stroke: #ff7b72; } .maybe { stroke: #e3b341; } }";

/// Writes the picture: a panel for each packet.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(shown: &Shown<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut y = 0;
    let mut body = Group::new();
    let mut about = Vec::new();
    for tree in shown.trees {
        let (panel, end) = panel(tree, y);
        body = body.add(panel);
        about.push(format!("{}.", words::verdict(tree)));
        y = end;
    }
    let document = Document::new()
        .set("viewBox", (0, 0, WIDTH, y.max(TOP)))
        .set("role", "img")
        .add(Title::new("Where the packet goes"))
        .add(Description::new().add(svg::node::Text::new(safe(&about.join(" ")))))
        .add(Style::new(STYLE))
        .add(body);
    writeln!(out, "{document}")
}

fn panel(tree: &Tree, top: u32) -> (Group, u32) {
    let count = u32::try_from(tree.outcomes.len().min(MOST))
        .unwrap_or(1)
        .max(1);
    let mut y = top + TOP;
    let mut group = Group::new();
    for line in crate::render::paragraph::lines(&format!("{}.", words::verdict(tree))) {
        group = group.add(text(LEFT, y, &line, "head").set("font-weight", "bold"));
        y += 20;
    }
    let height = count * ROW;
    let middle = y + height / 2;
    group = group
        .add(text(LEFT, middle - 4, &words::asker(tree), "name"))
        .add(text(
            LEFT,
            middle + 16,
            &format!("→ {}", words::asked(tree)),
            "name",
        ));
    for (index, outcome) in tree.outcomes.iter().take(MOST).enumerate() {
        let at = y + u32::try_from(index).unwrap_or(0) * ROW + ROW / 2;
        group = group.add(end(outcome, middle, at));
    }
    y += height;
    if tree.outcomes.len() > MOST {
        let more = format!("and {} more", tree.outcomes.len() - MOST);
        group = group.add(text(RIGHT, y + 12, &more, "soft"));
        y += 20;
    }
    (group, y + 16)
}

fn end(outcome: &Outcome, from: u32, at: u32) -> Group {
    let class = if !outcome.depends_on.is_empty() {
        "maybe"
    } else if outcome.arrives() {
        "good"
    } else {
        "bad"
    };
    let (start, stop) = (LEFT + 210, RIGHT - 8);
    let half = start.midpoint(stop);
    let data = format!("M{start} {from} C{half} {from} {half} {at} {stop} {at}");
    // A larger share is a broader line.
    let broad = 1.5 + 6.0 * outcome.share.as_f64();
    let line = Path::new()
        .set("d", data)
        .set("class", class)
        .set("stroke-width", format!("{broad:.1}"));
    let mut group = Group::new().add(line).add(text(
        RIGHT,
        at + 5,
        &format!("{} → {}", outcome.share, words::end(outcome)),
        "name",
    ));
    let assumed: Vec<String> = outcome
        .depends_on
        .iter()
        .map(|it| conditions::assumption(it).text)
        .collect();
    if !assumed.is_empty() {
        let all = format!("if {}", assumed.join(" and "));
        group = group.add(text(RIGHT, at + 21, &all, "soft").set("font-size", 11));
    }
    group
}

fn text(x: u32, y: u32, content: &str, class: &str) -> Text {
    let shown = if content.chars().count() > FITS && class != "head" {
        let start: String = content.chars().take(FITS - 1).collect();
        format!("{start}…")
    } else {
        content.to_owned()
    };
    Text::new(safe(&shown))
        .set("x", x)
        .set("y", y)
        .set("class", class)
}

/// Without characters that no XML document may have.
fn safe(text: &str) -> String {
    crate::text::escaped(text.as_bytes())
}
