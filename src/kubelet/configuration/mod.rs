//! A KubeletConfiguration file, as far as DNS depends on it, as the kubelet
//! decodes it.
//!
//! Source: kubernetes `pkg/kubelet/kubeletconfig/util/codec/codec.go`: strict
//! decoding, and on its errors lenient decoding with a warning; keys are case
//! sensitive, the last one of repeated keys counts, and a value of the wrong
//! type is an error both times.

use std::collections::BTreeMap;

use crate::config::yaml::{self, Entry, Kind, Node};
use crate::kubelet::gates;
use crate::kubelet::version::Version;
use crate::text::{Place, Placed, Source, escaped};

/// For what a file is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// For `--config`.
    Main,
    /// For one of the files below `--config-dir`.
    DropIn,
}

/// What a file sets. The value `None`: it sets the built-in default.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Configuration {
    /// `resolvConf`.
    pub resolv_conf: Option<Placed<Option<String>>>,
    /// `clusterDNS`, as written.
    pub cluster_dns: Option<Placed<Option<Vec<String>>>>,
    /// `clusterDomain`.
    pub cluster_domain: Option<Placed<Option<String>>>,
    /// `staticPodPath`.
    pub static_pods: Option<Placed<Option<String>>>,
    /// `containerRuntimeEndpoint`.
    pub runtime_endpoint: Option<Placed<Option<String>>>,
    /// Those of `featureGates` that can count, in order.
    pub gates: Vec<(String, Placed<bool>)>,
    /// What is ignored in it, and errors with which the kubelet does not
    /// start. Whole sentences without a full stop.
    pub remarks: Vec<String>,
    /// Why nothing of it can be known: it is no YAML.
    pub broken: Option<String>,
    /// Why the kubelet does not start with it: the first of those remarks, or
    /// what is broken.
    pub stops: Option<String>,
}

/// Up to here an empty `resolvConf` in a file means the default.
/// Source: kubernetes#104624.
const LAST_WITHOUT_EMPTY: Version = Version::minor(1, 22);
/// Since then drop-ins are merged by the keys that are documented.
/// Source: kubernetes#127421.
pub const DROP_INS_BY_KEY: Version = Version::minor(1, 32);

/// More is not said about one file.
const MAX_REMARKS: usize = 100;

const RESOLV_CONF: &str = "resolvConf";
const CLUSTER_DNS: &str = "clusterDNS";
const CLUSTER_DOMAIN: &str = "clusterDomain";
const STATIC_PODS: &str = "staticPodPath";
/// The keys that are read.
const KEYS: [&str; 4] = [RESOLV_CONF, CLUSTER_DNS, CLUSTER_DOMAIN, STATIC_PODS];

const RUNTIME_ENDPOINT: &str = "containerRuntimeEndpoint";

/// Drop-ins that k3s and rke2 write for the kubelet that they have: their key
/// is the one that counts, whatever the version.
pub const GENERATED: [&str; 2] = ["/00-k3s-defaults.conf", "/00-rke2-defaults.conf"];

const KIND: &str = "KubeletConfiguration";
const GROUP: &str = "kubelet.config.k8s.io/";

/// Reads a file. Without a version the newest is meant, and what others do is
/// remarked on where it matters.
pub fn read(source: &Source, role: Role, version: Option<Version>) -> Configuration {
    let mut reader = Reader {
        source,
        role,
        version,
        found: Configuration::default(),
    };
    let documents = yaml::documents(source);
    // The kubelet takes the first document; a file for kubeadm has others.
    let is_ours = |root: &Node| text_of(root, "kind") == Some(KIND);
    let ours = |it: &&yaml::Document| it.root.as_ref().is_ok_and(is_ours);
    let chosen = documents.iter().find(ours).or(documents.first());
    match chosen.map(|it| &it.root) {
        Some(Ok(root)) => reader.document(root),
        Some(Err(error)) => {
            let reason = format!(
                "{}: the kubelet does not start with this file: {error}",
                source.place(error.at)
            );
            reader.found.stops = Some(reason.clone());
            reader.found.broken = Some(reason);
        }
        None => {
            let name = &source.name;
            let remark = format!("{name} is empty, and the kubelet does not start with it");
            reader.found.stops = Some(remark.clone());
            reader.found.remarks.push(remark);
        }
    }
    reader.found
}

struct Reader<'s> {
    source: &'s Source,
    role: Role,
    version: Option<Version>,
    found: Configuration,
}

