//! Asks DNS servers for random names and watches the wire for them.
//!
//! One thread enters the network namespaces one after the other and opens
//! sockets there, which stay where they were opened. Then it gives up its
//! capabilities, and only after that it reads what the network sends. What the
//! packets mean is up to [`crate::check_loop::seen`].

pub mod frame;
pub(crate) mod message;
mod namespace;
mod watch;

use std::path::Path;
use std::thread::Builder;
use std::time::Duration;

use caps::{CapSet, Capability};

use crate::check_loop::seen::{Record, Target};
use crate::host::io_reason;

/// No probe takes longer.
pub const LIMIT: Duration = Duration::from_secs(10);

/// Time from one query to the next: 20 a second.
const PACE: Duration = Duration::from_millis(50);

/// Asks the targets within `limit`, at most [`LIMIT`], and says what came of
/// it. Files of namespaces are looked for below `root`, which is `/` or where
/// a container has the node's files.
pub fn run(root: &Path, targets: &[Target], limit: Duration) -> Record {
    if let Some(missing) = missing_capabilities(targets) {
        let trouble = |number| (number, missing.clone());
        return Record {
            troubles: (0..targets.len()).map(trouble).collect(),
            ..Record::default()
        };
    }
    // A thread has a network namespace and capabilities of its own.
    let probe = || {
        let (mut sockets, record) = namespace::open(root, targets);
        match drop_capabilities() {
            Ok(()) => watch::ask(targets, &mut sockets, record, limit.min(LIMIT)),
            Err(reason) => all_troubled(targets, record, &reason),
        }
    };
    let trouble = |reason: &str| all_troubled(targets, Record::default(), reason);
    std::thread::scope(|scope| match Builder::new().spawn_scoped(scope, probe) {
        Ok(thread) => thread
            .join()
            .unwrap_or_else(|_| trouble("the probe broke off")),
        Err(error) => trouble(&format!(
            "the probe cannot have a thread: {}",
            io_reason(&error)
        )),
    })
}

fn all_troubled(targets: &[Target], mut record: Record, reason: &str) -> Record {
    let numbers = 0..targets.len();
    record
        .troubles
        .extend(numbers.map(|number| (number, reason.to_owned())));
    record
}

/// The capabilities that are needed and not there, as a sentence.
fn missing_capabilities(targets: &[Target]) -> Option<String> {
    let mut needed = vec![Capability::CAP_NET_RAW];
    if targets.iter().any(|target| target.namespace.is_some()) {
        needed.push(Capability::CAP_SYS_ADMIN);
    }
    needed.retain(|it| !has(*it));
    let names: Vec<String> = needed.iter().map(ToString::to_string).collect();
    (!names.is_empty()).then(|| {
        format!(
            "the probe needs {}; run it as root on the node, or in a privileged pod",
            names.join(" and ")
        )
    })
}

fn has(capability: Capability) -> bool {
    caps::has_cap(None, CapSet::Effective, capability).unwrap_or(false)
}

/// Gives up every capability of this thread.
fn drop_capabilities() -> Result<(), String> {
    [CapSet::Effective, CapSet::Inheritable, CapSet::Permitted]
        .into_iter()
        .try_for_each(|set| caps::clear(None, set))
        .map_err(|error| format!("the probe cannot give up its capabilities: {error}"))
}
