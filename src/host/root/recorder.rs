//! Notes what is read below a root, so that another machine can read the same.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use nix::errno::Errno;

use super::{Link, Root};
use crate::host::{FileRead, ReadError};

/// More bytes of a node are not kept: what is read later is left out.
const MAX_RECORDED: usize = 256 << 20;

/// What was read, by its path below the node's root.
#[derive(Debug, Default)]
pub struct Recorder {
    entries: RefCell<BTreeMap<PathBuf, Entry>>,
    bytes: Cell<usize>,
    is_full: Cell<bool>,
}

/// What was found at a path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Entry {
    /// A file, with its time in seconds since 1970.
    File {
        /// Its bytes, as they were read.
        bytes: Vec<u8>,
        /// When it was changed.
        time: Option<i64>,
    },
    /// A directory.
    Directory {
        /// The names in it, if it was listed, and whether each is a directory.
        names: Vec<(OsString, bool)>,
        /// When it was changed.
        time: Option<i64>,
    },
    /// A symbolic link, as it is written.
    Link(PathBuf),
    /// Something that could not be read.
    Unread,
}

/// A recorder, and where in the node the root is that it belongs to.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    recorder: Rc<Recorder>,
    at: PathBuf,
}

impl Recorder {
    /// What was read so far, by path; and whether something was left out because it
    /// was too much.
    pub fn take(&self) -> (BTreeMap<PathBuf, Entry>, bool) {
        (self.entries.take(), self.is_full.get())
    }

    fn add(&self, path: PathBuf, entry: Entry) {
        let size = match &entry {
            Entry::File { bytes, .. } => bytes.len(),
            _ => 0,
        };
        if self.bytes.get() + size > MAX_RECORDED {
            self.is_full.set(true);
            return;
        }
        self.bytes.set(self.bytes.get() + size);
        let mut entries = self.entries.borrow_mut();
        let is_known = match (entries.get(&path), &entry) {
            (Some(Entry::Directory { .. }), Entry::Directory { names, .. }) => names.is_empty(),
            (Some(Entry::Directory { .. }), Entry::Unread) => true,
            (known, _) => matches!(known, Some(Entry::File { .. } | Entry::Link(_))),
        };
        if !is_known {
            entries.insert(path, entry);
        }
    }
}

/// The path from the root on, without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::Normal(name) => plain.push(name),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    plain
}

impl Root {
    /// The same root, whose files are noted as they are read.
    #[must_use]
    pub fn recorded(mut self, recorder: &Rc<Recorder>) -> Self {
        self.recording = Some(Recording {
            recorder: Rc::clone(recorder),
            at: PathBuf::from("/"),
        });
        self
    }

    /// The recording of the root at `path`.
    pub(super) fn recording_of(&self, path: &Path) -> Option<Recording> {
        let recording = self.recording.as_ref()?;
        let at = self.record_way(recording, path);
        Some(Recording {
            at,
            ..recording.clone()
        })
    }

    /// Notes a file that was read.
    pub(in crate::host) fn record_file(&self, path: &Path, bytes: &[u8]) {
        if let Some(recording) = &self.recording {
            let time = self.time_of(path);
            let bytes = bytes.to_vec();
            let path = self.record_way(recording, path);
            recording.recorder.add(path, Entry::File { bytes, time });
        }
    }

    /// Notes what came of reading a file.
    pub(super) fn record_read(
        &self,
        path: &Path,
        read: Result<FileRead, ReadError>,
    ) -> Result<FileRead, ReadError> {
        match &read {
            Ok(file) => self.record_file(path, &file.source.bytes),
            Err(error) if error.is_missing() => {}
            Err(_) => {
                if let Some(recording) = &self.recording {
                    let path = self.record_way(recording, path);
                    recording.recorder.add(path, Entry::Unread);
                }
            }
        }
        read.map_err(|error| self.of_snapshot(error))
    }

    /// In a snapshot a link to itself stands for what it does not hold.
    pub(super) fn of_snapshot(&self, error: ReadError) -> ReadError {
        match error {
            ReadError::System { file, errno }
                if self.unpacked.is_some() && errno == Errno::ELOOP =>
            {
                ReadError::NotInSnapshot { file }
            }
            other => other,
        }
    }

    /// Notes a directory that was listed, or only asked for.
    pub(super) fn record_directory(&self, path: &Path, names: &[OsString]) {
        if let Some(recording) = &self.recording {
            let kind = |name: &OsString| {
                let is_directory = self.has_directory(&path.join(name));
                (name.clone(), is_directory)
            };
            let names = names.iter().map(kind).collect();
            let time = self.time_of(path);
            let path = self.record_way(recording, path);
            recording
                .recorder
                .add(path, Entry::Directory { names, time });
        }
    }

    /// Notes what a link says.
    pub(super) fn record_link(&self, path: &Path, target: &Path) {
        if let Some(recording) = &self.recording {
            let directory = path.parent().unwrap_or(Path::new(""));
            let directory = self.record_way(recording, directory);
            let path = directory.join(path.file_name().unwrap_or_default());
            recording.recorder.add(path, Entry::Link(target.to_owned()));
        }
    }

    /// Notes the links on the way to `path`; where they lead, below the node's
    /// root.
    fn record_way(&self, recording: &Recording, path: &Path) -> PathBuf {
        // The kernel's own links in /proc lead nowhere that has a name.
        let links = if self.is_procfs() && !self.is_behind {
            Vec::new()
        } else {
            self.links_unrecorded(path).unwrap_or_default()
        };
        let below = |path: &Path| {
            let path = path.strip_prefix("/").unwrap_or(path);
            recording.at.join(path)
        };
        let mut way = plain(path);
        for Link {
            path,
            target,
            leads_to,
        } in &links
        {
            recording
                .recorder
                .add(below(path), Entry::Link(target.clone()));
            if let Ok(rest) = way.strip_prefix(path) {
                way = plain(&leads_to.join(rest));
            }
        }
        below(&way)
    }

    /// When a file was changed: also where its time was set back.
    fn time_of(&self, path: &Path) -> Option<i64> {
        let (modified, changed) = self.times_unrecorded(path)?;
        Some(if self.is_live() {
            modified.max(changed)
        } else {
            modified
        })
    }
}
