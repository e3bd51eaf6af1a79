//! What YAML documents set of a kubelet.

use crate::config::yaml::{Entry, Node};
use crate::kubelet::flags::Name;
use crate::kubelet::rancher;
use crate::lint::document::Document;
use crate::lint::facts::{KubeletFacts, KubeletForm, Setting};
use crate::lint::inner;
use crate::text::WordList;

use super::cluster;
use super::flags::settings;
use super::setting::{Made, entry_at, is_drop_in};

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
    if let Some(read) = kubelet_settings(document, root) {
        return vec![facts(read)];
    }
    let clusters = cluster::settings(document, root).into_iter();
    // Of Talos what is misspelled counts, too.
    let is_talos = inner::is_talos(root);
    let clusters = clusters.filter(|it| is_talos || !it.is_empty());
    clusters
        .map(|it| facts((KubeletForm::Cluster, it)))
        .collect()
}

fn kubelet_settings(document: &Document, root: &Node) -> Option<(KubeletForm, Vec<Setting>)> {
    // Lines that are put into a configuration do not say what it is.
    let is_part = document.is_partial && document.path.ends_with("kubelet/config.yaml");
    if is_patch(&document.path) || is_part {
        return Some((KubeletForm::Cluster, patch(document, root)));
    }
    match root.word(&["kind"]) {
        Some("KubeletConfiguration") => {
            let form = if is_drop_in(&document.path) {
                KubeletForm::DropIn
            } else {
                KubeletForm::Configuration
            };
            Some((form, Made::new(document).configuration(Some(root)).settings))
        }
        Some("ClusterConfiguration" | "InitConfiguration" | "JoinConfiguration") => {
            Some((KubeletForm::Kubeadm, kubeadm(document, root)))
        }
        Some(kind) if kind.starts_with("Kubeadm") => {
            let nodes = of_kubeadm(inner::kubeadm_spec(root)?);
            let settings: Vec<Setting> = nodes.flat_map(|it| kubeadm(document, it)).collect();
            // What is misspelled counts, too.
            (!flag_lists(root).is_empty() || !settings.is_empty())
                .then_some((KubeletForm::Kubeadm, settings))
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
    let mut made = Made::new(document).configuration(Some(root));
    for operation in root.as_sequence().unwrap_or_default() {
        let is_set = matches!(operation.word(&["op"]), Some("add" | "replace"));
        let key = match operation.word(&["path"]).filter(|_| is_set) {
            Some("/resolvConf") => Name::ResolvConf,
            Some("/clusterDNS") => Name::ClusterDns,
            Some("/clusterDomain") => Name::ClusterDomain,
            _ => continue,
        };
        let (path, value) = (operation.get("path"), operation.get("value"));
        let entry = path.cloned().zip(value.cloned());
        let entry = entry.map(|(key, value)| Entry { key, value });
        made = made.entry(Some(key), entry.as_ref());
    }
    made.settings
}

/// Whether it is the configuration of k3s or rke2: by its place, or by what it
/// has to say.
fn is_rancher(document: &Document, root: &Node) -> bool {
    let is_named = ["rancher/k3s/config.yaml", "rancher/rke2/config.yaml"]
        .iter()
        .any(|it| document.path.contains(it));
    let has = |keys: WordList| keys.iter().any(|it| root.get(it).is_some());
    is_named && root.as_mapping().is_some()
        || has(WordList("kubelet-arg kubelet-arg+"))
        || has(WordList("resolv-conf cluster-dns cluster-domain")) && has(RANCHER_KEYS)
}

/// Keys that few other files have.
const RANCHER_KEYS: WordList = WordList(
    "write-kubeconfig-mode write-kubeconfig token token-file server tls-san cluster-init cluster-cidr \
    service-cidr node-label node-taint node-ip flannel-backend cni",
);

/// Where kubeadm has the kubelet's flags.
const FLAGS: [&str; 2] = ["nodeRegistration", "kubeletExtraArgs"];

/// The configurations of kubeadm in an object of Cluster API.
fn of_kubeadm(spec: &Node) -> impl Iterator<Item = &Node> {
    let nodes = [
        "clusterConfiguration",
        "initConfiguration",
        "joinConfiguration",
    ];
    nodes.into_iter().filter_map(|it| spec.get(it))
}

/// The flags for a kubelet that k3s, rke2 and kubeadm have in YAML.
pub fn flag_lists(root: &Node) -> Vec<&Node> {
    let of_rancher = ["kubelet-arg", "kubelet-arg+"];
    let of_rancher = of_rancher.into_iter().filter_map(|it| root.get(it));
    let nodes = inner::kubeadm_spec(root).into_iter().flat_map(of_kubeadm);
    let nodes = nodes.chain([root]).filter_map(|it| it.at(&FLAGS));
    of_rancher.chain(nodes).collect()
}

/// `kubeletExtraArgs` as a mapping (up to `v1beta3`) or as a list of names and
/// values; the domain of the cluster.
fn kubeadm(document: &Document, root: &Node) -> Vec<Setting> {
    let domain = entry_at(root, &["networking", "dnsDomain"]);
    let arguments = root.at(&FLAGS);
    let made = Made::new(document).entry(Some(Name::ClusterDomain), domain);
    made.arguments(arguments).settings
}

/// The flags that k3s and rke2 make of their options.
fn rancher(document: &Document) -> Vec<Setting> {
    let options = rancher::options(&rancher::K3S, &[(0, &document.source)], &[], &[]);
    settings(&options.flags(true), &|_| Some(&document.body))
}
