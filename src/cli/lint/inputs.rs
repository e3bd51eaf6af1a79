//! What is linted: the files that were named, those below directories that
//! were named, standard input, and those of a node.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::LintArgs;
use super::input::{Input, MAX_STREAM, Place};
use super::wanted::Wanted;
use super::{area, list};
use crate::cli::node::read_named;
use crate::cli::streams::Streams;
use crate::host::node::{self, Parts, StandIns};
use crate::host::root::{Resolution, Root};
use crate::host::tree::{self, Tree};
use crate::host::{self, FileRead};
use crate::lint::{Given, Unread, recognise};
use crate::node::Node;
use crate::order::once;
use crate::text::{Source, counted};

/// What is linted.
pub(super) struct Inputs {
    /// Sorted by their paths, each once.
    pub(super) files: Vec<Input>,
    /// What is known beside them.
    pub(super) given: Given,
    /// What could not be looked at, and why.
    pub(super) unread: Vec<Unread>,
    /// How many directories of test data were left out.
    pub(super) of_tests: usize,
}

impl Inputs {
    /// The file with a path.
    pub(super) fn file_mut(&mut self, path: &str) -> Option<&mut Input> {
        let at = self.files.binary_search_by(|it| (*it.path).cmp(path));
        self.files.get_mut(at.ok()?)
    }

    /// What was left out that nobody named: `2 directories of test data left out`.
    pub(super) fn passed_over(&self) -> Option<String> {
        let directories = counted(self.of_tests, "directory", "directories");
        (self.of_tests > 0).then(|| format!("{directories} of test data left out"))
    }

    /// The file with a path.
    pub(super) fn file(&self, path: &str) -> Option<&Input> {
        let at = self.files.binary_search_by(|it| (*it.path).cmp(path));
        self.files.get(at.ok()?)
    }
}

