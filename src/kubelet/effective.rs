//! What the kubelet does with all that was set.

use std::net::IpAddr;

use crate::kubelet::address;
use crate::kubelet::configuration::{self, Configuration, Role};
use crate::kubelet::flags::{Flag, Name};
use crate::kubelet::gates::{self, Gate};
use crate::kubelet::layers::Layers;
use crate::kubelet::setting::{Origin, Setting};
use crate::kubelet::version::Version;
use crate::kubelet::{Found, Kubelet, Refusal, Remark};
use crate::text::{Placed, Source, escaped};

/// Everything that decides the settings.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The kubelet's version, if it is known.
    pub version: Option<Version>,
    /// What counts where nothing is set; the kubelet's own if empty.
    pub defaults: Defaults,
    /// The file of `--config`.
    pub main: Option<File>,
    /// The files below `--config-dir`, in the order in which they are merged.
    pub drop_ins: Vec<File>,
    /// The flags, in order, with where each was given.
    pub flags: Vec<(Flag, Origin)>,
    /// What is already known to be remarkable.
    pub remarks: Vec<Remark>,
    /// Why the kubelet does not start with its flags.
    pub stops: Option<Refusal>,
}

/// What counts where nothing is set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Defaults {
    /// The path in place of `resolvConf`.
    pub resolv_conf: String,
    /// The addresses in place of `clusterDNS`.
    pub cluster_dns: Vec<IpAddr>,
    /// The domain in place of `clusterDomain`.
    pub cluster_domain: String,
}

/// A file that the kubelet reads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum File {
    /// As it was read.
    Read(Source),
    /// It could not be read; the reason as a whole sentence without a full stop.
    Unread(String),
}

/// The kubelet's own defaults.
///
/// Source: kubernetes `pkg/kubelet/apis/config/v1beta1/defaults.go`.
impl Default for Defaults {
    fn default() -> Self {
        Self {
            resolv_conf: "/etc/resolv.conf".to_owned(),
            cluster_dns: Vec::new(),
            cluster_domain: String::new(),
        }
    }
}

/// A setting while places are read that can set it.
struct Key<T> {
    default: T,
    layers: Layers<(T, Origin)>,
}

/// The kubelet that these inputs make.
pub fn effective(found: Found, inputs: Inputs) -> Kubelet {
    let Inputs {
        version,
        defaults,
        main,
        drop_ins,
        flags,
        remarks,
        stops,
    } = inputs;
    let mut settings = Settings {
        version,
        resolv_conf: Key::new(defaults.resolv_conf),
        cluster_dns: Key::new(defaults.cluster_dns),
        cluster_domain: Key::new(defaults.cluster_domain),
        static_pods: Key::new(String::new()),
        runtime_endpoint: Key::new(String::new()),
        gates: Vec::new(),
        remarks,
        stops,
    };
    if let Some(main) = &main {
        settings.file(main, Role::Main);
    }
    for drop_in in &drop_ins {
        settings.file(drop_in, Role::DropIn);
    }
    settings.flags(&flags);
    if let Some(reason) = gates::refused(version, &settings.gates) {
        settings.stop(reason);
    }
    let expanded_dns = match gates::expanded_dns(version, &settings.gates) {
        Some((value, origin)) => Setting::made(Some(value), origin),
        None => Setting::built_in(None),
    };
    // One that runs has started with what it had then.
    let runs = matches!(found, Found::Process { .. });
    let mut kubelet = Kubelet {
        found,
        version,
        version_from: None,
        expanded_dns,
        runtime_endpoint: settings.runtime_endpoint.setting(),
        resolv_conf: settings.resolv_conf.setting(),
        cluster_dns: settings.cluster_dns.setting(),
        cluster_domain: settings.cluster_domain.setting(),
        remarks: settings.remarks,
        stops: settings.stops.filter(|_| !runs),
        newer: Vec::new(),
        static_pods: Some(settings.static_pods.setting().value).filter(|it| !it.is_empty()),
        running: None,
        running_cluster: None,
        is_not_seen: false,
    };
    if !kubelet.resolv_conf.value.is_empty() && !kubelet.resolv_conf.value.starts_with('/') {
        let path = escaped(kubelet.resolv_conf.value.as_bytes());
        kubelet.remarks.push(Remark::RelativePath(path));
    }
    kubelet
}

/// The variable without which 1.28 and 1.29 do not take `--config-dir`.
pub const DROP_IN_GATE: &str = "KUBELET_CONFIG_DROPIN_DIR_ALPHA";

/// Why a kubelet of this version does not start with `--config-dir`.
/// `has_variable`: whether [`DROP_IN_GATE`] is set, if that is known.
///
/// Source: kubernetes `cmd/kubelet/app/server.go` of 1.28; kubernetes/website#45665.
pub fn refuses_drop_ins(version: Option<Version>, has_variable: Option<bool>) -> Option<Refusal> {
    let version = version?;
    if version < configuration::DROP_INS {
        return Some(Refusal::DropIns);
    }
    let needs_variable = version < Version::minor(1, 30) && has_variable == Some(false);
    needs_variable.then_some(Refusal::DropInGate)
}

struct Settings {
    version: Option<Version>,
    resolv_conf: Key<String>,
    cluster_dns: Key<Vec<IpAddr>>,
    cluster_domain: Key<String>,
    static_pods: Key<String>,
    runtime_endpoint: Key<String>,
    gates: Vec<Gate>,
    remarks: Vec<Remark>,
    stops: Option<Refusal>,
}

