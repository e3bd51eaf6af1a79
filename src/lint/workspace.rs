//! What was given together: the facts of every file, the links between paths,
//! and what the caller says.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::lint::document::FileId;
use crate::lint::facts::Facts;
use crate::lint::options::Options;
use crate::lint::{Rule, rules};
use crate::node::Node;

/// What is given beside the files.
#[derive(Clone, Debug)]
pub struct Given {
    /// The rules that run.
    pub rules: Vec<&'static Rule>,
    /// What the caller says of the cluster and its nodes.
    pub options: Options,
    /// Symbolic links among the files: path, and what it says.
    pub links: BTreeMap<String, String>,
    /// The node, if one is read.
    pub node: Option<Node>,
    /// The path of the file that stands for the one that the kubelet's
    /// `resolvConf` names (`--node-file`).
    pub node_file: Option<String>,
}

impl Default for Given {
    /// Every rule, and nothing known.
    fn default() -> Self {
        Self {
            rules: rules::all().collect(),
            options: Options::default(),
            links: BTreeMap::new(),
            node: None,
            node_file: None,
        }
    }
}

/// Everything that is known in one run.
#[derive(Clone, Debug)]
pub struct Workspace<'g> {
    /// What was given beside the files.
    pub given: &'g Given,
    /// The files, in order of their paths, by their numbers.
    pub files: Vec<File>,
    /// [`Given::node_file`], if it is among the files.
    pub node_file: Option<FileId>,
}

/// A file that was given.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Its path as it is shown, safe to print.
    pub path: Arc<str>,
    /// What others must know of it: [`Facts::kept`].
    pub facts: Option<Box<Facts>>,
}

impl<'g> Workspace<'g> {
    /// `files` are in the order of their paths.
    pub fn new(given: &'g Given, files: Vec<File>) -> Self {
        let mut workspace = Self {
            given,
            files,
            node_file: None,
        };
        let node_file = given.node_file.as_deref();
        workspace.node_file = node_file.and_then(|it| workspace.file_at(it));
        workspace
    }

    /// The path of a file.
    pub fn path(&self, file: FileId) -> &str {
        let file = self.files.get(file.0 as usize);
        file.map_or("", |file| &file.path)
    }

    /// The facts of a file, if it says anything.
    pub fn facts(&self, file: FileId) -> Option<&Facts> {
        self.files.get(file.0 as usize)?.facts.as_deref()
    }

    /// The files that say something, in order.
    pub fn all_facts(&self) -> impl Iterator<Item = (FileId, &Facts)> {
        self.numbered()
            .filter_map(|(file, it)| Some((file, it.facts.as_deref()?)))
    }

    /// The file at a path, as it is shown.
    pub fn file_at(&self, path: &str) -> Option<FileId> {
        let found = self.files.binary_search_by(|it| (*it.path).cmp(path));
        Some(FileId(u32::try_from(found.ok()?).ok()?))
    }

    /// All files with their numbers, in order.
    pub fn numbered(&self) -> impl Iterator<Item = (FileId, &File)> {
        let number = |at| FileId(u32::try_from(at).unwrap_or(u32::MAX));
        self.files
            .iter()
            .enumerate()
            .map(move |(at, it)| (number(at), it))
    }
}
