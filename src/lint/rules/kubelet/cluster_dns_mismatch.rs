#![doc = include_str!("cluster_dns_mismatch.md")]

use std::net::IpAddr;

use crate::finding::Severity;
use crate::kubelet::address;
use crate::lint::context::{Context, Known};
use crate::lint::document::FileId;
use crate::lint::facts::{Key, Setting};
use crate::lint::report::Report;
use crate::lint::rules::kubelet::common::{
    counts, is_cache_address, is_placeholder, listed, shown,
};
use crate::lint::subject::KubeletText;
use crate::lint::{Check, Rule};

/// KK013.
pub static RULE: Rule = Rule {
    code: "KK013",
    name: "cluster-dns-mismatch",
    severity: Severity::Error,
    summary: "clusterDNS is not the address of the cluster's DNS Service",
    page: include_str!("cluster_dns_mismatch.md"),
    check: Check::KubeletText(check),
};

/// More kubelets are not compared.
const MAX_KUBELETS: usize = 1000;

fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let file = text.document.file;
    let last = text.settings.iter().rfind(|it| it.key == Key::ClusterDns);
    let Some(setting) = last.filter(|it| counts(it, file, context)) else {
        return;
    };
    let known = known(file, context);
    let right: Vec<IpAddr> = known.iter().map(|it| it.value).collect();
    let servers = addresses(setting);
    // What is no address, KK028 is about.
    let is_open = setting.values.iter().any(|it| is_placeholder(&it.text));
    let is_other_family = !servers
        .iter()
        .any(|it| right.iter().any(|other| it.is_ipv4() == other.is_ipv4()));
    if servers.is_empty() || right.is_empty() || is_open || is_other_family {
        return;
    }
    let binds = binds(file, context);
    let is_known = |it: &IpAddr| right.contains(it) || binds.contains(it) || is_cache_address(*it);
    if servers.iter().any(is_known) || is_of_another_cluster(file, &known, context) {
        return;
    }
    let address = listed_addresses(&right);
    let finding = report
        .add(
            setting.at,
            format!(
                "clusterDNS is {}, and the cluster's DNS is {address}",
                shown(setting)
            ),
        )
        .label("nobody answers there")
        .help(format!("write clusterDNS: [{}]", joined(&right)))
        .note("names time out in every pod that this kubelet starts");
    if let Some(at) = known.iter().find_map(|it| it.at) {
        finding.also(at, "the Service has this address");
    }
}

/// The addresses of the cluster's DNS, as kubelets do not tell them: those
/// that were given, else those of the Services near a file.
fn known(file: FileId, context: &Context<'_>) -> Vec<Known<IpAddr>> {
    let given = context.options().cluster_dns.iter();
    let given: Vec<Known<IpAddr>> = given.map(|&value| Known { value, at: None }).collect();
    if !given.is_empty() {
        return given;
    }
    let services = context.dns_services(file);
    let texts = services.iter().flat_map(|it| &it.addresses);
    let known = texts.filter_map(|it| {
        let value = it.address()?;
        let at = Some(it.at);
        Some(Known { value, at })
    });
    known.collect()
}

/// The addresses that caches near a file listen at.
fn binds(file: FileId, context: &Context<'_>) -> Vec<IpAddr> {
    let corefiles = context.corefiles(file);
    let words = corefiles.iter().flat_map(|it| &it.binds);
    words
        .filter_map(crate::lint::facts::Text::address)
        .collect()
}

/// Whether the Service, which stands in another folder, is that of another
/// kubelet.
fn is_of_another_cluster(file: FileId, known: &[Known<IpAddr>], context: &Context<'_>) -> bool {
    let folder = |file: FileId| context.path(file).rsplit_once('/').map_or("", |it| it.0);
    let is_beside = |it: &Known<IpAddr>| it.at.is_none_or(|at| folder(at.file) == folder(file));
    if known.iter().any(is_beside) {
        return false;
    }
    let kubelets = context.kubelets().iter().take(MAX_KUBELETS);
    let mut settings = kubelets.filter_map(|it| it.setting(Key::ClusterDns));
    settings.any(|it| {
        addresses(it)
            .iter()
            .any(|it| known.iter().any(|known| known.value == *it))
    })
}

fn addresses(setting: &Setting) -> Vec<IpAddr> {
    let texts = setting.values.iter();
    texts.filter_map(|it| address::read(&it.text)).collect()
}

fn texts(addresses: &[IpAddr]) -> Vec<String> {
    addresses.iter().map(ToString::to_string).collect()
}

fn listed_addresses(addresses: &[IpAddr]) -> String {
    listed(texts(addresses).iter().map(String::as_str))
}

fn joined(addresses: &[IpAddr]) -> String {
    texts(addresses).join(", ")
}
