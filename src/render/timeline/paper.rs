//! What the picture is drawn with: texts, boxes and lines in colours that can
//! be read on a light and on a dark page.

use svg::node::element::{Group, Line, Rectangle, Style, Text, Title};

use crate::text::escaped;

/// Width of the picture, in pixels: a ticket or a post shows it whole.
pub(super) const WIDTH: u32 = 960;
/// Space around everything.
pub(super) const MARGIN: u32 = 20;
/// A character of the type for names is so wide, in tenths of a pixel.
pub(super) const CHARACTER: u32 = 68;
/// Lines of text are so far apart.
pub(super) const LINE: u32 = 15;

const NAMES: &str = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const PROSE: &str = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

/// What a text or a shape is, which decides on its colour.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ink {
    /// Names, headings.
    Strong,
    /// What explains them.
    Soft,
    /// What the user most likely means.
    Meant,
    /// A step that waited for an answer that did not come.
    Wait,
    /// What a query came to.
    Came(Fate),
}

/// What a query came to, as far as colours tell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fate {
    /// Records.
    Found,
    /// No such name.
    NoName,
    /// The name without the type.
    NoData,
    /// An error of the server or of the network.
    Broken,
    /// No answer came.
    Silent,
    /// Half an answer.
    Cut,
}

/// Colours of a fate on a light page: a box, its edge, its text.
const fn light(fate: Fate) -> (&'static str, &'static str, &'static str, &'static str) {
    match fate {
        Fate::Found => ("found", "#dafbe1", "#1a7f37", "#0b5323"),
        Fate::NoName => ("noname", "#ddf4ff", "#54aeff", "#0a3069"),
        Fate::NoData => ("nodata", "#eaeef2", "#8c959f", "#32383f"),
        Fate::Broken => ("broken", "#ffebe9", "#cf222e", "#82071e"),
        Fate::Silent => ("silent", "#fff8c5", "#9a6700", "#633c01"),
        Fate::Cut => ("cut", "#fbefff", "#8250df", "#512a97"),
    }
}

