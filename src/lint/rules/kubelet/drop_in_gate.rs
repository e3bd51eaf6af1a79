#![doc = include_str!("drop_in_gate.md")]

use crate::kubelet::Remark;
use crate::kubelet::configuration::DROP_INS;
use crate::kubelet::effective::refuses_drop_ins;
use crate::kubelet::flags::Name;
use crate::lint::facts::KubeletForm;
use crate::lint::rules::kubelet::common::has_form;
use crate::lint::rules::prelude::*;

pub(super) fn check(kubelet: &Kubelet<'_>, context: &Context<'_>, report: &mut Report) {
    let Some(flag) = kubelet.setting(Name::ConfigDir).filter(|it| it.is_flag) else {
        return;
    };
    if flag.value().is_none_or(|it| it.text.is_empty()) {
        return;
    }
    let version = context.kubelet_version();
    let Some(reason) = refuses_drop_ins(version, has_variable(kubelet, context)) else {
        return;
    };
    // The variables of a running kubelet are known better.
    let of_node = context.node().and_then(|it| it.kubelet.as_ref());
    if of_node.is_some_and(|it| !it.remarks.contains(&Remark::Refused(reason.clone()))) {
        return;
    }
    let is_unknown = version.is_some_and(|it| it < DROP_INS);
    let help = if is_unknown {
        "remove the flag, and write the settings into the file of --config"
    } else {
        "write Environment=KUBELET_CONFIG_DROPIN_DIR_ALPHA=on into the unit, or go to 1.30"
    };
    report
        .add(flag.at, reason.to_string())
        .help(help)
        .note("the node does not become ready");
}

/// Whether the variable is set; `None`: no unit was given, which could set it.
fn has_variable(kubelet: &Kubelet<'_>, context: &Context<'_>) -> Option<bool> {
    let mut files = kubelet.files.iter();
    let has_unit = files.any(|&it| has_form(it, KubeletForm::Unit, context));
    let is_set = kubelet.has_drop_in_gate;
    (has_unit || is_set).then_some(is_set)
}
