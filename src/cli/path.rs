//! `kdns path`.

mod answer;
mod args;
mod client;
mod destination;
mod files;
mod live;
mod offline;
mod service;

use std::net::IpAddr;
use std::time::Duration;

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
    let routes = service::routes(vec![words], LIMIT, answer_to);
    routes.into_iter().next().unwrap_or(Err(String::new()))
}

/// Nobody waits longer for a remark: the rules of 20,000 Services take two seconds.
const LIMIT: Duration = Duration::from_secs(3);

/// Nor so long for a verdict: node-problem-detector wants its line within two.
const LIMIT_OF_VERDICT: Duration = Duration::from_secs(1);

/// Notes the addresses of the cluster's DNS from which rules are known to send packets on,
/// where that makes a difference and they can be read. What was asked of the rules for it.
pub(super) fn see_rules(args: &NodeArgs, root: Option<&Root>, node: &mut Node) -> Vec<Route> {
    let Some(words) = args.words_of_rules(root) else {
        return Vec::new();
    };
    let asked = check_loop::services_in_question(node);
    if asked.is_empty() {
        return Vec::new();
    }
    let question = |ip: &IpAddr| [vec![ip.to_string()], words.clone()].concat();
    let questions = asked.iter().map(question).collect();
    let routes = service::routes(questions, LIMIT_OF_VERDICT, answer_to);
    let routes: Vec<Route> = routes.into_iter().flatten().collect();
    node.sent_on = routes.iter().filter_map(Route::sent_on).collect();
    let stays: Vec<IpAddr> = routes.iter().filter_map(Route::stays).collect();
    let is_known = |ip: &IpAddr| node.sent_on.contains(ip) || stays.contains(ip);
    node.rules_unread = asked.into_iter().filter(|ip| !is_known(ip)).collect();
    routes
}

fn find(args: &PathArgs, streams: &mut Streams<'_>) -> anyhow::Result<Answer> {
    if args.reads_this_node() {
        live::answer(args, streams)
    } else {
        offline::answer(args, streams)
    }
}
