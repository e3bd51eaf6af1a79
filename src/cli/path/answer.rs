//! What was found out, in every format, and how a run ends with it.

use super::args::{Format, PathArgs};
use crate::cli::streams::{Status, Streams};
use crate::cli::threshold::Level;
use crate::doctor::Route;
use crate::path::findings::Finding;
use crate::path::probe::ProbeSeen;
use crate::path::{self, Host, Tree, Verdict};
use crate::render::path as text;

/// What was found out.
#[derive(Debug)]
pub(in crate::cli) struct Answer {
    /// The node.
    pub(in crate::cli) host: Host,
    /// Where each packet goes.
    pub(in crate::cli) trees: Vec<Tree>,
    /// What is wrong.
    pub(in crate::cli) findings: Vec<Finding>,
    /// What is there and could not be read: sentences without a full stop.
    pub(in crate::cli) skipped: Vec<String>,
    /// What a probe has seen; `None`: none was wanted.
    pub(in crate::cli) probe: Option<ProbeSeen>,
}

impl Answer {
    /// The same for who asked this.
    pub(in crate::cli) fn into_route(self, question: Vec<String>) -> Route {
        Route {
            trees: self.trees,
            findings: self.findings,
            other_proxy: path::other_proxy(&self.host),
            notes: self.host.rules.notes,
            skipped: self.skipped,
            question,
        }
    }
}

/// Writes an answer in all its formats, and says how it ends.
pub(super) fn write(
    args: &PathArgs,
    answer: &Answer,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let shown = text::Shown {
        rules: &answer.host.rules,
        trees: &answer.trees,
        findings: &answer.findings,
        skipped: &answer.skipped,
        probe: answer.probe.as_ref(),
    };
    args.outputs
        .write(args.verbose, streams, |format, style, out| match format {
            Format::Text => text::write(&shown, style, out),
            Format::Json => text::json::write(&shown, out),
            Format::Concise => text::concise::write(&shown, out),
            Format::Svg => text::svg::write(&shown, out),
        })?;
    Ok(status(args, answer))
}

/// The worst of all packets and findings.
fn status(args: &PathArgs, answer: &Answer) -> Status {
    let levels = answer.findings.iter().map(|it| Level::from(it.severity));
    let mut worst = levels.max();
    if answer
        .probe
        .as_ref()
        .is_some_and(|it| !it.troubles.is_empty())
    {
        worst = worst.max(Some(Level::Warning));
    }
    let mut is_undecided = answer.trees.is_empty();
    for tree in &answer.trees {
        match tree.verdict {
            Verdict::Unknown | Verdict::OtherProxy => is_undecided = true,
            _ if tree.fails() => worst = Some(Level::Error),
            _ => {}
        }
    }
    let found = args.threshold.status(worst);
    if is_undecided && found == Status::Clean {
        return args.threshold.undecided();
    }
    found
}
