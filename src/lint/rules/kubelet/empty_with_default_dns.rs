#![doc = include_str!("empty_with_default_dns.md")]

use crate::finding::Severity;
use crate::kubelet::configuration::honours_empty;
use crate::lint::context::Context;
use crate::lint::facts::{CorefileFacts, Forward, Key, KubeletForm, Setting, Text};
use crate::lint::report::Report;
use crate::lint::rules::kubelet::common::{counts, is_for_windows};
use crate::lint::subject::KubeletText;
use crate::lint::{Check, Rule};

/// KK011.
pub static RULE: Rule = Rule {
    code: "KK011",
    name: "empty-with-default-dns",
    severity: Severity::Error,
    summary: "an empty resolvConf gives CoreDNS 127.0.0.1, and it forwards to its own file",
    page: include_str!("empty_with_default_dns.md"),
    check: Check::KubeletText(check),
};

fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    let file = text.document.file;
    // On nodes with Windows it is the right value, and no CoreDNS.
    if is_for_windows(text.document) {
        return;
    }
    let is_empty = |it: &&Setting| {
        let is_it = it.key == Key::ResolvConf && it.written.text != "resolverConfig";
        is_it && it.value().is_some_and(|it| it.text.is_empty())
    };
    let Some(setting) = text.settings.iter().rfind(is_empty) else {
        return;
    };
    let is_old = !honours_empty(context.kubelet_version());
    if !counts(setting, file, context) || is_old && text.form == KubeletForm::Configuration {
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
