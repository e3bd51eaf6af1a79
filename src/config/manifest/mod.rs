//! Kubernetes manifests, as far as they decide what a pod's resolver reads.
//!
//! Any kind that has a pod template counts: Pod, Deployment, `CronJob`, and
//! kinds of other makers whose template stands in the same place. Lists are
//! opened. Values that the API server refuses are errors with their place.

mod container;
mod spec;

use crate::config::yaml::{self, Node};
use crate::text::Source;

pub use container::{Container, Mount};
pub use spec::MAX_NAMESERVERS;

/// What a file has to say about pods.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Manifest {
    /// Everything that makes pods, in file order; an error where it says
    /// something impossible about DNS.
    pub workloads: Vec<Result<Workload, ManifestError>>,
    /// Documents that are no YAML, in file order.
    pub broken: Vec<ManifestError>,
}

/// A pod, or what makes pods.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Workload {
    /// `Pod`, `Deployment`…
    pub kind: String,
    /// Its name; of a Pod without one, the beginning of a generated name.
    pub name: String,
    /// The namespace that the file gives.
    pub namespace: Option<String>,
    /// `FILE:LINE:COLUMN` at which it begins.
    pub place: String,
    /// What its pods are like.
    pub pod: PodSpec,
    /// How their containers are started, in order.
    pub containers: Vec<Container>,
}

/// The parts of a pod's spec that its resolver depends on.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PodSpec {
    /// Where the name servers come from.
    pub dns_policy: DnsPolicy,
    /// Whether the pod has the node's network.
    pub host_network: bool,
    /// What is added, or under policy None all there is.
    pub dns_config: Option<DnsConfig>,
    /// Host name, if it is not the pod's name.
    pub hostname: Option<String>,
    /// The domain of the pod's own name, below its namespace.
    pub subdomain: Option<String>,
    /// Whether the host name has its domain with it.
    pub hostname_is_fqdn: bool,
}

/// A pod's `dnsPolicy`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DnsPolicy {
    /// The cluster's DNS; on the host network the same as `Default`.
    #[default]
    ClusterFirst,
    /// The cluster's DNS, on the host network too.
    ClusterFirstWithHostNet,
    /// The kubelet's file.
    Default,
    /// Only what `dnsConfig` has.
    None,
}

impl DnsPolicy {
    /// All of them, as they are written.
    pub const ALL: [(&str, Self); 4] = [
        ("ClusterFirst", Self::ClusterFirst),
        ("ClusterFirstWithHostNet", Self::ClusterFirstWithHostNet),
        ("Default", Self::Default),
        ("None", Self::None),
    ];

    /// The one that is written so.
    pub fn named(text: &str) -> Option<Self> {
        let found = Self::ALL.into_iter().find(|it| it.0 == text);
        found.map(|it| it.1)
    }

    /// Whether a word is one of them, or is meant to be one: other programs have policies of
    /// their own.
    pub fn is_meant(word: &str) -> bool {
        const FIRST: &str = "ClusterFirst";
        let begins = word.get(..FIRST.len());
        let is_near = |it: &str| strsim::osa_distance(word, it) * 4 <= it.len();
        let all = || Self::ALL.iter().map(|it| it.0);
        begins.is_some_and(|it| it.eq_ignore_ascii_case(FIRST))
            || all().any(|it| it.eq_ignore_ascii_case(word))
            || all().any(|it| it.starts_with(FIRST) && is_near(it))
    }

    /// The same of a `dns_policy` or of an argument for one, where `Default` and `None` can be
    /// words of others.
    pub fn is_meant_first(word: &str) -> bool {
        word.starts_with("Cluster") && Self::is_meant(word)
    }
}

/// A pod's `dnsConfig`, in the order of the manifest, repeats kept.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DnsConfig {
    /// Addresses as they are written.
    pub nameservers: Vec<String>,
    /// Search domains as they are written.
    pub searches: Vec<String>,
    /// Options.
    pub options: Vec<DnsOption>,
}

/// An option of `dnsConfig`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DnsOption {
    /// `ndots`, `edns0`…
    pub name: String,
    /// Its value, if it has one.
    pub value: Option<String>,
}

/// What is wrong with a manifest, and where.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct ManifestError {
    /// `FILE:LINE:COLUMN`, or the file's name.
    pub place: String,
    /// What is wrong, as a sentence without a full stop.
    pub message: String,
}

/// The workload of a file that counts, and what was passed over.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Chosen {
    /// The first pod or pod template of the file.
    pub workload: Workload,
    /// What else makes pods in the file: `Deployment db (f.yaml:9:1)`.
    pub others: Vec<String>,
    /// Documents that are no YAML.
    pub broken: Vec<ManifestError>,
}

