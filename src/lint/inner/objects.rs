//! Texts that objects of Kubernetes and settings of clusters hold.

use crate::config::yaml::{Node, Value};
use crate::lint::form::Form;
use crate::lint::inner::pieces::Pieces;
use crate::lint::inner::{Inner, ansible, kubespray, provisioner, talos};

/// Lists in lists deeper than this are not opened.
const MAX_LISTS: usize = 4;

/// The texts of an object, or of the items of a list.
pub(super) fn texts(object: &Node, lists: usize) -> Vec<Inner<'_>> {
    let kind = object.word(&["kind"]).unwrap_or_default();
    let listed = object.get("items").and_then(Node::as_sequence);
    if let (true, Some(items)) = (kind.ends_with("List") && lists < MAX_LISTS, listed) {
        return items.iter().flat_map(|it| texts(it, lists + 1)).collect();
    }
    match kind {
        "ConfigMap" => config_map(object),
        "HelmChart" | "HelmChartConfig" => values(object),
        "Kustomization" | "HelmRelease" => {
            let mut texts = kustomization(object);
            texts.extend(chart_servers(object));
            texts
        }
        "Cluster" => kind_patches(object),
        "ResolverConfig" => talos::resolver_config(object).into_iter().collect(),
        "NodeConfig" => nodeadm(object)
            .into_iter()
            .chain(nodeadm_kubelet(object))
            .collect(),
        "" => {
            let mut texts: Vec<Inner<'_>> = talos::talos(object).into_iter().collect();
            texts.extend(talos::talhelper(object));
            texts.extend(chart_servers(object));
            texts.extend(ansible::texts(object));
            texts.extend(kubespray::texts(object));
            texts.extend(provisioner::texts(object));
            texts.extend(workflow(object));
            if object.word(&["apiVersion"]).is_none() {
                texts.extend(kustomization(object));
            }
            texts
        }
        "Application" | "ApplicationSet" => {
            let mut texts = chart_servers(object);
            let helm = mappings(object).into_iter().filter_map(|it| it.get("helm"));
            let values = helm.filter_map(|it| Inner::scalar("values.yaml", it.get("values")?));
            texts.extend(values.map(|it| it.of_form(Form::Yaml)));
            texts
        }
        "EC2NodeClass" | "AWSNodeTemplate" => {
            let data = object.at(&["spec", "userData"]);
            let data = data.and_then(|it| Inner::scalar("user-data", it));
            data.into_iter().collect()
        }
        "ClusterPolicy" | "Policy" => {
            let mappings = mappings(object).into_iter();
            let patches = mappings.filter_map(|it| it.get("patchesJson6902"));
            let texts = patches.filter_map(|it| Inner::scalar("patch", it));
            texts.map(|it| it.of_form(Form::Yaml)).collect()
        }
        "CustomResourceDefinition" => Vec::new(),
        _ => chart_servers(object),
    }
}

/// More mappings of one object are not looked at, nor deeper ones.
const MAX_MAPPINGS: usize = 10_000;
const MAX_DEPTH: usize = 24;

/// The mappings in a value, itself among them.
pub(super) fn mappings(root: &Node) -> Vec<&Node> {
    let mut found = Vec::new();
    let mut open = vec![(root, 0)];
    while let Some((node, depth)) = open.pop() {
        if depth > MAX_DEPTH || found.len() >= MAX_MAPPINGS {
            break;
        }
        match &node.value {
            Value::Scalar(_) => {}
            Value::Sequence(items) => open.extend(items.iter().rev().map(|it| (it, depth + 1))),
            Value::Mapping(entries) => {
                found.push(node);
                open.extend(entries.iter().rev().map(|it| (&it.value, depth + 1)));
            }
        }
    }
    found
}

/// The scripts in the steps of a workflow of GitHub, and of an action.
///
/// Source: GitHub, "Workflow syntax for GitHub Actions", `jobs.<job_id>.steps[*].run`.
fn workflow(object: &Node) -> Vec<Inner<'_>> {
    let jobs = object.get("jobs").and_then(Node::as_mapping);
    let jobs = jobs.unwrap_or_default().iter().map(|it| &it.value);
    let steps = jobs
        .chain(object.get("runs"))
        .flat_map(|it| it.items(&["steps"]));
    let is_shell = |it: &&Node| {
        let shell = it.word(&["shell"]).unwrap_or("bash");
        ["bash", "sh"].iter().any(|it| shell.starts_with(it))
    };
    let scripts = steps
        .filter(is_shell)
        .enumerate()
        .filter_map(|(index, step)| {
            let script = Inner::scalar(&format!("step-{:03}.sh", index + 1), step.get("run")?)?;
            Some(script.of_form(Form::Script))
        });
    scripts.collect()
}

