//! The node as its running kubelet sees it, which can be another one than the
//! files say.

use super::servers;
use super::view::{self, Policy};
use crate::config::resolv_conf::ResolvConf;
use crate::kubelet::{Origin, Running};
use crate::node::{HostFile, Node, Pod};

/// The node with what the kubelet has while it runs; `None`: it is as the
/// files say. What it handed to a DNS pod tells it, too.
pub fn as_running(node: &Node) -> Option<Node> {
    let running = node.kubelet.as_ref()?.running.as_ref()?;
    let is_known = !matches!(running.resolv_conf.origin, Origin::Unread(_));
    let handed = handed_over(node, running).filter(|_| !is_known);
    let (running, file) = match handed {
        Some((pod, conf)) => {
            let file = HostFile::without_links(conf.source.name.clone(), Ok(conf.clone()));
            let running = running.clone().with_handed_over(conf, &pod.label());
            (running, Some(file))
        }
        None => (running.clone(), node.running_file.clone()),
    };
    let mut seen = node.clone();
    seen.kubelet.as_mut()?.resolv_conf = running.resolv_conf;
    seen.kubelet_file = file;
    Some(seen)
}

/// What the running kubelet handed to a pod of the cluster's DNS, the newest
/// that was made since it was started.
fn handed_over<'n>(node: &'n Node, running: &Running) -> Option<(&'n Pod, &'n ResolvConf)> {
    let since = running.started?;
    let pods = node.pods.iter().filter(|pod| {
        let is_newer = pod.started.is_some_and(|it| it > since);
        let is_handed = view::policy(node, pod) == Policy::Host && !pod.mounts_resolv_conf();
        is_newer && is_handed && servers::is_dns_pod(pod)
    });
    let newest = pods.max_by_key(|pod| pod.started)?;
    Some((newest, newest.resolv_conf.as_ref()?))
}
