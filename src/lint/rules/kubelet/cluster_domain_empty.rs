#![doc = include_str!("cluster_domain_empty.md")]

use crate::kubelet::flags::Name;
use crate::lint::facts::KubeletForm;
use crate::lint::rules::kubelet::common::{counts, has_form, kind_at, lacks};
use crate::lint::rules::prelude::*;

pub(super) fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let file = text.document.file;
    // kubeadm takes an empty one for none, and writes the cluster's.
    if has_form(file, KubeletForm::Kubeadm, context) {
        return;
    }
    let last = text
        .settings
        .iter()
        .rfind(|it| it.key == Name::ClusterDomain);
    let at = match last {
        Some(setting) if !counts(setting, file, context) => return,
        Some(setting) if setting.value().is_some_and(|it| it.text.is_empty()) => setting.at,
        None if text.form == KubeletForm::Configuration
            && lacks(context, |it| &it.cluster_domain) =>
        {
            kind_at(text.document)
        }
        _ => return,
    };
    report
        .add(
            at,
            "clusterDomain is empty: pods have no search domains of the cluster",
        )
        .help("write clusterDomain: cluster.local")
        .note("short names of Services do not resolve, and ndots:5 stays in each pod's file");
}