/// The Corefiles that values of the chart of `CoreDNS` make, wherever they
/// stand: in a file of values or below the name of a subchart, in a release of
/// Flux, an application of Argo CD, a file of helmfile.
fn chart_servers(object: &Node) -> Vec<Inner<'_>> {
    let values = chart_values(object).into_iter();
    let made = values.filter_map(helm_servers);
    made.chain(corefiles(object)).collect()
}

/// The Corefiles that values of other charts say whole: `corefile: |`.
fn corefiles(object: &Node) -> impl Iterator<Item = Inner<'_>> {
    let mappings = mappings(object).into_iter();
    let entries = mappings.flat_map(|it| it.as_mapping().unwrap_or_default());
    entries.filter_map(|entry| {
        let key = entry.key.as_scalar()?.text.as_str();
        let text = &entry.value.as_scalar()?.text;
        let is_whole = key.eq_ignore_ascii_case("corefile") && text.contains("{\n");
        is_whole.then(|| Inner::scalar(key, &entry.value)).flatten()
    })
}

/// The mappings in an object that are values of the chart of `CoreDNS`, with
/// servers of their own.
pub fn chart_values(object: &Node) -> Vec<&Node> {
    let is_coredns = |it: &Node| it.get("plugins").and_then(Node::as_sequence).is_some();
    let mut found = mappings(object);
    found.retain(|it| {
        let servers = it.items(&["servers"]);
        !servers.is_empty() && servers.iter().all(is_coredns)
    });
    found
}

/// The texts of a `ConfigMap`: its keys are names of files.
fn config_map(object: &Node) -> Vec<Inner<'_>> {
    let entries = object.get("data").and_then(Node::as_mapping);
    let texts = entries
        .unwrap_or_default()
        .iter()
        .filter_map(|entry| Inner::scalar(&entry.key.as_scalar()?.text, &entry.value));
    texts.collect()
}

/// The values of a chart of k3s and rke2.
fn values(object: &Node) -> Vec<Inner<'_>> {
    let values = object.at(&["spec", "valuesContent"]);
    let values = values.and_then(|it| Inner::scalar("values.yaml", it));
    values
        .map(|it| it.of_form(Form::Yaml))
        .into_iter()
        .collect()
}

/// Patches that stand in a kustomization as texts. Those in the form of
/// RFC 6902 are no objects: of them only those for a kubelet count.
///
/// Source: kubernetes-sigs/kustomize `api/types/kustomization.go`;
/// fluxcd/kustomize-controller `api/v1/kustomization_types.go: Patches`,
/// fluxcd/helm-controller `api/v2/helmrelease_types.go: PostRenderer`.
fn kustomization(object: &Node) -> Vec<Inner<'_>> {
    let rendered = object.items(&["spec", "postRenderers"]).iter();
    let holders = [Some(object), object.get("spec")].into_iter().flatten();
    let holders: Vec<&Node> = holders
        .chain(rendered.filter_map(|it| it.get("kustomize")))
        .collect();
    let all = || holders.iter().flat_map(|it| it.items(&["patches"]));
    let patches = all().filter_map(|it| it.get("patch"));
    let merged = holders
        .iter()
        .flat_map(|it| it.items(&["patchesStrategicMerge"]));
    let patches = patches.chain(merged);
    let texts = patches.enumerate().filter_map(|(index, patch)| {
        let text = &patch.as_scalar()?.text;
        // The name of a file is one line.
        let is_object = text.contains('\n') && text.contains("kind:");
        // Of operations on objects those that say something of the DNS of pods count.
        let is_of_pods = ["dnsPolicy", "dnsConfig"]
            .iter()
            .any(|it| text.contains(it))
            && text.trim_start().starts_with(['-', '[']);
        let inner = Inner::scalar(&format!("patch-{:03}", index + 1), patch)?;
        (is_object || is_of_pods).then(|| inner.of_form(Form::Yaml))
    });
    let of_kubelets =
        all().filter(|it| it.word(&["target", "kind"]) == Some("KubeletConfiguration"));
    let of_kubelets = of_kubelets.filter_map(|it| {
        let patch = it.get("patch")?;
        let is_object = patch.as_scalar()?.text.contains("kind:");
        let inner = Inner::scalar("kubeletconfiguration.yaml", patch)?;
        (!is_object).then(|| inner.of_form(Form::Yaml))
    });
    texts.chain(of_kubelets).collect()
}

