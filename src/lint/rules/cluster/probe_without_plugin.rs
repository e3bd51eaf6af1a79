#![doc = include_str!("probe_without_plugin.md")]

use crate::config::yaml::Node;
use crate::lint::facts::{Endpoint, Probed};
use crate::lint::rules::prelude::*;

/// Probes, and what comes of one that fails.
const PROBES: [(&str, &str); 3] = [
    ("livenessProbe", "the kubelet restarts it again and again"),
    (
        "readinessProbe",
        "it never becomes ready, and the Service has no server",
    ),
    ("startupProbe", "the kubelet restarts it again and again"),
];

pub(super) fn check(workload: &Workload<'_>, context: &Context<'_>, report: &mut Report) {
    let containers = workload.spec.items(&["containers"]).iter();
    let is_server = |it: &&Node| {
        let image = it.word(&["image"]).unwrap_or_default();
        image.contains("coredns") && !image.contains("autoscaler")
    };
    let Some(container) = containers.clone().find(is_server) else {
        return;
    };
    let corefiles = context.corefiles(workload.document.file);
    let is_clusters = |it: &&&crate::lint::facts::CorefileFacts| !it.cluster_zones.is_empty();
    let clusters: Vec<_> = corefiles.iter().filter(is_clusters).collect();
    let Some(first) = clusters.first() else {
        return;
    };
    let is_beside = first.at.file == workload.document.file;
    if !is_beside && !is_labelled(workload) {
        return;
    }
    for (probe, effect) in PROBES {
        let Some(http) = container.at(&[probe, "httpGet"]) else {
            continue;
        };
        let (Some(wanted), Some(port)) = (wanted(http), port(container, http)) else {
            continue;
        };
        let answers = |it: &Endpoint| it.plugin == wanted && it.port == port;
        let is_answered = clusters.iter().any(|it| {
            let endpoints = it.endpoints.as_ref();
            endpoints.is_none_or(|it| it.iter().any(answers))
        });
        if is_answered {
            continue;
        }
        let plugin = match wanted {
            Probed::Health => "health",
            Probed::Ready => "ready",
        };
        let finding = report.add(
            workload.at(http),
            format!(
                "nothing answers this probe of CoreDNS: the Corefile has no {plugin} at port {port}"
            ),
        );
        if !is_beside {
            finding.severity(Severity::Warning);
        }
        finding
            .label(effect)
            .also(first.at, format!("without {plugin} :{port}"))
            .help(format!(
                "write {plugin} :{port} into a server block of the Corefile"
            ));
    }
}

/// Whether it is the cluster's DNS, which other Corefiles are not for.
fn is_labelled(workload: &Workload<'_>) -> bool {
    let template = workload.object.at(&["spec", "template"]);
    let app = template.and_then(|it| it.word(&["metadata", "labels", "k8s-app"]));
    app == Some("kube-dns")
}

/// The plugin that answers at a path.
fn wanted(http: &Node) -> Option<Probed> {
    match http.word(&["path"])? {
        "/health" => Some(Probed::Health),
        "/ready" => Some(Probed::Ready),
        _ => None,
    }
}

/// The number of a port, which can be named.
fn port(container: &Node, http: &Node) -> Option<u16> {
    let word = http.word(&["port"])?;
    word.parse().ok().or_else(|| {
        let mut ports = container.items(&["ports"]).iter();
        let port = ports.find(|it| it.word(&["name"]) == Some(word))?;
        port.word(&["containerPort"])?.parse().ok()
    })
}
