#![doc = include_str!("options_not_inherited.md")]

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{is_made_for_kubelet, point_to_setting};

/// Options that change how a resolver asks.
const ASKING: [&str; 8] = [
    "ndots",
    "timeout",
    "attempts",
    "rotate",
    "use-vc",
    "single-request",
    "single-request-reopen",
    "no-aaaa",
];

pub(super) fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
    if !is_made_for_kubelet(file) {
        return;
    }
    let words = file.lines("options").flat_map(Entry::values);
    let Some((word, name)) = words.into_iter().find_map(|word| {
        let name = word.bytes.split(|it| *it == b':').next()?;
        let name = ASKING.into_iter().find(|it| it.as_bytes() == name)?;
        Some((word, name))
    }) else {
        return;
    };
    let message =
        format!("pods with the policy ClusterFirst do not get {name}: they get ndots:5 alone");
    let finding = report
        .add(file.document.at(word.span), message)
        .help("set it for each pod, in dnsConfig.options");
    point_to_setting(finding, file);
}
