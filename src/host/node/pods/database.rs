//! Reads how a container that ended was started from containerd's database.

use std::io::Read as _;
use std::path::Path;

use super::contents::Look;
use crate::node::Pod;
use crate::node::launch::{self, Launch};

/// So much of it is looked through at once.
const PART: usize = 1 << 20;
/// So much of that is looked through again with what follows: longer
/// specifications are not found.
const OVERLAP: usize = 128 << 10;
/// More of a database is not read.
const MAX_PARTS: usize = 128;

/// Where a mount is another one at each start: the file for a last word.
const TERMINATION_LOG: &str = "/dev/termination-log";

impl Look<'_> {
    /// How the container of this name was started last; `None`: containerd did
    /// not write it down, or it was started in several ways.
    pub(super) fn in_database(&self, pod: &Pod, name: &str) -> Option<Launch> {
        let sandbox = pod.sandbox.as_deref()?;
        let file = &pod.resolv_conf.as_ref()?.source.name;
        let (root, _) = file.split_once("/io.containerd.grpc.v1.cri/sandboxes/")?;
        let path = format!("{root}/io.containerd.metadata.v1.bolt/meta.db");
        let mut file = self.root.parts(Path::new(&path)).ok()?;
        let mut found: Vec<Launch> = Vec::new();
        let mut part = Vec::new();
        for _ in 0..MAX_PARTS {
            let read = file
                .by_ref()
                .take(PART as u64)
                .read_to_end(&mut part)
                .ok()?;
            if read == 0 {
                break;
            }
            found.extend(launch::in_database(&part, sandbox, name));
            part.drain(..part.len().saturating_sub(OVERLAP));
        }
        for launch in &mut found {
            launch.mounts.retain(|it| it.point != TERMINATION_LOG);
        }
        let last = found.pop()?;
        found.iter().all(|it| *it == last).then_some(last)
    }
}
