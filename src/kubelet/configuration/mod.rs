//! A KubeletConfiguration file, as far as DNS depends on it, as the kubelet
//! decodes it.
//!
//! Source: kubernetes `pkg/kubelet/kubeletconfig/util/codec/codec.go`: strict
//! decoding, and on its errors lenient decoding with a warning; keys are case
//! sensitive, the last one of repeated keys counts, and a value of the wrong
//! type is an error both times.

mod keys;

use std::collections::BTreeSet;

use crate::config::yaml::{self, Entry, Kind, Node};
use crate::kubelet::flags::Name;
use crate::kubelet::gates;
use crate::kubelet::remark::{KeyRemark, Refusal, Remark};
use crate::kubelet::version::Version;
use crate::text::{Place, Placed, Source, escaped};

pub use self::keys::{DROP_INS, DROP_INS_BY_KEY, Ignored, Said, all_taken, honours_empty, taken};

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
    /// Each key that counts with its texts, in order; of `clusterDNS` as they are
    /// written.
    pub settings: Vec<(Name, Placed<Option<Vec<String>>>)>,
    /// Those of `featureGates` that can count, in order.
    pub gates: Vec<(String, Placed<bool>)>,
    /// What is ignored in it, and errors with which the kubelet does not
    /// start.
    pub remarks: Vec<Remark>,
    /// Why nothing of it can be known: it is no YAML.
    pub broken: Option<String>,
    /// Why the kubelet does not start with it: the first of those remarks, or
    /// what is broken.
    pub stops: Option<Refusal>,
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
pub fn read_configuration(source: &Source, role: Role, version: Option<Version>) -> Configuration {
    let mut reader = Reader {
        source,
        role,
        version,
        found: Configuration::default(),
    };
    let documents = yaml::documents(source);
    // The kubelet takes the first document; a file for kubeadm has others.
    let is_ours = |root: &Node| root.word(&["kind"]) == Some(KIND);
    let ours = |it: &&yaml::Document| it.root.as_ref().is_ok_and(is_ours);
    let chosen = documents.iter().find(ours).or(documents.first());
    match chosen.map(|it| &it.root) {
        Some(Ok(root)) => reader.document(root),
        Some(Err(error)) => {
            let place = source.place_of(error.at);
            let error = error.to_string();
            let reason = Refusal::Broken { place, error };
            reader.found.broken = Some(reason.to_string());
            reader.refuse(reason);
        }
        None => {
            reader.refuse(Refusal::Empty(source.name.clone()));
        }
    }
    reader.found
}

impl Configuration {
    /// What it sets of a key.
    pub fn setting(&self, key: Name) -> Option<&Placed<Option<Vec<String>>>> {
        let setting = self.settings.iter().find(|it| it.0 == key);
        setting.map(|it| &it.1)
    }

