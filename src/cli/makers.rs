//! What makes a pod's file, read from a node or from files that were named.

use std::net::IpAddr;
use std::path::Path;

use crate::check_loop;
use crate::config::resolv_conf::ResolvConf;
use crate::host::node::{self, Parts, StandIns, kubelet as reader, processes, runtime, unseen};
use crate::host::root::Root;
use crate::host::{MAX_BYTES, ReadError};
use crate::kubelet::choice::NODE_FILE;
use crate::kubelet::{self, Kubelet, Origin, Setting, Version};
use crate::node::{HostFile, Maker};
use crate::pod::{self, KnownFile, Makers, Remark, Runtime};
use crate::text::Source;

/// A kubelet with the files that it and the runtime read.
pub(super) struct Ground {
    /// The kubelet, with what the options say.
    pub(super) kubelet: Kubelet,
    /// What could not be read, and what else is worth knowing.
    pub(super) about: Vec<Remark>,
    /// What was assumed about the cluster, which counts for pods with the
    /// cluster's DNS.
    pub(super) assumed: Vec<Remark>,
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
            Some(source) => Known::from_source(source),
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
        let (processes, mut unread) = processes::scan(root);
        let mut assumed = Vec::new();
        let configuration = stand_ins.kubelet_config.as_ref();
        let (found, skipped) =
            reader::read_kubelet_of_version(root, &processes, configuration, said.version);
        unread.extend(skipped);
        let mut about: Vec<Remark> = unread.into_iter().map(Remark::Unread).collect();
        let (kubelet, file) = match (found, stand_ins.node_file) {
            (Some(kubelet), stand_in) => {
                let running = kubelet.running.as_ref();
                about.extend(running.cloned().map(Remark::NotRestarted));
                let (kubelet, handed) = while_it_runs(root, kubelet, configuration);
                let kubelet = kubelet.with_arguments(said.arguments);
                let is_handed = matches!(kubelet.resolv_conf.origin, Origin::Pod(_));
                let file = match (stand_in, handed) {
                    (None, Some(conf)) if is_handed => {
                        let Setting { value, origin, .. } = kubelet.resolv_conf.clone();
                        let path = value;
                        about.push(Remark::OfPod { path, origin });
                        Known::from_source(conf.source)
                    }
                    (stand_in, _) => {
                        Known::of_host(reader::kubelet_file(root, &kubelet, stand_in.as_ref()))
                    }
                };
                (kubelet, file)
            }
            (None, Some(source)) => {
                assumed = assumptions(&said);
                (pod::assumed_kubelet(), Known::from_source(source))
            }
            (None, None) => {
                assumed = assumptions(&said);
                (
                    pod::assumed_kubelet(),
                    Known::Unknown(no_kubelet(root, &processes)),
                )
            }
        };
        let process = reader::arguments(root, &kubelet);
        let ground = Self {
            runtime: runtime::read_runtime(root, &processes, Some(&kubelet)),
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
            let origin = Origin::Option("--cluster-dns");
            kubelet.cluster_dns = Setting::made(said.cluster_dns.to_vec(), origin);
        }
        if let Some(domain) = said.cluster_domain {
            let origin = Origin::Option("--cluster-domain");
            kubelet.cluster_domain = Setting::made(domain.to_owned(), origin);
        }
        if let Some(version) = said.version {
            kubelet.version = Some(version);
            kubelet.version_from = Some("--kubelet-version".to_owned());
        }
        if let Some(runtime) = said.runtime {
            self.runtime = Maker {
                runtime,
                version_from: runtime.version.map(|_| "--runtime".to_owned()),
            };
        }
        // What keeps the kubelet from starting is the answer itself.
        let stops = kubelet.stops.clone().map(kubelet::Remark::Refused);
        let about = kubelet
            .remarks
            .drain(..)
            .filter(|it| Some(it) != stops.as_ref());
        self.about.extend(about.map(Remark::Kubelet));
        let node_ips = pod::arguments::node_ips(said.arguments);
        if !node_ips.is_empty() {
            self.node_ips = node_ips;
        }
        if let Some(source) = said.host_file {
            self.node_file = Known::from_source(source);
        }
        self.about.extend(self.versions_of_node());
        self
    }

    /// Which versions the node itself tells, and where.
    fn versions_of_node(&self) -> Option<Remark> {
        let of_node = |from: &Option<String>| from.clone().filter(|it| !it.starts_with("--"));
        let Maker { runtime, .. } = self.runtime;
        let known = runtime.version.zip(of_node(&self.runtime.version_from));
        let kubelet = (self.kubelet.version).zip(of_node(&self.kubelet.version_from));
        let runtime = known.map(|(version, from)| (runtime.kind, version, from));
        (kubelet.is_some() || runtime.is_some()).then_some(Remark::Versions { kubelet, runtime })
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
    let node = node::read_node(root, &stand_ins, parts).ok();
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
            Some(Ok(conf)) => Self::from_source(conf.source),
            None => Self::Missing,
            Some(Err(unread)) if unread.is_missing => Self::Missing,
            Some(Err(unread)) => Self::Unknown(unread.reason),
        }
    }

    fn from_source(source: Source) -> Self {
        if source.bytes.len() >= MAX_BYTES {
            let name = &source.name;
            return Self::Unknown(format!("{name}: only the first {MAX_BYTES} bytes are read"));
        }
        Self::Read(ResolvConf::parse(source))
    }

    fn of_read(read: Result<Option<crate::host::FileRead>, ReadError>) -> Self {
        match read {
            Ok(Some(file)) => Self::from_source(file.source),
            Ok(None) => Self::Missing,
            Err(error) => Self::Unknown(error.to_string()),
        }
    }

    fn seen(&self) -> KnownFile<'_> {
        match self {
            Self::Read(conf) => KnownFile::Read(conf),
            Self::Missing => KnownFile::Missing,
            Self::Unknown(why) => KnownFile::Unknown(why),
        }
    }
}

fn assumptions(said: &Said<'_>) -> Vec<Remark> {
    let dns = said.cluster_dns.is_empty().then_some(Remark::AssumedDns);
    let domain = said.cluster_domain.is_none();
    dns.into_iter()
        .chain(domain.then_some(Remark::AssumedDomain))
        .collect()
}

fn no_kubelet(root: &Root, processes: &[processes::ProcessSeen]) -> String {
    if let Some(why) = unseen::why(root, processes) {
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
