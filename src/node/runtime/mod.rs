//! What runtimes write down about containers.
//!
//! Sources: containerd `internal/cri/annotations/annotations.go`; CRI-O
//! `internal/annotations/annotations.go`, `server/sandbox_run_linux.go`;
//! cri-dockerd `config/constants.go`, `core/naming.go`.

pub mod containerd;
pub mod state;

use std::collections::BTreeMap;

use serde::Deserialize;

use super::cgroup;

/// A container, or the sandbox of a pod, in a runtime's files.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Record {
    /// Its id.
    pub id: String,
    /// The sandbox's id; of a sandbox its own.
    pub sandbox: Option<String>,
    /// Whether it is a sandbox.
    pub is_sandbox: bool,
    /// The pod's namespace.
    pub namespace: Option<String>,
    /// The pod's name.
    pub name: Option<String>,
    /// The pod's uid.
    pub uid: Option<String>,
    /// The container's name in the pod's spec.
    pub container: Option<String>,
    /// Its image.
    pub image: Option<String>,
    /// Which of several attempts to start it this is, from 0.
    pub attempt: Option<u32>,
    /// The file that keeps the network namespace: only of a sandbox.
    pub netns_path: Option<String>,
    /// Whether it is on the node's network: only of a sandbox.
    pub host_network: Option<bool>,
    /// The sandbox's resolv.conf on the node.
    pub resolv_conf: Option<String>,
    /// The directory of the pod below the kubelet's.
    pub kubelet_directory: Option<String>,
    /// The directory of the pod's logs.
    pub logs: Option<String>,
    /// Whether it is part of what the runtime runs now: what stays after the
    /// end is not.
    pub is_state: bool,
    /// Whether another file than the sandbox's is mounted over resolv.conf.
    pub mounts_resolv_conf: bool,
    /// The file that says all this.
    pub file: String,
}

