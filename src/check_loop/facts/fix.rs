//! What to do for a fix, and what to know about it.

use std::net::{IpAddr, SocketAddr};

use crate::kubelet::Origin;

/// What to do for a fix.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step {
    /// Write this file, which the setting then names.
    Write {
        /// The file.
        path: &'static str,
        /// Its name servers; empty: those of the network, which no file names.
        servers: Vec<IpAddr>,
    },
    /// The ADDRESS of the change is one that no file of this node names.
    Address,
    /// Find where the flag of this process comes from.
    Flag(u32),
    /// Change the other zones of the cluster, too.
    OtherZones,
    /// Make the change in this ConfigMap, of which the file is a copy.
    ConfigMap {
        /// Its namespace.
        namespace: String,
        /// Its usual name.
        name: String,
        /// The pod that mounts it, where the usual one can be another pod's.
        pod: Option<String>,
    },
    /// Have the pods of this deployment or daemon set read it.
    Rollout {
        /// Its namespace.
        namespace: String,
        /// `deployment/coredns`.
        name: String,
    },
    /// Restart CoreDNS, or wait for its `reload`.
    Reload,
    /// Restart this program.
    Restart(&'static str),
    /// Restart the kubelet.
    RestartKubelet {
        /// The command.
        command: &'static str,
        /// Whether systemd has to read its units first.
        is_unit_changed: bool,
    },
    /// Recreate these pods; none: all of the cluster's DNS.
    Recreate {
        /// Their namespace.
        namespace: String,
        /// Their names.
        pods: Vec<String>,
    },
    /// Ask this server from the network of this pod.
    Ask {
        /// The pod, `NAMESPACE/NAME`.
        pod: String,
        /// The server.
        server: SocketAddr,
    },
    /// See which way packets of this pod take to this server, over TCP.
    Walk {
        /// The pod, `NAMESPACE/NAME`.
        pod: String,
        /// The server.
        server: SocketAddr,
    },
    /// Ask the Kubernetes API whether the account of the DNS pods may read what they watch.
    MayRead,
    /// Ask with names of one's own, and watch whether they come back from outside.
    Probe,
    /// Recreate a static pod.
    RecreateStatic {
        /// The pod.
        pod: String,
        /// Its manifest.
        manifest: Manifest,
    },
}

/// Where the manifest of a static pod is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Manifest {
    /// This file.
    File(String),
    /// A file in this directory.
    In(String),
    /// A file in the kubelet's `staticPodPath`, which is not known.
    Unknown,
}

/// What would undo a fix, or comes with it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Caveat {
    /// A value that stands elsewhere has no effect.
    NoEffect {
        /// The value there.
        value: String,
        /// Where that value stands.
        at: Origin,
        /// What overrides it.
        by: Origin,
    },
    /// A flag would override it.
    Flag,
    /// kubeadm writes the file again.
    Kubeadm,
    /// The node reads this file, too.
    Node(String),
}

/// What people try that does not fix it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Useless {
    /// Removing `loop` from the Corefile.
    NoLoopPlugin,
    /// Editing this file, which its owner writes again.
    Editing(String),
    /// Restarting containers.
    Containers,
    /// Recreating pods before the kubelet is restarted.
    PodsFirst,
}