    /// Of keys that mean the same the last one counts.
    fn put(&mut self, key: Name, set: Placed<Option<Vec<String>>>) {
        self.settings.retain(|it| it.0 != key);
        self.settings.push((key, set));
    }
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
        let entries = entries.iter();
        let entries = entries.filter_map(|it| Some((it.key.as_scalar()?.text.as_str(), it)));
        let entries: Vec<(&str, &Entry)> = entries.collect();
        let mut before = BTreeSet::new();
        for (key, entry) in &entries {
            let is_repeated = !before.insert(*key);
            if is_repeated && matches!(taken(key, Role::Main, None, true), Some(Ok(_))) {
                let what = KeyRemark::Repeated((*key).to_owned());
                self.remark(entry.key.span.start, what);
            }
        }
        let said = entries.iter().map(|(key, entry)| Said {
            key,
            text: text_of(&entry.value),
            is_null: entry.value.is_null(),
        });
        let said: Vec<Said<'_>> = said.collect();
        let all = all_taken(&said, self.role, self.version);
        for ((key, entry), taken) in entries.into_iter().zip(all) {
            self.entry(key, entry, taken);
        }
    }

    /// Whether the kubelet takes the file for a configuration of its own.
    fn identity(&mut self, root: &Node) {
        let api = root.word(&["apiVersion"]).unwrap_or_default();
        let kind = root.word(&["kind"]).unwrap_or_default();
        if kind != KIND || !api.starts_with(GROUP) {
            self.stop(root.span.start, Refusal::Identity);
        }
    }

    fn entry(&mut self, key: &str, entry: &Entry, taken: Option<Result<Name, Ignored>>) {
        let at = entry.key.span.start;
        match taken {
            Some(Ok(name)) => {
                if name == Name::ResolvConf && self.is_in_doubt() {
                    let doubt = KeyRemark::InDoubt {
                        key: key.to_owned(),
                        is_documented: key == "resolvConf",
                    };
                    self.remark(at, doubt);
                }
                self.set(name, key, &entry.value);
            }
            Some(Err(Ignored::OldDropIn)) => {
                self.remark(at, KeyRemark::OldDropIn);
            }
            Some(Err(Ignored::OtherKey(meant))) => {
                let key = escaped(key.as_bytes());
                self.remark(at, KeyRemark::OtherKey { key, meant });
            }
            Some(Err(Ignored::Empty)) => self.remark(entry.value.span.start, KeyRemark::Empty),
            None if self.is_old_drop_in() => {}
            None if key == RUNTIME_ENDPOINT => self.runtime_endpoint(&entry.value),
            None if key == "featureGates" => self.gates(&entry.value),
            _ => {}
        }
    }

    /// Anything but a text is none of a runtime that is known.
    fn runtime_endpoint(&mut self, value: &Node) {
        let text = value.as_scalar().map(|it| it.text.clone());
        if let Some(text) = text {
            let place = self.source.place_of(value.span.start);
            self.found
                .put(Name::RuntimeEndpoint, Placed::new(Some(vec![text]), place));
        }
    }

    fn gates(&mut self, value: &Node) {
        for entry in value.as_mapping().unwrap_or_default() {
            let Some(name) = entry.key.as_scalar().map(|it| it.text.clone()) else {
                continue;
            };
            let at = entry.value.span.start;
            let Some(kind @ (Kind::Bool(_) | Kind::Null)) = entry.value.kind() else {
                self.stop(at, |place| Refusal::Type {
                    place,
                    key: format!("featureGates.{}", escaped(name.as_bytes())),
                    found: entry.value.described(),
                    wanted: "true or false",
                });
                continue;
            };
            if gates::counts(&name) {
                let value = kind == Kind::Bool(true);
                let place = self.source.place_of(at);
                self.found.gates.push((name, Placed::new(value, place)));
            }
        }
    }

    /// What the value of a key sets.
    fn set(&mut self, name: Name, key: &str, value: &Node) {
        // That of a list is its first entry's.
        let first = value.as_sequence().and_then(<[Node]>::first);
        let place = self.source.place_of(first.unwrap_or(value).span.start);
        let text = text_of(value);
        let is_list = name == Name::ClusterDns;
        if !value.is_null()
            && (text.is_none() && !is_list || is_list && value.as_sequence().is_none())
        {
            return self.wrong_type(key, value);
        }
        let texts = if is_list {
            let items = value.as_sequence();
            items.map(|it| it.iter().filter_map(|it| self.server(it)).collect())
        } else {
            text.map(|it| vec![it.to_owned()])
        };
        self.found.put(name, Placed::new(texts, place));
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
        self.stop(value.span.start, |place| Refusal::Type {
            place,
            key: key.to_owned(),
            found: value.described(),
            wanted,
        });
    }

    fn is_old_drop_in(&self) -> bool {
        self.role == Role::DropIn && self.version.is_some_and(|it| it < DROP_INS_BY_KEY)
    }

    /// Whether it depends on an unknown version which key counts.
    fn is_in_doubt(&self) -> bool {
        let is_guess = self.role == Role::DropIn && self.version.is_none();
        is_guess && !GENERATED.iter().any(|it| self.source.name.ends_with(it))
    }

    /// What keeps the kubelet from starting, at this place.
    fn stop(&mut self, at: u32, reason: impl FnOnce(Place) -> Refusal) {
        if self.found.stops.is_none() || !self.is_full() {
            self.refuse(reason(self.source.place_of(at)));
        }
    }

    fn refuse(&mut self, reason: Refusal) {
        self.found.stops.get_or_insert_with(|| reason.clone());
        if !self.is_full() {
            self.found.remarks.push(Remark::Refused(reason));
        }
    }

    fn remark(&mut self, at: u32, what: KeyRemark) {
        if !self.is_full() {
            let place = self.source.place_of(at);
            self.found.remarks.push(Remark::Key { place, what });
        }
    }

    /// Places are not even counted for remarks that are too many.
    fn is_full(&self) -> bool {
        self.found.remarks.len() >= MAX_REMARKS
    }
}

/// The value, if it is a text.
fn text_of(value: &Node) -> Option<&str> {
    let scalar = value.as_scalar()?;
    (value.kind() == Some(Kind::Text)).then_some(&scalar.text)
}

#[cfg(test)]
mod tests;
