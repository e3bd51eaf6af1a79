//! One lookup, drawn: the names above, a lane for each server, why it goes on
//! below.

use svg::node::element::Group;

use super::labels;
use super::paper::{
    Fate, Ink, LINE, MARGIN, WIDTH, arrow, band, bar, fitted, line, lines, name, prose, title,
    width,
};
use super::staves::{Column, Stave, staves};
use crate::address::Server;
use crate::explain::live::Then;
use crate::explain::plan::Candidate;
use crate::explain::timeline::{Next, Timeline};
use crate::render::live::time;
use crate::text::counted;

/// A lookup by resolvers that do the same.
#[derive(Debug)]
pub(super) struct Panel<'p> {
    /// Who, in bold.
    pub(super) who: String,
    /// How much, behind it.
    pub(super) what: String,
    /// The names in the order of their numbers.
    pub(super) candidates: Vec<&'p Candidate>,
    /// The one that the user most likely means.
    pub(super) meant: Option<usize>,
    /// Servers in the order of the file, then those met on the way.
    pub(super) servers: Vec<String>,
    /// What happens.
    pub(super) timeline: Timeline,
    /// How it ends, and what else is to say.
    pub(super) remarks: Vec<String>,
}

/// Height of a query's box, and of its row.
const BAR: u32 = 17;
const ROW: u32 = 20;
/// So many queries of a step to one server are shown one below the other.
const ROWS: usize = 4;
/// So many servers have a lane of their own.
const LANES: usize = 12;
/// Prose has so many characters in a line.
const COLUMNS: usize = 140;

/// A server and its place on a stave.
struct Lane<'p> {
    index: usize,
    name: &'p str,
    y: u32,
    height: u32,
}

