//! What the settings of whole clusters say of their kubelets.

use crate::config::yaml::Node;
use crate::kubelet::flags::Name;
use crate::lint::document::Document;
use crate::lint::extract::setting::{Made, entry_at};
use crate::lint::facts::Setting;

/// What each of the kubelets is given that the settings of a cluster, a group
/// of machines or a machine are about; nothing if a document is about
/// something else.
pub(super) fn settings(document: &Document, root: &Node) -> Vec<Vec<Setting>> {
    let kind = root.word(&["kind"]).unwrap_or_default();
    let version = root.word(&["apiVersion"]).unwrap_or_default();
    let group = version.split('/').next().unwrap_or_default();
    let made = || Made::of(document);
    let made = match (group, kind) {
        ("kops.k8s.io", "Cluster" | "InstanceGroup") => kops(document, root),
        ("eksctl.io", "ClusterConfig") => eksctl(document, root),
        ("k0s.k0sproject.io", "ClusterConfig") => k0s(document, root),
        ("node.eks.aws", "NodeConfig") => vec![nodeadm(made(), root)],
        ("machineconfiguration.openshift.io", "KubeletConfig") => {
            vec![made().configuration(root.at(&["spec", "kubeletConfig"]))]
        }
        // What /configz of a kubelet answers.
        ("", "") if root.get("kubeletconfig").is_some() => {
            vec![made().configuration(root.get("kubeletconfig"))]
        }
        ("", "") if root.get("machine").is_some() => vec![talos(made(), root)],
        ("", "") => vec![rke(made(), root)],
        _ => Vec::new(),
    };
    made.into_iter().map(|it| it.settings).collect()
}

/// The kubelets of kops: that of the nodes, and what those of the control
/// plane have in place of it.
///
/// Source: kubernetes/kops `pkg/apis/kops/componentconfig.go: KubeletConfigSpec`.
fn kops<'d>(document: &'d Document, root: &Node) -> Vec<Made<'d>> {
    let specs = ["kubelet", "controlPlaneKubelet", "masterKubelet"];
    let specs = specs.iter().filter_map(|key| root.at(&["spec", key]));
    let made = specs.map(|spec| {
        let entries = spec.as_mapping().unwrap_or_default().iter();
        entries.fold(Made::of(document), |made, it| made.text(Some(it)))
    });
    made.collect()
}

/// The kubelets of each group of nodes.
///
/// Source: eksctl-io/eksctl `pkg/apis/eksctl.io/v1alpha5/types.go`: `ClusterDNS`, `KubeletExtraConfig`.
fn eksctl<'d>(document: &'d Document, root: &Node) -> Vec<Made<'d>> {
    let groups = ["nodeGroups", "managedNodeGroups"].iter();
    let groups = groups.flat_map(|it| root.items(&[it]));
    let made = groups.map(|group| {
        let made = Made::of(document).text(entry_at(group, &["clusterDNS"]));
        made.configuration(group.get("kubeletExtraConfig"))
    });
    made.collect()
}

/// The kubelets of each profile of workers.
///
/// Source: k0sproject/k0s `pkg/apis/k0s/v1beta1/worker_profile.go`.
fn k0s<'d>(document: &'d Document, root: &Node) -> Vec<Made<'d>> {
    let profiles = root.items(&["spec", "workerProfiles"]).iter();
    let made = profiles.map(|it| Made::of(document).configuration(it.get("values")));
    made.collect()
}

/// Source: awslabs/amazon-eks-ami `nodeadm/api/v1alpha1/nodeconfig_types.go`.
fn nodeadm<'d>(made: Made<'d>, root: &Node) -> Made<'d> {
    made.configuration(root.at(&["spec", "kubelet", "config"]))
        .arguments(root.at(&["spec", "kubelet", "flags"]))
}

/// Source: siderolabs/talos `pkg/machinery/config/types/v1alpha1`: `KubeletConfig`.
fn talos<'d>(made: Made<'d>, root: &Node) -> Made<'d> {
    let servers = entry_at(root, &["machine", "kubelet", "clusterDNS"]);
    let domain = entry_at(root, &["cluster", "network", "dnsDomain"]);
    made.configuration(root.at(&["machine", "kubelet", "extraConfig"]))
        .entry(Some(Name::ClusterDns), servers)
        .entry(Some(Name::ClusterDomain), domain)
        .arguments(root.at(&["machine", "kubelet", "extraArgs"]))
}

/// Source: rancher/rke `types/rke_types.go: KubeletService`.
fn rke<'d>(made: Made<'d>, root: &Node) -> Made<'d> {
    let Some(kubelet) = root.at(&["services", "kubelet"]) else {
        return made;
    };
    made.flag("cluster-domain", entry_at(kubelet, &["cluster_domain"]))
        .flag("cluster-dns", entry_at(kubelet, &["cluster_dns_server"]))
        .arguments(kubelet.get("extra_args"))
        .arguments(kubelet.get("extra_args_array"))
}
