//! A lookup as a picture: the queries by server, from left to right in time.
//!
//! One SVG document without scripts, links or fonts of its own. Widths tell
//! which wait was longer; they are not to scale.

mod labels;
mod panel;
mod paper;
mod staves;

use std::io::{self, Write};

use svg::Document;
use svg::node::element::{Description, Group};

use self::panel::{Panel, lanes, wrapped};
use self::paper::{Ink, LINE, MARGIN, WIDTH, paper, prose, style, title};
use super::explanation::decisions;
use super::explanation::group::{joined, outcome, shared, silence, versioned};
use super::live::{Lived, summary, verdict};
use super::{loopback, words};
use crate::explain::plan::Candidate;
use crate::explain::timeline::Timeline;
use crate::explain::{Context, Explanation, Group as Alike, Member};
use crate::scenario::Scenario;
use crate::text::counted;

/// The height of a line of the heading.
const HEADING_LINE: u32 = 22;
/// What fits into such a line, measured in the type for names, which is half as
/// wide: a label of 63 bytes.
const HEADING_ROOM: u32 = 440;
/// What fits in large letters.
const LARGE_ROOM: u32 = 340;

/// The picture of one question.
#[derive(Debug)]
pub struct Page {
    /// The name.
    name: String,
    /// What the picture says, for those who do not see it.
    about: Vec<String>,
    body: Group,
    height: u32,
}

/// Draws a predicted lookup, a panel for each group of resolvers that do the
/// same at the same time.
pub fn explained(explanation: &Explanation<'_>) -> Page {
    let scenario = explanation.scenario;
    let mut page = Page::new(&scenario.name);
    for sentence in decisions(explanation) {
        page.say(Ink::Strong, &format!("{sentence}."));
    }
    page.context(&explanation.context);
    for group in &explanation.groups {
        let candidates: Vec<&Candidate> = group.candidates.iter().map(|it| &it.candidate).collect();
        let mut alike: Vec<(Timeline, Vec<&Member<'_>>)> = Vec::new();
        for member in &group.members {
            let timeline = Timeline::of_run(scenario, member.resolver, &member.run, &candidates);
            match alike
                .iter_mut()
                .find(|(other, _)| other.looks_as(&timeline))
            {
                Some((_, members)) => members.push(member),
                None => alike.push((timeline, vec![member])),
            }
        }
        for (timeline, members) in alike {
            let panel = predicted(explanation, group, timeline, &members, &candidates);
            page.panel(&panel);
        }
    }
    page
}

fn predicted<'p>(
    explanation: &Explanation<'_>,
    group: &Alike<'_>,
    timeline: Timeline,
    members: &[&Member<'_>],
    candidates: &[&'p Candidate],
) -> Panel<'p> {
    let who: Vec<String> = members.iter().map(|it| versioned(it.resolver)).collect();
    let sent: usize = timeline.steps.iter().map(|it| it.exchanges.len()).sum();
    let mut what = counted(sent, "query", "queries");
    if !timeline.elapsed.is_zero() {
        what = format!("{what} in {}", words::seconds(timeline.elapsed));
    }
    let of_file = members.iter().flat_map(|it| &it.reading.servers);
    let of_file = of_file.map(|it| it.value.to_string());
    let asked = timeline.steps.iter().flat_map(|it| &it.exchanges);
    let asked = asked.map(|it| it.query.server.to_string());
    let mut remarks = Vec::new();
    let title = match explanation.scenario.answers.is_empty() {
        _ if sent == 0 => "Outcome",
        true => "If nothing exists",
        false => "With the answers assumed",
    };
    let ends = shared(members.iter().copied(), |it| outcome(&it.run.outcome));
    remarks.push(joined(title, members.len(), ends));
    if members.iter().any(|it| !it.plan.sent.is_empty()) {
        let silences = shared(members.iter().copied(), |it| silence(&it.silence));
        remarks.push(joined("If the servers are silent", members.len(), silences));
    }
    let notes = shared(members.iter().copied(), |it| it.run.notes.join("; "));
    let notes = notes.into_iter().filter(|(note, _)| !note.is_empty());
    remarks.extend(notes.map(|(note, _)| note));
    Panel {
        who: who.join(", "),
        what,
        candidates: candidates.to_vec(),
        meant: group.candidates.iter().position(|it| it.is_useful),
        servers: lanes(of_file.chain(asked)),
        timeline,
        remarks,
    }
}

/// Draws lookups on the wire, a panel for each.
pub fn lived(scenario: &Scenario, context: &Context, lookups: &[Lived]) -> Page {
    let mut page = Page::new(&scenario.name);
    page.context(context);
    for lived in lookups {
        let played = &lived.played;
        let candidates: Vec<&Candidate> = lived.comparison.candidates.iter().collect();
        let timeline = Timeline::of_played(played, &candidates);
        let asked = played
            .exchanges
            .iter()
            .map(|it| it.query.server.to_string());
        let refused = played.unconnected.iter().map(|it| it.server.to_string());
        let reading = played.resolver.reading(scenario);
        let of_file = reading.servers.iter().map(|it| it.value.to_string());
        page.panel(&Panel {
            who: format!("{}: {}", versioned(played.resolver), verdict(lived)),
            what: summary(lived),
            candidates,
            meant: None,
            servers: lanes(of_file.chain(asked).chain(refused)),
            timeline,
            remarks: played.notes.clone(),
        });
    }
    page
}

/// Says what could not be drawn.
pub fn failed(name: &str, message: &str) -> Page {
    let mut page = Page::new(name);
    page.say(Ink::Strong, message);
    page.height += LINE;
    page
}

/// Writes the pages as one document, one below the other, which `command` of kdns
/// drew; `more` were left out.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(command: &str, pages: &[Page], more: usize, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<&str> = pages.iter().map(|it| it.name.as_str()).collect();
    let about: Vec<&str> = pages
        .iter()
        .flat_map(|it| &it.about)
        .map(String::as_str)
        .collect();
    let mut body = Group::new();
    let mut height = 0;
    for page in pages {
        let place = format!("translate(0 {height})");
        body = body.add(Group::new().set("transform", place).add(page.body.clone()));
        height += page.height;
    }
    if more > 0 {
        let text = counted(more, "scenario", "scenarios");
        let text = format!("and {text} more, which are not drawn");
        body = body.add(prose(MARGIN, height + LINE, Ink::Soft, &text));
        height += 2 * LINE;
    }
    let foot =
        format!("Drawn by kdns {command}. Time runs from left to right; widths are not to scale.");
    let foot = prose(MARGIN, height + LINE, Ink::Soft, &foot).set("font-size", 10);
    height += 2 * LINE;
    let heading = format!("Queries for {}", names.join(", "));
    let described: Description =
        Description::new().add(svg::node::Text::new(paper::safe(&about.join(" "))));
    let document = Document::new()
        .set("width", WIDTH)
        .set("height", height)
        .set("viewBox", (0, 0, WIDTH, height))
        .set("role", "img")
        .add(title(&heading))
        .add(described)
        .add(style())
        .add(paper(height))
        .add(body)
        .add(foot);
    writeln!(out, "{document}")
}

