#![doc = include_str!("no_cluster_dns.md")]

use crate::finding::Severity;
use crate::kubelet::Origin;
use crate::lint::context::Context;
use crate::lint::facts::{Key, KubeletForm};
use crate::lint::report::Report;
use crate::lint::rules::kubelet::common::{counts, entries, key, kind_at};
use crate::lint::subject::KubeletText;
use crate::lint::{Check, Rule};

/// KK012.
pub static RULE: Rule = Rule {
    code: "KK012",
    name: "no-cluster-dns",
    severity: Severity::Error,
    summary: "the kubelet knows no address of the cluster's DNS",
    page: include_str!("no_cluster_dns.md"),
    check: Check::KubeletText(check),
};

fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let document = text.document;
    let of_key = |it: &&crate::lint::facts::Setting| it.key == Key::ClusterDns;
    let last = text.settings.iter().rfind(of_key);
    // A list without texts is another thing than an empty one.
    let is_empty_list = entries(text)
        .iter()
        .rfind(|it| key(it) == "clusterDNS")
        .and_then(|it| it.value.as_sequence())
        .is_some_and(<[_]>::is_empty);
    let at = match last {
        Some(setting) if !counts(setting, document.file, context) => return,
        Some(setting) if setting.is_flag && setting.values.is_empty() => setting.at,
        Some(setting) if !setting.is_flag && is_empty_list => setting.at,
        None if text.form == KubeletForm::Configuration && lacks_it(context) => kind_at(document),
        _ => return,
    };
    let help = match context.options().cluster_dns.first() {
        Some(address) => format!("write clusterDNS: [{address}]"),
        None => "write the address of the Service kube-dns: clusterDNS: [10.96.0.10]".to_owned(),
    };
    report
        .add(
            at,
            "clusterDNS is empty: pods get the node's servers, which know no Service",
        )
        .help(help)
        .note("each pod has an event MissingClusterDNS, and names of Services do not resolve");
}

/// Whether nothing on the node sets it.
fn lacks_it(context: &Context<'_>) -> bool {
    let kubelet = context.node().and_then(|it| it.kubelet.as_ref());
    kubelet.is_some_and(|it| {
        it.cluster_dns.value.is_empty() && it.cluster_dns.origin == Origin::BuiltIn
    })
}
