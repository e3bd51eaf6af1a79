//! A message.

use super::args::{Format, WhyArgs};
use super::inside::{self, Inside};
use crate::cli::path;
use crate::cli::streams::{Status, Streams};
use crate::cli::threshold::Level;
use crate::host::node::{self, Parts};
use crate::node::Node;
use crate::order::Order as _;
use crate::render::why::{self as text, Answer, Judgement};
use crate::why::judged::{Facts, Judged, State};
use crate::why::{Catalogue, Cause, Likely, Recognised, Unknown, recognise};

/// Whether a text says more as a message than as a log: a file stands in it, or a known
/// message.
pub(super) fn says_more(text: &str) -> bool {
    !Inside::found_in(text).is_empty() || recognise(Catalogue::built_in(), text, None).is_ok()
}

/// Says what a message says; on a node, what of it is the case.
pub(super) fn run(
    message: &str,
    args: &WhyArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let catalogue = Catalogue::built_in();
    let node = node_of(args, streams)?;
    let inside = Inside::found_in(message);
    let status = match recognise(catalogue, &inside.message, node.as_ref()) {
        Ok(mut recognised) => {
            if node.is_none() {
                add_causes(&mut recognised, catalogue, &inside);
            }
            answer(recognised, node.as_ref(), &inside, args, streams)?
        }
        Err(unknown) if inside.is_empty() => return say_unknown(&unknown, args, streams),
        Err(unknown) => say_inside(&unknown, &inside, args, streams)?,
    };
    if inside.has_rules && args.outputs.shows(Format::Text) {
        writeln!(streams.out, "\nIts rules, as kdns path reads them:")?;
        return Ok(status.max(inside::walk(message, streams)?));
    }
    Ok(status)
}

/// Puts causes that files in the text show among those of the message.
fn add_causes<'c>(recognised: &mut Recognised<'c>, catalogue: &'c Catalogue, inside: &Inside) {
    if !recognised.message.is_dns() {
        return;
    }
    let is_shown = |cause: &&Cause| {
        let is_new = !recognised.causes.iter().any(|it| it.1.code == cause.code);
        is_new && !inside.judge(cause).places.is_empty()
    };
    let shown: Vec<&Cause> = catalogue.causes.iter().filter(is_shown).collect();
    let shown = shown.into_iter().map(|it| (Likely::High, it));
    recognised.causes.extend(shown);
}

/// Lists the messages that are known.
pub(super) fn list(args: &WhyArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let catalogue = Catalogue::built_in();
    args.outputs
        .write(false, streams, |format, _, out| match format {
            Format::Text => text::write_list(catalogue, out),
            Format::Json => text::json::write_list(catalogue, out),
            Format::Svg => Ok(()),
        })?;
    Ok(Status::Clean)
}

fn answer(
    recognised: Recognised<'_>,
    node: Option<&Node>,
    inside: &Inside,
    args: &WhyArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let facts = node
        .filter(|_| recognised.message.is_dns())
        .map(Facts::from_node);
    let judged = |cause| {
        let asked = recognised.asked.as_ref();
        match &facts {
            Some(facts) => facts.judge(cause, asked),
            None if node.is_none() => inside.judge(cause),
            None => Judged::default(),
        }
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
    causes.order_by_key(|it| (it.judged.state, it.judged.places.is_empty()));
    let has_cause = causes.iter().any(|it| it.judged.state != State::False);
    let answer = Answer {
        recognised,
        causes,
        has_node: node.is_some(),
    };
    args.outputs
        .write(args.verbose, streams, |format, style, out| match format {
            Format::Text => {
                text::write(&answer, style, out)?;
                if !inside.is_empty() {
                    writeln!(out)?;
                }
                inside.write(style, out)
            }
            Format::Json => text::json::write(&answer, out),
            Format::Svg => Ok(()),
        })?;
    let worst = has_cause.then_some(Level::Error).max(inside.worst());
    Ok(args.threshold.status(worst))
}

/// Says what files in a text without a known message show. What else stands there is not
/// known, and so that nothing is wrong is not, either.
fn say_inside(
    unknown: &Unknown<'_>,
    inside: &Inside,
    args: &WhyArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let is_open = inside.says_more();
    args.outputs
        .write(args.verbose, streams, |format, style, out| match format {
            Format::Text => {
                inside.write(style, out)?;
                if is_open {
                    text::write_rest_unknown(out)?;
                }
                Ok(())
            }
            Format::Json => text::json::write_unknown(unknown, out),
            Format::Svg => Ok(()),
        })?;
    let status = args.threshold.status(inside.worst());
    let is_undecided = is_open && status == Status::Clean;
    Ok(if is_undecided {
        Status::Undecided
    } else {
        status
    })
}

fn say_unknown(
    unknown: &Unknown<'_>,
    args: &WhyArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    args.outputs
        .write(false, streams, |format, _, out| match format {
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
    let root = args.node.root()?;
    let mut node = node::read_node(&root, &stand_ins, Parts::ALL)?;
    path::see_rules(&args.node, Some(&root), &mut node);
    let is_node = args.node.is_named() || node.kubelet.is_some() || stand_ins.corefile.is_some();
    Ok(is_node.then_some(node))
}
