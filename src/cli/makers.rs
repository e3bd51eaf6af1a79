//! What makes a pod's file, read from a node or from files that were named.

use std::net::IpAddr;
use std::path::Path;

use crate::check_loop;
use crate::config::resolv_conf::ResolvConf;
use crate::host::node::{self, Parts, StandIns, kubelet as reader, processes, runtime};
use crate::host::root::Root;
use crate::host::{MAX_BYTES, ReadError};
use crate::kubelet::choice::NODE_FILE;
use crate::kubelet::{self, Found, Kubelet, Origin, Setting, Version};
use crate::node::{HostFile, Maker};
use crate::pod::{self, Makers, Runtime, Seen};
use crate::text::Source;

/// A kubelet with the files that it and the runtime read.
pub(super) struct Ground {
    /// The kubelet, with what the options say.
    pub(super) kubelet: Kubelet,
    /// What could not be read.
    pub(super) about: Vec<String>,
    /// What was assumed about the cluster, which counts for pods with the
    /// cluster's DNS.
    pub(super) assumed: Vec<String>,
    file: Known,
    node_file: Known,
    node_ips: Vec<IpAddr>,
    /// The runtime, with what tells it.
    pub(super) runtime: Maker,
}

/// A file, as far as it is known.
enum Known {
    Read(ResolvConf),
    Missing,
    Unknown(String),
}

/// What the options say about the kubelet.
#[derive(Default)]
pub(super) struct Said<'a> {
    /// Its arguments.
    pub(super) arguments: &'a [String],
    /// Its version.
    pub(super) version: Option<Version>,
    /// The runtime.
    pub(super) runtime: Option<Runtime>,
    /// `clusterDNS`; empty: nothing.
    pub(super) cluster_dns: &'a [IpAddr],
    /// `clusterDomain`.
    pub(super) cluster_domain: Option<&'a str>,
    /// The node's own `/etc/resolv.conf`.
    pub(super) host_file: Option<Source>,
}

impl Ground {
    /// From files alone, without a node.
    pub(super) fn of_files(stand_ins: StandIns, said: Said<'_>) -> Self {
        let mut assumed = Vec::new();
        let configuration = stand_ins.kubelet_config.as_ref();
        let is_configured = configuration.is_some() || !said.arguments.is_empty();
        let kubelet = if is_configured {
            kubelet::configured(configuration, said.arguments, said.version)
        } else {
            assumed = assumptions(&said);
            pod::assumed_kubelet()
        };
        let path = &kubelet.resolv_conf.value;
        let file = match stand_ins.node_file {
            Some(source) => Known::of(source),
            None => Known::Unknown(format!(
                "give the file that the kubelet's resolvConf names ({path}) with --node-file"
            )),
        };
        let node_file = match &file {
            Known::Read(conf) if path == NODE_FILE => Known::Read(conf.clone()),
            _ => Known::Unknown(format!("give the node's {NODE_FILE} with --host-file")),
        };
        let ground = Self {
            kubelet,
            about: Vec::new(),
            assumed,
            file,
            node_file,
            node_ips: Vec::new(),
            runtime: Maker::default(),
        };
        ground.with(said)
    }

    /// A kubelet as kubeadm sets one up, whose file is not known.
    pub(super) fn assumed(said: Said<'_>, unknown: &str) -> Self {
        let ground = Self {
            kubelet: pod::assumed_kubelet(),
            about: Vec::new(),
            assumed: Vec::new(),
            file: Known::Unknown(unknown.to_owned()),
            node_file: Known::Missing,
            node_ips: Vec::new(),
            runtime: Maker::default(),
        };
        ground.with(said)
    }

