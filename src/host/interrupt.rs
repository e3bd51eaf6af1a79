//! Ctrl-C as something that can be waited for, so that there is a last word.

use std::cell::Cell;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// Whether the run is to end: SIGINT, SIGTERM or SIGHUP came. While one of these
/// values lives, they do not end the program by themselves.
#[derive(Clone, Debug)]
pub struct Interrupt(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    signals: SignalFd,
    /// What was blocked before.
    before: SigSet,
    since: Cell<Option<Instant>>,
}

impl Interrupt {
    /// Takes over the signals of this thread that end a program, before there is another
    /// one.
    ///
    /// # Errors
    ///
    /// The system has no descriptor for it.
    pub fn catch() -> nix::Result<Self> {
        Self::from_signals([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])
    }

    /// The same of Ctrl-C alone.
    ///
    /// # Errors
    ///
    /// The system has no descriptor for it.
    pub fn catch_ctrl_c() -> nix::Result<Self> {
        Self::from_signals([Signal::SIGINT])
    }

    fn from_signals(caught: impl IntoIterator<Item = Signal>) -> nix::Result<Self> {
        let signals: SigSet = caught.into_iter().collect();
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        let descriptor = SignalFd::with_flags(&signals, flags)?;
        let before = signals.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        Ok(Self(Rc::new(Inner {
            signals: descriptor,
            before,
            since: Cell::new(None),
        })))
    }

    /// Whether one has come by now.
    pub fn has_come(&self) -> bool {
        self.since().is_some()
    }

    /// How long ago the first one was noticed.
    pub fn since(&self) -> Option<Duration> {
        let inner = &self.0;
        if inner.since.get().is_none() && matches!(inner.signals.read_signal(), Ok(Some(_))) {
            inner.since.set(Some(Instant::now()));
        }
        inner.since.get().map(|it| it.elapsed())
    }
}

impl AsFd for Interrupt {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.signals.as_fd()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Who presses once more while the last words are written means it.
        let _ = self.before.thread_set_mask();
    }
}