impl Panel<'_> {
    /// Draws it from `y` on, and says where it ends.
    pub(super) fn draw(&self, mut y: u32) -> (Group, u32) {
        let mut group = Group::new();
        y += LINE;
        let who = self.who.as_str();
        let heading = prose(MARGIN, y, Ink::Strong, who).set("font-weight", "bold");
        group = group.add(heading.set("font-size", 14));
        y += 4;
        for text in wrapped(&self.what) {
            y += LINE;
            group = group.add(prose(MARGIN, y, Ink::Soft, &text));
        }
        y += 14;
        let x = MARGIN + self.label_width();
        for stave in staves(&self.timeline, &self.candidates, WIDTH - MARGIN - x) {
            match stave {
                Stave::Steps(columns) => {
                    let (drawn, end) = self.stave(&columns, x, y);
                    group = group.add(drawn);
                    y = end + 16;
                }
                Stave::Folded {
                    steps,
                    queries,
                    until,
                } => {
                    let steps = counted(steps, "step", "steps");
                    let queries = counted(queries, "query", "queries");
                    let when = match until {
                        it if it.is_zero() => String::new(),
                        it => format!(", until {}", time(it)),
                    };
                    let text = format!("⋮  and {steps} more with {queries}{when}");
                    group = group.add(prose(x, y + LINE, Ink::Soft, &text));
                    y += 2 * LINE;
                }
            }
        }
        for remark in &self.remarks {
            for text in wrapped(remark) {
                y += LINE;
                group = group.add(prose(MARGIN, y, Ink::Strong, &text));
            }
        }
        (group, y + 18)
    }

    fn label_width(&self) -> u32 {
        let longest = self.lanes().map(width).max().unwrap_or_default();
        longest.clamp(70, 150) + 14
    }

    fn lanes(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().map(String::as_str)
    }

    fn stave(&self, columns: &[Column<'_>], x: u32, y: u32) -> (Group, u32) {
        let (mut group, top) = self.names(columns, x, y);
        let end = columns.last().map_or(x, |it| x + it.x + it.width);
        let lanes = self.place(columns, top + 18);
        let bottom = lanes.last().map_or(top, |it| it.y + it.height);
        for lane in &lanes {
            group = group.add(self.lane(lane, x, end));
        }
        let mut before = None;
        for column in columns {
            let left = x + column.x;
            if before != Some(column.step.at) {
                before = Some(column.step.at);
                let clock = labels::clock(column.step.at);
                let clock = name(left + 4, top + 13, Ink::Soft, &clock);
                group = group.add(clock.set("font-size", 10));
            }
            group = group.add(line((left, top), (left, bottom)));
            for lane in &lanes {
                group = group.add(self.queries(column, lane, left));
            }
            group = group.add(self.connector(column, &lanes, left));
        }
        let last = columns.last().map(|it| it.step);
        if let Some(step) = last.filter(|it| it.next.is_none() && it.until != it.at) {
            let clock = name(end - 2, top + 13, Ink::Soft, &labels::clock(step.until));
            let clock = clock.set("font-size", 10).set("text-anchor", "end");
            group = group.add(clock);
        }
        group = group.add(line((end, top), (end, bottom)));
        let (reasons, end) = self.reasons(columns, x, bottom);
        (group.add(reasons), end)
    }

    /// The names above the steps that are for them.
    fn names(&self, columns: &[Column<'_>], x: u32, y: u32) -> (Group, u32) {
        let mut group = Group::new();
        let mut height = 0;
        let same =
            |one: &Column<'_>, other: &Column<'_>| one.step.candidate == other.step.candidate;
        let mut parts = columns.chunk_by(same).peekable();
        while let Some(columns) = parts.next() {
            let Some(first) = columns.first() else {
                continue;
            };
            let number = first.step.candidate;
            let Some(candidate) = self.candidates.get(number) else {
                continue;
            };
            let own: u32 = columns.iter().map(|it| it.width).sum();
            let room = match parts.peek() {
                Some(_) => own,
                // Nothing stands to the right of the last one.
                None => own.max(WIDTH.saturating_sub(MARGIN + x + first.x)),
            };
            let is_meant = self.meant == Some(number);
            let ink = if is_meant { Ink::Meant } else { Ink::Strong };
            let left = x + first.x + 4;
            let shown = (number + 1).to_string();
            let indent = width(&shown) + 6;
            let full = labels::full(candidate);
            let mut part = Group::new().add(title(&format!("{shown}. {full}")));
            part = part.add(name(left, y + 11, Ink::Soft, &shown));
            let mut at = y;
            for text in lines(&full, room.saturating_sub(indent + 8), &['.'], 3) {
                at += LINE - 2;
                let text = name(left + indent, at - 2, ink, &text);
                part = part.add(text.set("font-weight", "bold"));
            }
            at += LINE - 2;
            let because = labels::because(candidate, is_meant);
            let because = fitted(&because, room.saturating_sub(indent + 4));
            let because = prose(left + indent, at - 2, Ink::Soft, &because);
            part = part.add(because.set("font-size", 11));
            height = height.max(at - y);
            group = group.add(part);
        }
        (group, y + height + 4)
    }

    /// The lanes, high enough for what the steps ask.
    fn place(&self, columns: &[Column<'_>], mut y: u32) -> Vec<Lane<'_>> {
        let mut lanes = Vec::new();
        for (index, name) in self.lanes().enumerate() {
            let rows = columns.iter().map(|it| self.rows(it, index)).max();
            let rows = rows.unwrap_or_default().min(ROWS + 1);
            let two = width(name) > self.label_width() - 14;
            let least = if two { 2 * LINE } else { LINE };
            let height = (u32::try_from(rows).unwrap_or(1) * ROW).max(least) + 6;
            lanes.push(Lane {
                index,
                name,
                y,
                height,
            });
            y += height + 3;
        }
        lanes
    }

    fn rows(&self, column: &Column<'_>, lane: usize) -> usize {
        let step = column.step;
        let asked = step.exchanges.iter().map(|it| &it.query.server);
        let refused = step.unconnected.iter().map(|it| &it.server);
        let is_here = |it: &&Server| self.lane_of(it) == Some(lane);
        asked.chain(refused).filter(is_here).count()
    }

    /// The last lane is for all that have none of their own.
    fn lane_of(&self, server: &Server) -> Option<usize> {
        let server = server.to_string();
        let at = self.servers.iter().position(|it| *it == server);
        at.or_else(|| self.servers.len().checked_sub(1))
    }

    fn lane(&self, lane: &Lane<'_>, x: u32, end: u32) -> Group {
        let mut group = Group::new().add(title(lane.name));
        group = group.add(band(x, lane.y, end - x, lane.height));
        let room = self.label_width() - 12;
        let texts = lines(lane.name, room, &[':', '.', '%', '#'], 2);
        let middle = lane.y + lane.height / 2 + 4;
        let up = if texts.len() == 1 { 0 } else { LINE / 2 };
        for (text, index) in texts.iter().zip(0..) {
            let at = (middle + index * (LINE - 2)).saturating_sub(up);
            group = group.add(name(MARGIN, at, Ink::Strong, text));
        }
        let mut steps = self.timeline.steps.iter();
        let is_asked = steps.any(|step| {
            let asked = step.exchanges.iter().map(|it| &it.query.server);
            let refused = step.unconnected.iter().map(|it| &it.server);
            let mut servers = asked.chain(refused);
            servers.any(|it| self.lane_of(it) == Some(lane.index))
        });
        if !is_asked {
            let text = prose(x + 6, middle, Ink::Soft, "not asked");
            group = group.add(text.set("font-size", 11));
        }
        group
    }

    /// What a step asks the server of this lane.
    fn queries(&self, column: &Column<'_>, lane: &Lane<'_>, x: u32) -> Group {
        let step = column.step;
        let mut group = Group::new();
        let is_here = |server: &Server| self.lane_of(server) == Some(lane.index);
        let exchanges = step.exchanges.iter().filter(|it| is_here(&it.query.server));
        let boxes = exchanges.map(|it| {
            let (fate, came) = labels::fate(it, step);
            let text = format!("{} {came}", labels::asked(it));
            let after = it.answer.as_ref().map(|it| it.after);
            let (start, room) = column.extent(it.at, after, width(&text) + 10);
            let longer = labels::took(it, step).map(|it| format!("{text} {}", time(it)));
            let text = longer.filter(|_| column.is_timed()).unwrap_or(text);
            (start, room, fate, text, labels::sentence(it, step))
        });
        let unconnected = step.unconnected.iter().filter(|it| is_here(&it.server));
        let refused = unconnected.map(|it| {
            let text = "no connection".to_owned();
            let (start, room) = column.extent(it.at, None, width(&text) + 10);
            let sentence = format!("{}: {}: {}", labels::clock(it.at), it.server, it.unsent.why);
            (start, room, Fate::Broken, text, sentence)
        });
        let all: Vec<_> = boxes.chain(refused).collect();
        let mut y = lane.y + 4;
        for (start, room, fate, text, sentence) in all.iter().take(ROWS) {
            let text = name(
                x + 4 + start + 5,
                y + 12,
                Ink::Came(*fate),
                &fitted(text, room - 8),
            );
            let part = Group::new().add(title(sentence));
            let part = part.add(bar(x + 4 + start, y, *room, BAR, *fate));
            group = group.add(part.add(text));
            y += ROW;
        }
        if let Some(more @ 1..) = all.len().checked_sub(ROWS) {
            let text = format!("and {more} more");
            group = group.add(prose(x + 8, y + 12, Ink::Soft, &text));
        }
        group
    }

    /// The way to another server, at the end of the step.
    fn connector(&self, column: &Column<'_>, lanes: &[Lane<'_>], x: u32) -> Group {
        let group = Group::new();
        let Some(Next::Then(Then::Again {
            server: Some(server),
            ..
        })) = &column.step.next
        else {
            return group;
        };
        let from = column.step.exchanges.last().map(|it| &it.query.server);
        let lane = |server| lanes.get(self.lane_of(server)?);
        let from = from.and_then(lane);
        let to = lane(server);
        let Some((from, to)) = from.zip(to).filter(|(from, to)| from.y != to.y) else {
            return group;
        };
        let x = x + column.width;
        if from.y < to.y {
            return group.add(arrow(x, from.y + from.height, to.y + 10));
        }
        group.add(arrow(x, from.y, to.y + to.height - 8))
    }

    /// Why it goes on, below each step.
    fn reasons(&self, columns: &[Column<'_>], x: u32, y: u32) -> (Group, u32) {
        let mut group = Group::new();
        let mut height = 0;
        for column in columns {
            let why = labels::why(column.step, &self.candidates);
            let why = if column.step.next.is_none() {
                format!("{}: the end", labels::came(column.step))
            } else {
                why
            };
            let is_wait = labels::is_silent(column.step);
            let ink = if is_wait { Ink::Wait } else { Ink::Soft };
            let mut at = y;
            for text in lines(&why, column.width - 8, &[' '], 2) {
                at += LINE - 2;
                let text = prose(x + column.x + 4, at, ink, &text);
                group = group.add(text.set("font-size", 11));
            }
            height = height.max(at - y);
        }
        (group, y + height)
    }
}

/// Servers in the order in which they are met, at most as many as have lanes:
/// one more stands for all others.
pub(super) fn lanes(servers: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut lanes: Vec<String> = Vec::new();
    let mut more: Vec<String> = Vec::new();
    for server in servers {
        if lanes.contains(&server) || more.contains(&server) {
            continue;
        }
        if lanes.len() < LANES {
            lanes.push(server);
        } else {
            more.push(server);
        }
    }
    if !more.is_empty() {
        lanes.push(format!(
            "and {}",
            counted(more.len(), "other server", "other servers")
        ));
    }
    lanes
}

/// Prose in lines of the paper's width.
pub(super) fn wrapped(text: &str) -> Vec<String> {
    let options = textwrap::Options::new(COLUMNS)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options)
        .into_iter()
        .map(std::borrow::Cow::into_owned)
        .collect()
}
