//! A KubeletConfiguration file, as far as DNS depends on it, as the kubelet
//! decodes it.
//!
//! Source: kubernetes `pkg/kubelet/kubeletconfig/util/codec/codec.go`: strict
//! decoding, and on its errors lenient decoding with a warning; keys are case
//! sensitive, the last one of repeated keys counts, and a value of the wrong
//! type is an error both times.

mod keys;

use std::collections::BTreeMap;

use crate::config::yaml::{self, Entry, Kind, Node};
use crate::kubelet::flags::Name;
use crate::kubelet::gates;
use crate::kubelet::version::Version;
use crate::text::{Placed, Source, escaped};

pub use self::keys::{DROP_INS, DROP_INS_BY_KEY, Ignored, honours_empty, taken, without_effect};

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

/// More is not said about one file.
const MAX_REMARKS: usize = 100;

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
        let has_documented = root.get("resolvConf").is_some();
        // Each key once, where it stands for the last time.
        let mut last: BTreeMap<&str, (usize, &Entry)> = BTreeMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let Some(key) = entry.key.as_scalar().map(|it| it.text.as_str()) else {
                continue;
            };
            let is_repeated = last.insert(key, (index, entry)).is_some();
            if is_repeated && matches!(taken(key, Role::Main, None, true), Some(Ok(_))) {
                let message = format!("{key} stands here once more, and the last one counts");
                self.remark(entry.key.span.start, &message);
            }
        }
        let mut last: Vec<(usize, &str, &Entry)> = last
            .into_iter()
            .map(|(key, (index, entry))| (index, key, entry))
            .collect();
        last.sort_unstable_by_key(|(index, ..)| *index);
        for (_, key, entry) in &last {
            self.entry(key, entry, has_documented);
        }
        for key in keys::documented() {
            let is_written = last.iter().any(|it| it.1 == key);
            // What a merge key (`<<`) brings in.
            if let (Some(value), false) = (root.get(key), is_written)
                && let Some(Ok(name)) = taken(key, self.role, self.version, has_documented)
            {
                self.set(name, key, value);
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

    /// `has_documented`: whether `resolvConf` stands in the file.
    fn entry(&mut self, key: &str, entry: &Entry, has_documented: bool) {
        let at = entry.key.span.start;
        match taken(key, self.role, self.version, has_documented) {
            Some(Ok(name)) => {
                if name == Name::ResolvConf && self.is_in_doubt() {
                    let versions = if key == "resolvConf" {
                        "from 1.28 to 1.31"
                    } else {
                        "since 1.32"
                    };
                    self.remark(at, &format!("kubelets {versions} ignore {key} in a drop-in; the version of this one is not known"));
                }
                self.set(name, key, &entry.value);
            }
            Some(Err(Ignored::OldDropIn)) => {
                let message = "resolvConf is ignored here: kubelets from 1.28 to 1.31 do not \
                               take it from a drop-in";
                self.remark(at, message);
            }
            Some(Err(Ignored::OtherKey(meant))) => {
                let key = escaped(key.as_bytes());
                self.remark(at, &format!("{key} is ignored: the key is {meant}"));
            }
            None if self.is_old_drop_in() => {}
            None if key == RUNTIME_ENDPOINT => self.runtime_endpoint(&entry.value),
            None if key == "featureGates" => self.gates(&entry.value),
            _ => {}
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
    fn set(&mut self, name: Name, key: &str, value: &Node) {
        // That of a list is its first entry's.
        let first = value.as_sequence().and_then(<[Node]>::first);
        let place = self.source.place_of(first.unwrap_or(value).span.start);
        let text = value.as_scalar().map(|it| it.text.as_str());
        let text = text.filter(|_| value.kind() == Some(Kind::Text));
        let ignored = without_effect(name, text, value.is_null(), self.role, self.version);
        if ignored == Some(Ignored::Empty) {
            let message = "resolvConf \"\" means the default here: it is honoured since 1.23";
            self.remark(value.span.start, message);
        }
        let is_list = name == Name::ClusterDns;
        if !value.is_null()
            && (text.is_none() && !is_list || is_list && value.as_sequence().is_none())
        {
            return self.wrong_type(key, value);
        }
        if is_list {
            let items = value.as_sequence();
            let servers = items.map(|it| it.iter().filter_map(|it| self.server(it)).collect());
            self.found.cluster_dns = ignored.is_none().then_some(Placed {
                value: servers,
                place,
            });
            return;
        }
        let value = text.map(str::to_owned);
        let set = ignored.is_none().then_some(Placed { value, place });
        match name {
            Name::ResolvConf => self.found.resolv_conf = set,
            Name::ClusterDomain => self.found.cluster_domain = set,
            _ => self.found.static_pods = set,
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
        let wanted = if key.eq_ignore_ascii_case("clusterDNS") {
            "a list of texts"
        } else {
            "a text"
        };
        let found = value.described();
        let message =
            format!("the kubelet does not start with this file: {key} is {found} and not {wanted}");
        self.stop(value.span.start, &message);
    }

    fn is_old_drop_in(&self) -> bool {
        self.role == Role::DropIn && self.version.is_some_and(|it| it < DROP_INS_BY_KEY)
    }

    /// Whether it depends on an unknown version which key counts.
    fn is_in_doubt(&self) -> bool {
        let is_guess = self.role == Role::DropIn && self.version.is_none();
        is_guess && !GENERATED.iter().any(|it| self.source.name.ends_with(it))
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