impl Settings {
    fn file(&mut self, file: &File, role: Role) {
        let found = match file {
            File::Read(source) => configuration::read_configuration(source, role, self.version),
            File::Unread(reason) => Configuration {
                broken: Some(reason.clone()),
                ..Configuration::default()
            },
        };
        self.remarks.extend(found.remarks);
        self.stops = self.stops.take().or(found.stops);
        if let Some(reason) = found.broken {
            self.resolv_conf.guess(&reason);
            self.cluster_dns.guess(&reason);
            self.cluster_domain.guess(&reason);
            return;
        }
        let path = |set: Option<Placed<Option<String>>>| match (file, role) {
            (File::Read(source), Role::Main) => set.map(|it| Placed {
                value: it.value.map(|it| from_directory_of(&source.name, it)),
                place: it.place,
            }),
            _ => set,
        };
        self.resolv_conf.place(path(found.resolv_conf));
        self.static_pods.place(path(found.static_pods));
        self.cluster_domain.place(found.cluster_domain);
        self.runtime_endpoint.place(found.runtime_endpoint);
        self.gates
            .extend(found.gates.into_iter().map(|(name, set)| Gate {
                name,
                value: set.value,
                origin: Origin::File(set.place),
            }));
        if let Some(Placed { value, place }) = found.cluster_dns {
            let value = value.map(|servers| {
                let at = place.to_string();
                addresses(servers.iter().map(String::as_str), &at, &mut self.remarks)
            });
            self.cluster_dns.place(Some(Placed::new(value, place)));
        }
    }

    fn flags(&mut self, flags: &[(Flag, Origin)]) {
        for (flag, origin) in flags {
            let key = match flag.name {
                Name::ResolvConf => &mut self.resolv_conf,
                Name::ClusterDomain => &mut self.cluster_domain,
                Name::RuntimeEndpoint => &mut self.runtime_endpoint,
                Name::StaticPods => &mut self.static_pods,
                Name::FeatureGates => {
                    self.gates_of_flag(flag, origin);
                    continue;
                }
                Name::ClusterDns | Name::Config | Name::ConfigDir => continue,
            };
            key.layers.flag((flag.value.clone(), origin.clone()));
        }
        let lists = flags.iter().filter(|it| it.0.name == Name::ClusterDns);
        let mut servers = Vec::new();
        for (flag, _) in lists.clone() {
            let parts = flag.servers().map(|it| it.1);
            servers.extend(addresses(parts, &flag.argument, &mut self.remarks));
        }
        // The first one replaces what the files have, others add to it.
        if let Some((_, origin)) = lists.clone().next() {
            self.cluster_dns.layers.flag((servers, origin.clone()));
        }
    }

    fn gates_of_flag(&mut self, flag: &Flag, origin: &Origin) {
        match gates::of_flag(&flag.value) {
            Ok(pairs) => self
                .gates
                .extend(pairs.into_iter().map(|(name, value)| Gate {
                    name,
                    value,
                    origin: origin.clone(),
                })),
            Err(pair) => self.stop(Refusal::Gate {
                flag: flag.argument.clone(),
                pair: escaped(pair.as_bytes()),
            }),
        }
    }

    /// What keeps the kubelet from starting.
    fn stop(&mut self, reason: Refusal) {
        self.stops.get_or_insert_with(|| reason.clone());
        self.remarks.push(Remark::Refused(reason));
    }
}

/// A path in the file of `--config`: a relative one begins in the directory of
/// that file. In a drop-in it stays as it is.
///
/// Source: kubernetes `pkg/kubelet/kubeletconfig/configfiles/configfiles.go:
/// resolveRelativePaths`, `cmd/kubelet/app/server.go: mergeKubeletConfigurations`.
pub fn from_directory_of(file: &str, path: String) -> String {
    if path.is_empty() || path.starts_with('/') || !file.starts_with('/') {
        return path;
    }
    absolute(file.rsplit_once('/').map_or("", |it| it.0), &path)
}

/// A path as a program with this working directory means it, without `.` and
/// `..`.
pub fn absolute(directory: &str, path: &str) -> String {
    let from = if path.starts_with('/') { "" } else { directory };
    let mut parts: Vec<&str> = Vec::new();
    for part in from.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// The addresses in a list; the kubelet logs those that are none and goes on.
///
/// Source: kubernetes `pkg/kubelet/kubelet.go: NewMainKubelet`.
fn addresses<'t>(
    texts: impl Iterator<Item = &'t str>,
    at: &str,
    remarks: &mut Vec<Remark>,
) -> Vec<IpAddr> {
    let mut addresses = Vec::new();
    for text in texts {
        match address::parse_address(text) {
            Some(address) => addresses.push(address),
            None => remarks.push(Remark::NoAddress {
                at: at.to_owned(),
                text: escaped(text.as_bytes()),
            }),
        }
    }
    addresses
}

impl<T: Clone> Key<T> {
    fn new(default: T) -> Self {
        let layers = Layers::default();
        Self { default, layers }
    }

    fn place(&mut self, set: Option<Placed<Option<T>>>) {
        if let Some(Placed { value, place }) = set {
            let value = value.unwrap_or_else(|| self.default.clone());
            self.layers.file((value, Origin::File(place)));
        }
    }

    fn guess(&mut self, reason: &str) {
        let origin = Origin::Unread(reason.to_owned());
        self.layers.file((self.default.clone(), origin));
    }

    fn setting(self) -> Setting<T> {
        let mut all = self.layers.strongest_first();
        let Some((value, origin)) = all.next() else {
            return Setting::built_in(self.default);
        };
        let is_read = |(_, origin): &(T, Origin)| !matches!(origin, Origin::Unread(_));
        Setting {
            value,
            origin,
            overrode: all.filter(is_read).collect(),
        }
    }
}
