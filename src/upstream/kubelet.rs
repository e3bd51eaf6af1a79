//! What is known of the file that the kubelet has, and what else is worth
//! knowing.

use super::{FileReport, Role};
use crate::check_loop;
use crate::kubelet::{Kubelet, Origin};
use crate::node::{HostFile, Node};
use crate::text::escaped;

/// What is worth knowing beside the files.
pub(super) fn remarks(files: &Node, running: Option<&Node>) -> Vec<String> {
    let mut remarks = Vec::new();
    let kubelet = running.and(files.kubelet.as_ref());
    remarks.extend(kubelet.and_then(Kubelet::says_it_runs_on));
    let seen = running.unwrap_or(files);
    let setting = seen.kubelet.as_ref().map(|it| &it.resolv_conf);
    if let Some((setting, Origin::Pod(pod))) = setting.map(|it| (it, &it.origin)) {
        remarks.push(format!(
            "{} is what the running kubelet wrote for pod {pod}, from the file that it has",
            escaped(setting.value.as_bytes())
        ));
    }
    remarks.extend(check_loop::unlike(seen));
    remarks
}

/// The file of the kubelet; where the setting is not known, its name is not.
pub(super) fn file(node: &Node, of: &HostFile) -> FileReport {
    let setting = node.kubelet.as_ref().map(|it| &it.resolv_conf.origin);
    let role = match setting {
        Some(Origin::Pod(_)) => Role::Handed,
        _ => Role::Kubelet,
    };
    let mut report = super::file(node, of, role);
    if report.is_unknown && matches!(setting, Some(Origin::Unread(_))) {
        report.path = String::new();
        report.links = Vec::new();
        report.mode = None;
    }
    report
}