    /// From the node below `root`.
    pub(super) fn of_node(root: &Root, stand_ins: StandIns, said: Said<'_>) -> Self {
        let (processes, mut about) = processes::scan(root);
        let mut assumed = Vec::new();
        let configuration = stand_ins.kubelet_config.as_ref();
        let (found, skipped) = reader::read_as(root, &processes, configuration, said.version);
        about.extend(skipped);
        let (kubelet, file) = match (found, stand_ins.node_file) {
            (Some(kubelet), stand_in) => {
                about.extend(kubelet.says_it_runs_on());
                let (kubelet, handed) = while_it_runs(root, kubelet, configuration);
                let kubelet = kubelet.with_arguments(said.arguments);
                let is_handed = matches!(kubelet.resolv_conf.origin, Origin::Pod(_));
                let file = match (stand_in, handed) {
                    (None, Some(conf)) if is_handed => {
                        let origin = &kubelet.resolv_conf.origin;
                        about.push(format!(
                            "taken for the kubelet's file: {}, which was made since ({origin})",
                            kubelet.resolv_conf.value
                        ));
                        Known::of(conf.source)
                    }
                    (stand_in, _) => {
                        Known::of_host(reader::kubelet_file(root, &kubelet, stand_in.as_ref()))
                    }
                };
                (kubelet, file)
            }
            (None, Some(source)) => {
                assumed = assumptions(&said);
                (pod::assumed_kubelet(), Known::of(source))
            }
            (None, None) => {
                assumed = assumptions(&said);
                (
                    pod::assumed_kubelet(),
                    Known::Unknown(no_kubelet(root, &processes)),
                )
            }
        };
        let process = match &kubelet.found {
            Found::Process { pid, .. } => processes::arguments_of(root, *pid),
            Found::Files { .. } | Found::Named => Vec::new(),
        };
        let ground = Self {
            runtime: runtime::read(root, &processes, Some(&kubelet)),
            kubelet,
            about,
            assumed,
            file,
            node_file: Known::of_read(root.read_if_there(Path::new(NODE_FILE))),
            node_ips: pod::arguments::node_ips(&process),
        };
        ground.with(said)
    }

    /// With what the options say, which is stronger than any file.
    fn with(mut self, said: Said<'_>) -> Self {
        let kubelet = &mut self.kubelet;
        if !said.cluster_dns.is_empty() {
            kubelet.cluster_dns = option(said.cluster_dns.to_vec(), "--cluster-dns");
        }
        if let Some(domain) = said.cluster_domain {
            kubelet.cluster_domain = option(domain.to_owned(), "--cluster-domain");
        }
        if let Some(version) = said.version {
            kubelet.version = Some(version);
            kubelet.version_from = Some("--kubelet-version".to_owned());
        }
        if let Some(runtime) = said.runtime {
            self.runtime = Maker {
                runtime,
                kind_from: Some("--runtime".to_owned()),
                version_from: runtime.version.map(|_| "--runtime".to_owned()),
            };
        }
        // What keeps the kubelet from starting is the answer itself.
        let stops = kubelet.stops.as_deref();
        kubelet.remarks.retain(|it| Some(it.as_str()) != stops);
        self.about.append(&mut kubelet.remarks);
        let node_ips = pod::arguments::node_ips(said.arguments);
        if !node_ips.is_empty() {
            self.node_ips = node_ips;
        }
        if let Some(source) = said.host_file {
            self.node_file = Known::of(source);
        }
        self.about.extend(self.told());
        self
    }

    /// Which versions the node itself tells, and where.
    fn told(&self) -> Option<String> {
        let of_node = |from: &Option<String>| {
            from.as_ref()
                .filter(|it| !it.starts_with("--"))
                .map(|it| format!("({it})"))
        };
        let kubelet = self
            .kubelet
            .version
            .zip(of_node(&self.kubelet.version_from));
        let kubelet = kubelet.map(|(version, from)| format!("kubelet {version} {from}"));
        let runtime = self.runtime.runtime;
        let told = runtime.version.zip(of_node(&self.runtime.version_from));
        let name = runtime.kind.name();
        let runtime = told.map(|(version, from)| format!("{name} {version} {from}"));
        let parts: Vec<String> = kubelet.into_iter().chain(runtime).collect();
        (!parts.is_empty()).then(|| format!("the node has {}", parts.join(" and ")))
    }

