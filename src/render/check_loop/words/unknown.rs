//! Why a query path cannot be followed.

use crate::check_loop::facts::Unknown;
use crate::render::sentence::{Sentence, sentence};
use crate::render::topology;

/// The reason as a clause.
#[expect(clippy::too_many_lines, reason = "a table: one arm a fact")]
pub(in crate::render::check_loop) fn unknown(unknown: &Unknown) -> Sentence {
    match unknown {
        Unknown::TooLong => Sentence::new("path-too-long", "the query path is too long"),
        Unknown::TooManyPaths(most) => {
            sentence!("too-many-paths", "there are more than {most} query paths")
        }
        Unknown::TooManyZones(most) => sentence!(
            "too-many-zones",
            "there are more than {most} zones, and the rest is not followed"
        ),
        Unknown::TooManyServers(most) => sentence!(
            "too-many-servers",
            "more than {most} servers of one forward are not followed"
        ),
        Unknown::Server(doubt) => topology::doubt(doubt),
        Unknown::Target(what) => {
            sentence!("target-not-followed", "{what} is not followed")
        }
        Unknown::PodFile(pod) => sentence!(
            "pod-file-not-found",
            "the resolv.conf of pod {pod} was not read on the node"
        ),
        Unknown::NoKubelet => Sentence::new("no-kubelet", "no kubelet was found on the node"),
        Unknown::DnsPolicy(pod) => sentence!(
            "dns-policy-unknown",
            "the dnsPolicy of pod {pod} is not known: its resolv.conf is neither what the \
                 kubelet would write for Default nor for ClusterFirst, so that it was written \
                 from an older file, or by the pod's own dnsConfig"
        ),
        Unknown::ResolvConf(reason) => sentence!(
            "resolv-conf-unknown",
            "the kubelet's resolvConf is not known: {reason}"
        ),
        Unknown::Pod(error) => Sentence::new("pod-file-unknown", error.to_string()),
        Unknown::Unread(reason) => Sentence::new("file-unread", reason.clone()),
        Unknown::NotRead(path) => sentence!("file-unread", "{path} was not read"),
        Unknown::UnreadCorefile { who, file } => sentence!(
            "corefile-newer",
            "{file} was changed after {who} was started, and nothing tells whether it has read it since"
        ),
        Unknown::OwnFileSystem { who, path } => sentence!(
            "file-in-container",
            "{who} reads {path} in its own file system, which is not read"
        ),
        Unknown::NoServer { who, path } => {
            sentence!("file-without-server", "{path} of {who} has no name server")
        }
        Unknown::Cut { who, path } => sentence!(
            "file-cut",
            "{path} of {who} is so long that its end was not read"
        ),
        Unknown::UsualService { ip, is_set } => sentence!(
            "cluster-dns-unknown",
            "{ip} is a usual address of the cluster's DNS service, and {}",
            if *is_set {
                "the kubelet's clusterDNS names a cache of the node alone"
            } else {
                "the kubelet's clusterDNS is not known: give its configuration with \
                 --kubelet-config"
            }
        ),
        Unknown::UsualServer { ip, who } => sentence!(
            "listener-unknown",
            "{ip} is usually {who} on the node, and it is not known who listens there"
        ),
        Unknown::Listener { owner, file, to } => {
            let who = match owner {
                Some(process) => format!("{} (process {})", process.comm, process.pid),
                None => {
                    format!("a process that was not found (its socket stands in {file})")
                }
            };
            sentence!(
                "listener-not-followed",
                "{who} listens on {to}, and where it forwards to is not known"
            )
        }
        Unknown::Listens(who) => {
            sentence!("listener-unknown", "it is not known where {who} listens")
        }
        Unknown::Waits(who) => sentence!(
            "dns-pods-wait",
            "{who} has no container yet, and who answers in its place is not known"
        ),
        Unknown::Rules(ip) => sentence!(
            "rules-unread",
            "a server of the node listens at {ip}, and whether the node's rules send packets on past it was not read"
        ),
        Unknown::Sockets(to) => sentence!(
            "sockets-unread",
            "it is not known who listens on {to} on the node, as its sockets were not read"
        ),
        Unknown::DnsPods {
            service,
            has_corefile,
        } => {
            let service = service.map_or_else(
                || "the service kube-dns-upstream".to_owned(),
                |it| it.to_string(),
            );
            let hint = if *has_corefile {
                ", and the files that they have are not known"
            } else {
                ": give their Corefile with --corefile"
            };
            sentence!(
                "dns-pods-elsewhere",
                "the DNS pods behind {service} are not on this node{hint}"
            )
        }
    }
}
