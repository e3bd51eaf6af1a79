#![doc = include_str!("false_loop_version.md")]

use crate::finding::Severity;
use crate::kubelet::Version;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::rules::corefile::blocks;
use crate::lint::subject::CorefileText;
use crate::lint::{Check, Rule};

/// KC022.
pub static RULE: Rule = Rule {
    code: "KC022",
    name: "false-loop-version",
    severity: Severity::Warning,
    summary: "loop of this CoreDNS ends it when servers are only unreachable",
    page: include_str!("false_loop_version.md"),
    check: Check::Corefile(check),
};

/// The versions whose `loop` counted probes that merely timed out.
/// Source: coredns/coredns#2255.
const FIRST: Version = blocks::release(1, 2, 1);
const FIXED: Version = blocks::release(1, 2, 6);

fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
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
    if let Some(at) = version.at {
        finding.also(at, "the version");
    }
}
