#![doc = include_str!("cluster_domain_empty.md")]

use crate::finding::Severity;
use crate::kubelet::Origin;
use crate::lint::context::Context;
use crate::lint::facts::{Key, KubeletForm};
use crate::lint::report::Report;
use crate::lint::rules::kubelet::common::{counts, has_form, kind_at};
use crate::lint::subject::KubeletText;
use crate::lint::{Check, Rule};

/// KK016.
pub static RULE: Rule = Rule {
    code: "KK016",
    name: "cluster-domain-empty",
    severity: Severity::Warning,
    summary: "without clusterDomain pods have no search domains of the cluster",
    page: include_str!("cluster_domain_empty.md"),
    check: Check::KubeletText(check),
};

fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let file = text.document.file;
    // kubeadm takes an empty one for none, and writes the cluster's.
    if has_form(file, KubeletForm::Kubeadm, context) {
        return;
    }
    let last = text
        .settings
        .iter()
        .rfind(|it| it.key == Key::ClusterDomain);
    let at = match last {
        Some(setting) if !counts(setting, file, context) => return,
        Some(setting) if setting.value().is_some_and(|it| it.text.is_empty()) => setting.at,
        None if text.form == KubeletForm::Configuration && lacks_it(context) => {
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

/// Whether nothing on the node sets it.
fn lacks_it(context: &Context<'_>) -> bool {
    let kubelet = context.node().and_then(|it| it.kubelet.as_ref());
    kubelet.is_some_and(|it| {
        it.cluster_domain.value.is_empty() && it.cluster_domain.origin == Origin::BuiltIn
    })
}
