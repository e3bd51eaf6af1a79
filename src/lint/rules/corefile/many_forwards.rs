#![doc = include_str!("many_forwards.md")]

use crate::kubelet::Version;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

/// From here on a block can have several.
/// Source: coredns/coredns#5127.
const SEVERAL: Version = blocks::release(1, 9, 4);

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let Some(version) = blocks::version(file, context).filter(|it| it.value < SEVERAL) else {
        return;
    };
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        let mut forwards = blocks::named(block, "forward");
        let (Some(first), Some(second)) = (forwards.next(), forwards.next()) else {
            continue;
        };
        let Some(at) = places.first(&second.name) else {
            continue;
        };
        let message = format!(
            "{} takes one forward in a server block, and this is the second",
            blocks::shown(version.value)
        );
        report
            .add(at, message)
            .help("put the zone into a server block of its own, or take CoreDNS 1.9.4 or newer")
            .note("the pod ends with this plugin can only be used once per Server Block at its next start")
            .also_each(file.at(first.name.at), "the first")
            .also_each(version.at, "the version");
    }
}
