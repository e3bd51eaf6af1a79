#![doc = include_str!("uplink_without_resolved.md")]

use crate::finding::Severity;
use crate::kubelet::choice::{NODE_FILE, UPLINK_FILE};
use crate::lint::context::Context;
use crate::lint::facts::Key;
use crate::lint::options::Assume;
use crate::lint::report::Report;
use crate::lint::subject::Kubelet;
use crate::lint::{Check, Rule};

/// KK002.
pub static RULE: Rule = Rule {
    code: "KK002",
    name: "uplink-file-without-resolved",
    severity: Severity::Error,
    summary: "resolvConf names systemd-resolved's file on nodes without systemd-resolved",
    page: include_str!("uplink_without_resolved.md"),
    check: Check::Kubelet(check),
};

fn check(kubelet: &Kubelet<'_>, context: &Context<'_>, report: &mut Report) {
    let Some(setting) = kubelet.setting(Key::ResolvConf) else {
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
