//! What the kubelet does with all that was set.

use std::net::IpAddr;

use crate::kubelet::address;
use crate::kubelet::configuration::{self, Role};
use crate::kubelet::flags::{Flag, Name};
use crate::kubelet::gates::{self, Gate};
use crate::kubelet::layers::{Given, added_up};
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

/// The kubelet that these inputs make.
pub fn effective(found: Found, inputs: Inputs) -> Kubelet {
    let (version, defaults) = (inputs.version, inputs.defaults);
    let mut settings = Settings {
        version,
        given: Given::default(),
        gates: Vec::new(),
        remarks: inputs.remarks,
        stops: inputs.stops,
    };
    if let Some(main) = &inputs.main {
        settings.file(main, Role::Main);
    }
    for drop_in in &inputs.drop_ins {
        settings.file(drop_in, Role::DropIn);
    }
    settings.flags(&inputs.flags);
    if let Some(reason) = gates::refused(version, &settings.gates) {
        settings.stop(reason);
    }
    let expanded_dns = match gates::expanded_dns(version, &settings.gates) {
        Some((value, origin)) => Setting::made(Some(value), origin),
        None => Setting::built_in(None),
    };
    let given = &mut settings.given;
    let static_pods = setting(given, Name::StaticPods, String::new(), one).value;
    // One that runs has started with what it had then.
    let runs = matches!(found, Found::Process { .. });
    let mut kubelet = Kubelet {
        found,
        version,
        version_from: None,
        expanded_dns,
        runtime_endpoint: setting(given, Name::RuntimeEndpoint, String::new(), one),
        resolv_conf: setting(given, Name::ResolvConf, defaults.resolv_conf, one),
        cluster_dns: setting(given, Name::ClusterDns, defaults.cluster_dns, addresses),
        cluster_domain: setting(given, Name::ClusterDomain, defaults.cluster_domain, one),
        remarks: settings.remarks,
        stops: settings.stops.filter(|_| !runs),
        newer: Vec::new(),
        static_pods: Some(static_pods).filter(|it| !it.is_empty()),
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

/// The texts of a value, `None` for the default, and where they stand.
type Set = (Option<Vec<String>>, Origin);

struct Settings {
    version: Option<Version>,
    given: Given<Set>,
    gates: Vec<Gate>,
    remarks: Vec<Remark>,
    stops: Option<Refusal>,
}

impl Settings {
    fn file(&mut self, file: &File, role: Role) {
        let source = match file {
            File::Read(source) => source,
            File::Unread(reason) => return self.guess(reason),
        };
        let found = configuration::read_configuration(source, role, self.version);
        self.remarks.extend(found.remarks);
        self.stops = self.stops.take().or(found.stops);
        if let Some(reason) = found.broken {
            return self.guess(&reason);
        }
        self.gates
            .extend(found.gates.into_iter().map(|(name, set)| Gate {
                name,
                value: set.value,
                origin: Origin::File(set.place),
            }));
        for (key, Placed { mut value, place }) in found.settings {
            let is_path = matches!(key, Name::ResolvConf | Name::StaticPods);
            if is_path && role == Role::Main {
                let texts = value.iter_mut().flatten();
                texts.for_each(|it| *it = from_directory_of(&source.name, std::mem::take(it)));
            }
            if key == Name::ClusterDns {
                self.look_at(value.iter().flatten(), &place.to_string());
            }
            self.given.file(key, (value, Origin::File(place)));
        }
    }

    /// A file that cannot be read could set anything.
    fn guess(&mut self, reason: &str) {
        for key in [Name::ResolvConf, Name::ClusterDns, Name::ClusterDomain] {
            let origin = Origin::Unread(reason.to_owned());
            self.given.file(key, (None, origin));
        }
    }

    fn flags(&mut self, flags: &[(Flag, Origin)]) {
        let is_gates = |it: &&(Flag, Origin)| it.0.name == Name::FeatureGates;
        for (flag, origin) in flags.iter().filter(is_gates) {
            self.gates_of_flag(flag, origin);
        }
        let mut sets = Vec::new();
        for (flag, origin) in flags {
            let mut texts = vec![flag.value.clone()];
            if flag.name == Name::ClusterDns {
                texts = flag.servers().map(|it| it.1.to_owned()).collect();
                self.look_at(texts.iter(), &flag.argument);
            }
            sets.push((flag.name, (texts, origin.clone())));
        }
        for (key, (texts, origin)) in added_up(sets, |first, more| first.0.extend(more.0)) {
            self.given.flag(key, (Some(texts), origin));
        }
    }

    /// The kubelet logs servers that are no addresses, and goes on.
    ///
    /// Source: kubernetes `pkg/kubelet/kubelet.go: NewMainKubelet`.
    fn look_at<'t>(&mut self, servers: impl Iterator<Item = &'t String>, at: &str) {
        let others = servers.filter(|it| address::parse_address(it).is_none());
        self.remarks.extend(others.map(|it| Remark::NoAddress {
            at: at.to_owned(),
            text: escaped(it.as_bytes()),
        }));
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

fn one(texts: &[String]) -> String {
    texts.concat()
}

pub(super) fn addresses(texts: &[String]) -> Vec<IpAddr> {
    let addresses = texts.iter().filter_map(|it| address::parse_address(it));
    addresses.collect()
}

/// What counts of a key, made of its texts by `read`, and what that overrode.
fn setting<T: Clone>(
    given: &mut Given<Set>,
    key: Name,
    default: T,
    read: fn(&[String]) -> T,
) -> Setting<T> {
    let value = |(texts, origin): Set| {
        (
            texts.map_or_else(|| default.clone(), |it| read(&it)),
            origin,
        )
    };
    let mut all = given.take(key).map(value);
    let Some((value, origin)) = all.next() else {
        drop(all);
        return Setting::built_in(default);
    };
    let is_read = |(_, origin): &(T, Origin)| !matches!(origin, Origin::Unread(_));
    Setting {
        value,
        origin,
        overrode: all.filter(is_read).collect(),
    }
}
