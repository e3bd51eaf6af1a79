//! `kdns lint`: read what is given, run the rules, write.

mod area;
mod args;
mod baseline;
mod fix;
mod formats;
mod input;
mod inputs;
mod list;
mod wanted;

use self::inputs::{Collected, Inputs};
use self::wanted::Wanted;
use crate::cli::streams::{Status, Streams};
use crate::finding::{Finding, Severity};
use crate::host::root::Root;
use crate::lint::settings::Settings;
use crate::lint::{self, Findings, Given, Unread};
use crate::node::Node;
use crate::node::kernel::Kernel;
use crate::render::findings::Notice;
use crate::render::lint::settings;

pub(super) use self::args::LintArgs;

/// Reads, lints, writes.
pub(super) fn run(args: &LintArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let wanted = match Wanted::from_args(&args.wanted) {
        Ok(wanted) => wanted,
        Err(error) => return formats::fail(&error, args, streams),
    };
    if args.show_settings {
        settings::write(&wanted.shown(), streams.out)?;
        return Ok(Status::Clean);
    }
    let mut inputs = match inputs::collect(args, &wanted, streams) {
        Ok(inputs) => inputs,
        Err(error) => return formats::fail(&error, args, streams),
    };
    let lint = |inputs: &Inputs| wanted.without_ignored(lint::run(&inputs.files, &inputs.given));
    let mut outcome = lint(&inputs);
    let mut changed = Vec::new();
    if args.fix || args.diff {
        changed = fix::rounds(&mut inputs, &mut outcome, args.unsafe_fixes, &lint);
    }
    if args.diff {
        let notices = notices(&inputs, &outcome, args);
        fix::show(&changed, streams.out)?;
        formats::tell(&notices, streams);
        let has_changes = !changed.is_empty();
        return Ok(status(&outcome, &notices, has_changes, args, &wanted));
    }
    let left = match fix::write(&mut changed, args.outputs.others) {
        Ok(left) => left,
        Err(error) => return formats::fail(&error, args, streams),
    };
    if !changed.is_empty() {
        let notice = Notice::new(Severity::Info, &fix::summary(&changed));
        formats::tell(&[notice], streams);
    }
    if !left.is_empty() {
        fix::restore(&mut inputs, &left);
        outcome = lint(&inputs);
    }
    if let Some(path) = &args.write_baseline {
        let notices = notices(&inputs, &outcome, args);
        return baseline::write(path, &outcome, notices, args, streams);
    }
    let mut asides: Vec<String> = wanted.off().into_iter().collect();
    asides.extend(inputs.passed_over());
    if let Some(path) = &args.baseline {
        match baseline::take_known(path, &mut outcome.findings) {
            Ok(known) => asides.extend(known),
            Err(error) => return formats::fail(&error, args, streams),
        }
    }
    let mut notices = notices(&inputs, &outcome, args);
    let left = left.iter().map(|(_, reason)| reason);
    notices.extend(left.map(|it| Notice::new(Severity::Error, it)));
    let status = status(&outcome, &notices, !changed.is_empty(), args, &wanted);
    let said = (wanted.fail_on, asides);
    formats::write(&outcome, notices, said, &inputs, args, streams)?;
    Ok(status)
}

/// What the rules find in the files of a node, and which of its files could not be read.
pub(super) fn findings_of_node(root: &Root, node: &Node) -> Findings {
    let mut inputs = Collected::default();
    inputs.node(root, node);
    let given = Given {
        rules: Settings::default().selection(&[], &[]).rules(),
        node: Some(node.clone()),
        ..Given::default()
    };
    let (files, unread) = inputs.files();
    let mut found = lint::run(&files, &given);
    found.unread.extend(unread);
    found
}

/// What there is to say about the run. An error makes it undecided.
fn notices(inputs: &Inputs, outcome: &Findings, args: &LintArgs) -> Vec<Notice> {
    let unread = inputs.unread.iter().chain(&outcome.unread);
    let notice = |it: &Unread| Notice {
        code: it.code(),
        ..Notice::new(Severity::Error, &it.to_string())
    };
    let mut notices: Vec<Notice> = unread.map(notice).collect();
    notices.extend(outcome.unrecognised.iter().map(|path| {
        let named = match path.as_str() {
            "<stdin>" => ": --stdin-filename resolv.conf (or Corefile, …) says what it is",
            _ => "; it is known by its name or its first lines",
        };
        let message = format!("{path} holds nothing that kdns lint looks at{named}");
        Notice::new(Severity::Warning, &message)
    }));
    let is_kernel = |node: &Node| node.kernel != Kernel::default();
    let is_empty = outcome.files == 0
        && outcome.findings.is_empty()
        && !inputs.given.node.as_ref().is_some_and(is_kernel);
    let is_all_read = outcome.unread.is_empty() && inputs.unread.is_empty();
    let may_be_empty = args.allow_empty || args.files_from.is_some();
    if is_empty && !may_be_empty && is_all_read {
        let message = "nothing to lint was found; --allow-empty makes that a success";
        notices.push(Notice::new(Severity::Error, message));
    }
    notices
}

/// What could not be read makes it undecided, whatever else was found.
fn status(
    outcome: &Findings,
    notices: &[Notice],
    is_changed: bool,
    args: &LintArgs,
    wanted: &Wanted,
) -> Status {
    let fails = |finding: &Finding| finding.severity >= wanted.fail_on;
    if notices.iter().any(|it| it.severity == Severity::Error) {
        return Status::Undecided;
    }
    let is_found = if args.diff {
        is_changed
    } else {
        outcome.findings.iter().any(fails)
    };
    if is_found && !args.exit_zero {
        Status::Found
    } else {
        Status::Clean
    }
}