/// Finds what is linted, and reads what is no file.
pub(super) fn collect(
    args: &LintArgs,
    wanted: &Wanted,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Inputs> {
    let mut inputs = Collected::default();
    let root = root_of(args)?;
    let node = root.as_ref().map(node_of).transpose()?;
    if let Some((root, node)) = root.as_ref().zip(node.as_ref()) {
        // What is not to be seen of processes is no file below a directory.
        if node.is_live {
            inputs.note_unread(&node.skipped);
        }
        inputs.note_unread(node.unread());
        inputs.node(root, node);
    }
    let here = [PathBuf::from(".")];
    let paths = match args.paths.as_slice() {
        [] if node.is_none() && args.files_from.is_none() => &here[..],
        paths => paths,
    };
    for path in paths {
        inputs.path(path, args, streams)?;
    }
    if let Some(path) = &args.files_from {
        inputs.named_by(path, args, streams)?;
    }
    if let Some(path) = &wanted.node_file {
        inputs.path(path, args, streams)?;
    }
    Ok(Inputs {
        files: inputs.files.into_values().collect(),
        given: Given {
            rules: wanted.selection.rules(),
            options: wanted.options.clone(),
            links: inputs.links,
            node_file: wanted.node_file.as_deref().map(plain),
            node,
        },
        unread: inputs.unread,
        of_tests: inputs.of_tests,
    })
}

/// The files that were found, each path once, and what was in their way.
#[derive(Default)]
pub(super) struct Collected {
    files: BTreeMap<Arc<str>, Input>,
    links: BTreeMap<String, String>,
    unread: Vec<Unread>,
    of_tests: usize,
}

impl Collected {
    /// The files, sorted by their paths, and what could not be read.
    pub(super) fn files(self) -> (Vec<Input>, Vec<Unread>) {
        (self.files.into_values().collect(), self.unread)
    }

    /// The files of a node that was read, and those with its settings.
    pub(super) fn node(&mut self, root: &Root, node: &Node) {
        let sources = sources(node).into_iter();
        let (settings, unread) = node::settings::files(root);
        let file = node.kubelet_file.iter();
        let file = file.filter_map(|it| it.content.as_ref().err());
        let file = file.filter(|it| !it.is_missing).map(|it| &it.reason);
        // Of a pod that does not answer others speak.
        let of_node = node.unread().iter();
        let of_node = of_node.filter(|it| !node.unread_pods.contains(it));
        self.note_unread(of_node.chain(file).chain(&unread));
        for source in sources.chain(settings) {
            self.add(source.name.clone(), Place::Memory(Arc::new(source)), false);
        }
    }

    /// Notes what could not be read, each sentence once.
    fn note_unread<'s>(&mut self, sentences: impl IntoIterator<Item = &'s String>) {
        let new = sentences.into_iter().cloned().map(Unread::from);
        self.unread = once(std::mem::take(&mut self.unread).into_iter().chain(new));
    }

    fn add(&mut self, path: String, place: Place, is_named: bool) {
        let path: Arc<str> = path.into();
        let input = Input {
            path: Arc::clone(&path),
            place,
            is_named,
        };
        let known = self.files.entry(path).or_insert(input);
        known.is_named |= is_named;
    }

    /// What can be read once only; a part of it would not do.
    fn stream(&mut self, name: String, read: FileRead) {
        if read.is_cut {
            self.unread.push(Unread::TooLarge(name));
        } else {
            self.add(name, Place::Memory(Arc::new(read.source)), true);
        }
    }

    /// The files that a list names, a line each. Those that are gone are none: a
    /// list of what changed names them, too. What holds nothing of ours is passed
    /// over, as in a directory.
    fn named_by(
        &mut self,
        list: &Path,
        args: &LintArgs,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<()> {
        let read = read_named(list, streams)?;
        if let Some(reason) = read.cut() {
            anyhow::bail!("cannot read the list of files: {reason}");
        }
        let is_there = |it: &[u8]| Path::new(OsStr::from_bytes(it)).is_file();
        for name in list::names(&read.source.bytes, is_there) {
            let path = Path::new(OsStr::from_bytes(&name));
            if name.is_empty() || !path.is_file() {
                continue;
            }
            if !args.follow
                && let Some(refusal) = area::refusal(path, args.wanted.node.root.as_deref())
            {
                self.unread.push(refusal.into());
                continue;
            }
            if path.to_str().is_none_or(recognise::can_be) {
                self.add(plain(path), Place::File(path.into()), false);
            }
        }
        Ok(())
    }

    fn path(
        &mut self,
        path: &Path,
        args: &LintArgs,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<()> {
        if path.as_os_str() == "-" {
            let name = plain(Path::new(&args.stdin_filename));
            let read = host::read_long(&name, streams.take_input()?, MAX_STREAM)?;
            self.stream(name, read);
            return Ok(());
        }
        if !args.follow
            && let Some(refusal) = area::refusal(path, args.wanted.node.root.as_deref())
        {
            self.unread.push(refusal.into());
            return Ok(());
        }
        // It can be read once only, and nothing can be written to it.
        if host::is_fifo(path) {
            self.stream(plain(path), host::read_named(path)?);
            return Ok(());
        }
        if !path.is_dir() {
            self.add(plain(path), Place::File(path.into()), true);
            return Ok(());
        }
        let is_wanted = |it: &Path| it.to_str().is_none_or(recognise::can_be);
        let Tree {
            files,
            links,
            unread,
            of_tests,
        } = tree::walk(path, &is_wanted);
        self.of_tests += of_tests;
        for file in files {
            self.add(plain(&file), Place::File(file.into()), false);
        }
        let links = links.into_iter();
        self.links
            .extend(links.map(|(path, to)| (without_dot(&path).to_owned(), to)));
        self.unread.extend(unread.into_iter().map(Unread::from));
        Ok(())
    }
}

/// A path as people would write it: without `./` before it.
fn plain(path: &Path) -> String {
    without_dot(&host::shown(path)).to_owned()
}

fn without_dot(path: &str) -> &str {
    let rest = path.strip_prefix("./").map(|it| it.trim_start_matches('/'));
    rest.filter(|it| !it.is_empty()).unwrap_or(path)
}

fn root_of(args: &LintArgs) -> anyhow::Result<Option<Root>> {
    let args = &args.wanted.node;
    Ok(match &args.root {
        Some(directory) => Some(Root::below(directory, Resolution::default())?),
        None if args.node => Some(Root::live()?),
        None => None,
    })
}

fn node_of(root: &Root) -> anyhow::Result<Node> {
    let mut node = node::read_node(root, &StandIns::default(), Parts::ALL)?;
    node.kernel = node::kernel::read_kernel(root);
    Ok(node)
}

/// The files of a node that were read.
fn sources(node: &Node) -> Vec<Source> {
    let files = node
        .kubelet_file
        .iter()
        .chain(&node.node_file)
        .chain(&node.files);
    let confs = files.filter_map(|it| it.content.as_ref().ok());
    let pods = node.pods.iter().flat_map(|it| &it.corefiles);
    let mut sources: Vec<Source> = confs.map(|it| it.source.clone()).collect();
    sources.extend(
        node.corefiles
            .iter()
            .chain(pods)
            .chain(&node.sources)
            .cloned(),
    );
    // What the kernel writes is no file of anybody's.
    sources.retain(|it| !it.name.starts_with("/proc/"));
    sources
}
