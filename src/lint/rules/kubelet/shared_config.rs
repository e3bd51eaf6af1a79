#![doc = include_str!("shared_config.md")]

use crate::kubelet::choice::UPLINK_FILE;
use crate::kubelet::flags::Name;
use crate::lint::embedded::Layers;
use crate::lint::facts::KubeletForm;
use crate::lint::rules::prelude::*;

/// In a fleet of one system it is right.
pub(super) fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let document = text.document;
    // The key of kubeadm's ConfigMap.
    let is_shared = document.layers != Layers::default() && document.path.ends_with("/kubelet");
    if text.form != KubeletForm::Configuration || !is_shared || context.options().assume.is_some() {
        return;
    }
    let last = text.settings.iter().rfind(|it| it.key == Name::ResolvConf);
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
