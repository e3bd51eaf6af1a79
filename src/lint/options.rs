//! What the caller says about the cluster and the nodes, which files alone
//! do not tell.

use std::net::IpAddr;

use crate::kubelet::Version;

/// What is known without reading a file. Empty: not known.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Options {
    /// `--kubelet-version`.
    pub kubelet_version: Option<Version>,
    /// `--coredns-version`.
    pub coredns_version: Option<Version>,
    /// `--cluster-dns`: the addresses of the cluster's DNS.
    pub cluster_dns: Vec<IpAddr>,
    /// `--cluster-domain`, without a final dot.
    pub cluster_domain: Option<String>,
    /// `--pod-cidr`: the networks of the pods, as address and length.
    pub pod_cidr: Vec<(IpAddr, u8)>,
    /// `--assume`: what the nodes are like.
    pub assume: Option<Assume>,
    /// `--role`: what every resolv.conf is.
    pub role: Option<Role>,
}

/// What the nodes are like that files are made for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Assume {
    /// They run systemd-resolved: `/etc/resolv.conf` names 127.0.0.53.
    SystemdResolved,
    /// No local resolver writes their `/etc/resolv.conf`.
    None,
}

/// Who reads a resolv.conf.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Role {
    /// The programs of the node itself: a loopback server is healthy here.
    Node,
    /// The kubelet, which hands it to pods: a loopback server is fatal here.
    Kubelet,
    /// The programs in a pod: the cluster's DNS is right here.
    Pod,
}

impl Assume {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::SystemdResolved => "systemd-resolved",
            Self::None => "none",
        }
    }
}

impl Role {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Kubelet => "kubelet",
            Self::Pod => "pod",
        }
    }
}
