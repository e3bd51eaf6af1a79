//! `kdns path` as text for people.

pub mod concise;
mod conditions;
pub(in crate::render) mod findings;
pub mod json;
mod probe;
pub mod service;
pub mod svg;
pub(in crate::render) mod what;
pub(in crate::render) mod words;

use std::collections::HashMap;
use std::io::{self, Write};

use colored::{Color, Colorize as _};

use self::findings::Step as FixStep;
use crate::path::findings::Finding;
use crate::path::probe::ProbeSeen;
use crate::path::{Assumption, Outcome, Reply, Step, Tree};
use crate::render::sentence::Sentence;
use crate::render::style::painted;
use crate::render::{Style, paragraph};
use crate::rules::{Rules, Share};

/// What `kdns path` has found, to be written.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'s> {
    /// The rules.
    pub rules: &'s Rules,
    /// Where packets go.
    pub trees: &'s [Tree],
    /// What is wrong.
    pub findings: &'s [Finding],
    /// What could not be read: sentences without a full stop.
    pub skipped: &'s [String],
    /// What a probe has seen.
    pub probe: Option<&'s ProbeSeen>,
}

impl Shown<'_> {
    /// All that was not seen, each once.
    fn unseen(&self) -> Vec<Sentence> {
        let gaps = self.trees.iter().flat_map(|it| &it.gaps);
        words::unseen(self.rules.notes.iter(), gaps, self.skipped)
    }
}

/// Writes the answer for each packet: the verdict, the tree, what is wrong.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(shown: &Shown<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer { style, out };
    let groups = alike(shown.trees);
    for (index, group) in groups.iter().enumerate() {
        if index > 0 {
            writer.blank()?;
        }
        writer.tree(group)?;
    }
    for finding in shown.findings {
        writer.blank()?;
        writer.finding(finding)?;
    }
    if let Some(seen) = shown.probe {
        writer.blank()?;
        probe::write(seen, shown.findings, writer.out)?;
    }
    let unseen = shown.unseen();
    if !unseen.is_empty() {
        writer.blank()?;
        writeln!(writer.out, "Not seen:")?;
    }
    for sentence in unseen {
        paragraph::write(writer.out, "  ", "    ", &sentence.text)?;
    }
    Ok(())
}

/// Trees of one Service that differ in nothing but UDP and TCP, together.
fn alike(trees: &[Tree]) -> Vec<Vec<&Tree>> {
    let mut groups: Vec<Vec<&Tree>> = Vec::new();
    for tree in trees {
        let ends = |it: &Tree| -> Vec<(String, String)> {
            let end = |it: &Outcome| (it.share.to_string(), words::end(it));
            it.outcomes.iter().map(end).collect()
        };
        let is_alike = |it: &Vec<&Tree>| {
            it.first().is_some_and(|first| {
                first.verdict == tree.verdict
                    && first.packet.destination == tree.packet.destination
                    && first.packet.port == tree.packet.port
                    && ends(first) == ends(tree)
            })
        };
        match groups.iter_mut().find(|it| is_alike(it)) {
            Some(group) => group.push(tree),
            None => groups.push(vec![tree]),
        }
    }
    groups
}

/// More ways are told apart on demand: what `iptables -L` does not show of a rule doubles
/// them.
const MOST_APART: usize = 12;

/// Ways by where they end, each on its own if they are to be told apart.
fn ends(ways: &[Outcome], is_apart: bool) -> Vec<Vec<&Outcome>> {
    if is_apart {
        return ways.iter().map(|way| vec![way]).collect();
    }
    // There may be one for each of thousands of pods.
    let mut known: HashMap<(Share, String), Vec<usize>> = HashMap::new();
    let mut groups: Vec<Vec<&Outcome>> = Vec::new();
    for way in ways {
        let same = known.entry((way.share, words::end(way))).or_default();
        let is_alike = |group: &Vec<&Outcome>| {
            let last = group.first().and_then(|it| it.steps.last());
            last == way.steps.last()
        };
        match same
            .iter()
            .find(|&&it| groups.get(it).is_some_and(is_alike))
        {
            Some(&group) => groups
                .get_mut(group)
                .into_iter()
                .for_each(|it| it.push(way)),
            None => {
                same.push(groups.len());
                groups.push(vec![way]);
            }
        }
    }
    groups
}

struct Writer<'w> {
    style: Style,
    out: &'w mut dyn Write,
}

