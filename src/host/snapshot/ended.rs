//! What was unpacked goes with kdns, also where a signal ends it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io, thread};

use nix::sys::signal::{SigSet, Signal, raise};
use procfs::process::Process;
use tempfile::TempDir;

/// The directories. Whoever writes into one holds them for as long.
static UNPACKED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

pub(super) fn hold() -> MutexGuard<'static, Vec<PathBuf>> {
    UNPACKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a directory below `place` that a signal which would end this program takes
/// along, where there can be a thread that waits for one.
pub(super) fn directory_below(place: &Path) -> io::Result<TempDir> {
    let mut all = hold();
    if all.is_empty() {
        wait_for_signals();
    }
    let directory = tempfile::Builder::new().prefix("kdns-").tempdir_in(place)?;
    all.push(directory.path().to_owned());
    Ok(directory)
}

fn wait_for_signals() {
    let signals = ending();
    if signals.thread_block().is_err() {
        return;
    }
    let thread = thread::Builder::new().name("signals".to_owned());
    let spawned = thread.spawn(move || {
        let Ok(signal) = signals.wait() else { return };
        // For good: nothing is added any more.
        let all = hold();
        for directory in all.iter() {
            // Where it is not there any more, there is nothing to do.
            let _ = fs::remove_dir_all(directory);
        }
        let _ = signals.thread_unblock();
        let _ = raise(signal);
    });
    if spawned.is_err() {
        let _ = signals.thread_unblock();
    }
}

/// The signals that end a program, but those that its caller lets it ignore
/// (`nohup`, a shell's `&`): blocked, they would come all the same.
fn ending() -> SigSet {
    let ignored = Process::myself().and_then(|it| it.status());
    let ignored = ignored.map_or(u64::MAX, |it| it.sigign);
    let all = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
    let is_heard = |it: &Signal| ignored >> (*it as u32 - 1) & 1 == 0;
    all.into_iter().filter(is_heard).collect()
}
