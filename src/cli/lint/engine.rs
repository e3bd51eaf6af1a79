//! Reads, runs the rules on all cores, and puts the findings in order.
//!
//! Files are read twice if they are many: first for what others must know of
//! them, then for the rules. Only those that others can ask about are parsed
//! the first time. Between the two are kept: the path of each file, and of
//! those that set something of a kubelet, hold a Corefile, a Service or a pod of
//! the cluster's DNS, the words that count with their places (about 1.5 KiB for a
//! kubelet), and the bytes of units, variables and options, which are put together;
//! other bytes and documents up to a sum that does not grow. Findings are
//! kept until all are there, because they are shown in the order of their places.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use super::input::Input;
use super::look::{self, Kept, Look, look};
use crate::finding::Finding;
use crate::lint::context::Context;
use crate::lint::document::FileId;
use crate::lint::report::{Draft, Spot};
use crate::lint::rules::reading;
use crate::lint::settle::{self, Settled};
use crate::lint::workspace::Workspace;
use crate::lint::{Rule, check, imports, reading as read};
use crate::text::Source;

/// What a run gives.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The findings, in the order of their places.
    pub(super) findings: Vec<Finding>,
    /// What comments suppress, with the reasons.
    pub(super) suppressed: Vec<(Finding, String)>,
    /// How many files hold something that rules look at.
    pub(super) files: usize,
    /// Files that could not be read, and why.
    pub(super) unread: Vec<String>,
    /// Files that were named and are none of ours.
    pub(super) unrecognised: Vec<String>,
}

