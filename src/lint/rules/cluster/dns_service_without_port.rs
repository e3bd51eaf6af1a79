#![doc = include_str!("dns_service_without_port.md")]

use crate::config::yaml::Node;
use crate::lint::rules::prelude::*;

pub(super) fn check(object: &Object<'_>, _: &Context<'_>, report: &mut Report) {
    let Some(ports) = object.get(&["spec", "ports"]).filter(|_| is_dns(object)) else {
        return;
    };
    let Some(items) = ports.as_sequence().filter(|it| !it.is_empty()) else {
        return;
    };
    let missing: Vec<&str> = ["UDP", "TCP"]
        .into_iter()
        .filter(|protocol| !items.iter().any(|it| is_port(it, protocol)))
        .collect();
    let [missing] = missing.as_slice() else {
        return;
    };
    let what = match *missing {
        "TCP" => "answers that are too long for UDP do not arrive",
        _ => "nearly every query is sent over UDP, and is not answered",
    };
    report
        .add(
            object.at(ports),
            format!("the Service of the cluster's DNS has no port 53 for {missing}: {what}"),
        )
        .help(format!(
            "add {{name: dns-{}, port: 53, protocol: {missing}}}",
            missing.to_lowercase()
        ));
}

/// Whether it is the Service of the cluster's DNS.
fn is_dns(object: &Object<'_>) -> bool {
    let name = object.word(&["metadata", "name"]);
    let namespace = object.word(&["metadata", "namespace"]);
    object.kind() == "Service" && name == "kube-dns" && matches!(namespace, "kube-system" | "")
}

/// Whether a port is 53 of a protocol; without one it is of TCP.
fn is_port(port: &Node, protocol: &str) -> bool {
    let of = port.word(&["protocol"]).unwrap_or("TCP");
    of == protocol && port.word(&["port"]) == Some("53")
}
