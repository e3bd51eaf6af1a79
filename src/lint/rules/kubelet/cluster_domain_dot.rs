#![doc = include_str!("cluster_domain_dot.md")]

use crate::kubelet::flags::Name;
use crate::lint::document::Change;
use crate::lint::facts::KubeletForm;
use crate::lint::rules::kubelet::common::counting;
use crate::lint::rules::prelude::*;

pub(super) fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    // kubeadm and k3s make something else of theirs.
    if matches!(text.form, KubeletForm::Kubeadm | KubeletForm::Rancher) {
        return;
    }
    let Some(setting) = counting(text, Name::ClusterDomain, context) else {
        return;
    };
    let domain = setting.value().and_then(|it| it.text.strip_suffix('.'));
    let Some(domain) = domain.filter(|it| !it.is_empty() && !it.ends_with('.')) else {
        return;
    };
    let finding = report
        .add(setting.at, format!("the final dot of {domain}. stays in the search domains of each pod"))
        .help(format!("write clusterDomain: {domain}"))
        .note("search domains that the node's file has too stand there twice, and count twice against the limits");
    if let Some(at) = setting.literal {
        let text = domain.to_owned();
        finding.fix("remove the dot", [Some(Change { at, text })]);
    }
}
