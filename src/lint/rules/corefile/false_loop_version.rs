#![doc = include_str!("false_loop_version.md")]

use crate::kubelet::Version;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

/// The versions whose `loop` counted probes that merely timed out.
/// Source: coredns/coredns#2255.
const FIRST: Version = blocks::release(1, 2, 1);
const FIXED: Version = blocks::release(1, 2, 6);

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let version = blocks::version(file, context);
    let Some(version) = version.filter(|it| (FIRST..FIXED).contains(&it.value)) else {
        return;
    };
    let mut tests = blocks::blocks(file)
        .iter()
        .flat_map(|it| blocks::named(it, "loop"));
    let Some(at) = tests.next().and_then(|it| file.at(it.name.at)) else {
        return;
    };
    let finding = report
        .add(at, format!("loop of {} takes unreachable servers for a loop", blocks::shown(version.value)))
        .help("take CoreDNS 1.2.6 or newer; do not remove loop")
        .note("it ends with a FATAL message about six seconds after its start when its servers do not answer, though nothing loops");
    finding.also_each(version.at, "the version");
}
