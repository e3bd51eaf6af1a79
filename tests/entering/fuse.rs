//! A file system in this process, served through `/dev/fuse`, that stops
//! answering when it is told to.
//!
//! Source: Linux `include/uapi/linux/fuse.h`, protocol 7.31.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};

const LOOKUP: u32 = 1;
const FORGET: u32 = 2;
const GETATTR: u32 = 3;
const OPEN: u32 = 14;
const READ: u32 = 15;
const STATFS: u32 = 17;
const RELEASE: u32 = 18;
const FLUSH: u32 = 25;
const INIT: u32 = 26;
const OPENDIR: u32 = 27;
const READDIR: u32 = 28;
const RELEASEDIR: u32 = 29;
const INTERRUPT: u32 = 36;
const BATCH_FORGET: u32 = 42;

const ENOENT: i32 = 2;
const ENOSYS: i32 = 38;

/// A tree of directories, the root first: the names of files and their bytes.
/// Number and place are one: file `n` has the number `n + 2`.
type Files = &'static [(&'static str, &'static [u8])];

/// A file system with one directory, whose files are the given ones. It goes
/// when the program ends, and lets those go who wait for it.
#[derive(Clone, Debug)]
pub(crate) struct Stalling {
    /// How many more requests are answered.
    answers: Arc<AtomicI64>,
}

impl Stalling {
    /// Mounts it at a path, there where this process sees mounts: `None` for
    /// one's own. It answers all requests until [`Self::stall_after`].
    pub(crate) fn mount(at: &str, sees: Option<u32>, files: Files) -> Self {
        let answers = Arc::new(AtomicI64::new(i64::MAX));
        let device = File::options()
            .read(true)
            .write(true)
            .open("/dev/fuse")
            .unwrap();
        let options = format!(
            "fd={},rootmode=40000,user_id=0,group_id=0,allow_other",
            device.as_raw_fd()
        );
        let at = at.to_owned();
        let mounted = thread::spawn(move || {
            if let Some(pid) = sees {
                let there = File::open(format!("/proc/{pid}/ns/mnt")).unwrap();
                // Only a thread with a directory of its own may go there.
                unshare(CloneFlags::CLONE_FS).unwrap();
                setns(&there, CloneFlags::CLONE_NEWNS).unwrap();
            }
            let flags = MsFlags::empty();
            let options = Some(options.as_str());
            mount(Some("stall"), at.as_str(), Some("fuse"), flags, options).unwrap();
        });
        mounted.join().unwrap();
        let left = Arc::clone(&answers);
        thread::spawn(move || serve(device, files, &left));
        Self { answers }
    }

    /// So many more requests are answered, the others never.
    pub(crate) fn stall_after(&self, requests: i64) {
        self.answers.store(requests, Ordering::SeqCst);
    }
}

fn serve(mut device: File, files: Files, answers: &AtomicI64) {
    let mut request = vec![0; 1 << 20];
    while let Ok(length) = device.read(&mut request) {
        let (head, body) = request[..length].split_at(40);
        let word = |at: usize| u32::from_ne_bytes(head[at..at + 4].try_into().unwrap());
        let long = |at: usize| u64::from_ne_bytes(head[at..at + 8].try_into().unwrap());
        let (code, unique, node) = (word(4), long(8), long(16));
        if matches!(code, FORGET | BATCH_FORGET | INTERRUPT) {
            continue;
        }
        if answers.fetch_sub(1, Ordering::SeqCst) <= 0 {
            continue;
        }
        let answer = answer(code, node, body, files);
        let (error, bytes) = match &answer {
            Ok(bytes) => (0, bytes.as_slice()),
            Err(errno) => (-errno, &[][..]),
        };
        let mut message = Vec::new();
        message.extend(u32::try_from(16 + bytes.len()).unwrap().to_ne_bytes());
        message.extend(error.to_ne_bytes());
        message.extend(unique.to_ne_bytes());
        message.extend(bytes);
        // Who asked may have been interrupted.
        let _ = device.write_all(&message);
    }
}

fn answer(code: u32, node: u64, body: &[u8], files: Files) -> Result<Vec<u8>, i32> {
    let at = |node: u64| files.get(usize::try_from(node).ok()?.checked_sub(2)?);
    match code {
        INIT => {
            let mut numbers = [0_u32; 16];
            numbers[0] = 7;
            numbers[1] = 31;
            numbers[2] = 1 << 16;
            // max_write
            numbers[5] = 1 << 16;
            Ok(numbers.iter().flat_map(|it| it.to_ne_bytes()).collect())
        }
        LOOKUP => {
            let name = body.strip_suffix(b"\0").unwrap();
            let found = files.iter().position(|it| it.0.as_bytes() == name);
            let node = found.ok_or(ENOENT)? as u64 + 2;
            // Nothing is remembered by the kernel: every look is a request.
            let mut bytes = longs(&[node, 0, 0, 0, 0]);
            bytes.extend(attributes(node, at(node).map(|it| it.1)));
            Ok(bytes)
        }
        GETATTR => {
            let mut bytes = longs(&[0, 0]);
            bytes.extend(attributes(node, at(node).map(|it| it.1)));
            Ok(bytes)
        }
        OPEN | OPENDIR => Ok(longs(&[1, 0])),
        READ => {
            let bytes = at(node).ok_or(ENOENT)?.1;
            let number = |at: usize| u64::from_ne_bytes(body[at..at + 8].try_into().unwrap());
            let from = usize::try_from(number(8)).unwrap().min(bytes.len());
            let size = usize::try_from(number(16) & 0xffff_ffff).unwrap();
            let end = (from + size).min(bytes.len());
            Ok(bytes[from..end].to_vec())
        }
        READDIR | FLUSH | RELEASE | RELEASEDIR => Ok(Vec::new()),
        STATFS => Ok(vec![0; 80]),
        _ => Err(ENOSYS),
    }
}

/// `struct fuse_attr` of a file or, without bytes, of a directory.
fn attributes(node: u64, file: Option<&[u8]>) -> Vec<u8> {
    let (mode, size) = match file {
        Some(bytes) => (0o100_755, bytes.len() as u64),
        None => (0o040_755, 0),
    };
    let mut bytes = longs(&[node, size, 1, 0, 0, 0]);
    let words: [u32; 10] = [0, 0, 0, mode, 1, 0, 0, 0, 4096, 0];
    bytes.extend(words.iter().flat_map(|it| it.to_ne_bytes()));
    bytes
}

fn longs(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|it| it.to_ne_bytes()).collect()
}
