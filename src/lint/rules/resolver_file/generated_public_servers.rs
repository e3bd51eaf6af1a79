#![doc = include_str!("generated_public_servers.md")]

use crate::lint::facts::Text;
use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::point_to_setting;

/// The files that k3s and rke2 make, by the end of their paths.
///
/// Source: k3s-io/k3s `pkg/agent/config/config.go: locateOrGenerateResolvConf`.
const GENERATED: [&str; 3] = [
    "var/lib/rancher/k3s/agent/etc/resolv.conf",
    "var/lib/rancher/rke2/agent/etc/resolv.conf",
    "tmp/k3s-resolv.conf",
];
/// What they write there.
const PUBLIC: [&str; 2] = ["8.8.8.8", "2001:4860:4860::8888"];

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    let path = file.read.path.as_str();
    let is_generated = GENERATED.iter().any(|it| path.ends_with(it));
    let is_public = |it: &Text| PUBLIC.contains(&it.text.as_str());
    let Some(first) = file.read.servers.first() else {
        return;
    };
    if file.role != Role::Kubelet || !is_generated || !file.read.servers.iter().all(is_public) {
        return;
    }
    // It stays when a configuration names another file.
    let names_other =
        |it: &Kubelet<'_>| it.resolv_conf().is_some_and(|it| !path.ends_with(&it.text));
    if file.named_by.is_none() && context.kubelets().iter().any(names_other) {
        return;
    }
    let message = format!(
        "{} is a public server that k3s or rke2 wrote because no file of the node suited it",
        first.text
    );
    let finding = report
        .add(first.at, message)
        .help("write a file with the servers of the site, and name it in config.yaml: resolv-conf: PATH")
        .note("names of private zones do not resolve, and without a way to the internet none does");
    point_to_setting(finding, file);
}
