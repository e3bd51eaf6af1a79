#![doc = include_str!("cluster_dns_mismatch.md")]

use std::net::IpAddr;

use crate::address::is_public_resolver;
use crate::kubelet::flags::Name;
use crate::lint::context::Known;
use crate::lint::document::FileId;
use crate::lint::facts::{Setting, Text};
use crate::lint::rules::kubelet::common::{counting, listed, shown};
use crate::lint::rules::node::look::is_cache_address;
use crate::lint::rules::prelude::*;

/// More kubelets are not compared.
const MAX_KUBELETS: usize = 1000;

pub(super) fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let file = text.document.file;
    let Some(setting) = counting(text, Name::ClusterDns, context) else {
        return;
    };
    let known = context.told_cluster_dns(file);
    let right: Vec<IpAddr> = known.iter().map(|it| it.value).collect();
    let servers = addresses(setting);
    // What is no address, KK028 is about.
    let is_open = setting.values.iter().any(|it| has_placeholder(&it.text));
    let is_public = |it: &IpAddr| is_public_resolver(*it);
    let are_all = !servers.is_empty() && servers.len() == setting.values.len();
    if right.is_empty() && are_all && servers.iter().all(is_public) {
        report
            .add(
                setting.at,
                format!(
                    "clusterDNS has public name servers alone: {}",
                    shown(setting)
                ),
            )
            .severity(Severity::Warning)
            .label("it knows no Service")
            .help("write the address of the cluster's DNS Service")
            .note("pods that have its servers do not find names of Services");
    }
    // A script can be for another cluster than the files around it.
    if text.document.is_partial {
        return;
    }
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
    let right: Vec<String> = right.iter().map(ToString::to_string).collect();
    let address = listed(right.iter().map(String::as_str));
    report
        .add(
            setting.at,
            format!(
                "clusterDNS is {}, and the cluster's DNS is {address}",
                shown(setting)
            ),
        )
        .label("nobody answers there")
        .help(format!("write clusterDNS: [{}]", right.join(", ")))
        .note("names time out in every pod that this kubelet starts")
        .also_each(
            known.iter().find_map(|it| it.at),
            "the Service has this address",
        );
}

/// The addresses that caches near a file listen at.
fn binds(file: FileId, context: &Context<'_>) -> Vec<IpAddr> {
    let corefiles = context.corefiles(file);
    let words = corefiles.iter().flat_map(|it| &it.binds);
    words.filter_map(Text::address).collect()
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
    let mut settings = kubelets.filter_map(|it| it.setting(Name::ClusterDns));
    settings.any(|it| {
        addresses(it)
            .iter()
            .any(|it| known.iter().any(|known| known.value == *it))
    })
}

fn addresses(setting: &Setting) -> Vec<IpAddr> {
    setting.values.iter().filter_map(Text::address).collect()
}
