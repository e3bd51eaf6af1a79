//! The kernel's counters before and after, live and in a capture.

use crate::host::counters::CounterFile;
use crate::node::kernel::{self, ConntrackCounters};
use crate::packet::Carried;

/// Whose counters: those of the target's namespace, and of the node's.
pub(super) const OWN: &str = "connection tracking of the target";
pub(super) const NODE: &str = "connection tracking of the node";

const BEFORE: &str = "before";
const AFTER: &str = "after";

/// What a capture carries of the counters of `whose`.
pub(super) fn pair(
    carried: &Carried,
    whose: &str,
) -> Option<(ConntrackCounters, ConntrackCounters)> {
    let read = |when: &str| {
        let name = name(whose, when);
        kernel::statistics(&name, carried.get(&name)?).map(|it| it.counters)
    };
    Some((read(BEFORE)?, read(AFTER)?))
}

/// The part of what a capture carries that is known at its end.
pub(super) fn after(carried: &Carried) -> Carried {
    let mut after = Carried::default();
    for whose in [OWN, NODE] {
        let name = name(whose, AFTER);
        if let Some(bytes) = carried.get(&name) {
            after.put(&name, bytes);
        }
    }
    after
}

fn name(whose: &str, when: &str) -> String {
    format!("{whose}, {when}")
}

/// The counters of both while watching live.
#[derive(Debug, Default)]
pub(super) struct Counted {
    pub(super) own: Option<CounterFile>,
    pub(super) node: Option<CounterFile>,
}

impl Counted {
    /// Reads them before; as what a capture carries.
    pub(super) fn before(&mut self) -> Carried {
        self.sample(BEFORE)
    }

    /// Reads them after.
    pub(super) fn after(&mut self) -> Carried {
        self.sample(AFTER)
    }

    fn sample(&mut self, when: &str) -> Carried {
        let mut carried = Carried::default();
        for (whose, file) in [(OWN, &mut self.own), (NODE, &mut self.node)] {
            if let Some(text) = file.as_mut().and_then(CounterFile::sample) {
                carried.put(&name(whose, when), text);
            }
        }
        carried
    }
}