    /// As the core takes it.
    pub(super) fn makers(&self) -> Makers<'_> {
        Makers {
            kubelet: &self.kubelet,
            file: self.file.seen(),
            node_ips: &self.node_ips,
            runtime: self.runtime.runtime,
            node_file: self.node_file.seen(),
        }
    }
}

/// The kubelet with what it has while it runs, and what it handed to a pod
/// since it was started, where that alone tells its file.
fn while_it_runs(
    root: &Root,
    kubelet: Kubelet,
    configuration: Option<&Source>,
) -> (Kubelet, Option<ResolvConf>) {
    let running = kubelet.running.as_ref();
    let is_unread = running.is_some_and(|it| matches!(it.resolv_conf.origin, Origin::Unread(_)));
    let mut kubelet = kubelet.while_it_runs();
    if !is_unread {
        return (kubelet, None);
    }
    let stand_ins = StandIns {
        kubelet_config: configuration.cloned(),
        ..StandIns::default()
    };
    let parts = Parts {
        dns_pods: true,
        ..Parts::default()
    };
    let node = node::read(root, &stand_ins, parts).ok();
    let seen = node.as_ref().and_then(check_loop::as_running);
    let conf = seen.and_then(|seen| {
        kubelet.resolv_conf = seen.kubelet?.resolv_conf;
        seen.kubelet_file?.content.ok()
    });
    (kubelet, conf)
}

impl Known {
    fn of_host(file: Option<HostFile>) -> Self {
        match file.map(|it| it.content) {
            Some(Ok(conf)) => Self::of(conf.source),
            None => Self::Missing,
            Some(Err(unread)) if unread.is_missing => Self::Missing,
            Some(Err(unread)) => Self::Unknown(unread.reason),
        }
    }

    fn of(source: Source) -> Self {
        if source.bytes.len() >= MAX_BYTES {
            let name = &source.name;
            return Self::Unknown(format!("{name}: only the first {MAX_BYTES} bytes are read"));
        }
        Self::Read(ResolvConf::parse(source))
    }

    fn of_read(read: Result<Option<crate::host::FileRead>, ReadError>) -> Self {
        match read {
            Ok(Some(file)) => Self::of(file.source),
            Ok(None) => Self::Missing,
            Err(error) => Self::Unknown(error.to_string()),
        }
    }

    fn seen(&self) -> Seen<'_> {
        match self {
            Self::Read(conf) => Seen::Read(conf),
            Self::Missing => Seen::Missing,
            Self::Unknown(why) => Seen::Unknown(why),
        }
    }
}

fn option<T>(value: T, name: &'static str) -> Setting<T> {
    Setting {
        value,
        origin: Origin::Option(name),
        overrode: Vec::new(),
    }
}

fn assumptions(said: &Said<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    if said.cluster_dns.is_empty() {
        sentences.push(format!(
            "assumed: the cluster's DNS is {} (--cluster-dns)",
            pod::DEFAULT_CLUSTER_DNS
        ));
    }
    if said.cluster_domain.is_none() {
        sentences.push(format!(
            "assumed: the cluster's domain is {} (--cluster-domain)",
            pod::DEFAULT_CLUSTER_DOMAIN
        ));
    }
    sentences
}

fn no_kubelet(root: &Root, processes: &[processes::Seen]) -> String {
    if let Some(why) = processes::unseen(root, processes) {
        return format!("whether a kubelet runs is not known: {why}");
    }
    let place = if root.is_live() {
        "on this machine"
    } else {
        "below the directory of --root"
    };
    format!(
        "no kubelet was found {place}; run kdns on the node, as with `kubectl debug node/NODE -it \
         --profile=sysadmin --image=IMAGE -- kdns pod-file --root /host`, or give --node-file and \
         --kubelet-config"
    )
}
