//! `kdns diff A B`: two nodes, or one at two times.

use std::path::{Path, PathBuf};

use super::lint;
use super::node::NodeArgs;
use super::output::{Outputs, TextOrJson};
use super::path;
use crate::check_loop;
use crate::check_loop::facts::Missing;
use crate::cli::streams::{Status, Streams};
use crate::diff::{self, Side};
use crate::host;
use crate::host::node::{self, Parts, StandIns};
use crate::render::diff as text;

#[derive(clap::Args, Debug)]
pub(super) struct DiffArgs {
    /// A snapshot of a node (kdns doctor --snapshot), or a directory with its files
    #[arg(value_name = "A")]
    first: PathBuf,
    /// The other one
    #[arg(value_name = "B")]
    second: PathBuf,
    #[command(flatten)]
    outputs: Outputs<TextOrJson>,
}

/// Reads both nodes, decides, writes.
pub(super) fn run(args: &DiffArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let first = read_side(&args.first)?;
    let second = read_side(&args.second)?;
    let differences = diff::differences(&first, &second);
    let names = [&args.first, &args.second].map(host::shown);
    let names = names.each_ref().map(String::as_str);
    let verdicts = [&first, &second].map(|it| it.loops.verdict.word());
    args.outputs
        .write(false, streams, |format, style, out| match format {
            TextOrJson::Text => text::write(names, verdicts, &differences, style, out),
            TextOrJson::Json => text::json::write(names, &differences, out),
        })?;
    if is_empty(&first) != is_empty(&second) {
        let [one, other] = names;
        let name = if is_empty(&first) { one } else { other };
        streams.tell(format_args!("{name} holds nothing of a node"));
    }
    let sides = [(&first, names[0]), (&second, names[1])];
    let unread = sides.map(|(side, name)| Some((name, unread(side)?)));
    for (name, reason) in unread.iter().flatten() {
        streams.tell(format_args!("not all of {name} is known: {reason}"));
    }
    Ok(match differences.as_slice() {
        [] if is_empty(&first) && is_empty(&second) => {
            streams.tell("neither of the two holds anything of a node");
            Status::Undecided
        }
        [] if unread.iter().any(Option::is_some) => Status::Undecided,
        [] => Status::Clean,
        _ => Status::Found,
    })
}

/// A node with what is known of it.
fn read_side(path: &Path) -> anyhow::Result<Side> {
    let args = NodeArgs::below(path);
    let root = args.root()?;
    let mut node = node::read_node(&root, &StandIns::default(), Parts::ALL)?;
    node.kernel = node::kernel::read_kernel(&root);
    path::see_rules(&args, Some(&root), &mut node);
    let loops = check_loop::judge(&node);
    let findings = lint::findings_of_node(&root, &node);
    Ok(Side {
        node,
        loops,
        findings,
    })
}

/// The first thing that could not be read.
fn unread(side: &Side) -> Option<String> {
    let of_settings = || side.findings.unread.first().map(ToString::to_string);
    side.node.skipped.first().cloned().or_else(of_settings)
}

fn is_empty(side: &Side) -> bool {
    side.loops.missing.contains(&Missing::Node)
}