/// Patches for kubeadm's configuration, of all nodes of kind and of each.
///
/// Source: kubernetes-sigs/kind `pkg/apis/config/v1alpha4/types.go`.
fn kind_patches(object: &Node) -> Vec<Inner<'_>> {
    let of_nodes = object.items(&["nodes"]);
    let holders = std::iter::once(object).chain(of_nodes);
    let patches = holders.flat_map(|it| it.items(&["kubeadmConfigPatches"]));
    let texts = patches.enumerate().filter_map(|(index, patch)| {
        let inner = Inner::scalar(&format!("patch-{:03}", index + 1), patch)?;
        Some(inner.of_form(Form::Yaml))
    });
    texts.collect()
}

/// The Corefile that the chart of `CoreDNS` makes from its values.
///
/// Source: coredns/helm `charts/coredns/templates/configmap.yaml`.
fn helm_servers(object: &Node) -> Option<Inner<'_>> {
    let servers = object.items(&["servers"]);
    let mut pieces = Pieces::new(object.get("servers")?);
    for server in servers {
        zones(server, &mut pieces);
        pieces.text(" {\n");
        for plugin in server.items(&["plugins"]) {
            pieces.text("    ");
            pieces.scalar(plugin.get("name")?);
            if let Some(parameters) = plugin.get("parameters") {
                pieces.text(" ");
                pieces.scalar(parameters);
            }
            if let Some(block) = plugin.get("configBlock") {
                pieces.text(" {\n");
                pieces.scalar(block);
                pieces.text("\n    }");
            }
            pieces.text("\n");
        }
        pieces.text("}\n");
    }
    Some(Inner::made("Corefile", pieces, Form::Corefile))
}

/// The keys of a server block: a scheme, a zone and the port.
fn zones<'n>(server: &'n Node, pieces: &mut Pieces<'n>) {
    let zones = server.items(&["zones"]);
    if zones.is_empty() {
        pieces.text(".");
        port(server, pieces);
    }
    for (index, zone) in zones.iter().enumerate() {
        if index > 0 {
            pieces.text(" ");
        }
        if let Some(scheme) = zone.get("scheme") {
            pieces.scalar(scheme);
        }
        match zone.get("zone") {
            Some(name) => pieces.scalar(name),
            None => pieces.text("."),
        }
        port(server, pieces);
    }
}

fn port<'n>(server: &'n Node, pieces: &mut Pieces<'n>) {
    if let Some(port) = server.get("port") {
        pieces.text(":");
        pieces.scalar(port);
    }
}

/// The name servers that nodeadm gives systemd-networkd.
///
/// Source: awslabs/amazon-eks-ami `nodeadm/test/e2e/cases/network-name-resolution`.
fn nodeadm(object: &Node) -> Option<Inner<'_>> {
    let network = object.at(&["spec", "instance", "network"])?;
    let (servers, domains) = (network.get("nameservers")?, network.get("domains"));
    Some(resolv_conf(lines(servers, domains)?))
}

/// The configuration that nodeadm puts over its own, where it is a text.
///
/// Source: awslabs/amazon-eks-ami `nodeadm/example/node.eks.aws_v1alpha1_nodeconfig.yaml`.
fn nodeadm_kubelet(object: &Node) -> Option<Inner<'_>> {
    let config = object.at(&["spec", "kubelet", "config"])?;
    let inner = Inner::scalar("kubeletconfiguration.json", config)?;
    Some(inner.of_form(Form::Yaml))
}

/// The lines of a resolv.conf with these servers and search domains.
pub(super) fn lines<'n>(servers: &'n Node, domains: Option<&'n Node>) -> Option<Pieces<'n>> {
    let all = servers.as_sequence()?;
    // What a template fills in can stand there as a comment.
    (!all.iter().any(Node::is_null)).then_some(())?;
    let mut pieces = Pieces::new(servers);
    for server in all {
        pieces.text("nameserver ");
        pieces.scalar(server);
        pieces.text("\n");
    }
    if let Some(domains @ [_, ..]) = domains.and_then(Node::as_sequence) {
        pieces.text("search");
        for domain in domains {
            pieces.text(" ");
            pieces.scalar(domain);
        }
        pieces.text("\n");
    }
    Some(pieces)
}

pub(super) fn resolv_conf(pieces: Pieces<'_>) -> Inner<'_> {
    // What the kubelet of such a machine hands out.
    Inner::made("/etc/resolv.conf", pieces, Form::ResolvConf)
}
