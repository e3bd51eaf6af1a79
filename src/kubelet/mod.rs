//! The kubelet of a node: what it hands to pods, and where each setting was
//! made.

pub mod address;
pub mod age;
pub mod choice;
pub mod configuration;
pub mod distribution;
pub mod effective;
pub mod flags;
pub mod gates;
pub mod layers;
pub mod rancher;
mod remark;
pub mod running;
mod setting;
pub mod start;
pub mod version;

use std::net::IpAddr;

use crate::config::traced::Traced;
use crate::kubelet::effective::{File, Inputs};
use crate::text::Source;

pub use crate::kubelet::remark::{KeyRemark, NotOfNode, OtherProcess, Refusal, Remark};
pub use crate::kubelet::setting::{Origin, Setting};
pub use crate::kubelet::version::Version;

/// The kubelet as far as DNS depends on it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Kubelet {
    /// How its settings are known.
    pub found: Found,
    /// Its version, if anything tells it.
    pub version: Option<Version>,
    /// What tells the version, safe to print.
    pub version_from: Option<String>,
    /// `resolvConf`; an empty path means that it hands out loopback servers.
    pub resolv_conf: Setting<String>,
    /// `clusterDNS`, in order.
    pub cluster_dns: Setting<Vec<IpAddr>>,
    /// `clusterDomain`, as written.
    pub cluster_domain: Setting<String>,
    /// The feature gate `ExpandedDNSConfig`; `None`: as its version has it.
    pub expanded_dns: Setting<Option<bool>>,
    /// `containerRuntimeEndpoint`; empty if nothing sets it.
    pub runtime_endpoint: Setting<String>,
    /// What else an engineer should know: ignored keys, skipped drop-ins,
    /// files newer than the process.
    pub remarks: Vec<Remark>,
    /// Why it does not start with these settings, one of the remarks; `None`
    /// of a kubelet that runs.
    pub stops: Option<Refusal>,
    /// Files with settings that are newer than the process, safe to print; none where
    /// all files are, as in a copy without their times.
    pub newer: Vec<String>,
    /// The directory of the manifests of its static pods, if it has one.
    pub static_pods: Option<String>,
    /// What it has while it runs, where its files say something else by now;
    /// the settings beside this are those from its restart on.
    pub running: Option<Running>,
    /// What it has of the cluster's DNS while it runs, where that need not be
    /// what its files say by now.
    pub running_cluster: Option<ClusterSettings>,
    /// Whether it can run though no process of it was seen.
    pub is_not_seen: bool,
}

/// The settings that say what the cluster's DNS is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClusterSettings {
    /// `clusterDNS`, in order; of origin [`Origin::Unread`]: it is not known.
    pub dns: Setting<Vec<IpAddr>>,
    /// `clusterDomain`; the same.
    pub domain: Setting<String>,
}

/// What a running kubelet has that was started before its files were changed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Running {
    /// `resolvConf`; of origin [`Origin::Unread`]: it is not known.
    pub resolv_conf: Setting<String>,
    /// The files that were changed since, safe to print.
    pub changed: Vec<String>,
    /// Whether they can also have been changed before.
    pub is_unsure: bool,
    /// Whether systemd has to read its units again before a restart.
    pub is_unit_changed: bool,
    /// When it was started, in clock ticks since the machine was.
    pub started: Option<u64>,
}

/// How the kubelet's settings are known.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Found {
    /// It runs.
    Process {
        /// Its process id.
        pid: u32,
        /// The process's own name: `kubelet`, `k3s-server`, `kubelite`.
        comm: String,
        /// When it was started, in clock ticks since the machine was: with the
        /// id it is this process and no later one. `None`: not known.
        started: Option<u64>,
    },
    /// It does not run; this unit or configuration file would start it.
    Files {
        /// The file that tells, safe to print.
        file: String,
    },
    /// A configuration file was named on the command line.
    #[default]
    Named,
}

/// A kubelet that has this configuration file and these arguments, which are
/// given as on its command line, and nothing else.
///
/// Without a version the newest is meant.
pub fn configured(
    configuration: Option<&Source>,
    arguments: &[String],
    version: Option<Version>,
) -> Kubelet {
    let arguments: Vec<Traced> = arguments
        .iter()
        .map(|argument| Traced::untraced(argument.as_bytes()))
        .collect();
    let flags = flags::read_flags(&arguments);
    let with_origin = |flag| (flag, Origin::Option("--kubelet-arg"));
    let inputs = Inputs {
        version,
        main: configuration.cloned().map(File::Read),
        flags: flags.flags.into_iter().map(with_origin).collect(),
        remarks: flags.remarks,
        stops: flags.stops,
        ..Inputs::default()
    };
    effective::effective(Found::Named, inputs)
}

impl Kubelet {
    /// The kubelet with what it has while it runs, instead of what its files
    /// give it from its restart on.
    #[must_use]
    pub fn while_it_runs(mut self) -> Self {
        if let Some(running) = self.running.take() {
            self.resolv_conf = running.resolv_conf;
        }
        if let Some(cluster) = self.running_cluster.take() {
            self.cluster_dns = cluster.dns;
            self.cluster_domain = cluster.domain;
        }
        self
    }

    /// The same kubelet with further arguments at the end of its command line,
    /// from the option `--kubelet-arg`.
    #[must_use]
    pub fn with_arguments(mut self, arguments: &[String]) -> Self {
        let more = configured(None, arguments, self.version);
        self.resolv_conf = more.resolv_conf.over(self.resolv_conf);
        self.cluster_dns = more.cluster_dns.over(self.cluster_dns);
        self.cluster_domain = more.cluster_domain.over(self.cluster_domain);
        self.expanded_dns = more.expanded_dns.over(self.expanded_dns);
        self.runtime_endpoint = more.runtime_endpoint.over(self.runtime_endpoint);
        self.remarks.extend(more.remarks);
        self.stops = self.stops.or(more.stops);
        self
    }
}

#[cfg(test)]
pub(crate) mod tests;