impl Page {
    fn new(name: &str) -> Self {
        let mut body = Group::new();
        let mut height = MARGIN + 2;
        // No name has more than 255 bytes; what was typed can have.
        let lines = paper::lines(name, HEADING_ROOM, &['.'], 5);
        let is_long = lines.iter().any(|it| paper::width(it) > LARGE_ROOM);
        let size = if is_long { 14 } else { 18 };
        for text in lines {
            let line = prose(MARGIN, height + 14, Ink::Strong, &text);
            body = body.add(line.set("font-size", size).set("font-weight", "bold"));
            height += HEADING_LINE;
        }
        Self {
            name: name.to_owned(),
            about: Vec::new(),
            body,
            height,
        }
    }

    fn say(&mut self, ink: Ink, sentence: &str) {
        self.about.push(sentence.to_owned());
        for text in wrapped(sentence) {
            self.height += LINE;
            let text = prose(MARGIN, self.height, ink, &text);
            self.body = std::mem::take(&mut self.body).add(text);
        }
    }

    /// What was read, and where loopback servers lead.
    fn context(&mut self, context: &Context) {
        for sentence in &context.about {
            self.say(Ink::Soft, sentence);
        }
        for lead in &context.leads {
            self.say(
                Ink::Wait,
                &format!("{}: {}", lead.place, loopback::lead(&lead.lead)),
            );
        }
    }

    fn panel(&mut self, panel: &Panel<'_>) {
        self.about.push(format!("{}: {}.", panel.who, panel.what));
        self.about.extend(panel.remarks.iter().cloned());
        let (drawn, end) = panel.draw(self.height + 18);
        self.body = std::mem::take(&mut self.body).add(drawn);
        self.height = end;
    }
}
