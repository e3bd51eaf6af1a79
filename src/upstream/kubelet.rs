//! What is known of the file that the kubelet has, and what else is worth
//! knowing.

use super::{FileReport, NodeWithDns, Remark, Role};
use crate::check_loop;
use crate::kubelet::Origin;
use crate::node::{HostFile, Node};
use crate::text::escaped;

/// What is worth knowing beside the files.
pub(super) fn remarks(files: &Node, running: Option<&Node>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let kubelet = running.and(files.kubelet.as_ref());
    let runs_on = kubelet.and_then(|it| it.running.as_ref());
    remarks.extend(runs_on.map(|it| Remark::NotRestarted(it.clone())));
    let seen = running.unwrap_or(files);
    let setting = seen.kubelet.as_ref().map(|it| &it.resolv_conf);
    if let Some((setting, Origin::Pod(pod))) = setting.map(|it| (it, &it.origin)) {
        remarks.push(Remark::OfPod {
            path: escaped(setting.value.as_bytes()),
            pod: pod.clone(),
        });
    }
    remarks.extend(check_loop::unlike(seen).into_iter().map(Remark::Loop));
    remarks
}

/// The file of the kubelet; where the setting is not known, its name is not.
pub(super) fn file(seen: &NodeWithDns, of: &HostFile) -> FileReport {
    let setting = seen.node.kubelet.as_ref().map(|it| &it.resolv_conf.origin);
    let role = match setting {
        Some(Origin::Pod(_)) => Role::OfPod,
        _ => Role::Kubelet,
    };
    let mut report = super::file(seen, of, role);
    if report.is_unknown() && matches!(setting, Some(Origin::Unread(_))) {
        report.path = String::new();
        report.links = Vec::new();
        report.mode = None;
    }
    report
}
