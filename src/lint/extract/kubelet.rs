//! What YAML documents set of a kubelet.

use crate::config::yaml::{Entry, Node};
use crate::kubelet::rancher;
use crate::lint::document::Document;
use crate::lint::facts::{Key, KubeletFacts, KubeletForm, Setting};
use crate::lint::inner;

use super::cluster;
use super::flags::settings;
use super::setting::{argument, configuration, is_drop_in, setting};

/// What a document sets, for each kubelet that it is about; nothing if it is
/// about something else.
pub(super) fn facts(document: &Document, root: &Node) -> Vec<KubeletFacts> {
    let facts = |(form, settings)| KubeletFacts {
        path: document.path.clone(),
        at: document.at(root.span),
        form,
        settings,
        body: (form == KubeletForm::Rancher).then(|| Box::new(document.body.clone())),
    };
    if let Some(read) = read(document, root) {
        return vec![facts(read)];
    }
    let clusters = cluster::settings(document, root).into_iter();
    let clusters = clusters.filter(|it| !it.is_empty());
    clusters
        .map(|it| facts((KubeletForm::Cluster, it)))
        .collect()
}

fn read(document: &Document, root: &Node) -> Option<(KubeletForm, Vec<Setting>)> {
    if is_patch(&document.path) {
        return Some((KubeletForm::Cluster, patch(document, root)));
    }
    let kind = root.get("kind").and_then(Node::as_scalar);
    match kind.map(|it| it.text.as_str()) {
        Some("KubeletConfiguration") => {
            let form = if is_drop_in(&document.path) {
                KubeletForm::DropIn
            } else {
                KubeletForm::Configuration
            };
            Some((form, configuration(document, root)))
        }
        Some("ClusterConfiguration" | "InitConfiguration" | "JoinConfiguration") => {
            Some((KubeletForm::Kubeadm, kubeadm(document, root)))
        }
        Some(kind) if kind.starts_with("Kubeadm") => {
            let spec = inner::kubeadm_spec(root)?;
            let nodes = [
                "clusterConfiguration",
                "initConfiguration",
                "joinConfiguration",
            ];
            let nodes = nodes.iter().filter_map(|it| spec.get(it));
            let settings: Vec<Setting> = nodes.flat_map(|it| kubeadm(document, it)).collect();
            (!settings.is_empty()).then_some((KubeletForm::Kubeadm, settings))
        }
        None if is_rancher(document, root) => Some((KubeletForm::Rancher, rancher(document))),
        _ => None,
    }
}

/// Whether a file is a patch of kubeadm's for a kubelet's configuration:
/// `kubeletconfiguration0+json.yaml`.
///
/// Source: kubernetes `cmd/kubeadm/app/util/patches/patches.go: parseFilename`.
fn is_patch(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |it| it.1);
    name.starts_with("kubeletconfiguration") && matches!(ending, "yaml" | "json")
}

/// What a patch sets: the keys of a configuration, or operations in the form
/// of RFC 6902.
fn patch(document: &Document, root: &Node) -> Vec<Setting> {
    let mut settings = configuration(document, root);
    for operation in root.as_sequence().unwrap_or_default() {
        let text = |key: &str| Some(operation.get(key)?.as_scalar()?.text.as_str());
        let is_set = matches!(text("op"), Some("add" | "replace"));
        let key = match text("path") {
            Some("/resolvConf") => Key::ResolvConf,
            Some("/clusterDNS") => Key::ClusterDns,
            Some("/clusterDomain") => Key::ClusterDomain,
            _ => continue,
        };
        let (Some(path), Some(value)) = (operation.get("path"), operation.get("value")) else {
            continue;
        };
        let entry = Entry {
            key: path.clone(),
            value: value.clone(),
        };
        settings.extend(setting(document, key, &entry).filter(|_| is_set));
    }
    settings
}

/// Whether it is the configuration of k3s or rke2: by its place, or by what it
/// has to say.
fn is_rancher(document: &Document, root: &Node) -> bool {
    let is_named = ["rancher/k3s/config.yaml", "rancher/rke2/config.yaml"]
        .iter()
        .any(|it| document.path.contains(it));
    let has = |keys: &[&str]| keys.iter().any(|it| root.get(it).is_some());
    is_named && root.as_mapping().is_some()
        || has(&["kubelet-arg", "kubelet-arg+"])
        || has(&["resolv-conf", "cluster-dns", "cluster-domain"]) && has(&RANCHER_KEYS)
}

/// Keys that few other files have.
const RANCHER_KEYS: [&str; 14] = [
    "write-kubeconfig-mode",
    "write-kubeconfig",
    "token",
    "token-file",
    "server",
    "tls-san",
    "cluster-init",
    "cluster-cidr",
    "service-cidr",
    "node-label",
    "node-taint",
    "node-ip",
    "flannel-backend",
    "cni",
];

/// `kubeletExtraArgs` as a mapping (up to `v1beta3`) or as a list of names and
/// values; the domain of the cluster.
fn kubeadm(document: &Document, root: &Node) -> Vec<Setting> {
    let mut settings = Vec::new();
    let networking = root.get("networking").and_then(Node::as_mapping);
    let is_domain = |it: &&Entry| it.key.as_scalar().is_some_and(|it| it.text == "dnsDomain");
    let domain = networking.unwrap_or_default().iter().rfind(is_domain);
    settings.extend(domain.and_then(|it| setting(document, Key::ClusterDomain, it)));
    let arguments = root
        .get("nodeRegistration")
        .and_then(|it| it.get("kubeletExtraArgs"));
    let Some(arguments) = arguments else {
        return settings;
    };
    let pairs = arguments.as_mapping().unwrap_or_default().iter();
    for entry in pairs {
        settings.extend(argument(document, &entry.key, &entry.value));
    }
    for item in arguments.as_sequence().unwrap_or_default() {
        if let (Some(name), Some(value)) = (item.get("name"), item.get("value")) {
            settings.extend(argument(document, name, value));
        }
    }
    settings
}

/// The flags that k3s and rke2 make of their options.
fn rancher(document: &Document) -> Vec<Setting> {
    let options = rancher::options(&rancher::K3S, &[(0, &document.source)], &[], &[]);
    settings(&options.flags(true), &|_| Some(&document.body))
}
