#![doc = include_str!("unknown_kubespray_word.md")]

use crate::lint::extract::is_of_kubespray;
use crate::lint::rules::is_near;
use crate::lint::rules::prelude::*;
use crate::text::nearest::nearest;

/// Variables with few words, and these; the last ones of older versions.
///
/// Source: kubernetes-sigs/kubespray `roles/validate_inventory/tasks/main.yml`; v2.8.0
/// `roles/kubernetes/preinstall/tasks/0020-verify-settings.yml`.
const WORDS: [(&str, &str); 2] = [
    (
        "dns_mode",
        "coredns coredns_dual manual none kubedns dnsmasq_kubedns",
    ),
    ("resolvconf_mode", "host_resolvconf docker_dns none"),
];

/// Variables about DNS that are long enough to be told from others.
///
/// Source: kubernetes-sigs/kubespray `docs/advanced/dns-stack.md`.
const VARIABLES: &str = "dns_mode resolvconf_mode manual_dns_server upstream_dns_servers nodelocaldns_ip \
    nodelocaldns_external_zones enable_nodelocaldns enable_nodelocaldns_secondary coredns_external_zones \
    coredns_kubernetes_extra_opts dns_upstream_forward_extra_opts enable_coredns_k8s_external remove_default_searchdomains";

pub(super) fn check(object: &Object<'_>, _: &Context<'_>, report: &mut Report) {
    let root = object.object;
    let is_of_kubespray = is_of_kubespray(root);
    for (name, words) in WORDS {
        let is_wrong = |it: &&str| !has_placeholder(it) && words.split(' ').all(|word| word != *it);
        let wrong = root.word(&[name]).filter(is_wrong);
        let (Some(wrong), Some(node)) = (wrong, root.get(name)) else {
            continue;
        };
        let near = nearest(wrong, words.split(' '));
        if near.is_some() || is_of_kubespray {
            let message = format!("kubespray knows no {name} {wrong}");
            report
                .add(object.at(node), message)
                .help(format!("write {}", near.unwrap_or(words)))
                .note("its playbook ends before it changes anything");
        }
    }
    let entries = root.as_mapping().filter(|_| is_of_kubespray);
    for entry in entries.unwrap_or_default() {
        let key = entry.key.as_scalar().map_or("", |it| it.text.as_str());
        let is_known = VARIABLES.split(' ').any(|it| it == key);
        let mut near = VARIABLES.split(' ').filter(|it| is_near(key, it, 1));
        if let Some(meant) = near.find(|it| !is_known && root.get(it).is_none()) {
            let message = format!("kubespray has no variable {key}");
            report
                .add(object.at(&entry.key), message)
                .severity(Severity::Warning)
                .help(format!("write {meant}"))
                .note("Ansible passes over a variable that nobody asks for");
        }
    }
}
