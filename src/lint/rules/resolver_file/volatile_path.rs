#![doc = include_str!("volatile_path.md")]

use crate::lint::rules::prelude::*;

/// Directories that are emptied while the node runs.
///
/// Source: `tmpfiles.d(5)`; systemd `tmpfiles.d/tmp.conf`.
const EMPTIED: [&str; 2] = ["/tmp/", "/var/tmp/"];

pub(super) fn check(kubelet: &Kubelet<'_>, _: &Context<'_>, report: &mut Report) {
    let Some(value) = kubelet.resolv_conf() else {
        return;
    };
    let path = value.text.as_str();
    let Some(directory) = EMPTIED.iter().find(|it| path.starts_with(**it)) else {
        return;
    };
    let directory = directory.trim_end_matches('/');
    report
        .add(
            value.at,
            format!("{path} is in {directory}, which is emptied of old files"),
        )
        .help(
            "keep the file below /etc, and name it there: resolvConf: /etc/kubernetes/resolv.conf",
        )
        .note("when the file is gone no pod of the node starts, whatever its policy");
}
