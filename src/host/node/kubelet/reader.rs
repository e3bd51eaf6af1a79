//! Keeps the files that were read, so that places in them can be named.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::config::resolv_conf::ResolvConf;
use crate::config::unit_file::Unset;
use crate::config::yaml;
use crate::host::node::times;
use crate::host::root::Root;
use crate::host::{FileRead, ReadError};
use crate::kubelet::age::{Age, Started};
use crate::kubelet::choice::{self, Chooser, NODE_FILE, UPLINK_FILE};
use crate::kubelet::distribution;
use crate::kubelet::effective::File;
use crate::kubelet::start::Files;
use crate::kubelet::{Refusal, Remark};
use crate::text::{EMPTY, Source};

/// More files below a directory of drop-ins are not read.
const MAX_DROP_INS: usize = 1000;
/// Nor are folders deeper than this.
const MAX_DEPTH: usize = 16;

/// Reads files of a node, each once and with a number.
#[derive(Debug)]
pub(super) struct Reader<'r> {
    /// The node.
    pub(super) node: &'r Root,
    /// The node as the kubelet sees it.
    pub(super) own: &'r Root,
    /// The files that were read; a spot in one has its index here.
    pub(super) files: Vec<Source>,
    /// What could not be read.
    pub(super) skipped: Vec<String>,
    /// When the kubelet was started.
    pub(super) started: Option<Started>,
    /// Whether the times of inodes are those of this machine: not of a copy.
    pub(super) is_live: bool,
    /// Names of files with settings that are newer than that.
    pub(super) newer: Vec<String>,
    /// The same of which that is not sure.
    pub(super) unsure: Vec<String>,
    /// Directories of drop-ins that are newer: one of them was added or taken away.
    pub(super) newer_directories: Vec<String>,
    /// The same of what systemd starts the kubelet with.
    pub(super) newer_units: Vec<String>,
}

impl<'r> Reader<'r> {
    /// Reads of a node, which the kubelet sees as `own`.
    pub(super) fn new(node: &'r Root, own: &'r Root) -> Self {
        Self {
            node,
            own,
            files: Vec::new(),
            skipped: Vec::new(),
            started: None,
            is_live: false,
            newer: Vec::new(),
            unsure: Vec::new(),
            newer_directories: Vec::new(),
            newer_units: Vec::new(),
        }
    }

    /// A file that the kubelet needs.
    pub(super) fn needed_file(&mut self, path: &Path) -> File {
        match self.numbered(path) {
            Ok(number) => File::Read(self.file(number).clone()),
            Err(reason) => File::Unread(reason),
        }
    }

    fn numbered(&mut self, path: &Path) -> Result<usize, String> {
        match self.own.read(path) {
            Ok(file) => {
                let number = self.number(file);
                self.note_age(path, number);
                Ok(number)
            }
            Err(error) => {
                self.skipped.push(error.to_string());
                Err(format!("the kubelet's configuration is not known: {error}"))
            }
        }
    }

    fn keep(&mut self, read: Result<Option<FileRead>, ReadError>) -> Option<usize> {
        match read {
            Ok(file) => Some(self.number(file?)),
            Err(error) => {
                self.skipped.push(error.to_string());
                None
            }
        }
    }

    fn number(&mut self, file: FileRead) -> usize {
        self.skipped.extend(file.cut());
        self.files.push(file.source);
        self.files.len() - 1
    }

    fn note_age(&mut self, path: impl AsRef<Path>, number: usize) {
        let name = self.file(number).name.clone();
        match self.age(self.own, path.as_ref()) {
            Age::Older => {}
            Age::Newer => self.newer.push(name),
            Age::Unsure => self.unsure.push(name),
        }
    }

    fn is_newer(&self, root: &Root, path: &Path) -> bool {
        self.age(root, path) == Age::Newer
    }

    /// How a file stands to the kubelet's start. On the machine itself the time
    /// of its inode counts, too: `cp -p` and `rsync` set the other one back.
    fn age(&self, root: &Root, path: &Path) -> Age {
        let changed = root.times(path).map(|(modified, changed)| {
            let changed = Some(changed).filter(|_| self.is_live);
            changed.unwrap_or(modified).max(modified)
        });
        let pair = changed.zip(self.started);
        pair.map_or(Age::Older, |(changed, started)| started.age_of(changed))
    }

    /// Whether the times of files are those that they had on the node.
    pub(super) fn has_times(&self) -> bool {
        let started = self.started;
        self.is_live || started.is_some_and(|it| times::has_times(self.node, it))
    }

