//! Looks once at every process of a node.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use super::unseen::{self, NO_PROC};
use crate::host::root::Root;
use crate::host::worker::Parts;
use crate::host::{FileRead, ReadError, shown, system};
use crate::node::cgroup;
use crate::node::stat::{self, Stat};
use crate::text::{WordList, escaped};

/// A process as the scan saw it.
#[derive(Clone, Debug, Default)]
pub struct ProcessSeen {
    /// Its id.
    pub pid: u32,
    /// `/proc/PID/comm`, safe to print; empty if it could not be read.
    pub comm: String,
    /// `/proc/PID/cgroup`, as it is.
    pub cgroup: Vec<u8>,
    /// The number of its network namespace, if it could be read.
    pub netns: Option<u64>,
    /// Whether it has ended, and only its parent has not asked how.
    pub is_zombie: bool,
    /// The process that started it, if known.
    pub parent: Option<u32>,
    /// When it started, in clock ticks since the machine did; `None`: not
    /// known. With the id it is the process's own for ever.
    pub started: Option<u64>,
}

/// Every process of the node, by id. With what could not be read, as
/// sentences without a full stop.
pub fn scan(root: &Root) -> (Vec<ProcessSeen>, Vec<String>) {
    match ids(root) {
        // This one at least is there.
        Ok(pids) if pids.is_empty() && root.is_live() => (Vec::new(), vec![NO_PROC.to_owned()]),
        Ok(pids) => {
            let (seen, mut skipped) = look_at(root, pids);
            skipped.extend(unseen::why(root, &seen));
            (seen, skipped)
        }
        Err(error) => (Vec::new(), vec![error.to_string()]),
    }
}

/// As [`scan`], of the processes with these ids only.
pub fn look_at(
    root: &Root,
    pids: impl IntoIterator<Item = u32>,
) -> (Vec<ProcessSeen>, Vec<String>) {
    let mut skipped = Vec::new();
    let mut refused: Option<(ReadError, usize)> = None;
    let mut seen = Vec::new();
    for pid in pids {
        // One that has ended meanwhile is not missed.
        let Ok(directory) = Directory::open(root, pid) else {
            continue;
        };
        match directory.look() {
            Ok(process) => seen.push(process),
            Err(error) if matches!(error.errno(), Some(Errno::ENOENT | Errno::ESRCH)) => {}
            Err(error) => match &mut refused {
                Some((_, count)) => *count += 1,
                none => *none = Some((error, 1)),
            },
        }
    }
    skipped.extend(refused.map(|(error, count)| match count {
        1 => error.to_string(),
        _ => format!("{error}, and the same for {} more processes", count - 1),
    }));
    if !seen.is_empty() && seen.iter().all(|it| it.netns.is_none()) {
        skipped.push("cannot read the network namespace of any process".to_owned());
    }
    (seen, skipped)
}

/// `/proc/PID/cgroup` of every process, as it is, by the process's id. A
/// process that has ended meanwhile is left out. Nothing else is read, and with
/// as few system calls as can be: there are thousands.
///
/// # Errors
///
/// One of them cannot be read.
pub fn groups(root: &Root) -> Result<Vec<(u32, Vec<u8>)>, ReadError> {
    groups_of(root, ids(root)?)
}

/// The same of these processes.
///
/// # Errors
///
/// One of them cannot be read.
pub fn groups_of(root: &Root, pids: Vec<u32>) -> Result<Vec<(u32, Vec<u8>)>, ReadError> {
    let proc = root.enter(Path::new("/proc"))?;
    let mut groups = Vec::with_capacity(pids.len());
    let mut buffer = vec![0; MAX_GROUP];
    for pid in pids {
        let path = format!("{pid}/cgroup");
        match proc.read_short(Path::new(&path), &mut buffer) {
            Ok(bytes) => groups.push((pid, bytes.to_vec())),
            Err(Errno::ENOENT | Errno::ESRCH) => {}
            Err(errno) => return Err(system(format!("/proc/{path}"), errno)),
        }
    }
    Ok(groups)
}

/// Paths of a page each would be longer than any that runtimes make; with longer
/// ones all is read.
const MAX_GROUP: usize = 16 << 10;

