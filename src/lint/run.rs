//! Lints files: runs the rules on all cores, and puts the findings in order.
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
use std::sync::{Arc, Mutex, PoisonError};

use crate::finding::Finding;
use crate::lint::context::Context;
use crate::lint::document::FileId;
use crate::lint::look::{self, KeptBytes, Look, Unread};
use crate::lint::report::{Draft, Spot};
use crate::lint::rules::reading::UNPARSEABLE;
use crate::lint::settle::{self, Settled};
use crate::lint::workspace::{Given, Workspace};
use crate::lint::{Rule, check, imports, parallel, reading as read};
use crate::order::Order as _;
use crate::text::Source;

/// A file to lint. Where its bytes are is its own matter: they are asked for up
/// to three times, from several threads, so that not all are kept.
pub trait Input: Sync {
    /// Its path as findings show it, safe to print; each file has another.
    fn path(&self) -> Arc<str>;

    /// Its bytes.
    ///
    /// # Errors
    ///
    /// A sentence that says why it cannot be read; it is in [`Findings::unread`].
    fn content(&self) -> Result<Content, String>;

    /// How it came to be linted.
    fn origin(&self) -> Origin {
        Origin::Named
    }

    /// Whether a piece of a file that is too long is `wanted`. Pieces are longer
    /// than any word, and overlap.
    fn any_piece(&self, _wanted: &dyn Fn(&[u8]) -> bool) -> bool {
        false
    }
}

/// The bytes of a file.
#[derive(Debug)]
pub struct Content {
    /// The bytes, with the file's path as their name.
    pub source: Arc<Source>,
    /// Whether there are more, and too many to judge the file.
    pub is_cut: bool,
}

/// How a file came to be linted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// It was found in a directory: its name must tell what it is.
    Found,
    /// Its place on a node tells what it is for.
    OfNode,
    /// The caller named it: it is said if nothing in it is looked at.
    Named,
}

/// A text that is there; its name is its path.
impl Input for Arc<Source> {
    fn path(&self) -> Arc<str> {
        self.name.as_str().into()
    }

    fn content(&self) -> Result<Content, String> {
        let source = Self::clone(self);
        let is_cut = false;
        Ok(Content { source, is_cut })
    }
}

/// What a run gives.
#[derive(Debug, Default)]
pub struct Findings {
    /// The findings, in the order of their places.
    pub findings: Vec<Finding>,
    /// What comments suppress, with the reasons, which are not safe to print.
    pub suppressed: Vec<(Finding, String)>,
    /// How many files hold something that rules look at.
    pub files: usize,
    /// Files that could not be read, and why.
    pub unread: Vec<Unread>,
    /// The paths of files that were named and hold nothing that rules look at.
    pub unrecognised: Vec<String>,
}

/// Lints `files` together: a rule about one asks what the others say.
///
/// Reads nothing but through [`Input`]. What comes out does not depend on the
/// order of the files, nor on the number of cores.
pub fn run<I: Input>(files: &[I], given: &Given) -> Findings {
    let mut inputs: Vec<&I> = files.iter().collect();
    inputs.order_by_key(|it| it.path());
    let rules = given.rules.as_slice();
    let kept = KeptBytes::default();
    let mut looks = parallel::map(&inputs, |index, input| {
        look::first_look(number(index), *input, &kept)
    });
    let is_asked = given.node_file.is_some() || given.node.is_some();
    let names_others = |it: &Look| it.file.facts.as_deref().is_some_and(look::names_others);
    if is_asked || looks.iter().any(names_others) {
        let deferred = parallel::map(&looks, |index, look| {
            look::deferred_facts(number(index), *inputs.get(index)?, look)
        });
        for (look, facts) in looks.iter_mut().zip(deferred) {
            look.file.facts = facts.or(look.file.facts.take());
        }
    }
    let of_looks = looks.iter_mut().map(|it| std::mem::take(&mut it.file));
    let workspace = Workspace::new(given, of_looks.collect());
    let context = Context::new(&workspace);
    let library = |file: FileId| {
        let index = file.0 as usize;
        let kept = looks.get(index).and_then(|look| look.kept.clone());
        kept.or_else(|| Some(inputs.get(index)?.content().ok()?.source))
    };
    let found = parallel::map(&looks, |index, look| {
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
    let settled = settled(found, &looks, &context, rules, &library);
    findings(&inputs, &looks, settled)
}

/// What comes of the drafts of all files, and of those that are of none.
fn settled(
    found: Vec<Option<Drafts>>,
    looks: &[Look],
    context: &Context<'_>,
    rules: &[&'static Rule],
    library: settle::Library<'_>,
) -> Vec<Settled> {
    let workspace = context.workspace();
    let (in_files, parted) = gathered(found);
    let mut by_file: BTreeMap<FileId, Vec<Draft>> = BTreeMap::new();
    for draft in in_files.into_iter().chain(check::across(context, rules)) {
        by_file
            .entry(home(&draft, workspace))
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
    parallel::map(&groups, |_, (file, drafts)| {
        let source = library(*file).unwrap_or_default();
        let is_whole = !parted.contains(file);
        // Each is taken by the one thread that settles the file.
        let drafts = std::mem::take(&mut *drafts.lock().unwrap_or_else(PoisonError::into_inner));
        settle::findings(&source, *file, drafts, workspace, rules, is_whole, library)
    })
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

fn findings<I: Input>(inputs: &[&I], looks: &[Look], settled: Vec<Settled>) -> Findings {
    let mut all = Findings {
        files: looks.iter().filter(|it| it.form.is_some()).count(),
        ..Findings::default()
    };
    for settled in settled {
        all.findings.extend(settled.findings);
        all.suppressed.extend(settled.suppressed);
    }
    all.findings
        .order_by(|one, other| settle::order(one).cmp(&settle::order(other)));
    settle::join_templates(&mut all.findings);
    all.suppressed
        .order_by(|one, other| settle::order(&one.0).cmp(&settle::order(&other.0)));
    for (input, look) in inputs.iter().zip(looks) {
        all.unread.extend(look.unread.clone());
        let is_named = input.origin() == Origin::Named;
        if is_named && look.form.is_none() && look.unread.is_none() {
            all.unrecognised.push(input.path().to_string());
        }
    }
    all
}

/// The file that a finding belongs to; those of a place that is in no file
/// come first.
fn home(draft: &Draft, workspace: &Workspace<'_>) -> FileId {
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
    let is_wanted = |draft: &Draft| rules.iter().any(|it| it.code == draft.rule.code);
    let again = || read::documents(file, source, look.form);
    let mut found = match &look.found {
        Some(found) => Cow::Borrowed(found.as_ref()),
        None => Cow::Owned(again()),
    };
    if imports::are_open(&found) {
        imports::put_in(found.to_mut(), context, library);
    }
    let mut drafts = check::documents(&found, context, rules);
    let broken = settle::broken(&found.broken, &source.bytes).into_iter();
    let is_said = |it: &Draft| look.must_parse || it.rule.code != UNPARSEABLE.code;
    drafts.extend(broken.filter(|it| is_said(it) && is_wanted(it)));
    Drafts {
        drafts,
        is_parted: !found.broken.is_empty(),
    }
}