/// Lints `inputs`, which are sorted by their paths. `workspace` has what is
/// known beside the files.
pub(super) fn run(inputs: &[Input], mut workspace: Workspace, rules: &[&'static Rule]) -> Outcome {
    let kept = Kept::default();
    let mut looks = parallel(inputs, |index, input| look(number(index), input, &kept));
    let is_asked = workspace.node_file.is_some() || workspace.node.is_some();
    let names_others = |it: &Look| it.file.facts.as_deref().is_some_and(look::names_others);
    if is_asked || looks.iter().any(names_others) {
        let woken = parallel(&looks, |index, look| {
            look::woken(number(index), inputs.get(index)?, look)
        });
        for (look, facts) in looks.iter_mut().zip(woken) {
            look.file.facts = facts.or(look.file.facts.take());
        }
    }
    let files = looks.iter_mut().map(|it| std::mem::take(&mut it.file));
    workspace.files = files.collect();
    let context = Context::new(&workspace);
    let library = |file: FileId| {
        let index = file.0 as usize;
        let kept = looks.get(index).and_then(|look| look.kept.clone());
        kept.or_else(|| Some(Arc::new(inputs.get(index)?.read().ok()?.source)))
    };
    let found = parallel(&looks, |index, look| {
        let source = (!look.is_done).then(|| library(number(index))).flatten()?;
        Some(drafts(
            number(index),
            look,
            &source,
            &context,
            rules,
            &library,
        ))
    });
    let (in_files, parted) = gathered(found);
    let mut by_file: BTreeMap<FileId, Vec<Draft>> = BTreeMap::new();
    for draft in in_files.into_iter().chain(check::across(&context, rules)) {
        by_file
            .entry(home(&draft, &workspace))
            .or_default()
            .push(draft);
    }
    // An unused suppression is found where nothing else is.
    for (index, _) in looks
        .iter()
        .enumerate()
        .filter(|(_, look)| look.has_comments)
    {
        by_file.entry(number(index)).or_default();
    }
    let group = |(file, drafts)| (file, Mutex::new(drafts));
    let groups: Vec<(FileId, Mutex<Vec<Draft>>)> = by_file.into_iter().map(group).collect();
    let settled = parallel(&groups, |_, (file, drafts)| {
        let source = library(*file).unwrap_or_default();
        let is_whole = !parted.contains(file);
        // Each is taken by the one thread that settles the file.
        let drafts = std::mem::take(&mut *drafts.lock().unwrap_or_else(PoisonError::into_inner));
        settle::file(
            &source, *file, drafts, &workspace, rules, is_whole, &library,
        )
    });
    outcome(inputs, &looks, settled)
}

/// The drafts of all files, and the files that could not be parsed as a whole.
fn gathered(found: Vec<Option<Drafts>>) -> (Vec<Draft>, BTreeSet<FileId>) {
    let mut parted = BTreeSet::new();
    let mut drafts = Vec::new();
    for (index, found) in found.into_iter().enumerate() {
        let Some(found) = found else { continue };
        if found.is_parted {
            parted.insert(number(index));
        }
        drafts.extend(found.drafts);
    }
    (drafts, parted)
}

fn outcome(inputs: &[Input], looks: &[Look], settled: Vec<Settled>) -> Outcome {
    let mut outcome = Outcome {
        files: looks.iter().filter(|it| it.form.is_some()).count(),
        ..Outcome::default()
    };
    for settled in settled {
        outcome.findings.extend(settled.findings);
        outcome.suppressed.extend(settled.suppressed);
    }
    outcome
        .findings
        .sort_by(|one, other| settle::order(one).cmp(&settle::order(other)));
    outcome
        .suppressed
        .sort_by(|one, other| settle::order(&one.0).cmp(&settle::order(&other.0)));
    for (input, look) in inputs.iter().zip(looks) {
        outcome.unread.extend(look.unread.clone());
        if input.is_named && look.form.is_none() && look.unread.is_none() {
            outcome.unrecognised.push(input.path.to_string());
        }
    }
    outcome
}

/// The file that a finding belongs to; those of a place that is in no file
/// come first.
fn home(draft: &Draft, workspace: &Workspace) -> FileId {
    match &draft.primary.spot {
        Spot::At(at) => at.file,
        Spot::Place(place) => workspace.file_at(&place.file).unwrap_or(FileId(u32::MAX)),
    }
}

fn number(index: usize) -> FileId {
    FileId(u32::try_from(index).unwrap_or(u32::MAX))
}

/// What the rules find in one file.
struct Drafts {
    drafts: Vec<Draft>,
    /// Whether something of it could not be parsed.
    is_parted: bool,
}

fn drafts(
    file: FileId,
    look: &Look,
    source: &Arc<Source>,
    context: &Context<'_>,
    rules: &[&'static Rule],
    library: settle::Library<'_>,
) -> Drafts {
    let has_unparseable = rules.iter().any(|it| it.code == reading::UNPARSEABLE.code);
    let again = || read::documents(file, source, look.form);
    let mut found = match &look.found {
        Some(found) => Cow::Borrowed(found.as_ref()),
        None => Cow::Owned(again()),
    };
    if imports::are_open(&found) {
        imports::put_in(found.to_mut(), context, library);
    }
    let mut drafts = check::file(&found, context, rules);
    if has_unparseable {
        drafts.extend(
            found
                .broken
                .iter()
                .map(|it| settle::broken(it, &source.bytes)),
        );
    }
    Drafts {
        drafts,
        is_parted: !found.broken.is_empty(),
    }
}

/// So many files are taken at a time by a thread.
const CHUNK: usize = 16;

/// Calls `call` for every item, on all cores; the results are in the order of
/// the items.
fn parallel<T: Sync, R: Send>(items: &[T], call: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(items.len().div_ceil(CHUNK));
    let all = || {
        items
            .iter()
            .enumerate()
            .map(|(index, item)| call(index, item))
    };
    if threads < 2 {
        return all().collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            let Some(chunk) = items.get(start..) else {
                return done;
            };
            if chunk.is_empty() {
                return done;
            }
            let chunk = chunk.iter().take(CHUNK).enumerate();
            let results = chunk.map(|(index, item)| call(start + index, item));
            done.push((start, results.collect::<Vec<R>>()));
        }
    };
    let mut done = std::thread::scope(|scope| {
        // Where the system gives no more threads, those that are there do it.
        let more = (1..threads).map_while(|_| Builder::new().spawn_scoped(scope, work).ok());
        let more: Vec<_> = more.collect();
        let own = work();
        let others = more.into_iter().map(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let done = std::iter::once(own).chain(others);
        done.flatten().collect::<Vec<_>>()
    });
    done.sort_unstable_by_key(|(start, _)| *start);
    let mut all = Vec::with_capacity(items.len());
    for (_, results) in done {
        all.extend(results);
    }
    all
}
