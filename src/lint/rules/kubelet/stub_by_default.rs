#![doc = include_str!("stub_by_default.md")]

use crate::kubelet::choice::{NODE_FILE, UPLINK_FILE};
use crate::kubelet::flags::Name;
use crate::lint::options::Assume;
use crate::lint::report::Draft;
use crate::lint::rules::prelude::*;

pub(super) fn check(kubelet: &Kubelet<'_>, context: &Context<'_>, report: &mut Report) {
    let setting = kubelet.setting(Name::ResolvConf);
    let is_named = setting.is_some();
    if is_named && kubelet.resolv_conf().is_none_or(|it| it.text != NODE_FILE) {
        return;
    }
    // What the file holds is known: KR001 and KR002 say what is wrong with it.
    if context.kubelet_file(kubelet).is_some() {
        return;
    }
    let Some(at) = setting.map(|it| it.at).or(kubelet.at) else {
        return;
    };
    match (context.options().assume, is_named) {
        (Some(Assume::SystemdResolved), true) => {
            let message = format!(
                "{NODE_FILE} names 127.0.0.53 on these nodes, and in a pod that is the pod itself"
            );
            explained(report.add(at, message));
        }
        (Some(Assume::SystemdResolved), false) if kubelet.has_configuration => {
            let message = format!(
                "without resolvConf the kubelet hands out {NODE_FILE}, which names 127.0.0.53 on these nodes"
            );
            explained(report.add(at, message));
        }
        (None, true) => {
            let message = format!(
                "{NODE_FILE} loops on nodes with systemd-resolved: there it names 127.0.0.53"
            );
            explained(report.add(at, message))
                .severity(Severity::Info)
                .note("--assume systemd-resolved makes this an error, --assume none says that the nodes have no such server");
        }
        _ => {}
    }
}

/// What to do. No fix: nobody has seen the nodes, and where the file is not
/// there no pod starts.
fn explained(finding: &mut Draft) -> &mut Draft {
    finding
        .help(format!("write resolvConf: {UPLINK_FILE}"))
        .note("CoreDNS forwards to itself and ends with a FATAL message at its next start")
}