impl Reader<'_> {
    fn document(&mut self, root: &Node) {
        // What the API server shows of a kubelet at /configz.
        let shown = root
            .get("kubeletconfig")
            .filter(|it| it.as_mapping().is_some());
        if shown.is_none() {
            self.identity(root);
        }
        let root = shown.unwrap_or(root);
        let Some(entries) = root.as_mapping() else {
            return;
        };
        let has_key = root.get(RESOLV_CONF).is_some();
        // Each key once, where it stands for the last time.
        let mut last: BTreeMap<&str, (usize, &Entry)> = BTreeMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let Some(key) = entry.key.as_scalar().map(|it| it.text.as_str()) else {
                continue;
            };
            let is_repeated = last.insert(key, (index, entry)).is_some();
            if is_repeated && KEYS.contains(&key) {
                let message = format!("{key} stands here once more, and the last one counts");
                self.remark(entry.key.span.start, &message);
            }
        }
        let mut last: Vec<(usize, &str, &Entry)> = last
            .into_iter()
            .map(|(key, (index, entry))| (index, key, entry))
            .collect();
        last.sort_unstable_by_key(|(index, ..)| *index);
        for (_, key, entry) in last {
            self.entry(key, entry, has_key);
        }
        for key in KEYS {
            let is_written = |it: &Entry| it.key.as_scalar().is_some_and(|it| it.text == key);
            // What a merge key (`<<`) brings in.
            if let Some(value) = root.get(key).filter(|_| !entries.iter().any(is_written)) {
                self.set(key, value);
            }
        }
    }

    /// Whether the kubelet takes the file for a configuration of its own.
    fn identity(&mut self, root: &Node) {
        let api = text_of(root, "apiVersion").unwrap_or_default();
        let kind = text_of(root, "kind").unwrap_or_default();
        if kind != KIND || !api.starts_with(GROUP) {
            let message = "the kubelet does not start with this file: it needs apiVersion \
                           kubelet.config.k8s.io/v1beta1 and kind KubeletConfiguration";
            self.stop(root.span.start, message);
        }
    }

    /// `has_key`: whether `resolvConf` stands in the file.
    fn entry(&mut self, key: &str, entry: &Entry, has_key: bool) {
        let at = entry.key.span.start;
        let is_old_drop_in = self.role == Role::DropIn
            && self
                .version
                .is_some_and(|version| version < DROP_INS_BY_KEY);
        if is_old_drop_in {
            match key.to_ascii_lowercase().as_str() {
                "resolverconfig" => self.set(RESOLV_CONF, &entry.value),
                "clusterdns" => self.set(CLUSTER_DNS, &entry.value),
                "clusterdomain" => self.set(CLUSTER_DOMAIN, &entry.value),
                "staticpodpath" => self.set(STATIC_PODS, &entry.value),
                "resolvconf" => {
                    let message = "resolvConf is ignored here: kubelets from 1.28 to 1.31 do not \
                                   take it from a drop-in";
                    self.remark(at, message);
                }
                _ => {}
            }
            return;
        }
        match key {
            RESOLV_CONF => {
                if self.is_in_doubt() {
                    let message = "kubelets from 1.28 to 1.31 ignore resolvConf in a drop-in; the \
                                   version of this one is not known";
                    self.remark(at, message);
                }
                self.set(key, &entry.value);
            }
            CLUSTER_DNS | CLUSTER_DOMAIN | STATIC_PODS => self.set(key, &entry.value),
            RUNTIME_ENDPOINT => self.runtime_endpoint(&entry.value),
            "featureGates" => self.gates(&entry.value),
            "resolverConfig" if !has_key && self.is_guess() => {
                if self.is_in_doubt() {
                    let message = "kubelets since 1.32 ignore resolverConfig in a drop-in; the \
                                   version of this one is not known";
                    self.remark(at, message);
                }
                self.set(RESOLV_CONF, &entry.value);
            }
            "resolverConfig" => {
                self.remark(at, "resolverConfig is ignored: the key is resolvConf");
            }
            _ => {
                if let Some(meant) = KEYS.iter().find(|it| key.eq_ignore_ascii_case(it)) {
                    let key = escaped(key.as_bytes());
                    self.remark(at, &format!("{key} is ignored: the key is {meant}"));
                }
            }
        }
    }

    /// Anything but a text is none of a runtime that is known.
    fn runtime_endpoint(&mut self, value: &Node) {
        let text = value.as_scalar().map(|it| it.text.clone());
        self.found.runtime_endpoint = text.map(|it| Placed {
            value: Some(it),
            place: self.source.place_of(value.span.start),
        });
    }

    fn gates(&mut self, value: &Node) {
        for entry in value.as_mapping().unwrap_or_default() {
            let Some(name) = entry.key.as_scalar().map(|it| it.text.clone()) else {
                continue;
            };
            let at = entry.value.span.start;
            let Some(kind @ (Kind::Bool(_) | Kind::Null)) = entry.value.kind() else {
                let message = format!(
                    "the kubelet does not start with this file: featureGates.{} is {} and \
                     not true or false",
                    escaped(name.as_bytes()),
                    entry.value.described()
                );
                self.stop(at, &message);
                continue;
            };
            if gates::counts(&name) {
                let value = kind == Kind::Bool(true);
                let place = self.source.place_of(at);
                self.found.gates.push((name, Placed { value, place }));
            }
        }
    }

    /// What the value of a key sets.
    fn set(&mut self, key: &str, value: &Node) {
        // That of a list is its first entry's.
        let first = value.as_sequence().and_then(<[Node]>::first);
        let place = self.source.place_of(first.unwrap_or(value).span.start);
        if value.is_null() {
            self.unset(key, place);
            return;
        }
        let text = (value.kind() == Some(Kind::Text))
            .then(|| value.as_scalar())
            .flatten();
        let text = text.map(|it| it.text.clone());
        match (key, text) {
            (RESOLV_CONF, Some(path)) if path.is_empty() && !self.honours_empty() => {
                let message = "resolvConf \"\" means the default here: it is honoured since 1.23";
                self.remark(value.span.start, message);
                self.found.resolv_conf = None;
            }
            (RESOLV_CONF, Some(path)) => {
                self.found.resolv_conf = Some(Placed {
                    value: Some(path),
                    place,
                });
            }
            (CLUSTER_DOMAIN, Some(domain)) => {
                self.found.cluster_domain = Some(Placed {
                    value: Some(domain),
                    place,
                });
            }
            (STATIC_PODS, Some(path)) => {
                self.found.static_pods = Some(Placed {
                    value: Some(path),
                    place,
                });
            }
            (CLUSTER_DNS, _) if value.as_sequence().is_some() => {
                let items = value.as_sequence().unwrap_or_default();
                let servers = items.iter().filter_map(|item| self.server(item)).collect();
                self.found.cluster_dns = Some(Placed {
                    value: Some(servers),
                    place,
                });
            }
            _ => self.wrong_type(key, value),
        }
    }

    /// An entry of `clusterDNS`.
    fn server(&mut self, item: &Node) -> Option<String> {
        match (item.kind(), item.as_scalar()) {
            (Some(Kind::Text), Some(scalar)) => Some(scalar.text.clone()),
            (Some(Kind::Null), _) => Some(String::new()),
            _ => {
                self.wrong_type("an entry of clusterDNS", item);
                None
            }
        }
    }

    fn wrong_type(&mut self, key: &str, value: &Node) {
        let wanted = if key == CLUSTER_DNS {
            "a list of texts"
        } else {
            "a text"
        };
        let found = value.described();
        let message =
            format!("the kubelet does not start with this file: {key} is {found} and not {wanted}");
        self.stop(value.span.start, &message);
    }

    /// A null. In a drop-in it takes back what was set before: the files are
    /// merged as RFC 7396 says. Before 1.32 that hit another key than the one
    /// that is read afterwards.
    fn unset(&mut self, key: &str, place: Place) {
        let counts = self.role == Role::DropIn
            && self
                .version
                .is_none_or(|version| version >= DROP_INS_BY_KEY);
        match key {
            RESOLV_CONF => {
                self.found.resolv_conf = counts.then_some(Placed { value: None, place });
            }
            CLUSTER_DNS => {
                self.found.cluster_dns = counts.then_some(Placed { value: None, place });
            }
            CLUSTER_DOMAIN => {
                self.found.cluster_domain = counts.then_some(Placed { value: None, place });
            }
            _ => self.found.static_pods = counts.then_some(Placed { value: None, place }),
        }
    }

    fn honours_empty(&self) -> bool {
        let major_minor = |it: Version| (it.major, it.minor);
        self.version
            .is_none_or(|it| major_minor(it) > major_minor(LAST_WITHOUT_EMPTY))
    }

    /// Whether it depends on an unknown version which key counts.
    fn is_guess(&self) -> bool {
        self.role == Role::DropIn && self.version.is_none()
    }

    /// Whether nothing tells which one it is.
    fn is_in_doubt(&self) -> bool {
        self.is_guess()
            && !GENERATED
                .iter()
                .any(|name| self.source.name.ends_with(name))
    }

    /// What keeps the kubelet from starting.
    fn stop(&mut self, at: u32, message: &str) {
        let place = self.source.place(at);
        let reason = || format!("{place}: {message}");
        self.found.stops.get_or_insert_with(reason);
        self.remark(at, message);
    }

    fn remark(&mut self, at: u32, message: &str) {
        if self.found.remarks.len() >= MAX_REMARKS {
            return;
        }
        let place = self.source.place(at);
        self.found.remarks.push(format!("{place}: {message}"));
    }
}

fn text_of<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    Some(node.get(key)?.as_scalar()?.text.as_str())
}

#[cfg(test)]
mod tests;
