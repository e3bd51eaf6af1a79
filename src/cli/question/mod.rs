//! The question that the arguments of `kdns explain NAME` ask: which files,
//! which environment, which pod.

mod args;
mod name;
mod pod;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::bail;
use hickory_proto::rr::RecordType;

pub(super) use self::args::{QuestionArgs, parse_domain};
use super::files::{VARIABLES, cut, use_resolv_conf, use_situation};
use super::node::{node_below, read_named};
use super::target;
use crate::cli::streams::Streams;
use crate::explain::Context;
use crate::host;
use crate::host::situation;
use crate::loopback::Evidence;
use crate::netns::{EnterError, Namespace};
use crate::program;
use crate::render;
use crate::scenario::{Family, Lookup, Scenario, default_hosts};
use crate::text::is_binary;
use crate::world::Rule;

/// What is asked, and by whom.
#[derive(Debug)]
pub(super) struct Question {
    /// The question.
    pub(super) scenario: Scenario,
    /// What is known about its files.
    pub(super) context: Context,
    /// The target's own resolver, if there is a target and it can be told.
    pub(super) resolver: Option<&'static str>,
    /// The resolvers of the target by their versions, whichever it asks.
    pub(super) versions: Vec<&'static str>,
    /// The target's network namespace, if there is a target; an error says why
    /// it cannot be entered.
    pub(super) namespace: Option<Result<Namespace, EnterError>>,
}

/// Reads everything that decides what is asked for `name`.
pub(super) fn ask(
    name: &str,
    types: &[RecordType],
    answers: &[Rule],
    args: &QuestionArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Question> {
    name::check(name)?;
    let mut scenario = Scenario::new(name, name);
    scenario.lookup = lookup(types)?;
    scenario.answers = answers.to_vec();
    with_files(scenario, args.target.as_deref(), args, streams)
}

/// Reads everything that decides what is asked, whatever the name; `target` is
/// the target if the arguments name none.
pub(super) fn who(
    target: Option<&str>,
    args: &QuestionArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Question> {
    let target = target.or(args.target.as_deref());
    with_files(Scenario::new("", ""), target, args, streams)
}

fn with_files(
    mut scenario: Scenario,
    target: Option<&str>,
    args: &QuestionArgs,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Question> {
    let (mut program, mut namespace) = (None, None);
    let mut context = if let Some(word) = target {
        let (context, aim) = target::use_files(word, args.root.as_deref(), &mut scenario)?;
        program = Some(aim.program);
        namespace = Some(aim.namespace);
        context
    } else if args.namespace.is_some() || args.pod.is_some() {
        pod::use_pod_file(args, &mut scenario, streams)?
    } else if let Some(path) = &args.file {
        read_file(path, &mut scenario, streams)?
    } else {
        read_machine(args.root.as_deref(), &mut scenario)?
    };
    scenario.env.extend(args.env.iter().cloned());
    if let Some(hostname) = &args.hostname {
        // A hosts file of our own making has the machine's name in it.
        if scenario.hosts == Some(default_hosts(&scenario.hostname)) {
            scenario.hosts = Some(default_hosts(hostname));
        }
        scenario.hostname.clone_from(hostname);
    }
    use_aliases(target.is_some(), args, &mut scenario, &mut context);
    let program = program.map(Option::unwrap_or_default);
    let choice = program.as_ref().map(|it| program::choose(it, &scenario));
    let versions = program.as_ref().map(program::versions);
    context
        .about
        .extend(choice.as_ref().map(render::program::choice));
    Ok(Question {
        versions: versions.unwrap_or_default(),
        resolver: choice.and_then(|it| it.resolver),
        namespace,
        scenario,
        context,
    })
}

/// Reads the file of HOSTALIASES. A target's own is read already, and its path
/// means another file here.
fn use_aliases(
    has_target: bool,
    args: &QuestionArgs,
    scenario: &mut Scenario,
    context: &mut Context,
) {
    let is_given = args.env.iter().any(|(name, _)| name == "HOSTALIASES");
    let path = scenario.env.get("HOSTALIASES").cloned();
    let path = path.filter(|path| !path.is_empty() && (!has_target || is_given));
    let Some(path) = path else { return };
    match host::read_path(Path::new(&path)) {
        Ok(file) => {
            context.about.extend(cut(&file));
            scenario.files.insert(path, file.source.bytes);
        }
        // It gives no aliases, to glibc too.
        Err(error) => context.about.push(format!("HOSTALIASES: {error}")),
    }
}

/// Only the file; all else is that of a pod.
fn read_file(
    path: &Path,
    scenario: &mut Scenario,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Context> {
    let read = read_named(path, streams)?;
    if is_binary(&read.source.bytes) {
        bail!(
            "{} is no resolv.conf: it is a binary file",
            read.source.name
        );
    }
    let mut context = Context::default();
    if is_another_file(&read.source.bytes) {
        let name = &read.source.name;
        context.about.push(format!(
            "{name} has no line of a resolv.conf, so defaults count"
        ));
    }
    use_resolv_conf(read, &Evidence::default(), scenario, &mut context);
    Ok(context)
}

/// Whether lines are in it, and none that a resolver reads.
fn is_another_file(bytes: &[u8]) -> bool {
    const KNOWN: [&[u8]; 5] = [b"nameserver", b"search", b"domain", b"options", b"sortlist"];
    let lines = bytes.split(|it| *it == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.filter(|it| !matches!(it.first(), None | Some(b'#' | b';')));
    let mut lines = lines.peekable();
    lines.peek().is_some() && !lines.any(|line| KNOWN.iter().any(|it| line.starts_with(it)))
}

fn read_machine(root: Option<&Path>, scenario: &mut Scenario) -> anyhow::Result<Context> {
    let root = node_below(root)?;
    let situation = situation::read_situation(&root)?;
    let mut context = Context {
        about: situation.skipped.iter().map(ToString::to_string).collect(),
        leads: Vec::new(),
    };
    "localhost".clone_into(&mut scenario.hostname);
    let missing = "there is no /etc/resolv.conf";
    use_situation(&situation, missing, scenario, &mut context);
    if root.is_live() {
        scenario.env = variables();
    }
    Ok(context)
}

/// Variables of this very program, which others on the machine share.
fn variables() -> BTreeMap<String, String> {
    let set = |name: &&str| Some(((*name).to_owned(), std::env::var(name).ok()?));
    VARIABLES.iter().filter_map(set).collect()
}

/// What of A, AAAA or another type is looked up.
fn lookup(types: &[RecordType]) -> anyhow::Result<Lookup> {
    let has = |record_type| types.contains(&record_type);
    Ok(match types {
        [] => Lookup::Addresses(Family::Both),
        _ if types.iter().all(|it| *it == RecordType::A) => Lookup::Addresses(Family::Inet),
        _ if types.iter().all(|it| *it == RecordType::AAAA) => Lookup::Addresses(Family::Inet6),
        [one] => Lookup::Records(*one),
        [_, _] if has(RecordType::A) && has(RecordType::AAAA) => Lookup::Addresses(Family::Both),
        _ => bail!("--type takes A and AAAA together, or one other type at a time"),
    })
}
