//! A message.

use super::args::{Format, WhyArgs};
use crate::cli::streams::{Status, Streams};
use crate::cli::threshold::Level;
use crate::host::node::{self, Parts};
use crate::node::Node;
use crate::render::why::{self as text, Answer, Judgement};
use crate::why::judged::{Facts, Judged, State};
use crate::why::{Catalogue, Recognised, Unknown, recognise};

/// Says what a message says; on a node, what of it is the case.
pub(super) fn run(
    message: &str,
    args: &WhyArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let catalogue = Catalogue::read();
    let node = node_of(args, streams)?;
    match recognise(&catalogue, message, node.as_ref()) {
        Ok(recognised) => answer(recognised, node.as_ref(), args, streams),
        Err(unknown) => say_unknown(&unknown, args, streams),
    }
}

/// Lists the messages that are known.
pub(super) fn list(args: &WhyArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let catalogue = Catalogue::read();
    args.outputs.write(streams, |format, _, out| match format {
        Format::Text => text::write_list(&catalogue, out),
        Format::Json => text::json::write_list(&catalogue, out),
        Format::Svg => Ok(()),
    })?;
    Ok(Status::Clean)
}

fn answer(
    recognised: Recognised<'_>,
    node: Option<&Node>,
    args: &WhyArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let facts = node.filter(|_| recognised.message.is_dns()).map(Facts::of);
    let judged = |cause| {
        let asked = recognised.asked.as_ref();
        facts
            .as_ref()
            .map_or_else(Judged::default, |it| it.judge(cause, asked))
    };
    let mut causes: Vec<Judgement<'_>> = recognised
        .causes
        .iter()
        .map(|&(likely, cause)| Judgement {
            likely,
            cause,
            judged: judged(cause),
        })
        .collect();
    causes.sort_by_key(|it| it.judged.state);
    let has_cause = causes.iter().any(|it| it.judged.state != State::False);
    let answer = Answer {
        recognised,
        causes,
        has_node: node.is_some(),
    };
    args.outputs
        .write(streams, |format, colors, out| match format {
            Format::Text => text::write(&answer, args.verbose, colors, out),
            Format::Json => text::json::write(&answer, out),
            Format::Svg => Ok(()),
        })?;
    Ok(args.threshold.status(has_cause.then_some(Level::Error)))
}

fn say_unknown(
    unknown: &Unknown<'_>,
    args: &WhyArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    args.outputs.write(streams, |format, _, out| match format {
        Format::Text => text::write_unknown(unknown, out),
        Format::Json => text::json::write_unknown(unknown, out),
        Format::Svg => Ok(()),
    })?;
    Ok(args.threshold.undecided())
}

/// The node, if one was named, or this machine is one; without a node nothing
/// is claimed about one.
fn node_of(args: &WhyArgs, streams: &mut Streams<'_>) -> anyhow::Result<Option<Node>> {
    let stand_ins = args.node.stand_ins(streams)?;
    if args.node.is_files_only(&stand_ins) {
        return Ok(Some(node::of_files(&stand_ins)));
    }
    let node = node::read_node(&args.node.root()?, &stand_ins, Parts::ALL)?;
    let is_node = args.node.is_named() || node.kubelet.is_some() || stand_ins.corefile.is_some();
    Ok(is_node.then_some(node))
}