/// The same in the dark. Where a program knows no style sheets or no such
/// question in them, the light colours stay, on their own white paper.
const DARK: &str = "\
@media (prefers-color-scheme: dark) {
.paper{fill:#0d1117}.band{fill:#151b23}.line{stroke:#3d444d}.arrow{stroke:#d4a72c}
.strong{fill:#f0f6fc}.soft{fill:#9198a1}.meant{fill:#56d364}.wait{fill:#e3b341}
rect.found{fill:#12361f;stroke:#3fb950}text.found{fill:#aff5b4}
rect.noname{fill:#11294a;stroke:#388bfd}text.noname{fill:#cae8ff}
rect.nodata{fill:#262c36;stroke:#656c76}text.nodata{fill:#d1d7e0}
rect.broken{fill:#4a1519;stroke:#f85149}text.broken{fill:#ffdcd7}
rect.silent{fill:#3b2d07;stroke:#d29922}text.silent{fill:#f8e3a1}
rect.cut{fill:#2f1f52;stroke:#a371f7}text.cut{fill:#eddeff}
}";

impl Ink {
    fn class(self) -> (&'static str, &'static str) {
        match self {
            Self::Strong => ("strong", "#1f2328"),
            Self::Soft => ("soft", "#59636e"),
            Self::Meant => ("meant", "#116329"),
            Self::Wait => ("wait", "#7d4e00"),
            Self::Came(fate) => {
                let (class, _, _, text) = light(fate);
                (class, text)
            }
        }
    }
}

/// The style sheet.
pub(super) fn style() -> Style {
    Style::new(DARK)
}

/// Text in the type for names, each character of the same width.
pub(super) fn name(x: u32, y: u32, ink: Ink, text: &str) -> Text {
    words(x, y, ink, text)
        .set("font-family", NAMES)
        .set("font-size", 11)
}

/// Text for reading.
pub(super) fn prose(x: u32, y: u32, ink: Ink, text: &str) -> Text {
    words(x, y, ink, text)
        .set("font-family", PROSE)
        .set("font-size", 12)
}

fn words(x: u32, y: u32, ink: Ink, text: &str) -> Text {
    let (class, color) = ink.class();
    Text::new(safe(text))
        .set("x", x)
        .set("y", y)
        .set("class", class)
        .set("fill", color)
}

/// What is shown where the mouse rests, and read out.
pub(super) fn title(text: &str) -> Title {
    Title::new(safe(text))
}

/// The box of a query.
pub(super) fn bar(x: u32, y: u32, width: u32, height: u32, fate: Fate) -> Rectangle {
    let (class, fill, edge, _) = light(fate);
    let bar = rectangle(x, y, width, height)
        .set("rx", 3)
        .set("class", class)
        .set("fill", fill)
        .set("stroke", edge);
    if fate == Fate::Silent {
        return bar.set("stroke-dasharray", "4 3");
    }
    bar
}

/// The paper itself.
pub(super) fn paper(height: u32) -> Rectangle {
    let paper = rectangle(0, 0, WIDTH, height);
    paper.set("class", "paper").set("fill", "#ffffff")
}

/// What queries of one server lie on.
pub(super) fn band(x: u32, y: u32, width: u32, height: u32) -> Rectangle {
    let band = rectangle(x, y, width, height).set("rx", 4);
    band.set("class", "band").set("fill", "#f6f8fa")
}

fn rectangle(x: u32, y: u32, width: u32, height: u32) -> Rectangle {
    Rectangle::new()
        .set("x", x)
        .set("y", y)
        .set("width", width)
        .set("height", height)
}

/// A thin line from one point to another.
pub(super) fn line(from: (u32, u32), to: (u32, u32)) -> Line {
    Line::new()
        .set("x1", from.0)
        .set("y1", from.1)
        .set("x2", to.0)
        .set("y2", to.1)
        .set("class", "line")
        .set("stroke", "#d1d9e0")
}

/// The way from one server to the next.
pub(super) fn arrow(x: u32, from: u32, to: u32) -> Group {
    let tip = if from < to { to - 5 } else { to + 5 };
    let stroke = |line: Line| {
        let line = line.set("class", "arrow").set("stroke", "#9a6700");
        line.set("stroke-width", "1.5")
    };
    Group::new()
        .add(stroke(line((x, from), (x, to))))
        .add(stroke(line((x.saturating_sub(4), tip), (x, to))))
        .add(stroke(line((x + 4, tip), (x, to))))
}

/// Text that XML can hold and that steers no terminal: names are anyone's.
pub(super) fn safe(text: &str) -> String {
    // XML 1.0 has no place for these two, and they are no control characters.
    let text = text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    escaped(text.as_bytes())
}

/// How wide a text in the type for names is, in pixels.
pub(super) fn width(text: &str) -> u32 {
    (columns(&safe(text)) * CHARACTER).div_ceil(10)
}

/// Characters outside of ASCII may be twice as wide.
fn columns(text: &str) -> u32 {
    let wide = |c: char| if c.is_ascii() { 1 } else { 2 };
    text.chars().map(wide).sum()
}

/// The text if it fits into so many pixels, else its beginning and `…`.
pub(super) fn fitted(text: &str, pixels: u32) -> String {
    let text = safe(text);
    if width(&text) <= pixels {
        return text;
    }
    let room = (pixels * 10 / CHARACTER).saturating_sub(2);
    let mut used = 0;
    let begin: String = text
        .chars()
        .take_while(|c| {
            used += columns(c.encode_utf8(&mut [0; 4]));
            used <= room
        })
        .collect();
    begin + "…"
}

/// The text in at most `most` lines of so many pixels, broken behind one of
/// `stops`; what does not fit ends with `…`.
pub(super) fn lines(text: &str, pixels: u32, stops: &[char], most: usize) -> Vec<String> {
    let text = safe(text);
    let mut lines: Vec<String> = vec![String::new()];
    for piece in text.split_inclusive(stops) {
        let count = lines.len();
        let Some(last) = lines.last_mut() else { break };
        if last.is_empty() || count == most || width(last) + width(piece.trim_end()) <= pixels {
            last.push_str(piece);
        } else {
            lines.push(piece.to_owned());
        }
    }
    lines.iter().map(|it| fitted(it.trim(), pixels)).collect()
}
