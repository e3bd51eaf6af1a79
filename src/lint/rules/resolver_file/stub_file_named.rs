#![doc = include_str!("stub_file_named.md")]

use crate::kubelet::flags::Name;
use crate::lint::document::Change;
use crate::lint::rules::prelude::*;
use crate::topology::resolved::{STATIC_FILES, STUB_FILE, UPLINK_FILE};

pub(super) fn check(kubelet: &Kubelet<'_>, _: &Context<'_>, report: &mut Report) {
    let setting = kubelet.setting(Name::ResolvConf);
    let (Some(setting), Some(value)) = (setting, kubelet.resolv_conf()) else {
        return;
    };
    let path = value.text.as_str();
    let stubs = std::iter::once(STUB_FILE).chain(STATIC_FILES);
    // `/var/run` is a link to `/run`.
    let real = path
        .strip_prefix("/var")
        .filter(|it| it.starts_with("/run/"));
    if !stubs.into_iter().any(|it| it == real.unwrap_or(path)) {
        return;
    }
    let message = format!("{path} names 127.0.0.53, and in a pod that is the pod itself");
    let finding = report
        .add(value.at, message)
        .help(format!("write {UPLINK_FILE}, which has the real servers"))
        .note("CoreDNS forwards to itself and ends with a FATAL message; other pods with the policy Default are refused");
    // Who writes the one file writes the other; a static one is there without
    // systemd-resolved, too.
    let is_written = real.unwrap_or(path) == STUB_FILE;
    if is_written && !setting.is_flag && value.at.span.len() == path.len() {
        let change = Change {
            at: value.at,
            text: UPLINK_FILE.to_owned(),
        };
        finding.unsafe_fix("name the uplink file", [Some(change)]);
    }
}
