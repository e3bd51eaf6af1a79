//! What is written while watching goes on, and at its end.

use std::io;
use std::time::Instant;

use super::input::Ended;
use super::subject::Subject;
use crate::cli::output::{Outputs, Sink, write};
use crate::cli::streams::Streams;
use crate::doctor::Route;
use crate::name::Name;
use crate::node::kernel::ConntrackCounters;
use crate::render::watch::{self as text, Shown, Style, concise, json, picture};
use crate::scenario::Scenario;
use crate::watch::{End, Judged, Progress, Report};

/// How to write what was watched.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub(super) enum Format {
    /// For people: lookups that broke the plan as they happen, then the summary
    #[default]
    Text,
    /// The summary, one document
    Json,
    /// A line for each lookup, as it ends
    Jsonl,
    /// A picture of the lookups that broke the plan
    Svg,
    /// A line for each finding
    Concise,
}

/// So many lookups are drawn, or kept to be shown.
const MAX_KEPT: usize = 20;

/// Of a file so many lookups that broke the plan are listed, unless all are wanted.
const MAX_LISTED: u64 = 100;

/// The line at the bottom is written again so often.
const STATUS_EVERY: std::time::Duration = std::time::Duration::from_millis(500);

/// Where everything goes.
pub(super) struct Output<'o> {
    outputs: &'o Outputs<Format>,
    style: Style,
    /// Files of lines that are open.
    lines: Vec<Sink<'static>>,
    /// Whether lines for people go to standard output as they come, how many did, and how
    /// many more there would be.
    has_lines: bool,
    listed: u64,
    unlisted: u64,
    is_live: bool,
    is_verbose: bool,
    /// The name whose lookup is shown in place of the summary.
    show: Option<Name>,
    kept: Vec<Judged>,
    more: usize,
    scenario: Option<Scenario>,
    begun: Instant,
    status_at: Option<Instant>,
    has_status: bool,
}

/// What the arguments say about output.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) is_verbose: bool,
    pub(super) is_anonymous: bool,
    pub(super) show: Option<Name>,
}

impl<'o> Output<'o> {
    /// Opens files of lines.
    pub(super) fn begin(
        outputs: &'o Outputs<Format>,
        wanted: Wanted,
        subject: &Subject,
        streams: &Streams<'_>,
    ) -> anyhow::Result<Self> {
        let mut lines = Vec::new();
        let of_lines = outputs
            .wanted
            .iter()
            .filter(|it| it.format == Format::Jsonl);
        for path in of_lines.filter_map(|it| it.file.as_deref()) {
            lines.push(Sink::file(path, outputs.others)?);
        }
        let is_text = outputs.shows(Format::Text);
        Ok(Self {
            outputs,
            style: Style {
                colors: streams.colors,
                shown: if wanted.is_anonymous {
                    Shown::anonymous()
                } else {
                    Shown::default()
                },
            },
            lines,
            has_lines: is_text && wanted.show.is_none(),
            listed: 0,
            unlisted: 0,
            is_live: subject.is_live,
            is_verbose: wanted.is_verbose,
            show: wanted.show,
            kept: Vec::new(),
            more: 0,
            scenario: subject.scenario.clone(),
            begun: Instant::now(),
            status_at: None,
            has_status: is_text && subject.is_live && streams.terminal.is_some(),
        })
    }

    /// Whether every lookup is written, not only those that broke the plan.
    pub(super) fn wants_all(&self) -> bool {
        self.outputs.wants(Format::Jsonl) || self.has_lines && self.is_verbose
    }

