use super::*;

const SANDBOX: &str = "4f71379662600f31dc0aae023a07190bf1ff1da93e5248897736d14f703ff3d2";
const ID: &str = "3caeee729e8f9374105a9423fb18d214fb8278fee56843c9b27b4b9e8aef4bf7";
const UID: &str = "54f38bab-043d-4069-8201-91e9ecb6b1e8";
const NAME: &str = "coredns-57c679d4f5-w6wdl";

#[expect(clippy::unnecessary_wraps, reason = "tables are easier to read")]
fn some(text: impl Into<String>) -> Option<String> {
    Some(text.into())
}

/// What all runtimes say about the container, and about the sandbox.
fn expected(is_sandbox: bool) -> Record {
    let id = if is_sandbox { SANDBOX } else { ID };
    Record {
        id: id.to_owned(),
        sandbox: some(SANDBOX),
        is_sandbox,
        namespace: some("kube-system"),
        name: some(NAME),
        uid: some(UID),
        container: (!is_sandbox).then(|| "coredns".to_owned()),
        image: (!is_sandbox).then(|| "registry.k8s.io/coredns/coredns:v1.8.0".to_owned()),
        host_network: is_sandbox.then_some(false),
        ..Record::default()
    }
}

#[test]
fn containerd_as_captured() {
    let directory =
        "../../../testdata/nodes/cgroup-v2/run/containerd/io.containerd.runtime.v2.task/k8s.io";
    let _ = directory;
    let container = include_bytes!(
        "../../../testdata/nodes/cgroup-v2/run/containerd/io.containerd.runtime.v2.task/k8s.io/3caeee729e8f9374105a9423fb18d214fb8278fee56843c9b27b4b9e8aef4bf7/config.json"
    );
    let file =
        format!("/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/{SANDBOX}/resolv.conf");
    let wanted = Record {
        resolv_conf: some(&file),
        kubelet_directory: some(format!("/var/lib/kubelet/pods/{UID}")),
        is_state: true,
        ..expected(false)
    };
    assert_eq!(oci(ID, container), Ok(Some(wanted)));
    let sandbox = include_bytes!(
        "../../../testdata/nodes/cgroup-v2/run/containerd/io.containerd.runtime.v2.task/k8s.io/4f71379662600f31dc0aae023a07190bf1ff1da93e5248897736d14f703ff3d2/config.json"
    );
    let wanted = Record {
        netns_path: some("/run/netns/cni-413749b9-4e39-a9b2-7c6a-836b8b62babd"),
        resolv_conf: some(&file),
        logs: some(format!("/var/log/pods/kube-system_{NAME}_{UID}")),
        is_state: true,
        ..expected(true)
    };
    assert_eq!(oci(SANDBOX, sandbox), Ok(Some(wanted)));
}

/// Old versions have no `sandbox-uid`: the group, the mounts, the directory of
/// the logs have it.
#[test]
fn a_uid_is_found_in_other_places() {
    let annotations = r#""annotations": {"io.kubernetes.cri.container-type": "sandbox", "io.kubernetes.cri.sandbox-id": "S""#;
    let logs = format!(
        r#"{{{annotations}, "io.kubernetes.cri.sandbox-log-directory": "/var/log/pods/a_b_{UID}"}}}}"#
    );
    let group = format!(
        r#"{{{annotations}}}, "linux": {{"cgroupsPath": "kubepods-pod{}.slice:cri-containerd:S"}}}}"#,
        UID.replace('-', "_")
    );
    let mounts = format!(
        r#"{{{annotations}}}, "mounts": [{{"destination": "/etc/hosts", "source": "/data/kubelet/pods/{UID}/etc-hosts"}}]}}"#
    );
    for text in [logs, group, mounts] {
        let record = oci("S", text.as_bytes()).unwrap().unwrap();
        assert_eq!(record.uid.as_deref(), Some(UID), "{text}");
    }
}

