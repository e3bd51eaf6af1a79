#![doc = include_str!("no_cluster_dns.md")]

use crate::kubelet::flags::Name;
use crate::lint::facts::KubeletForm;
use crate::lint::rules::kubelet::common::{counts, entries, key, kind_at, lacks};
use crate::lint::rules::prelude::*;

pub(super) fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let document = text.document;
    let of_key = |it: &&crate::lint::facts::Setting| it.key == Name::ClusterDns;
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
        None if text.form == KubeletForm::Configuration && lacks(context, |it| &it.cluster_dns) => {
            kind_at(document)
        }
        None if is_whole(text) && !is_set_elsewhere(context) => {
            report
                .add(
                    kind_at(document),
                    "clusterDNS is not set: without --cluster-dns pods get the node's servers, which know no Service",
                )
                .severity(Severity::Info)
                .help("write the address of the Service kube-dns: clusterDNS: [10.96.0.10]")
                .note("each pod then has an event MissingClusterDNS");
            return;
        }
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

/// Whether it is all that a kubelet is told, and not a part that kubeadm adds to: it says who
/// may ask the kubelet.
fn is_whole(text: &KubeletText<'_>) -> bool {
    let has = |wanted: &str| entries(text).iter().any(|it| key(it) == wanted);
    let bytes = &text.document.source.bytes;
    // What a template leaves open can set it.
    text.form == KubeletForm::Configuration
        && !text.document.is_partial
        && has("authentication")
        && has("authorization")
        && ["kubeadm", "cluster-dns"]
            .iter()
            .all(|it| memchr::memmem::find(bytes, it.as_bytes()).is_none())
}

/// Whether any kubelet has the address, as from a flag: this one may be a part of it.
fn is_set_elsewhere(context: &Context<'_>) -> bool {
    let mut kubelets = context.kubelets().iter();
    kubelets.any(|it| it.setting(Name::ClusterDns).is_some())
}
