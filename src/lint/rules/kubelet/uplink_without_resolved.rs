#![doc = include_str!("uplink_without_resolved.md")]

use crate::kubelet::choice::{NODE_FILE, UPLINK_FILE};
use crate::kubelet::flags::Name;
use crate::lint::options::Assume;
use crate::lint::rules::prelude::*;

pub(super) fn check(kubelet: &Kubelet<'_>, context: &Context<'_>, report: &mut Report) {
    let Some(setting) = kubelet.setting(Name::ResolvConf) else {
        return;
    };
    let is_uplink = setting.value().is_some_and(|it| it.text == UPLINK_FILE);
    // What was given together has the file.
    if !is_uplink || context.kubelet_file(kubelet).is_some() {
        return;
    }
    // On a node KR024 says whether it is there.
    if context.node().is_some() || context.options().assume != Some(Assume::None) {
        return;
    }
    let message = format!("{UPLINK_FILE} is not there on nodes without systemd-resolved");
    // No fix: nobody has seen the nodes.
    report
        .add(setting.at, message)
        .help(format!("write resolvConf: {NODE_FILE}"))
        .note("no pod starts, whatever its policy: the kubelet reads this file first");
}