#[test]
fn cri_o_says_the_same_in_its_own_words() {
    let file = format!("/run/containers/storage/overlay-containers/{SANDBOX}/userdata/resolv.conf");
    let labels = format!(
        r#"{{\"io.kubernetes.container.name\":\"coredns\",\"io.kubernetes.pod.name\":\"{NAME}\",\"io.kubernetes.pod.namespace\":\"kube-system\",\"io.kubernetes.pod.uid\":\"{UID}\"}}"#
    );
    let container = format!(
        r#"{{"annotations": {{
            "io.container.manager": "cri-o",
            "io.kubernetes.cri-o.ContainerType": "container",
            "io.kubernetes.cri-o.SandboxID": "{SANDBOX}",
            "io.kubernetes.cri-o.Image": "registry.k8s.io/coredns/coredns:v1.8.0",
            "io.kubernetes.cri-o.Labels": "{labels}",
            "io.kubernetes.cri-o.Metadata": "{{\"name\":\"coredns\",\"attempt\":3}}",
            "io.kubernetes.cri-o.ResolvPath": "{file}"}}}}"#
    );
    let wanted = Record {
        attempt: Some(3),
        resolv_conf: some(&file),
        ..expected(false)
    };
    assert_eq!(oci(ID, container.as_bytes()), Ok(Some(wanted)));
    let sandbox = format!(
        r#"{{"annotations": {{
            "io.kubernetes.cri-o.ContainerType": "sandbox",
            "io.kubernetes.cri-o.SandboxID": "{SANDBOX}",
            "io.kubernetes.cri-o.KubeName": "{NAME}",
            "io.kubernetes.cri-o.Namespace": "kube-system",
            "io.kubernetes.cri-o.HostNetwork": "false",
            "io.kubernetes.cri-o.LogPath": "/var/log/pods/kube-system_{NAME}_{UID}/{SANDBOX}.log",
            "io.kubernetes.cri-o.Metadata": "{{\"Name\":\"{NAME}\",\"Uid\":\"{UID}\",\"Namespace\":\"kube-system\",\"Attempt\":1}}",
            "io.kubernetes.cri-o.ResolvPath": "{file}"}},
          "linux": {{"namespaces": [{{"type": "network", "path": "/var/run/netns/1d4a"}}]}}}}"#
    );
    let wanted = Record {
        attempt: Some(1),
        netns_path: some("/run/netns/1d4a"),
        resolv_conf: some(&file),
        logs: some(format!("/var/log/pods/kube-system_{NAME}_{UID}")),
        ..expected(true)
    };
    assert_eq!(oci(SANDBOX, sandbox.as_bytes()), Ok(Some(wanted)));
}

#[test]
fn docker_has_labels() {
    let file = format!("/var/lib/docker/containers/{SANDBOX}/resolv.conf");
    let text = |kind: &str, id: &str, container: &str, settings: &str| {
        format!(
            r#"{{"ID": "{id}", "Name": "/k8s_{container}_{NAME}_kube-system_{UID}_2", "ResolvConfPath": "{file}",
            "Config": {{"Image": "registry.k8s.io/coredns/coredns:v1.8.0", "Labels": {{
              "io.kubernetes.container.name": "{container}", "io.kubernetes.docker.type": "{kind}",
              "io.kubernetes.pod.name": "{NAME}", "io.kubernetes.pod.namespace": "kube-system",
              "io.kubernetes.pod.uid": "{UID}", "io.kubernetes.sandbox.id": "{SANDBOX}"}}}}{settings}}}"#
        )
    };
    let common = |is_sandbox| Record {
        attempt: Some(2),
        resolv_conf: some(&file),
        ..expected(is_sandbox)
    };
    assert_eq!(
        docker(text("container", ID, "coredns", "").as_bytes()),
        Ok(Some(common(false)))
    );
    let own = r#", "NetworkSettings": {"SandboxKey": "/var/run/docker/netns/1d4a", "Networks": {"none": {}}}"#;
    let wanted = Record {
        netns_path: some("/run/docker/netns/1d4a"),
        ..common(true)
    };
    assert_eq!(
        docker(text("podsandbox", SANDBOX, "POD", own).as_bytes()),
        Ok(Some(wanted))
    );
    let host = r#", "NetworkSettings": {"SandboxKey": "/var/run/docker/netns/default", "Networks": {"host": {}}}"#;
    let record = docker(text("podsandbox", SANDBOX, "POD", host).as_bytes())
        .unwrap()
        .unwrap();
    assert_eq!((record.host_network, record.netns_path), (Some(true), None));
}

#[test]
fn others_are_nobodys() {
    assert_eq!(oci(ID, b"{}"), Ok(None));
    assert_eq!(
        oci(
            ID,
            br#"{"annotations": {"io.container.manager": "libpod"}}"#
        ),
        Ok(None)
    );
    assert_eq!(
        docker(br#"{"ID": "x", "Name": "/web", "Config": {"Labels": null}}"#),
        Ok(None)
    );
    for text in [
        &b""[..],
        b"1",
        b"{\"annotations\": 1, \"Config\": 1}",
        b"\xff",
    ] {
        assert!(oci(ID, text).is_err() && docker(text).is_err(), "{text:?}");
    }
}

/// A pod's own file in that place is not the sandbox's.
#[test]
fn a_file_of_the_pods_own_is_not_the_sandboxs() {
    let text = r#"{"annotations": {"io.kubernetes.cri.container-type": "container", "io.kubernetes.cri.sandbox-id": "S"},
        "mounts": [{"destination": "/etc/resolv.conf", "source": "/var/lib/kubelet/pods/x/volume-subpaths/c/d/0"}]}"#;
    assert_eq!(oci(ID, text.as_bytes()).unwrap().unwrap().resolv_conf, None);
}
