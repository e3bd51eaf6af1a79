//! The files of a container: what its processes see, by the paths on the node
//! where there are such.

use std::ffi::OsString;
use std::path::Path;

use crate::host::FileRead;
use crate::host::node::corefiles::Files;
use crate::host::node::files;
use crate::host::node::processes::Directory;
use crate::host::root::Root;
use crate::kubelet::effective::absolute;
use crate::node::launch::Launch;
use crate::node::mountinfo::{self, Mount};
use crate::text::Source;

/// A container, as its process sees it, or as its runtime would start it.
pub(super) struct Container<'n> {
    node: &'n Root,
    /// The root of its process, where that can be looked at.
    own: Option<(u32, Root)>,
    /// What is mounted into it, as its runtime says; as the kernel does.
    written: Vec<Mount>,
    seen: Vec<Mount>,
    /// How it was started.
    pub(super) arguments: Vec<String>,
    directory: String,
}

/// Where file systems are mounted on many nodes: what mounts say about a file
/// begins there.
pub(super) const MOUNT_POINTS: [&str; 4] = ["", "/run", "/var", "/var/lib"];

impl<'n> Container<'n> {
    /// The container with this process, which a runtime wrote down as `launch`.
    pub(super) fn of_process(
        node: &'n Root,
        process: Option<&Directory>,
        launch: Option<Launch>,
    ) -> Self {
        let launch = launch.unwrap_or_default();
        let table = process.map(|it| it.bytes("mountinfo")).unwrap_or_default();
        // A copy of a node has what somebody took along.
        let live = process.filter(|it| it.is_live());
        let directory = process.and_then(|it| it.link("cwd"));
        let directory = directory.and_then(|it| Some(it.to_str()?.to_owned()));
        let arguments = process.map(Directory::arguments).unwrap_or_default();
        Self {
            node,
            own: live.and_then(|it| Some((it.pid(), it.root().ok()?))),
            written: launch.mounts,
            seen: mountinfo::binds(&table),
            arguments: if arguments.is_empty() {
                launch.arguments
            } else {
                arguments
            },
            directory: directory.unwrap_or(launch.directory),
        }
    }

    /// The path as the container's process means it.
    pub(super) fn absolute(&self, path: &str) -> String {
        absolute(&self.directory, path)
    }

    /// Whether it is known what is at the path: its process's root is there, or
    /// something of the node is mounted on the way.
    pub(super) fn knows(&self, path: &str) -> bool {
        self.own.is_some() || !self.on_node(path).is_empty()
    }

    /// Where the path can be on the node, the best guess first.
    fn on_node(&self, path: &str) -> Vec<String> {
        let written = mountinfo::on_node(&self.written, path);
        let seen = mountinfo::on_node(&self.seen, path).into_iter();
        let seen = seen.flat_map(|path| MOUNT_POINTS.map(|point| format!("{point}{path}")));
        match written {
            Some(path) => vec![path],
            None => seen.collect(),
        }
    }

    /// When a file that was read was last written, by the name that it was given, in
    /// seconds since 1970.
    pub(super) fn modified(&self, name: &str) -> Option<i64> {
        let own = self.own.as_ref().and_then(|(pid, own)| {
            let path = name.strip_prefix(&format!("/proc/{pid}/root"))?;
            Some((own, path))
        });
        let (root, path) = own.unwrap_or((self.node, name));
        root.modified(Path::new(path))
    }

    fn read_file(&self, path: &Path, skipped: &mut Vec<String>) -> Option<FileRead> {
        let text = path.to_str()?;
        let mut refused = None;
        let places = self.on_node(text);
        let mut on_node = || {
            let mut reads = places
                .iter()
                .map(|it| self.node.read_if_there(Path::new(it)));
            reads.find_map(|read| {
                read.unwrap_or_else(|error| {
                    refused.get_or_insert(error);
                    None
                })
            })
        };
        let Some((pid, own)) = &self.own else {
            // Of several guesses one that cannot be looked at may be the right one.
            let found = on_node();
            let refused = refused.filter(|_| found.is_none());
            skipped.extend(refused.map(|error| error.to_string()));
            return found;
        };
        let mut file = match own.read_if_there(path) {
            Ok(file) => file?,
            Err(error) => {
                skipped.push(error.to_string());
                return None;
            }
        };
        file.source.name = format!("/proc/{pid}/root{text}");
        // The same file by its path on the node says more.
        let same = on_node().filter(|it| it.source.bytes == file.source.bytes);
        Some(same.unwrap_or(file))
    }
}

impl Files for Container<'_> {
    fn file(&self, path: &Path, skipped: &mut Vec<String>) -> Option<Source> {
        let file = self.read_file(path, skipped)?;
        skipped.extend(file.cut());
        Some(file.source)
    }

    fn names(&self, directory: &Path, skipped: &mut Vec<String>) -> Vec<OsString> {
        if let Some((_, own)) = &self.own {
            return files::names(own, directory, skipped);
        }
        let places = self.on_node(directory.to_str().unwrap_or_default());
        let mut found = places.iter().map(|it| self.node.list(Path::new(it)));
        found.find_map(Result::ok).unwrap_or_default()
    }
}