/// The ids of all processes, sorted; none where there is no `/proc`.
fn ids(root: &Root) -> Result<Vec<u32>, ReadError> {
    let names = match root.list(Path::new("/proc")) {
        Ok(names) => names,
        Err(error) if error.is_missing() => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let pids = names.iter().filter_map(|name| name.to_str()?.parse().ok());
    let mut pids: Vec<u32> = pids.collect();
    pids.sort_unstable();
    Ok(pids)
}

/// The arguments of a process, the program first, safe to print; empty if
/// they cannot be read or the process is another one by now.
pub fn arguments(root: &Root, process: &ProcessSeen) -> Vec<String> {
    let directory = Directory::of_seen(root, process);
    directory.map_or_else(Vec::new, |it| it.arguments())
}

/// The working directory of a process; the root where it cannot be read.
pub fn working_directory(root: &Root, process: &ProcessSeen) -> String {
    let link = Directory::of_seen(root, process).and_then(|it| it.link("cwd"));
    let path = link.and_then(|it| Some(it.to_str()?.to_owned()));
    path.unwrap_or_else(|| "/".to_owned())
}

/// The argument behind `name`, also as `NAMEvalue` if that is one letter, and
/// as `NAME=value`.
pub fn after<'a>(arguments: &'a [String], name: &str) -> Option<&'a str> {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.strip_prefix(name) {
            Some("") => return arguments.next().map(String::as_str),
            Some(rest) if name.len() == 2 => return Some(rest),
            Some(rest) => {
                if let Some(value) = rest.strip_prefix('=') {
                    return Some(value);
                }
            }
            None => {}
        }
    }
    None
}

/// The process with this id; they are sorted by it.
pub(super) fn find(processes: &[ProcessSeen], pid: u32) -> Option<&ProcessSeen> {
    let at = processes.binary_search_by_key(&pid, |it| it.pid).ok()?;
    processes.get(at)
}

/// How many names and ids of containers a control group has in it, as runtimes
/// give them; a node can itself be a container.
pub(super) fn containers_in(cgroup: &[u8]) -> usize {
    const NAMES: WordList =
        WordList("kubepods docker crio- libpod cri-containerd- lxc.payload machine.slice");
    let text = String::from_utf8_lossy(cgroup);
    let in_line = |line: &str| {
        let path = line.splitn(3, ':').nth(2).unwrap_or_default();
        let parts = path.split('/').filter(|part| !part.ends_with(".service"));
        let is_one = |part: &&str| NAMES.begins(part) || cgroup::has_id(part);
        parts.filter(is_one).count()
    };
    text.lines().map(in_line).max().unwrap_or(0)
}

/// A process, held by a descriptor of its directory below `/proc`: what is
/// read through it fails once the process is gone, even when another one has
/// its number by then.
#[derive(Debug)]
pub struct Directory {
    pid: u32,
    root: Root,
}

impl Directory {
    /// Opens the directory of a process.
    ///
    /// # Errors
    ///
    /// There is no such process, or `/proc` cannot be searched.
    pub fn open(root: &Root, pid: u32) -> Result<Self, ReadError> {
        let path = PathBuf::from(format!("/proc/{pid}"));
        let root = root.enter(&path)?;
        Ok(Self { pid, root })
    }

    /// The directory: who has no right to the process's root can have one to it.
    pub(in crate::host) fn itself(&self) -> &Root {
        &self.root
    }

    /// The names in a directory of the process: `fd`.
    ///
    /// # Errors
    ///
    /// The process is gone, or the caller may not read it.
    pub fn list(&self, name: &str) -> Result<Vec<OsString>, ReadError> {
        self.root.list(Path::new(name))
    }

    /// The id of the process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Opens the directory of a process that the scan saw; `None`: that
    /// process is gone.
    pub fn of_seen(root: &Root, process: &ProcessSeen) -> Option<Self> {
        let directory = Self::open(root, process.pid).ok()?;
        // Numbers are reused only where processes live.
        if !directory.root.is_procfs() {
            return Some(directory);
        }
        let started = directory.stat().ok()?.map(|stat| stat.started);
        (started == process.started).then_some(directory)
    }