    /// Takes lookups that have ended.
    pub(super) fn lookups(
        &mut self,
        judged: Vec<Judged>,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<()> {
        if judged.is_empty() {
            return Ok(());
        }
        let plain = Style {
            colors: false,
            ..self.style.clone()
        };
        let to_stdout = self.outputs.shows(Format::Jsonl);
        for one in judged {
            for sink in &mut self.lines {
                sink.write(|out| json::line(&one, &plain, out))?;
            }
            if to_stdout {
                json::line(&one, &plain, streams.out)?;
            }
            if self.has_lines && (self.is_verbose || !one.faults.is_empty()) {
                self.line(&one, streams)?;
            }
            self.keep(one);
        }
        if self.is_live {
            streams.out.flush()?;
        }
        Ok(())
    }

    /// Writes the line of a lookup; of a file that is over there are not thousands.
    fn line(&mut self, one: &Judged, streams: &mut Streams<'_>) -> anyhow::Result<()> {
        if !self.is_live && !self.is_verbose && self.listed == MAX_LISTED {
            self.unlisted += 1;
            return Ok(());
        }
        self.listed += 1;
        self.clear_status(streams);
        Ok(text::line(one, &self.style, streams.out)?)
    }

    /// Keeps a lookup to be drawn or shown: those that broke the plan before
    /// others.
    fn keep(&mut self, one: Judged) {
        let is_drawn = self.outputs.wants(Format::Svg);
        let is_named = |it: &Name| one.lookup.is_of(it);
        if !(is_drawn && !one.faults.is_empty() || self.show.as_ref().is_some_and(is_named)) {
            return;
        }
        if self.kept.len() < MAX_KEPT {
            self.kept.push(one);
            return;
        }
        self.more += 1;
        let healthy = self.kept.iter().position(|it| it.faults.is_empty());
        if let Some(at) = healthy.filter(|_| !one.faults.is_empty()) {
            self.kept.remove(at);
            self.kept.push(one);
        }
    }

    /// Writes the line at the bottom of a terminal.
    pub(super) fn status(&mut self, progress: &Progress, drops: u64, streams: &mut Streams<'_>) {
        let is_due = self.status_at.is_none_or(|it| it.elapsed() >= STATUS_EVERY);
        if self.has_status && is_due {
            self.status_at = Some(Instant::now());
            let line = text::status(progress, self.begun.elapsed().as_secs_f64(), drops);
            // A closed stderr leaves nobody to tell.
            let _ = write!(streams.err, "\r\u{1b}[K{line}");
        }
    }

    pub(super) fn clear_status(&self, streams: &mut Streams<'_>) {
        if self.has_status && self.status_at.is_some() {
            let _ = write!(streams.err, "\r\u{1b}[K");
        }
    }

    /// Writes the summary in every format.
    pub(super) fn end(
        mut self,
        report: &Report,
        services: &[Result<Route, String>],
        notes: &[String],
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<()> {
        self.clear_status(streams);
        if self.unlisted > 0 {
            text::unlisted(self.unlisted, streams.out)?;
        }
        if self.listed > 0 {
            writeln!(streams.out)?;
        }
        for sink in std::mem::take(&mut self.lines) {
            sink.finish()?;
        }
        for wanted in &self.outputs.wanted {
            if wanted.format == Format::Jsonl {
                continue;
            }
            let style = Style {
                colors: wanted.takes_colors(streams.colors),
                ..self.style.clone()
            };
            let file = wanted.file.as_deref();
            write(file, self.outputs.others, streams.out, |out| {
                self.one(wanted.format, (report, services), notes, &style, out)
            })?;
        }
        Ok(())
    }

    fn one(
        &self,
        format: Format,
        (report, services): (&Report, &[Result<Route, String>]),
        notes: &[String],
        style: &Style,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        match format {
            Format::Text => match &self.show {
                Some(name) => self.show(name, style, out),
                None => text::summary(report, services, notes, style, out),
            },
            Format::Json => json::summary(report, services, notes, style, out),
            Format::Svg => {
                picture::write(self.scenario.as_ref(), &self.kept, self.more, style, out)
            }
            Format::Concise => concise::write(report, style, out),
            Format::Jsonl => Ok(()),
        }
    }

    /// The lookup that was asked for: one that broke the plan, or the slowest.
    fn show(&self, name: &Name, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
        let took = |it: &&Judged| {
            let took = it.lookup.end().saturating_sub(it.lookup.start());
            (!it.faults.is_empty(), took)
        };
        let named = || self.kept.iter().filter(|it| it.lookup.is_of(name));
        let Some(one) = named().max_by_key(took) else {
            return writeln!(out, "No lookup of that name was seen.");
        };
        text::show(one, style, out)?;
        match named().count() + self.more {
            1 => Ok(()),
            all => writeln!(
                out,
                "The worst of {all} lookups of that name; -v without --show lists all."
            ),
        }
    }
}

/// What is known at the end, which was at this time, if a clock went along.
pub(super) fn end_of(ended: &Ended, last: Option<i64>) -> End {
    let risen = |(before, after): (ConntrackCounters, ConntrackCounters)| after.since(before);
    // Most translation happens on the node; the namespace of a pod mostly tracks
    // nothing, and that its counters did not rise says nothing about the node.
    let own = ended.own.map(risen).filter(|it| it.lost() > 0);
    let node = ended.node.map(risen);
    let is_elsewhere = node.is_none_or(|it| it.lost() == 0);
    End {
        time: last.max(ended.counters.last),
        counters: ended.counters,
        drops: ended.drops,
        conntrack: own.filter(|_| is_elsewhere).or(node),
    }
}
