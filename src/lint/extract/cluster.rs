//! What the settings of whole clusters say of their kubelets.

use crate::config::yaml::{Entry, Node};
use crate::lint::document::Document;
use crate::lint::extract::setting::{argument, configuration, flag, setting};
use crate::lint::extract::text;
use crate::lint::facts::{Key, Setting};

/// What each of the kubelets is given that the settings of a cluster, a group
/// of machines or a machine are about; nothing if a document is about
/// something else.
pub(super) fn settings(document: &Document, root: &Node) -> Vec<Vec<Setting>> {
    let kind = root.get("kind").and_then(Node::as_scalar);
    let kind = kind.map_or("", |it| it.text.as_str());
    let version = root.get("apiVersion").and_then(Node::as_scalar);
    let group = version.map_or("", |it| it.text.split('/').next().unwrap_or_default());
    match (group, kind) {
        ("kops.k8s.io", "Cluster" | "InstanceGroup") => kops(document, root),
        ("eksctl.io", "ClusterConfig") => eksctl(document, root),
        ("k0s.k0sproject.io", "ClusterConfig") => k0s(document, root),
        ("node.eks.aws", "NodeConfig") => vec![nodeadm(document, root)],
        ("machineconfiguration.openshift.io", "KubeletConfig") => {
            let inner = at(root, &["spec", "kubeletConfig"]);
            inner
                .map(|it| configuration(document, it))
                .into_iter()
                .collect()
        }
        // What /configz of a kubelet answers.
        ("", "") if root.get("kubeletconfig").is_some() => {
            let inner = root.get("kubeletconfig");
            inner
                .map(|it| configuration(document, it))
                .into_iter()
                .collect()
        }
        ("", "") if root.get("machine").is_some() => vec![talos(document, root)],
        ("", "") if at(root, &["services", "kubelet"]).is_some() => vec![rke(document, root)],
        _ => Vec::new(),
    }
}

fn at<'n>(root: &'n Node, path: &[&str]) -> Option<&'n Node> {
    path.iter().try_fold(root, |node, key| node.get(key))
}

/// The kubelets of kops: that of the nodes, and what those of the control
/// plane have in place of it.
///
/// Source: kubernetes/kops `pkg/apis/kops/componentconfig.go: KubeletConfigSpec`.
fn kops(document: &Document, root: &Node) -> Vec<Vec<Setting>> {
    let specs = ["kubelet", "controlPlaneKubelet", "masterKubelet"];
    let specs = specs.iter().filter_map(|key| at(root, &["spec", key]));
    let settings = specs.map(|spec| {
        let entries = spec.as_mapping().unwrap_or_default().iter();
        let settings = entries.filter_map(|entry| text_setting(document, entry));
        settings.collect::<Vec<Setting>>()
    });
    settings.filter(|it| !it.is_empty()).collect()
}

/// A setting whose value is one text: addresses with commas between them.
fn text_setting(document: &Document, entry: &Entry) -> Option<Setting> {
    let name = match entry.key.as_scalar()?.text.as_str() {
        "resolvConf" => "resolv-conf",
        "clusterDNS" => "cluster-dns",
        "clusterDomain" => "cluster-domain",
        _ => return None,
    };
    let written = text(document, &entry.key)?;
    let value = text(document, &entry.value)?;
    let setting = flag(written, &value, &format!("--{name}={}", value.text))?;
    let is_flag = false;
    Some(Setting { is_flag, ..setting })
}

/// The kubelets of each group of nodes.
///
/// Source: eksctl-io/eksctl `pkg/apis/eksctl.io/v1alpha5/types.go`: `ClusterDNS`, `KubeletExtraConfig`.
fn eksctl(document: &Document, root: &Node) -> Vec<Vec<Setting>> {
    let groups = ["nodeGroups", "managedNodeGroups"].iter();
    let groups = groups.flat_map(|it| list(root, &[it]));
    let settings = groups.map(|group| {
        let dns = entry(group.as_mapping(), "clusterDNS");
        let mut settings: Vec<Setting> = dns
            .and_then(|it| text_setting(document, it))
            .into_iter()
            .collect();
        let config = group.get("kubeletExtraConfig");
        settings.extend(
            config
                .map(|it| configuration(document, it))
                .unwrap_or_default(),
        );
        settings
    });
    settings.collect()
}

