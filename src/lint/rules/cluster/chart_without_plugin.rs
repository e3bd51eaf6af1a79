#![doc = include_str!("chart_without_plugin.md")]

use crate::config::yaml::{Kind, Node};
use crate::lint::inner::chart_values;
use crate::lint::rules::prelude::*;

/// The probes that the chart makes unless the values say otherwise: the plugin
/// and the port that each asks, and what comes of its absence.
///
/// Source: coredns/helm `charts/coredns/values.yaml`, `templates/deployment.yaml`.
const PROBES: [(&str, &str, &str, &str); 2] = [
    (
        "readinessProbe",
        "ready",
        "8181",
        "no pod of this chart becomes ready",
    ),
    (
        "livenessProbe",
        "health",
        "8080",
        "the kubelet restarts the pods of this chart again and again",
    ),
];

pub(super) fn check(object: &Object<'_>, context: &Context<'_>, report: &mut Report) {
    for values in chart_values(object.object) {
        // What a chart of its own has for values its own templates read.
        if std::ptr::eq(values, object.object) && context.is_of_chart(object.document.file) {
            continue;
        }
        let servers = values.items(&["servers"]).iter();
        let plugins = servers.flat_map(|it| it.items(&["plugins"]));
        let has = |is_it: &dyn Fn(&Node) -> bool| plugins.clone().any(is_it);
        let is_off = |path: &[&str]| {
            let switch = values.at(path).and_then(Node::kind);
            switch.is_some_and(|it| it != Kind::Bool(true))
        };
        let is_import = |it: &Node| it.word(&["name"]) == Some("import");
        let is_cluster = |it: &Node| it.word(&["name"]) == Some("kubernetes");
        if is_off(&["deployment", "enabled"]) || has(&is_import) || !has(&is_cluster) {
            continue;
        }
        let Some(at) = values.get("servers") else {
            continue;
        };
        for (probe, name, port, effect) in PROBES {
            let answers = |it: &Node| {
                let word = it.word(&["name"]).unwrap_or_default();
                let address = it.word(&["parameters"]).unwrap_or_default();
                let own = address.rsplit_once(':').map_or(port, |it| it.1);
                let is_open = word.contains('{') || own.contains('{');
                is_open || word == name && own.trim() == port
            };
            if is_off(&[probe, "enabled"]) || has(&answers) {
                continue;
            }
            report
                .add(
                    object.at(at),
                    format!("{effect}: its {probe} asks {name} at port {port}, which these servers do not have"),
                )
                .help(format!("add {{name: {name}}} to the plugins, or write {probe}: {{enabled: false}}"));
        }
    }
}
