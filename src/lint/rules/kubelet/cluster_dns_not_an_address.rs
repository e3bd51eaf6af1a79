#![doc = include_str!("cluster_dns_not_an_address.md")]

use crate::finding::Severity;
use crate::kubelet::address;
use crate::lint::context::Context;
use crate::lint::facts::{Key, KubeletForm, Text};
use crate::lint::report::Report;
use crate::lint::rules::kubelet::common::{counts, is_placeholder};
use crate::lint::subject::KubeletText;
use crate::lint::{Check, Rule};

/// KK028. Not in the catalogue.
pub static RULE: Rule = Rule {
    code: "KK028",
    name: "cluster-dns-not-an-address",
    severity: Severity::Warning,
    summary: "an entry of clusterDNS is no IP address, and the kubelet leaves it out",
    page: include_str!("cluster_dns_not_an_address.md"),
    check: Check::KubeletText(check),
};

fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let last = text.settings.iter().rfind(|it| it.key == Key::ClusterDns);
    let Some(setting) = last.filter(|it| counts(it, text.document.file, context)) else {
        return;
    };
    let is_wrong = |it: &&Text| address::read(&it.text).is_none();
    // What stands before flags may be a variable of a shell.
    if setting.values.iter().any(|it| is_placeholder(&it.text)) {
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
        .find(|it| address::read(it).is_some());
    match found {
        Some(found) => format!("write {found}"),
        None => "write the address of the Service kube-dns".to_owned(),
    }
}
