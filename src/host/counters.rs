//! Counters of the kernel that are read again and again.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;

/// The connection tracking counters of a network namespace, held open: they stay
/// those of that namespace, and need no privilege any more.
#[derive(Debug)]
pub struct CounterFile(File);

/// A line for each processor; no machine has that many.
const MAX: u64 = 1 << 20;

impl CounterFile {
    /// Those of the network namespace of this thread; `None`: there is no
    /// connection tracking, or no `/proc`.
    pub fn own() -> Option<Self> {
        File::open("/proc/thread-self/net/stat/nf_conntrack")
            .ok()
            .map(Self)
    }

    /// Those of the namespace of the first process below `root`; `None` also if it
    /// may not be looked at.
    pub fn of_node(root: &Path) -> Option<Self> {
        let path = root.join("proc/1/net/stat/nf_conntrack");
        File::open(path).ok().map(Self)
    }

    /// What they are now.
    pub fn sample(&mut self) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        self.0.rewind().ok()?;
        (&mut self.0).take(MAX).read_to_end(&mut text).ok()?;
        Some(text)
    }
}
