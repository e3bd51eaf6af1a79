//! A node in a file: what was read of it, for another machine to read.
//!
//! It is a tar archive, compressed with zstd, of the files as they lie below
//! the node's root. What it holds of each decides [`kept`].

mod ended;
mod unpack;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufReader, Read as _, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tar::{Builder, EntryType, Header};

use super::root::{Entry, Recorder, Resolution, Root};
use super::{ReadError, io_reason, rules, shown};
use crate::hidden::{Names, Shown};
use crate::node::kept::{Kept, kept};
use crate::rules::Text;

/// The file in which a snapshot says what it is.
const NOTE: &str = "kdns-snapshot";
/// Its first line: a number that grows when older versions of kdns cannot read it.
const FORMAT: &str = "kdns snapshot 1\n";

/// The file with what `kdns path --save` writes: rules, links, routes, connections.
const RULES: &str = "kdns-path";

/// A file that lies deeper below the root is left out: no node has one, but a
/// container can.
const MAX_DEPTH: usize = 100;

/// What a snapshot holds.
#[derive(Debug, Default)]
pub struct Written {
    /// Files, whole or in part.
    pub files: usize,
    /// Paths of files that were read and are left out: they are not among
    /// those that are allowed.
    pub left_out: Vec<PathBuf>,
    /// Whether more was read than a snapshot takes.
    pub is_cut: bool,
}

/// Writes all that was read so far, with names and addresses as they are shown, and
/// beside it what `kdns path --save` wrote of the node.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(
    recorder: &Recorder,
    shown: &Shown,
    rules: Option<&[u8]>,
    out: &mut dyn Write,
) -> io::Result<Written> {
    let (entries, is_cut) = recorder.take();
    let entries = hidden(entries, shown);
    let mut written = Written {
        is_cut,
        ..Written::default()
    };
    let mut archive = Builder::new(Vec::new());
    add(
        &mut archive,
        Path::new(NOTE),
        EntryType::Regular,
        None,
        FORMAT.as_bytes(),
    )?;
    if let Some(rules) = rules {
        let kind = EntryType::Regular;
        add(&mut archive, Path::new(RULES), kind, None, rules)?;
    }
    // A node changes while it is read: what was a directory can be a link now.
    let mut leaf: Option<&Path> = None;
    for (path, entry) in &entries {
        let is_below = leaf.is_some_and(|it| path.starts_with(it));
        if is_below || path.components().count() > MAX_DEPTH {
            written.left_out.push(path.clone());
            continue;
        }
        if !matches!(entry, Entry::Directory { .. }) {
            leaf = Some(path);
        }
        add_entry(&mut archive, path, entry, &mut written)?;
        if let Entry::Directory { names, .. } = entry {
            add_names(&mut archive, path, names, &entries)?;
        }
    }
    let bytes = archive.into_inner()?;
    out.write_all(&compress_to_vec(
        bytes.as_slice(),
        CompressionLevel::Fastest,
    ))?;
    Ok(written)
}

/// The entries with names and addresses as they are shown, in paths, links and files.
fn hidden(entries: BTreeMap<PathBuf, Entry>, shown: &Shown) -> BTreeMap<PathBuf, Entry> {
    if !shown.is_anonymous() {
        return entries;
    }
    let mut names = Names::default();
    for (path, entry) in &entries {
        let bytes = match entry {
            Entry::File { bytes, .. } => bytes.as_slice(),
            _ => &[],
        };
        names.learn(&path.to_string_lossy(), bytes);
    }
    let path = |path: &Path| -> PathBuf {
        let hidden = shown.text(&names, "", path.as_os_str().as_bytes());
        OsStr::from_bytes(&hidden).into()
    };
    let of = |(at, entry): (PathBuf, Entry)| {
        let entry = match entry {
            Entry::File { bytes, time } => Entry::File {
                bytes: shown
                    .text(&names, &at.to_string_lossy(), &bytes)
                    .into_owned(),
                time,
            },
            Entry::Directory {
                names: inside,
                time,
            } => {
                let inside = inside.into_iter();
                let inside = inside.map(|(name, it)| (path(Path::new(&name)).into_os_string(), it));
                Entry::Directory {
                    names: inside.collect(),
                    time,
                }
            }
            Entry::Link(to) => Entry::Link(path(&to)),
            Entry::Unread => Entry::Unread,
        };
        (path(&at), entry)
    };
    entries.into_iter().map(of).collect()
}

