#![doc = include_str!("uplink_without_resolved.md")]

use crate::finding::Severity;
use crate::kubelet::Found;
use crate::kubelet::choice::{NODE_FILE, UPLINK_FILE};
use crate::lint::context::Context;
use crate::lint::document::Change;
use crate::lint::facts::Key;
use crate::lint::options::Assume;
use crate::lint::report::Report;
use crate::lint::subject::Kubelet;
use crate::lint::{Check, Rule};
use crate::node::Node;

/// KK002.
pub static RULE: Rule = Rule {
    code: "KK002",
    name: "uplink-file-without-resolved",
    severity: Severity::Error,
    summary: "resolvConf names systemd-resolved's file on nodes without systemd-resolved",
    page: include_str!("uplink_without_resolved.md"),
    check: Check::Kubelet(check),
};

fn check(kubelet: &Kubelet, context: &Context<'_>, report: &mut Report) {
    let Some(setting) = kubelet.setting(Key::ResolvConf) else {
        return;
    };
    let is_uplink = setting.value().is_some_and(|it| it.text == UPLINK_FILE);
    // What was given together has the file.
    if !is_uplink || context.kubelet_file(kubelet).is_some() {
        return;
    }
    let message = match (context.node(), context.options().assume) {
        (Some(node), _) if lacks_it(node) => {
            format!("{UPLINK_FILE} is not there: systemd-resolved, which writes it, does not run")
        }
        (None, Some(Assume::None)) => {
            format!("{UPLINK_FILE} is not there on nodes without systemd-resolved")
        }
        _ => return,
    };
    let finding = report
        .add(setting.at, message)
        .help(format!("write resolvConf: {NODE_FILE}"))
        .note("no pod starts, whatever its policy: the kubelet reads this file first");
    if let Some(at) = setting
        .literal
        .filter(|_| !setting.is_flag && context.node().is_none())
    {
        let text = NODE_FILE.to_owned();
        finding.fix("name the node's own file", [Some(Change { at, text })]);
    }
}

/// Whether the running kubelet of the node names the file, and nobody writes it.
fn lacks_it(node: &Node) -> bool {
    let is_named = node.kubelet.as_ref().is_some_and(|it| {
        matches!(it.found, Found::Process { .. }) && it.resolv_conf.value == UPLINK_FILE
    });
    let file = node.kubelet_file.as_ref();
    let unread = file.and_then(|it| it.content.as_ref().err());
    // Without the node's own file the tree is only a part of a node.
    let is_whole = node.node_file.as_ref().is_some_and(|it| it.content.is_ok());
    is_whole && is_named && node.resolved.is_none() && unread.is_some_and(|it| it.is_missing)
}
