#![doc = include_str!("cluster_domain_dot.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::document::Change;
use crate::lint::facts::{Key, KubeletForm};
use crate::lint::report::Report;
use crate::lint::rules::kubelet::common::counts;
use crate::lint::subject::KubeletText;
use crate::lint::{Check, Rule};

/// KK017.
pub static RULE: Rule = Rule {
    code: "KK017",
    name: "cluster-domain-dot",
    severity: Severity::Info,
    summary: "clusterDomain has a final dot, which stays in every search domain",
    page: include_str!("cluster_domain_dot.md"),
    check: Check::KubeletText(check),
};

fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    // kubeadm and k3s make something else of theirs.
    if matches!(text.form, KubeletForm::Kubeadm | KubeletForm::Rancher) {
        return;
    }
    let file = text.document.file;
    let last = text
        .settings
        .iter()
        .rfind(|it| it.key == Key::ClusterDomain);
    let Some(setting) = last.filter(|it| counts(it, file, context)) else {
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
