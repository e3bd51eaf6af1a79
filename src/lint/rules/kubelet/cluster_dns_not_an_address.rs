#![doc = include_str!("cluster_dns_not_an_address.md")]

use crate::kubelet::address;
use crate::kubelet::flags::Name;
use crate::lint::facts::{KubeletForm, Text};
use crate::lint::rules::kubelet::common::counting;
use crate::lint::rules::prelude::*;

pub(super) fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let Some(setting) = counting(text, Name::ClusterDns, context) else {
        return;
    };
    let is_wrong = |it: &&Text| address::parse_address(&it.text).is_none();
    // What stands before flags may be a variable of a shell.
    if setting.values.iter().any(|it| has_placeholder(&it.text)) {
        return;
    }
    let wrong: Vec<&Text> = setting.values.iter().filter(is_wrong).collect();
    let is_all = wrong.len() == setting.values.len();
    for server in wrong {
        let shown = &server.text;
        let is_of_rancher = text.form == KubeletForm::Rancher;
        let consequence = if is_of_rancher {
            "and the node does not start"
        } else {
            "and the kubelet leaves it out"
        };
        let finding = report
            .add(
                server.at,
                format!("\"{shown}\" is no IP address, {consequence}"),
            )
            .help(help(shown));
        if is_all || is_of_rancher {
            finding.severity(Severity::Error);
        }
        if is_all && !is_of_rancher {
            finding.note("no address is left: names of Services do not resolve in pods");
        }
    }
}

fn help(text: &str) -> String {
    // An address with a port, a length or blanks.
    let rest = text.trim().trim_start_matches('[');
    let end = rest.find([']', '/', ' ', '%']).unwrap_or(rest.len());
    let rest = rest.get(..end).unwrap_or_default();
    let without_port = rest.rsplit_once(':').map_or(rest, |it| it.0);
    let found = [rest, without_port]
        .into_iter()
        .find(|it| address::parse_address(it).is_some());
    match found {
        Some(found) => format!("write {found}"),
        None => "write the address of the Service kube-dns".to_owned(),
    }
}
