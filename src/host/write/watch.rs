//! What others do to a file while it is held.

use std::cell::Cell;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::thread;
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};

/// What others do to a file, from its beginning on.
#[derive(Debug)]
pub(super) struct Watch {
    queue: OwnedFd,
    /// How many have opened it and not closed it yet.
    open: Cell<i64>,
    is_written: Cell<bool>,
}

/// So often, a millisecond apart, it is looked whether who has opened a file
/// has closed it.
const LOOKS: usize = 20;

impl Watch {
    /// Watches a file. `None`: the system cannot, or has no more room for it.
    pub(super) fn over(file: &File) -> Option<Self> {
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        let what = WatchFlags::OPEN | WatchFlags::CLOSE | WatchFlags::MODIFY;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        inotify::add_watch(&queue, path, what).ok()?;
        Some(Self {
            queue,
            open: Cell::new(0),
            is_written: Cell::new(false),
        })
    }

    /// Whether somebody has written to the file since the watch began.
    pub(super) fn is_written(&self) -> bool {
        self.look();
        self.is_written.get()
    }

    /// Whether somebody has opened it and may still write to it.
    pub(super) fn is_open(&self) -> bool {
        (0..LOOKS).all(|_| {
            self.look();
            let is_open = self.open.get() > 0;
            if is_open {
                thread::sleep(Duration::from_millis(1));
            }
            is_open
        })
    }

    fn look(&self) {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(&self.queue, &mut buffer);
        // Ends when there is nothing more to be read.
        while let Ok(event) = events.next() {
            let what = event.events();
            if what.contains(ReadFlags::OPEN) {
                self.open.set(self.open.get() + 1);
            }
            if what.intersects(ReadFlags::CLOSE_WRITE | ReadFlags::CLOSE_NOWRITE) {
                self.open.set(self.open.get() - 1);
            }
            if what.intersects(ReadFlags::MODIFY | ReadFlags::QUEUE_OVERFLOW) {
                self.is_written.set(true);
            }
        }
    }
}
