#![doc = include_str!("stale_process.md")]

use crate::kubelet::{Found, Origin};
use crate::lint::rules::prelude::*;
use crate::text::Place;

/// k3s and rke2 write below it after they have started.
const GENERATED: &str = "/var/lib/rancher/";

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let Some(kubelet) = &node.kubelet else {
        return;
    };
    let Found::Process { pid, comm, .. } = &kubelet.found else {
        return;
    };
    for file in kubelet.newer.iter().filter(|it| !it.contains(GENERATED)) {
        let place = Place::new(file.clone(), 1, 1);
        let restart = "restart the kubelet, then delete the pods that are to have the new settings";
        let help = match &kubelet.resolv_conf.origin {
            Origin::Unread(why) if why.starts_with(file) => {
                format!("correct it before the kubelet is restarted: {why}")
            }
            _ => restart.to_owned(),
        };
        report
            .add(place, format!("the file is newer than the running kubelet ({comm}, process {pid}): what was changed in it since then does not count yet"))
            .help(help)
            .note("new pods get what stood here when it was started; running ones keep the file that they have");
    }
}
