#![doc = include_str!("dns_left_out.md")]

use crate::config::yaml::Node;
use crate::lint::rules::prelude::*;

pub(super) fn check(object: &Object<'_>, _: &Context<'_>, report: &mut Report) {
    let is_policy = object.kind() == "NetworkPolicy"
        && object
            .word(&["apiVersion"])
            .starts_with("networking.k8s.io/");
    let Some(egress) = object.get(&["spec", "egress"]).filter(|_| is_policy) else {
        return;
    };
    // Without a rule it is the policy that forbids everything, beside which
    // others allow what is wanted.
    let Some(rules) = egress.as_sequence().filter(|it| !it.is_empty()) else {
        return;
    };
    let allowed = |protocol: &str| rules.iter().any(|rule| allows(rule, protocol));
    let message = match (allowed("UDP"), allowed("TCP")) {
        (true, true) => return,
        (true, false) => {
            "this policy allows DNS over UDP and not over TCP: long answers do not arrive"
        }
        (false, true) => {
            "this policy allows DNS over TCP only: nearly every query is sent over UDP"
        }
        (false, false) => "this policy allows its pods other things, and not DNS",
    };
    report
        .add(object.at(egress), message)
        .help("allow port 53 for UDP and TCP to the pods of kube-dns in kube-system")
        .note("policies add up: another one for the same pods can allow it");
}

/// Whether a rule lets queries out: it names no ports, or 53 among them. A port
/// with a name is one of the pods that are asked.
fn allows(rule: &Node, protocol: &str) -> bool {
    let ports = rule.items(&["ports"]);
    ports.is_empty() || ports.iter().any(|it| is_for_dns(it, protocol))
}

fn is_for_dns(port: &Node, protocol: &str) -> bool {
    if port.word(&["protocol"]).unwrap_or("TCP") != protocol {
        return false;
    }
    let Some(first) = port.word(&["port"]) else {
        return true;
    };
    let Ok(number) = first.parse::<u16>() else {
        return true;
    };
    let last = port.word(&["endPort"]).and_then(|it| it.parse().ok());
    let last = last.unwrap_or(number);
    OF_PODS.iter().any(|it| (number..=last).contains(it))
}

/// The port of the pods counts, and some clusters' DNS has another one there.
const OF_PODS: [u16; 4] = [53, 5353, 8053, 1053];
