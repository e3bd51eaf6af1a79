//! What the settings of whole clusters say of their kubelets.

use crate::config::yaml::Node;
use crate::kubelet::Version;
use crate::kubelet::choice::NODE_FILE;
use crate::kubelet::flags::Name;
use crate::lint::document::Document;
use crate::lint::extract::setting::{Made, entry_at};
use crate::lint::extract::text;
use crate::lint::facts::{DnsPod, Setting};
use crate::lint::inner::is_plain;
use crate::text::WordList;

/// What each of the kubelets is given that the settings of a cluster, a group
/// of machines or a machine are about; nothing if a document is about
/// something else.
pub(super) fn settings(document: &Document, root: &Node) -> Vec<Vec<Setting>> {
    let kind = root.word(&["kind"]).unwrap_or_default();
    let version = root.word(&["apiVersion"]).unwrap_or_default();
    let group = version.split('/').next().unwrap_or_default();
    let made = || Made::new(document);
    let made = match (group, kind) {
        ("kops.k8s.io", "Cluster" | "InstanceGroup") => kops(document, root),
        ("eksctl.io", "ClusterConfig") => eksctl(document, root),
        ("k0s.k0sproject.io", "ClusterConfig") => k0s(document, root),
        ("karpenter.sh" | "karpenter.k8s.aws", _) => {
            let found = KARPENTER.iter().filter_map(|it| root.at(it));
            found.map(|it| made().configuration(Some(it))).collect()
        }
        ("node.eks.aws", "NodeConfig") => vec![nodeadm(made(), root)],
        ("machineconfiguration.openshift.io", "KubeletConfig") => {
            vec![made().configuration(root.at(&["spec", "kubeletConfig"]))]
        }
        // What /configz of a kubelet answers.
        ("", "") if root.get("kubeletconfig").is_some() => {
            vec![made().configuration(root.get("kubeletconfig"))]
        }
        ("", "") if root.get("machine").is_some() => vec![talos(made(), root)],
        ("", "") => {
            let own = variables(root).map(|it| made().configuration(Some(it)));
            own.chain([rke(made(), root), kubespray(made(), root)])
                .collect()
        }
        _ => Vec::new(),
    };
    made.into_iter().map(|it| it.settings).collect()
}

/// The CoreDNS of a cluster that kubeadm makes: that of a tag, else the one that an old
/// Kubernetes comes with. It tells its version only.
///
/// Source: kubernetes/kubernetes `cmd/kubeadm/app/constants/constants.go` v1.13.0 to v1.18.0:
/// `CoreDNSVersion`; `cmd/kubeadm/app/apis/kubeadm/types.go`: `ImageMeta`.
pub(super) fn kubeadm_dns(document: &Document, object: &Node) -> Option<DnsPod> {
    const OLD: [(u32, &str); 6] = [
        (13, "1.2.6"),
        (14, "1.3.1"),
        (15, "1.3.1"),
        (16, "1.6.2"),
        (17, "1.6.5"),
        (18, "1.6.7"),
    ];
    let version = object.word(&["apiVersion"])?;
    // Before, a gate of features told kube-dns.
    version.starts_with("kubeadm.k8s.io/v1beta").then_some(())?;
    (object.word(&["dns", "type"]) != Some("kube-dns")).then_some(())?;
    let tag = object.at(&["dns", "imageTag"]);
    let mut image = text(document, tag.or_else(|| object.get("kubernetesVersion"))?)?;
    if tag.is_none() {
        let version = Version::find(&image.text)?;
        let old = OLD
            .iter()
            .find(|it| (1, it.0) == (version.major, version.minor));
        old?.1.clone_into(&mut image.text);
    }
    image.text = format!("coredns:{}", image.text);
    Some(DnsPod {
        label: "kubeadm".to_owned(),
        at: image.at,
        policy: None,
        host_network: false,
        image: Some(image),
        is_clusters: false,
    })
}

/// Configurations that are variables of a playbook, which writes them to a file.
fn variables(root: &Node) -> impl Iterator<Item = &Node> {
    let entries = root.as_mapping().unwrap_or_default().iter();
    let values = entries.map(|it| &it.value);
    values.filter(|it| it.word(&["kind"]) == Some("KubeletConfiguration"))
}