type Words = BTreeMap<String, String>;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Bundle {
    annotations: Words,
    mounts: Vec<Mount>,
    linux: Option<Linux>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Mount {
    destination: String,
    source: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Linux {
    cgroups_path: String,
    namespaces: Vec<Namespace>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Namespace {
    #[serde(rename = "type")]
    kind: String,
    path: String,
}

/// Reads an OCI bundle's `config.json`, as containerd and CRI-O write it for
/// the container `id`.
///
/// `Ok(None)`: a container of nobody's pod.
///
/// # Errors
///
/// It is no such file; the sentence part says what is wrong.
pub fn oci(id: &str, text: &[u8]) -> Result<Option<Record>, String> {
    let bundle: Bundle = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let found = containerd(id, &bundle.annotations).or_else(|| cri_o(id, &bundle.annotations));
    let Some(mut record) = found else {
        return Ok(None);
    };
    let linux = bundle.linux.as_ref();
    record.uid = record
        .uid
        .or_else(|| cgroup::of_path(&linux?.cgroups_path).pod);
    if record.is_sandbox {
        let network = |it: &&Namespace| it.kind == "network";
        let network = linux.map(|it| it.namespaces.iter().find(network));
        record.host_network = record.host_network.or(network.map(|it| it.is_none()));
        let path = network.flatten().map(|it| it.path.as_str());
        record.netns_path = path.filter(|it: &&str| !it.is_empty()).map(run_path);
    }
    for mount in &bundle.mounts {
        let source = mount.source.as_str();
        match mount.destination.as_str() {
            // A pod can mount a file of its own there.
            "/etc/resolv.conf" => {
                let is_own = |sandbox: &String| source.split('/').any(|it| it == sandbox);
                if record.sandbox.as_ref().is_some_and(is_own) {
                    let known = record.resolv_conf.take();
                    record.resolv_conf = known.or_else(|| Some(source.to_owned()));
                } else {
                    record.mounts_resolv_conf = true;
                }
            }
            "/etc/hosts" => {
                let directory = source.strip_suffix("/etc-hosts");
                record.kubelet_directory = directory.map(str::to_owned);
            }
            _ => {}
        }
    }
    let directory = record.kubelet_directory.as_deref();
    let uid = directory
        .and_then(|it| it.rsplit('/').next())
        .filter(|it| cgroup::is_uid(it));
    record.uid = record.uid.or_else(|| uid.map(str::to_owned));
    let logs = record.logs.as_deref().and_then(super::logs::pod);
    record.uid = record.uid.or_else(|| logs.map(|it| it.uid));
    Ok(Some(record))
}

/// What stands under `key`, if anything does.
fn word(words: &Words, key: &str) -> Option<String> {
    words.get(key).filter(|it| !it.is_empty()).cloned()
}

fn containerd(id: &str, annotations: &Words) -> Option<Record> {
    let of = |key: &str| word(annotations, &format!("io.kubernetes.cri.{key}"));
    let kind = of("container-type")?;
    let is_sandbox = kind == "sandbox";
    Some(Record {
        id: id.to_owned(),
        sandbox: of("sandbox-id"),
        is_sandbox,
        namespace: of("sandbox-namespace"),
        name: of("sandbox-name"),
        uid: of("sandbox-uid"),
        container: of("container-name"),
        image: of("image-name"),
        logs: of("sandbox-log-directory"),
        // containerd takes the bundle away when the task ends.
        is_state: true,
        ..Record::default()
    })
}

fn cri_o(id: &str, annotations: &Words) -> Option<Record> {
    let of = |key: &str| word(annotations, &format!("io.kubernetes.cri-o.{key}"));
    let is_sandbox = of("ContainerType")? == "sandbox";
    let inner = |key: &str| -> BTreeMap<String, serde_json::Value> {
        let text = of(key).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    };
    let (labels, metadata) = (inner("Labels"), inner("Metadata"));
    let label = |key: &str| {
        let text = labels.get(&format!("io.kubernetes.{key}"))?.as_str()?;
        Some(text.to_owned())
    };
    // Sandboxes have them in capitals, containers not.
    let meta = |small: &str, capital: &str| metadata.get(small).or(metadata.get(capital));
    let meta_text = |small, capital| Some(meta(small, capital)?.as_str()?.to_owned());
    let attempt = meta("attempt", "Attempt").and_then(serde_json::Value::as_u64);
    let named = |value: Option<String>, of_sandbox: Option<String>| {
        value.or(of_sandbox.filter(|_| is_sandbox))
    };
    Some(Record {
        id: id.to_owned(),
        sandbox: of("SandboxID").or_else(|| is_sandbox.then(|| id.to_owned())),
        is_sandbox,
        namespace: label("pod.namespace")
            .or_else(|| named(of("Namespace"), meta_text("namespace", "Namespace"))),
        name: label("pod.name").or_else(|| named(of("KubeName"), meta_text("name", "Name"))),
        uid: named(label("pod.uid"), meta_text("uid", "Uid")),
        container: label("container.name")
            .or_else(|| meta_text("name", "Name"))
            .filter(|_| !is_sandbox),
        image: of("Image")
            .or_else(|| of("ImageName"))
            .filter(|_| !is_sandbox),
        attempt: attempt.and_then(|it| u32::try_from(it).ok()),
        netns_path: None,
        host_network: of("HostNetwork")
            .filter(|_| is_sandbox)
            .map(|it| it == "true"),
        resolv_conf: of("ResolvPath"),
        kubelet_directory: None,
        // The sandbox's own log is in the pod's directory: `ID.log`.
        logs: of("LogPath")
            .filter(|_| is_sandbox)
            .and_then(|path| Some(path.rsplit_once('/')?.0.to_owned())),
        ..Record::default()
    })
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct DockerContainer {
    #[serde(rename = "ID")]
    id: String,
    name: String,
    config: DockerConfig,
    resolv_conf_path: String,
    network_settings: DockerNetwork,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct DockerConfig {
    image: String,
    labels: Option<Words>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct DockerNetwork {
    sandbox_key: String,
    networks: Option<BTreeMap<String, serde_json::Value>>,
}

/// Reads `config.v2.json` of Docker.
///
/// `Ok(None)`: a container of nobody's pod.
///
/// # Errors
///
/// It is no such file; the sentence part says what is wrong.
pub fn docker(text: &[u8]) -> Result<Option<Record>, String> {
    let it: DockerContainer = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let labels = it.config.labels.unwrap_or_default();
    let of = |key: &str| word(&labels, &format!("io.kubernetes.{key}"));
    // `/k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT`
    let name: Vec<&str> = it.name.trim_start_matches('/').split('_').collect();
    let part = |at: usize| {
        let is_pods = name.first() == Some(&"k8s") && name.len() >= 6;
        name.get(at).filter(|_| is_pods).map(|&it| it.to_owned())
    };
    let Some(pod) = of("pod.name").or_else(|| part(2)) else {
        return Ok(None);
    };
    let id = it.id;
    let container = of("container.name").or_else(|| part(1));
    let is_sandbox = of("docker.type").map_or_else(
        || container.as_deref() == Some("POD"),
        |kind| kind == "podsandbox",
    );
    let text = |text: String| Some(text).filter(|it| !it.is_empty());
    let networks = it.network_settings.networks.unwrap_or_default();
    let key = text(it.network_settings.sandbox_key).map(|it| run_path(&it));
    let host_network =
        networks.contains_key("host") || key.as_deref() == Some("/run/docker/netns/default");
    let is_known = !networks.is_empty() || key.is_some();
    Ok(Some(Record {
        sandbox: of("sandbox.id").or_else(|| is_sandbox.then(|| id.clone())),
        id,
        is_sandbox,
        namespace: of("pod.namespace").or_else(|| part(3)),
        name: Some(pod),
        uid: of("pod.uid").or_else(|| part(4)),
        container: container.filter(|_| !is_sandbox),
        image: text(it.config.image).filter(|_| !is_sandbox),
        attempt: name.last().and_then(|it| it.parse().ok()),
        netns_path: key.filter(|_| is_sandbox && !host_network),
        host_network: (is_sandbox && is_known).then_some(host_network),
        resolv_conf: text(it.resolv_conf_path),
        ..Record::default()
    }))
}

/// Where Docker keeps its files, by its `daemon.json`.
pub fn docker_root(text: &[u8]) -> Option<String> {
    let settings: BTreeMap<String, serde_json::Value> = serde_json::from_slice(text).ok()?;
    let root = settings
        .get("data-root")
        .or_else(|| settings.get("graph"))?;
    Some(root.as_str()?.to_owned())
}

/// The path without `/var/run`, which is a link to `/run` on every node.
pub fn run_path(path: &str) -> String {
    match path.strip_prefix("/var/run/") {
        Some(rest) => format!("/run/{rest}"),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests;
