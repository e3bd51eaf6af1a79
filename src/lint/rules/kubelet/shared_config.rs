#![doc = include_str!("shared_config.md")]

use crate::finding::Severity;
use crate::kubelet::choice::UPLINK_FILE;
use crate::lint::context::Context;
use crate::lint::embedded::Layers;
use crate::lint::facts::{Key, KubeletForm};
use crate::lint::report::Report;
use crate::lint::subject::KubeletText;
use crate::lint::{Check, Rule};

/// KK019.
pub static RULE: Rule = Rule {
    code: "KK019",
    name: "shared-config-from-one-node",
    // In a fleet of one system it is right.
    severity: Severity::Info,
    summary: "the cluster-wide kubelet configuration names systemd-resolved's file",
    page: include_str!("shared_config.md"),
    check: Check::KubeletText(check),
};

fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let document = text.document;
    // The key of kubeadm's ConfigMap.
    let is_shared = document.layers != Layers::default() && document.path.ends_with("/kubelet");
    if text.form != KubeletForm::Configuration || !is_shared || context.options().assume.is_some() {
        return;
    }
    let last = text.settings.iter().rfind(|it| it.key == Key::ResolvConf);
    let Some(setting) = last.filter(|it| it.value().is_some_and(|it| it.text == UPLINK_FILE))
    else {
        return;
    };
    report
        .add(setting.at, format!("each node that joins gets {UPLINK_FILE}, also one without systemd-resolved"))
        .help("where nodes differ, remove the line, and give each node its own resolvConf with kubeadm's --patches")
        .note("on a node without systemd-resolved the file is not there, and no pod starts")
        .note("--assume says what the nodes are like");
}
