//! Reads files of strangers in a process apart.
//!
//! A container chooses what its files lie on, and who serves a file system can
//! let everybody wait who asks it: for ever, in the kernel, deaf to SIGKILL.
//! Which file systems can is not to be seen (an overlay does not say what lies
//! below it; the arguments of a process may be mapped from such a file). So a
//! worker, kdns itself once more, asks in our place, and is left behind where
//! no answer comes. It holds no descriptor of the caller's, so that nobody who
//! waits for kdns waits for it.

mod asking;
mod message;
mod serve;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, BufReader, IoSlice, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::{errno_of, reason};

pub use asking::{Parts, There};
pub(in crate::host) use message::{Answer, Failure, Request, What, to_file, to_links};
pub(crate) use serve::close_all_but_standard_ones;
pub use serve::run_if_asked;

/// How long the files of one process may keep kdns waiting, and its memory.
const FOR_ONE: Duration = Duration::from_secs(1);

/// How long the files of all processes together may keep kdns waiting.
const FOR_ALL: Duration = Duration::from_secs(5);

/// How long a worker may take to begin, on a machine that has other work.
const TO_BEGIN: Duration = Duration::from_secs(2);

/// Its first argument: nobody types it, and it tells who is left behind.
const NAME: &str = "kdns: reads files of a container";

/// Whether this program is one that [`run_if_asked`] makes a worker of.
static IS_AVAILABLE: AtomicBool = AtomicBool::new(false);

/// Says that this program calls [`run_if_asked`], and that of `netns::askers`, before
/// anything else: from now on the files of strangers are read by a worker, and a live
/// watch looks for those who ask. Without it a file system that does not answer holds
/// this program up.
pub fn switch_on() {
    IS_AVAILABLE.store(true, Ordering::Relaxed);
}

/// Whether this program may start itself once more.
pub(crate) fn is_available() -> bool {
    IS_AVAILABLE.load(Ordering::Relaxed)
}

/// Why nothing is known of a file that a worker should have read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Silence {
    /// Its file system did not answer in time, now or before.
    Stalled,
    /// Its process changes its memory, and did not end that in time.
    Locked,
    /// The time for all was over.
    TooLate,
    /// There could be no worker.
    NoWorker(Errno),
    /// The worker ended.
    Ended,
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (one, all) = (FOR_ONE.as_secs(), FOR_ALL.as_secs());
        match self {
            Self::Stalled => write!(
                f,
                "its file system does not answer (waited {one} s; a FUSE or network file system, or an automount, hangs)"
            ),
            Self::Locked => write!(
                f,
                "its process lets nobody see its memory (waited {one} s; it may itself wait for a file system that hangs)"
            ),
            Self::TooLate => write!(
                f,
                "not tried, as other file systems have taken {all} s already"
            ),
            Self::NoWorker(Errno::EAGAIN) => write!(
                f,
                "there can be no process that reads it, as the limit of processes is reached (ulimit -u, pids.max)"
            ),
            Self::NoWorker(errno) => write!(
                f,
                "the process that would read it cannot be started: {}",
                reason(*errno)
            ),
            Self::Ended => write!(f, "the process that should read it has ended"),
        }
    }
}

/// The worker of a node, started when it is needed first, and what it cost.
#[derive(Debug, Default)]
pub(in crate::host) struct Workers(RefCell<State>);

#[derive(Debug, Default)]
struct State {
    worker: Option<Worker>,
    /// How long each has kept us waiting.
    spent: BTreeMap<Whose, Duration>,
    stalled: BTreeSet<Whose>,
    all: Duration,
}

/// What may not answer.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(in crate::host) enum Whose {
    /// The files of a process.
    Files(PathBuf),
    /// Its memory.
    Memory(PathBuf),
    /// A mount of the machine's own.
    Mount(PathBuf),
}

impl Workers {
    /// `None`: this program cannot be its own worker.
    pub(in crate::host) fn available() -> Option<Rc<Self>> {
        is_available().then(Rc::default)
    }