/// The workloads of a file, in order. Total: any bytes give a result.
pub fn parse_manifest(source: &Source) -> Manifest {
    let mut manifest = Manifest::default();
    for document in yaml::documents(source) {
        match document.root {
            Ok(root) => collect(source, &root, "", 0, &mut manifest.workloads),
            Err(error) => manifest.broken.push(ManifestError {
                place: source.place(error.at),
                message: error.message,
            }),
        }
    }
    manifest
}

/// The first pod or pod template of a file.
///
/// # Errors
///
/// The first one says something impossible; there is none; the file is no YAML.
pub fn first_pod(source: &Source) -> Result<Chosen, ManifestError> {
    let manifest = parse_manifest(source);
    let mut workloads = manifest.workloads.into_iter();
    match workloads.next() {
        Some(first) => Ok(Chosen {
            workload: first?,
            others: workloads
                .map(|it| it.map_or_else(|error| error.to_string(), |it| it.to_string()))
                .collect(),
            broken: manifest.broken,
        }),
        None => Err(manifest
            .broken
            .into_iter()
            .next()
            .unwrap_or_else(|| ManifestError {
                place: source.name.clone(),
                message: "there is no Pod in it and nothing with a pod template".to_owned(),
            })),
    }
}

/// Lists in lists deeper than this are not opened.
const MAX_LISTS: usize = 4;

/// Appends the workloads of an object. `list_kind` is the kind of the list's
/// items, which they need not repeat.
fn collect(
    source: &Source,
    object: &Node,
    list_kind: &str,
    lists: usize,
    workloads: &mut Vec<Result<Workload, ManifestError>>,
) {
    let kind = object.get("kind").and_then(Node::as_scalar);
    let kind = kind.map_or(list_kind, |kind| kind.text.as_str());
    if let (Some(item_kind), Some(items)) = (kind.strip_suffix("List"), items(object)) {
        if lists < MAX_LISTS {
            for item in items {
                collect(source, item, item_kind, lists + 1, workloads);
            }
        }
        return;
    }
    if let Some(spec) = pod_spec(kind, object) {
        workloads.push(spec::workload(source, kind, object, spec));
    }
}

fn items(object: &Node) -> Option<&[Node]> {
    object.get("items")?.as_sequence()
}

/// The spec of an object's pods, which another kind than these can have.
fn pod_spec<'n>(kind: &str, object: &'n Node) -> Option<&'n Node> {
    let spec = template_spec(kind, object)?;
    // Other kinds can keep something else in a template.
    (kind == "Pod" || KINDS.contains(&kind) || spec.get("containers").is_some()).then_some(spec)
}

/// What stands where a kind keeps its pods, whatever it is: itself if it is one.
pub fn template<'n>(kind: &str, object: &'n Node) -> Option<&'n Node> {
    object.at(match kind {
        "Pod" => &[],
        "PodTemplate" => &["template"],
        "CronJob" => &["spec", "jobTemplate", "spec", "template"],
        _ => &["spec", "template"],
    })
}

/// What stands there for their spec.
pub fn template_spec<'n>(kind: &str, object: &'n Node) -> Option<&'n Node> {
    template(kind, object)?.get("spec")
}

/// Kubernetes' own kinds with a pod template.
pub const KINDS: [&str; 8] = [
    "Deployment",
    "DaemonSet",
    "StatefulSet",
    "ReplicaSet",
    "ReplicationController",
    "Job",
    "CronJob",
    "PodTemplate",
];

/// `Deployment web in namespace shop (f.yaml:1:1)`.
impl std::fmt::Display for Workload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kind, self.name)?;
        if let Some(namespace) = &self.namespace {
            write!(f, " in namespace {namespace}")?;
        }
        write!(f, " ({})", self.place)
    }
}

impl PodSpec {
    /// Whether its policy asks for the cluster's DNS.
    pub fn uses_cluster_dns(&self) -> bool {
        match self.dns_policy {
            DnsPolicy::ClusterFirst => !self.host_network,
            DnsPolicy::ClusterFirstWithHostNet => true,
            DnsPolicy::Default | DnsPolicy::None => false,
        }
    }
}

impl Chosen {
    /// Which workload counts, and what else the file has: one line.
    pub fn sentence(&self) -> String {
        let mut sentence = format!("explaining {}", self.workload);
        if !self.others.is_empty() {
            sentence.push_str(", the first of the file; not explained: ");
            sentence.push_str(&self.others.join(", "));
        }
        sentence
    }
}

#[cfg(test)]
mod tests;