    /// The files below a directory of drop-ins in the kubelet's order: that of
    /// the names in each folder, a folder where its own name stands. Links to
    /// folders are not followed. Second: what is skipped.
    ///
    /// Source: Go `path/filepath: WalkDir`, as `mergeKubeletConfigurations` uses it.
    pub(super) fn drop_ins(&mut self, directory: &Path) -> (Vec<File>, Vec<Remark>) {
        let shown = crate::host::shown(directory);
        // k3s and rke2 write there themselves when they start.
        if !shown.starts_with("/var/lib/rancher/") {
            match self.age(self.own, directory) {
                Age::Older => {}
                Age::Newer => self.newer_directories.push(shown.clone()),
                Age::Unsure => self.unsure.push(shown.clone()),
            }
        }
        if self.own.read_link(directory).is_some() && !shown.ends_with('/') {
            return (Vec::new(), vec![Remark::DropInsLink(shown)]);
        }
        let mut found = Vec::new();
        let mut remarks = Vec::new();
        let before = self.skipped.len();
        self.walk(directory, 0, &mut found, &mut remarks);
        let unread = self.unread_since(before).map(File::Unread);
        let files = unread.into_iter();
        let files = files.chain(found.iter().map(|path| self.needed_file(path)));
        (files.collect(), remarks)
    }

    fn walk(
        &mut self,
        directory: &Path,
        depth: usize,
        found: &mut Vec<PathBuf>,
        remarks: &mut Vec<Remark>,
    ) {
        let names = match self.own.list(directory) {
            Ok(names) => names,
            Err(error) if error.is_missing() => {
                let shown = crate::host::shown(directory);
                remarks.push(Remark::Refused(Refusal::NoDropIns(shown)));
                return;
            }
            Err(error) => return self.skipped.push(error.to_string()),
        };
        for name in names {
            let path = directory.join(name);
            if self.own.is_directory(&path) {
                if depth < MAX_DEPTH {
                    self.walk(&path, depth + 1, found, remarks);
                }
                continue;
            }
            let shown = crate::host::shown(&path);
            if found.len() >= MAX_DROP_INS {
                self.skipped
                    .push(format!("{shown} was not read: too many drop-ins before it"));
                return;
            }
            if path.as_os_str().as_bytes().ends_with(b".conf") {
                found.push(path);
            } else if [".yaml", ".yml", ".json"]
                .iter()
                .any(|end| shown.ends_with(end))
            {
                remarks.push(Remark::DropInSkipped(shown));
            }
        }
    }
}

impl Files for Reader<'_> {
    fn unit(&mut self, path: &str) -> Option<usize> {
        let read = self.node.read_if_there(Path::new(path));
        let number = self.keep(read)?;
        if self.is_newer(self.node, Path::new(path)) {
            let name = self.file(number).name.clone();
            self.newer_units.push(name);
        }
        Some(number)
    }

    /// Notes if it is newer than the kubelet.
    fn setting(&mut self, path: &str) -> Option<usize> {
        let read = self.own.read_if_there(Path::new(path));
        let number = self.keep(read)?;
        self.note_age(path, number);
        Some(number)
    }

    fn needed(&mut self, path: &str) -> Result<usize, String> {
        self.numbered(Path::new(path))
    }

    fn file(&self, number: usize) -> &Source {
        self.files.get(number).unwrap_or(&EMPTY)
    }

    /// Notes if something was put there since the kubelet was started, or taken
    /// from it.
    fn units(&mut self, directory: &str) -> Vec<String> {
        if self.is_newer(self.node, Path::new(directory)) {
            self.newer_units.push(directory.to_owned());
        }
        self.node.names(directory)
    }

    fn names(&self, directory: &str) -> Vec<String> {
        self.own.names(directory)
    }

    fn is_masked(&self, path: &str) -> bool {
        let link = self.node.read_link(path.as_ref());
        link.is_some_and(|target| target.as_os_str() == "/dev/null")
    }

    fn is_there(&self, path: &str) -> bool {
        self.own.modified(Path::new(path)).is_some()
    }

    fn chosen(&self, chooser: Chooser, own: &str) -> String {
        let read = |path: &str| {
            let file = self.own.read(Path::new(path)).ok()?;
            Some(ResolvConf::parse(file.source))
        };
        let (node, uplink) = (read(NODE_FILE), read(UPLINK_FILE));
        choice::choose(chooser, node.as_ref(), uplink.as_ref(), own)
    }

    fn configuration(&mut self) -> Option<String> {
        let found = distribution::CONFIGURATIONS.iter().find(|path| {
            let file = self.own.read(path.as_ref());
            let Ok(file) = file else {
                // A file that cannot be read is not passed over.
                return file.is_err_and(|error| !error.is_missing());
            };
            yaml::documents(&file.source).iter().any(|document| {
                let root = document.root.as_ref().ok();
                let kind = root.and_then(|root| root.get("kind")?.as_scalar());
                kind.is_some_and(|kind| kind.text == "KubeletConfiguration")
            })
        });
        found.map(|path| (*path).to_owned())
    }

    fn unread(&self) -> usize {
        self.skipped.len()
    }

    fn unread_since(&self, before: usize) -> Option<String> {
        let reason = self.skipped.get(before)?;
        Some(format!("the kubelet's settings are not known: {reason}"))
    }

    fn unset(&self) -> Unset {
        Unset::Empty
    }
}