fn add_entry(
    archive: &mut Builder<Vec<u8>>,
    path: &Path,
    entry: &Entry,
    written: &mut Written,
) -> io::Result<()> {
    let below = path.strip_prefix("/").unwrap_or(path);
    if below.as_os_str().is_empty() {
        return Ok(());
    }
    let (bytes, time) = match entry {
        Entry::Link(target) => {
            return archive.append_link(&mut header(EntryType::Symlink, None), below, target);
        }
        Entry::Unread => return add_left_out(archive, below),
        Entry::Directory { time, .. } => {
            return add(archive, below, EntryType::Directory, *time, &[]);
        }
        Entry::File { bytes, time } => (bytes, *time),
    };
    let bytes = match kept(&path.to_string_lossy(), bytes) {
        Kept::Whole => Cow::Borrowed(bytes),
        Kept::Part(bytes) => Cow::Owned(bytes),
        Kept::Nothing => {
            written.left_out.push(path.to_owned());
            return add_left_out(archive, below);
        }
    };
    written.files += 1;
    add(archive, below, EntryType::Regular, time, &bytes)
}

/// That there are these names in a directory, though nobody read what they name.
fn add_names(
    archive: &mut Builder<Vec<u8>>,
    directory: &Path,
    names: &[(OsString, bool)],
    entries: &BTreeMap<PathBuf, Entry>,
) -> io::Result<()> {
    for (name, is_directory) in names {
        let path = directory.join(name);
        let next = entries.range(path.clone()..).next();
        if next.is_some_and(|(it, _)| it.starts_with(&path)) {
            continue;
        }
        let below = path.strip_prefix("/").unwrap_or(&path);
        if *is_directory {
            add(archive, below, EntryType::Directory, None, &[])?;
        } else {
            add_left_out(archive, below)?;
        }
    }
    Ok(())
}

/// What is there and not in the snapshot: a link to itself, which nobody can read,
/// and which is not nothing.
fn add_left_out(archive: &mut Builder<Vec<u8>>, path: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default();
    archive.append_link(&mut header(EntryType::Symlink, None), path, Path::new(name))
}

fn add(
    archive: &mut Builder<Vec<u8>>,
    path: &Path,
    kind: EntryType,
    time: Option<i64>,
    bytes: &[u8],
) -> io::Result<()> {
    let mut header = header(kind, time);
    header.set_size(bytes.len() as u64);
    archive.append_data(&mut header, path, bytes)
}

fn header(kind: EntryType, time: Option<i64>) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(0);
    header.set_mode(if kind == EntryType::Directory {
        0o700
    } else {
        0o600
    });
    header.set_mtime(time.and_then(|it| u64::try_from(it).ok()).unwrap_or(0));
    header
}

/// The node that the snapshot at `path` holds. It is unpacked to a directory
/// that only the caller can enter, and that goes with the root.
///
/// # Errors
///
/// It cannot be read, or is no snapshot.
pub fn open(path: &Path) -> Result<Root, ReadError> {
    let wrong = |reason: String| ReadError::Snapshot {
        file: shown(path),
        reason,
    };
    let broken = |error: io::Error| wrong(io_reason(&error));
    let file = BufReader::new(File::open(path).map_err(broken)?);
    let decoder = StreamingDecoder::new(file)
        .map_err(|_| wrong("it is not compressed with zstd".to_owned()))?;
    let place = std::env::temp_dir();
    let unwritable = |error: io::Error| match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::Other | io::ErrorKind::UnexpectedEof => {
            let refused = error.get_ref().and_then(|it| it.downcast_ref());
            let reason = refused.map_or(
                "it is damaged or cut, or no snapshot of kdns",
                |it: &unpack::Refused| it.0,
            );
            wrong(reason.to_owned())
        }
        _ => wrong(format!(
            "it cannot be unpacked below {}: {} (TMPDIR names another directory)",
            shown(&place),
            io_reason(&error)
        )),
    };
    let directory = ended::directory_below(&place).map_err(unwritable)?;
    let below = File::open(directory.path()).map_err(broken)?;
    unpack::unpack(decoder, below.into()).map_err(unwritable)?;
    let mut root = Root::below(directory.path(), Resolution::default())?;
    root.named_as(path);
    root.unpacked = Some(Rc::new(directory));
    Ok(root)
}

/// The rules and the rest that `kdns path` read when the snapshot below `root` was
/// made; `None`: it has none, or is no snapshot.
///
/// # Errors
///
/// They cannot be read.
pub fn rules(root: &Root) -> io::Result<Option<Box<dyn Text + Send>>> {
    let Some(directory) = &root.unpacked else {
        return Ok(None);
    };
    let file = directory.path().join(RULES);
    // A link in a snapshot that somebody else made leads anywhere.
    let is_file = std::fs::symlink_metadata(&file).is_ok_and(|it| it.is_file());
    let open = || rules::open_as(&file, root.named(Path::new(RULES)));
    is_file.then(open).transpose()
}

/// Whether `root` is that of a snapshot with rules.
pub fn has_rules(root: &Root) -> bool {
    rules(root).is_ok_and(|it| it.is_some())
}

/// Whether a file begins as one that zstd made.
pub fn is_one(path: &Path) -> bool {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let mut start = [0; 4];
    let read = File::open(path).and_then(|mut it| it.read_exact(&mut start));
    read.is_ok() && start == MAGIC && path.as_os_str().as_bytes() != b"-"
}
