#![doc = include_str!("unknown_kubespray_word.md")]

use crate::lint::extract::is_of_kubespray;
use crate::lint::rules::is_near;
use crate::lint::rules::prelude::*;
use crate::text::WordList;
use crate::text::nearest::nearest;

/// Variables with few words, and these: what all versions know, and what older ones knew.
///
/// Source: kubernetes-sigs/kubespray `roles/validate_inventory/tasks/main.yml`; v2.8.0
/// `roles/kubernetes/preinstall/tasks/0020-verify-settings.yml`.
const WORDS: [(&str, WordList, WordList); 2] = [
    (
        "dns_mode",
        WordList("coredns coredns_dual manual none"),
        WordList("kubedns dnsmasq_kubedns"),
    ),
    (
        "resolvconf_mode",
        WordList("host_resolvconf none"),
        WordList("docker_dns"),
    ),
];

/// Variables about DNS that are long enough to be told from others.
///
/// Source: kubernetes-sigs/kubespray `docs/advanced/dns-stack.md`.
const VARIABLES: WordList = WordList(
    "dns_mode resolvconf_mode manual_dns_server upstream_dns_servers nodelocaldns_ip \
    nodelocaldns_external_zones enable_nodelocaldns enable_nodelocaldns_secondary coredns_external_zones \
    coredns_kubernetes_extra_opts dns_upstream_forward_extra_opts enable_coredns_k8s_external remove_default_searchdomains",
);

pub(super) fn check(object: &Object<'_>, _: &Context<'_>, report: &mut Report) {
    let root = object.object;
    // Other playbooks have variables with these names.
    if !is_of_kubespray(root) {
        return;
    }
    for (name, words, older) in WORDS {
        let is_wrong =
            |it: &&str| !it.is_empty() && !has_placeholder(it) && !words.has(it) && !older.has(it);
        let wrong = root.word(&[name]).filter(is_wrong);
        let (Some(wrong), Some(node)) = (wrong, root.get(name)) else {
            continue;
        };
        let all = || words.iter().collect::<Vec<_>>().join(", ");
        let near = nearest(wrong, words.iter());
        report
            .add(
                object.at(node),
                format!("kubespray knows no {name} {wrong}"),
            )
            .help(format!("write {}", near.map_or_else(all, str::to_owned)))
            .note("its playbook ends before it changes anything");
    }
    for entry in root.as_mapping().unwrap_or_default() {
        let key = entry.key.as_scalar().map_or("", |it| it.text.as_str());
        let mut near = VARIABLES.iter().filter(|it| is_near(key, it, 1));
        if let Some(meant) = near.find(|it| !VARIABLES.has(key) && root.get(it).is_none()) {
            let message = format!("kubespray asks for no variable {key}");
            report
                .add(object.at(&entry.key), message)
                .severity(Severity::Warning)
                .help(format!("write {meant}"))
                .note("Ansible ignores a variable that nobody asks for (another role may)");
        }
    }
}