/// Where Karpenter has the settings of the kubelets that it starts, in a class of nodes
/// and, before 1.0, in what makes them.
///
/// Source: aws/karpenter-provider-aws `pkg/apis/v1/ec2nodeclass.go: KubeletConfiguration`;
/// kubernetes-sigs/karpenter `pkg/apis/v1beta1/nodeclaim.go`.
const KARPENTER: [&[&str]; 3] = [
    &["spec", "kubelet"],
    &["spec", "kubeletConfiguration"],
    &["spec", "template", "spec", "kubelet"],
];

/// The kubelets of kops: that of the nodes, and what those of the control
/// plane have in place of it.
///
/// Source: kubernetes/kops `pkg/apis/kops/componentconfig.go: KubeletConfigSpec`.
fn kops<'d>(document: &'d Document, root: &Node) -> Vec<Made<'d>> {
    let specs = ["kubelet", "controlPlaneKubelet", "masterKubelet"];
    let specs = specs.iter().filter_map(|key| root.at(&["spec", key]));
    let made = specs.map(|spec| {
        let entries = spec.as_mapping().unwrap_or_default().iter();
        entries.fold(Made::new(document), |made, it| made.text(Some(it)))
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
        let made = Made::new(document).text(entry_at(group, &["clusterDNS"]));
        made.configuration(group.get("kubeletExtraConfig"))
    });
    made.collect()
}

/// The kubelets of each profile of workers; all are given the domain.
///
/// Source: k0sproject/k0s `pkg/apis/k0s/v1beta1/worker_profile.go`,
/// `pkg/component/controller/workerconfig/reconciler.go`.
fn k0s<'d>(document: &'d Document, root: &Node) -> Vec<Made<'d>> {
    let domain = entry_at(root, &["spec", "network", "clusterDomain"]);
    let base = || Made::new(document).entry(Some(Name::ClusterDomain), domain);
    let profiles = root.items(&["spec", "workerProfiles"]).iter();
    let made = profiles.map(|it| base().configuration(it.get("values")));
    let mut made: Vec<Made<'_>> = made.collect();
    if made.is_empty() {
        made.push(base());
    }
    made
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

/// Variables that nothing else than kubespray has.
const KUBESPRAY: WordList = WordList(
    "nodelocaldns_ip enable_nodelocaldns resolvconf_mode skydns_server manual_dns_server \
    kubelet_config_extra_args kube_service_addresses kube_resolv_conf",
);

/// Whether a file has variables of kubespray.
pub fn is_of_kubespray(root: &Node) -> bool {
    KUBESPRAY.iter().any(|it| root.get(it).is_some())
}

/// What kubespray's variables make of every kubelet; what they are put together from is
/// not known. Where `kube_resolv_conf` is the node's file, it is another one on most
/// distributions.
///
/// Source: kubernetes-sigs/kubespray `roles/kubernetes/node/templates/kubelet-config.v1beta1.yaml.j2`,
/// `roles/kubespray_defaults/defaults/main/main.yml`.
fn kubespray<'d>(made: Made<'d>, root: &Node) -> Made<'d> {
    if !is_of_kubespray(root) {
        return made;
    }
    let plain = |name: &str| entry_at(root, &[name]).filter(|it| is_plain(&it.value));
    let is = |name: &str, word: &str| root.word(&[name]).is_some_and(|it| it == word);
    let has_cache = !["false", "no", "False", "off"]
        .iter()
        .any(|it| is("enable_nodelocaldns", it));
    let servers = match plain("nodelocaldns_ip").filter(|_| has_cache) {
        Some(cache) => Some(cache),
        None if root.get("enable_nodelocaldns").is_none() || has_cache => None,
        None if is("dns_mode", "manual") => plain("manual_dns_server"),
        None => plain("skydns_server"),
    };
    let domain = plain("dns_domain").or_else(|| {
        let is_name = root.word(&["dns_domain"])?.trim_matches(['{', '}', ' ']) == "cluster_name";
        plain("cluster_name").filter(|_| is_name)
    });
    let file = plain("kube_resolv_conf").filter(|_| !is("kube_resolv_conf", NODE_FILE));
    made.file("cluster-dns", servers)
        .file("cluster-domain", domain)
        .file("resolv-conf", file)
        .configuration(root.get("kubelet_config_extra_args"))
        .arguments(root.get("kubelet_custom_flags"))
}