impl Writer<'_> {
    fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    fn tree(&mut self, group: &[&Tree]) -> io::Result<()> {
        let Some(tree) = group.first() else {
            return Ok(());
        };
        let verdict = if group.len() > 1 {
            words::verdict_of_both(tree)
        } else {
            words::verdict(tree)
        };
        let verdict = format!("{verdict}.");
        let lines = paragraph::lines(&verdict);
        for line in lines {
            let line = self.painted(&line, tree.fails());
            writeln!(self.out, "{line}")?;
        }
        self.blank()?;
        writeln!(self.out, "{} → {}", words::asker(tree), words::asked(tree))?;
        let widest = tree.outcomes.iter().map(|it| it.share.to_string().len());
        let widest = widest.max().unwrap_or_default();
        let is_apart = self.style.verbose || tree.outcomes.len() <= MOST_APART;
        let groups = ends(&tree.outcomes, is_apart);
        for (index, group) in groups.iter().enumerate() {
            self.outcome(group, index + 1 == groups.len(), widest)?;
        }
        Ok(())
    }

    fn painted(&self, text: &str, is_bad: bool) -> String {
        let paint = |it: &str| {
            if is_bad { it.red().bold() } else { it.bold() }
        };
        painted(self.style.colors, text, paint)
    }

    /// Ways that end alike, by what all of them assume.
    fn outcome(&mut self, group: &[&Outcome], is_last: bool, widest: usize) -> io::Result<()> {
        let Some((outcome, others)) = group.split_first() else {
            return Ok(());
        };
        let (branch, trunk) = if is_last {
            ("└─", "  ")
        } else {
            ("├─", "│ ")
        };
        let share = outcome.share.to_string();
        let end = words::end(outcome);
        let end = self.painted_end(&end, outcome);
        writeln!(self.out, "{branch} {share:>widest$} → {end}")?;
        let indent = format!("{trunk} {:widest$}   ", "");
        let is_shared = |it: &&Assumption| others.iter().all(|way| way.depends_on.contains(it));
        for assumption in outcome.depends_on.iter().filter(is_shared) {
            let text = format!("if {}", conditions::assumption(assumption).text);
            paragraph::write(self.out, &indent, &indent, &text)?;
        }
        if !others.is_empty() {
            let count = group.len();
            let text = format!("in {count} cases that differ in what was not seen (-v: each)");
            paragraph::write(self.out, &indent, &indent, &text)?;
        }
        let back = match &outcome.reply {
            Some(Reply::Dropped(steps) | Reply::Partly(_, steps)) => steps.as_slice(),
            _ => &[],
        };
        for step in outcome.steps.iter().chain(back) {
            if self.style.verbose || is_telling(step, outcome) {
                self.step(step, &indent)?;
            }
        }
        Ok(())
    }

    fn painted_end(&self, text: &str, outcome: &Outcome) -> String {
        let color = if outcome.arrives() {
            Color::Green
        } else {
            Color::Red
        };
        painted(self.style.colors, text, |it| it.color(color))
    }

    /// `nat KUBE-SEP-CEYPGFB7VCORONY3, rules:42, 105 packets` and the rule.
    fn step(&mut self, step: &Step, indent: &str) -> io::Result<()> {
        let mut head = step.stage.to_string();
        if !step.chain.is_empty() {
            head = format!("{head} {}", step.chain);
        }
        if step.place.line > 0 {
            head = format!("{head}, {}:{}", step.place.file, step.place.line);
        }
        if let Some(packets) = step.packets {
            let word = if packets == 1 { "packet" } else { "packets" };
            head = format!("{head}, {packets} {word}");
        }
        writeln!(self.out, "{indent}{head}")?;
        let inner = format!("{indent}  ");
        let room = self.style.columns.saturating_sub(inner.chars().count());
        writeln!(
            self.out,
            "{inner}{}",
            shortened(&what::what(&step.what), room.max(20))
        )
    }

    fn finding(&mut self, finding: &Finding) -> io::Result<()> {
        let said = findings::words(finding);
        let head = format!("{}: {}.", finding.severity.word(), said.what.text);
        for line in paragraph::lines(&head) {
            let is_bad = finding.severity != crate::finding::Severity::Info;
            let line = self.painted(&line, is_bad);
            writeln!(self.out, "{line}")?;
        }
        if !said.why.is_empty() {
            paragraph::write(self.out, "  why: ", "    ", &said.why)?;
        }
        for evidence in &finding.evidence {
            let text = format!("{}: {}", words::line_of(&evidence.place), evidence.words);
            let room = self.style.columns.saturating_sub(2);
            writeln!(self.out, "  {}", shortened(&text, room))?;
        }
        for step in &said.fix {
            match step {
                FixStep::Command(text) => writeln!(self.out, "  fix: {text}")?,
                FixStep::Advice(text) => paragraph::write(self.out, "  fix: ", "    ", text)?,
            }
        }
        Ok(())
    }
}

/// Whether a rule says where a packet goes: it translates, or ends it.
fn is_telling(step: &Step, outcome: &Outcome) -> bool {
    const WORDS: [&str; 12] = [
        "-j DNAT",
        " to:",
        "redir ports",
        "-j REDIRECT",
        "-j SNAT",
        "-j TPROXY",
        "dnat to",
        "redirect",
        "snat to",
        "tproxy",
        "-j NOTRACK",
        "-j CT --notrack",
    ];
    let translates = WORDS.iter().any(|it| step.rule().contains(it));
    let is_made = step.chain.is_empty();
    let is_end = !outcome.arrives() && is_last(step, outcome);
    translates || is_made || is_end
}

fn is_last(step: &Step, outcome: &Outcome) -> bool {
    let back = match &outcome.reply {
        Some(Reply::Dropped(steps) | Reply::Partly(_, steps)) => steps.last(),
        _ => None,
    };
    outcome.steps.last() == Some(step) || back == Some(step)
}

/// A long rule is cut: its end says what is done, so its middle goes.
fn shortened(text: &str, room: usize) -> String {
    let count = text.chars().count();
    if count <= room {
        return text.to_owned();
    }
    let end = room / 2;
    let start: String = text.chars().take(room - end - 1).collect();
    let rest: String = text.chars().skip(count - end).collect();
    format!("{start}…{rest}")
}
