//! `kdns path`.

mod answer;
mod args;
mod client;
mod destination;
mod files;
mod live;
mod offline;
mod service;

use std::collections::BTreeMap;

use self::answer::Answer;
use crate::check_loop;
use crate::cli::files::typed;
use crate::cli::node::NodeArgs;
use crate::cli::streams::{Status, Streams};
use crate::doctor::Route;
use crate::host::root::Root;
use crate::node::Node;

pub(super) use args::PathArgs;
pub(super) use offline::NoDns;

/// Reads, walks, writes.
pub(super) fn run(args: &PathArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let answer = find(args, streams)?;
    answer::write(args, &answer, streams)
}

/// What is found out with these words behind `kdns path`.
///
/// # Errors
///
/// As `kdns path` has them.
pub(super) fn answer_to(words: &[String], streams: &mut Streams<'_>) -> anyhow::Result<Answer> {
    find(&typed(words)?, streams)
}

/// The same within a short time, for commands that meet a Service.
///
/// # Errors
///
/// Why it is not known.
pub(super) fn route(words: Vec<String>) -> Result<Route, String> {
    service::route(words, answer_to)
}

/// Notes to whom rules send on what is for the cluster's DNS, where that makes a
/// difference and they can be read.
pub(super) fn see_rules(args: &NodeArgs, root: Option<&Root>, node: &mut Node) {
    let Some(words) = args.words_of_rules(root) else {
        return;
    };
    let asked = check_loop::services_in_question(node);
    if asked.is_empty() {
        return;
    }
    let mut sent_on = BTreeMap::new();
    for to in asked {
        match route([vec![to.ip().to_string()], words.clone()].concat()) {
            Ok(route) if route.is_whole() => sent_on.insert(to.ip(), route.endpoints()),
            _ => return,
        };
    }
    node.kernel.sent_on = Some(sent_on);
}

fn find(args: &PathArgs, streams: &mut Streams<'_>) -> anyhow::Result<Answer> {
    if args.reads_this_node() {
        live::answer(args, streams)
    } else {
        offline::answer(args, streams)
    }
}
