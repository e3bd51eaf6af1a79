#![doc = include_str!("empty_with_default_dns.md")]

use crate::kubelet::configuration::honours_empty;
use crate::kubelet::flags::Name;
use crate::lint::facts::{CorefileFacts, Forward, KubeletForm, Setting, Text};
use crate::lint::rules::kubelet::common::{counting, is_for_windows};
use crate::lint::rules::prelude::*;

pub(super) fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let file = text.document.file;
    // On nodes with Windows it is the right value, and no CoreDNS.
    if is_for_windows(text.document) {
        return;
    }
    let setting = counting(text, Name::ResolvConf, context);
    let is_empty = |it: &&Setting| it.value().is_some_and(|it| it.text.is_empty());
    let Some(setting) = setting.filter(is_empty) else {
        return;
    };
    let is_old = !honours_empty(context.kubelet_version());
    if is_old && text.form == KubeletForm::Configuration {
        return;
    }
    let corefiles = context.corefiles(file);
    let Some(forward) = corefiles.iter().find_map(|it| to_own_file(it)) else {
        return;
    };
    let pods = context.dns_pods(file);
    let by_default = |policy: &Option<Text>| policy.as_ref().is_some_and(|it| it.text == "Default");
    let default = pods
        .iter()
        .find(|it| by_default(&it.policy) && !it.host_network);
    if default.is_none() && !pods.is_empty() {
        return;
    }
    let finding = report
        .add(
            setting.at,
            "CoreDNS gets 127.0.0.1 from an empty resolvConf, and that is itself",
        )
        .also(forward.at, "it forwards to the server in its own file")
        .help("write the servers into the Corefile: forward . ADDRESS")
        .note("CoreDNS forwards to itself and ends with a FATAL message at its next start");
    match default {
        Some(pod) => {
            finding.also(pod.at, "with the policy Default the file is the kubelet's");
        }
        None => {
            finding
                .severity(Severity::Warning)
                .note("unless its pods have another policy than Default");
        }
    }
}

/// Where the cluster's DNS forwards the names of `.` to its own file.
fn to_own_file(corefile: &CorefileFacts) -> Option<&Text> {
    // A cache of the node binds an address, so that 127.0.0.1 is none of it.
    if corefile.cluster_zones.is_empty() || !corefile.binds.is_empty() {
        return None;
    }
    let is_root = |it: &&Forward| it.from == ".";
    let forward = corefile.forwards.iter().find(is_root)?;
    forward.to.iter().find(|it| it.text == "/etc/resolv.conf")
}
