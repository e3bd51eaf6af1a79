//! Runs of kdns in trouble, and what is compared before and after them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const KDNS: &str = env!("CARGO_BIN_EXE_kdns");

/// Nothing takes longer, in a debug build on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What a run gave.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Ended {
    /// The exit status, or 128 and the signal's number, as a shell has it.
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let signal = || output.status.signal().map(|it| 128 + it);
        Self {
            status: output.status.code().or_else(signal).unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    /// It ended in a way that a person can act on: no panic, and whoever did
    /// not do what was asked says why.
    #[track_caller]
    pub(crate) fn is_clear(&self, what: &str) {
        assert!(!self.err.contains("panicked"), "{what}: {self:?}");
        let is_told = self.err.starts_with("kdns: ") || self.err.starts_with("error: ");
        assert!(
            self.status < 2 || is_told || self.status == 2 && !self.out.is_empty(),
            "{what}: {self:?}"
        );
        assert!(self.status < 128, "{what}: {self:?}");
    }
}

/// Runs kdns behind these words: a program that changes its surroundings.
pub(crate) fn behind(prefix: &[&str], arguments: &[impl AsRef<OsStr>]) -> Ended {
    let mut command = match prefix.split_first() {
        Some((program, rest)) => {
            let mut command = Command::new(program);
            command.args(rest).arg(KDNS);
            command
        }
        None => Command::new(KDNS),
    };
    let begun = Instant::now();
    let output = command
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(begun.elapsed() < PATIENCE, "{command:?} takes too long");
    Ended::of(&output)
}

/// Runs a script in a mount namespace of its own; `$KDNS` is kdns, `$DATA` the
/// folder `testdata`. What the script prints.
#[track_caller]
pub(crate) fn script(text: &str) -> String {
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-euc", text])
        .env("KDNS", KDNS)
        .env("DATA", testdata(""))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let ended = Ended::of(&output);
    assert_eq!(ended.status, 0, "{text}: {ended:?}");
    ended.out
}

pub(crate) fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(path)
}

/// What must be after a run as it was before: mounts, namespaces, the node's
/// own file, and what lies in `/tmp` and in a folder.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct State {
    mounts: String,
    namespaces: Vec<PathBuf>,
    resolv_conf: Vec<u8>,
    folder: Vec<(PathBuf, Vec<u8>)>,
}

impl State {
    pub(crate) fn of(folder: &Path) -> Self {
        let kinds = ["mnt", "net", "uts", "user", "ipc", "pid", "cgroup"];
        let link = |kind: &str| fs::read_link(format!("/proc/self/ns/{kind}")).unwrap();
        let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
        let content = |path: PathBuf| (path.clone(), fs::read(path).unwrap_or_default());
        let mut folder: Vec<_> = entries.map(content).collect();
        folder.sort();
        Self {
            mounts: fs::read_to_string("/proc/self/mountinfo").unwrap(),
            namespaces: kinds.into_iter().map(link).collect(),
            resolv_conf: fs::read("/etc/resolv.conf").unwrap_or_default(),
            folder,
        }
    }
}

/// A process in a network of its own.
pub(crate) struct Other(pub(crate) Child);

impl Other {
    pub(crate) fn start() -> Self {
        let mut command = Command::new("unshare");
        let other = Self(command.args(["--net", "sleep", "100"]).spawn().unwrap());
        let link = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/net")).unwrap();
        let begun = Instant::now();
        while link(other.0.id()) == link(std::process::id()) {
            assert!(begun.elapsed() < PATIENCE);
            thread::sleep(Duration::from_millis(5));
        }
        other
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The reply to this query that there is no such name, without EDNS.
pub(crate) fn nxdomain(query: &[u8]) -> Vec<u8> {
    let end = query[12..].iter().position(|&byte| byte == 0);
    let mut reply = query[..12 + end.unwrap() + 5].to_vec();
    reply[2..4].copy_from_slice(&[0x81, 0x83]);
    reply[10..12].copy_from_slice(&[0, 0]);
    reply
}