    /// Reads a file of the process: `cmdline`, `net/fib_trie`.
    ///
    /// # Errors
    ///
    /// The process is gone, has no such file, or the caller may not read it.
    pub fn read(&self, name: &str) -> Result<FileRead, ReadError> {
        let mut file = self
            .root
            .read_once(Path::new(name))
            .map_err(|error| self.named(error, name))?;
        file.source.name = self.path(name);
        Ok(file)
    }

    /// The bytes of a file of the process; none if it cannot be read.
    pub(super) fn bytes(&self, name: &str) -> Vec<u8> {
        self.read(name)
            .map_or_else(|_| Vec::new(), |it| it.source.bytes)
    }

    /// Its arguments, the program first, safe to print.
    pub fn arguments(&self) -> Vec<String> {
        let bytes = self.bytes("cmdline");
        let bytes = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
        if bytes.is_empty() {
            return Vec::new();
        }
        bytes.split(|&byte| byte == 0).map(escaped).collect()
    }

    /// The number of one of its namespaces: `net`, `mnt`.
    pub fn namespace(&self, kind: &str) -> Option<u64> {
        let link = self.root.read_link(Path::new(&format!("ns/{kind}")))?;
        stat::namespace(kind, link.as_os_str().as_bytes())
    }

    /// Its root directory: a stranger's, links in it stay inside.
    ///
    /// # Errors
    ///
    /// The process is gone, or the caller may not look into it.
    pub fn root(&self) -> Result<Root, ReadError> {
        self.root
            .enter_process_root()
            .map_err(|error| self.named(error, "root"))
    }

    /// Its program.
    ///
    /// # Errors
    ///
    /// As the system says; `ENOTSUP`: the directory is not one of a live
    /// procfs, and whoever made it may have made the link.
    pub fn program(&self) -> Result<Parts<'_>, ReadError> {
        let opened = self.root.program();
        opened.map_err(|error| self.named(error, "exe"))
    }

    /// Opens what a link of the kernel's leads to, wherever that is: `ns/net`.
    ///
    /// # Errors
    ///
    /// As the system says; `ENOTSUP`: the directory is not one of a live
    /// procfs, and whoever made it may have made the link.
    pub fn open_link(&self, name: &str) -> nix::Result<OwnedFd> {
        self.root.open_magic(Path::new(name))
    }

    /// The path that a symbolic link of the process holds: `exe`, `cwd`.
    pub fn link(&self, name: &str) -> Option<PathBuf> {
        self.root.read_link(Path::new(name))
    }

    /// Whether it is one of a live procfs, not only a directory.
    pub fn is_live(&self) -> bool {
        self.root.is_procfs()
    }

    /// Reads what a scan keeps of a process.
    ///
    /// # Errors
    ///
    /// The process is gone, or the caller may not look at it.
    pub fn look(&self) -> Result<ProcessSeen, ReadError> {
        let stat = self.stat()?;
        let comm = match &stat {
            Some(stat) => stat.comm.clone(),
            None => self.bytes("comm"),
        };
        let comm = comm.strip_suffix(b"\n").unwrap_or(&comm);
        let cgroup = match self.read("cgroup") {
            Ok(file) => file.source.bytes,
            Err(error) if error.is_missing() => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(ProcessSeen {
            pid: self.pid,
            comm: escaped(comm),
            cgroup,
            netns: self.namespace("net"),
            is_zombie: stat.as_ref().is_some_and(|it| it.is_zombie),
            parent: stat.as_ref().map(|it| it.parent),
            started: stat.as_ref().map(|it| it.started),
        })
    }

    /// `None`: there is none, as in a fixture.
    pub(super) fn stat(&self) -> Result<Option<Stat>, ReadError> {
        match self.read("stat") {
            Ok(file) => Ok(stat::parse(&file.source.bytes)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn path(&self, name: &str) -> String {
        format!("/proc/{}/{}", self.pid, shown(name))
    }

    /// The error with the path that people know.
    fn named(&self, mut error: ReadError, name: &str) -> ReadError {
        if let ReadError::System { file, .. } | ReadError::Unanswered { file, .. } = &mut error {
            *file = self.path(name);
        }
        error
    }
}