/// The kubelets of each profile of workers.
///
/// Source: k0sproject/k0s `pkg/apis/k0s/v1beta1/worker_profile.go`.
fn k0s(document: &Document, root: &Node) -> Vec<Vec<Setting>> {
    let profiles = list(root, &["spec", "workerProfiles"]).iter();
    let values = profiles.filter_map(|it| it.get("values"));
    values.map(|it| configuration(document, it)).collect()
}

fn list<'n>(root: &'n Node, path: &[&str]) -> &'n [Node] {
    let list = at(root, path).and_then(Node::as_sequence);
    list.unwrap_or_default()
}

/// Source: awslabs/amazon-eks-ami `nodeadm/api/v1alpha1/nodeconfig_types.go`.
fn nodeadm(document: &Document, root: &Node) -> Vec<Setting> {
    let config = at(root, &["spec", "kubelet", "config"]);
    let mut settings = config
        .map(|it| configuration(document, it))
        .unwrap_or_default();
    let flags = at(root, &["spec", "kubelet", "flags"]);
    let items = flags.and_then(Node::as_sequence).unwrap_or_default();
    for item in items {
        settings.extend(text(document, item).and_then(|it| flag(it.clone(), &it, &it.text)));
    }
    let entries = flags.and_then(Node::as_mapping).unwrap_or_default();
    for entry in entries {
        settings.extend(argument(document, &entry.key, &entry.value));
    }
    settings
}

/// Source: siderolabs/talos `pkg/machinery/config/types/v1alpha1`: `KubeletConfig`.
fn talos(document: &Document, root: &Node) -> Vec<Setting> {
    let mut settings = Vec::new();
    if let Some(config) = at(root, &["machine", "kubelet", "extraConfig"]) {
        settings.extend(configuration(document, config));
    }
    let named = [
        (Key::ClusterDns, ["machine", "kubelet"], "clusterDNS"),
        (Key::ClusterDomain, ["cluster", "network"], "dnsDomain"),
    ];
    for (key, path, name) in named {
        let entries = at(root, &path).and_then(Node::as_mapping);
        settings.extend(entry(entries, name).and_then(|it| setting(document, key, it)));
    }
    let arguments = at(root, &["machine", "kubelet", "extraArgs"]);
    settings.extend(arguments.map(|it| pairs(document, it)).unwrap_or_default());
    settings
}

/// Source: rancher/rke `types/rke_types.go: KubeletService`.
fn rke(document: &Document, root: &Node) -> Vec<Setting> {
    let kubelet = at(root, &["services", "kubelet"]);
    let entries = kubelet.and_then(Node::as_mapping);
    let mut settings = Vec::new();
    for (name, argument) in [
        ("cluster_domain", "cluster-domain"),
        ("cluster_dns_server", "cluster-dns"),
    ] {
        settings.extend(entry(entries, name).and_then(|entry| {
            let written = text(document, &entry.key)?;
            let value = text(document, &entry.value)?;
            flag(written, &value, &format!("--{argument}={}", value.text))
        }));
    }
    for key in ["extra_args", "extra_args_array"] {
        let arguments = kubelet.and_then(|it| it.get(key));
        settings.extend(arguments.map(|it| pairs(document, it)).unwrap_or_default());
    }
    settings
}

/// The last entry of a name.
fn entry<'n>(entries: Option<&'n [Entry]>, name: &str) -> Option<&'n Entry> {
    let is_it = |it: &&Entry| it.key.as_scalar().is_some_and(|it| it.text == name);
    entries.unwrap_or_default().iter().rfind(is_it)
}

/// Flags as names with a value or with a list of values.
fn pairs(document: &Document, arguments: &Node) -> Vec<Setting> {
    let mut settings = Vec::new();
    for entry in arguments.as_mapping().unwrap_or_default() {
        let values = entry.value.as_sequence();
        for value in values.unwrap_or(std::slice::from_ref(&entry.value)) {
            settings.extend(argument(document, &entry.key, value));
        }
    }
    settings
}