    /// Asks about a file below a directory: a root, or the one of a process in `/proc`.
    pub(in crate::host) fn ask(
        &self,
        directory: BorrowedFd<'_>,
        whose: Whose,
        request: &Request,
    ) -> Result<Answer, Silence> {
        let mut state = self.0.borrow_mut();
        let late = match whose {
            Whose::Memory(_) => Silence::Locked,
            Whose::Files(_) | Whose::Mount(_) => Silence::Stalled,
        };
        if state.stalled.contains(&whose) {
            return Err(late);
        }
        let Some(bytes) = request.encoded() else {
            return Ok(Err(Failure::System(Errno::ENAMETOOLONG)));
        };
        let spent = state.spent.get(&whose).copied().unwrap_or_default();
        let left = FOR_ALL.saturating_sub(state.all);
        let patience = FOR_ONE.saturating_sub(spent).min(left);
        if left.is_zero() {
            return Err(Silence::TooLate);
        }
        let worker = match state.worker.take() {
            Some(worker) => worker,
            None => Worker::start().map_err(|error| Silence::NoWorker(errno_of(&error)))?,
        };
        let begin = Instant::now();
        let asked = worker.ask(directory, &bytes, patience);
        let took = begin.elapsed();
        // What is mounted on the node may be slow, and much be read of it.
        if asked.is_err() || !matches!(whose, Whose::Mount(_)) {
            state.all += took;
            state.spent.insert(whose.clone(), spent + took);
        }
        match asked {
            Ok((worker, answer)) => {
                state.worker = Some(worker);
                Ok(answer)
            }
            Err(error) if is_late(&error) => {
                state.stalled.insert(whose);
                Err(late)
            }
            Err(_) => Err(Silence::Ended),
        }
    }
}

/// A process that waits for questions, and ends with this value.
#[derive(Debug)]
struct Worker {
    socket: BufReader<UnixStream>,
    child: Child,
    is_idle: bool,
}

impl Worker {
    fn start() -> io::Result<Self> {
        let (socket, its) = UnixStream::pair()?;
        let its = OwnedFd::from(its);
        // No other descriptor: who reads what kdns writes does not wait for it.
        let (out, err) = (its.try_clone()?, its.try_clone()?);
        let child = Command::new("/proc/self/exe")
            .arg0(NAME)
            .stdin(its)
            .stdout(Stdio::from(out))
            .stderr(Stdio::from(err))
            .spawn()?;
        let mut worker = Self {
            socket: BufReader::new(socket),
            child,
            is_idle: false,
        };
        worker.socket.get_ref().set_read_timeout(Some(TO_BEGIN))?;
        worker.socket.read_exact(&mut [0])?;
        worker.is_idle = true;
        Ok(worker)
    }

    /// Without an answer in time it is gone.
    fn ask(
        mut self,
        directory: BorrowedFd<'_>,
        request: &[u8],
        patience: Duration,
    ) -> io::Result<(Self, Answer)> {
        self.is_idle = false;
        let socket = self.socket.get_ref();
        socket.set_read_timeout(Some(patience))?;
        let directories = [directory];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&directories));
        let message = [IoSlice::new(request)];
        sendmsg(socket.as_fd(), &message, &mut control, SendFlags::NOSIGNAL)?;
        let answer = message::read_answer(&mut self.socket)?;
        self.is_idle = true;
        Ok((self, answer))
    }
}

impl Drop for Worker {
    /// One that waits for a question ends when it hears that there will be
    /// none; the other may never end, and nobody waits for it.
    fn drop(&mut self) {
        const TRIES: u32 = 50;
        if !self.is_idle {
            let _ = self.child.kill();
            return;
        }
        let _ = self.socket.get_ref().shutdown(std::net::Shutdown::Both);
        for _ in 0..TRIES {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(Duration::from_micros(200)),
                _ => return,
            }
        }
        let _ = self.child.kill();
    }
}

fn is_late(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}
