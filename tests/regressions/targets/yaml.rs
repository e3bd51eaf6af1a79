//! YAML and JSON, and what is made of them: pod manifests, kubelet
//! configurations, files of k3s.

use kdns::config::manifest;
use kdns::config::yaml::{self, Node, Value};
use kdns::kubelet::configuration::{self, Role};
use kdns::kubelet::{self, Version, rancher};
use kdns::pod::rules::LAST_BEFORE_CHANGES;
use kdns::pod::{self, KnownFile, Makers, PodId, Remark, Runtime};
use kdns::render::pod_file::words;
use kdns::text::Source;

use super::{inside, printable, source};

/// The text of a file.
pub(crate) fn run(data: &[u8]) {
    let file = source("f.yaml", data);
    for document in yaml::documents(&file) {
        assert!(document.start as usize <= data.len());
        match &document.root {
            Ok(root) => node(root, data, 0),
            Err(error) => assert!(error.at as usize <= data.len(), "{error:?}"),
        }
    }
    let versions = LAST_BEFORE_CHANGES.map(Some).into_iter().chain([None]);
    for version in versions {
        kubelets(&file, version);
    }
    rancher::options(&rancher::K3S, &[(0, &file)], &[], &[]);
    pods(&file);
}

/// Places are inside of the file, and nothing is deeper than it may be.
fn node(it: &Node, bytes: &[u8], depth: usize) {
    inside(it.span, bytes);
    // An alias adds the depth of what it repeats.
    assert!(depth <= 2 * yaml::MAX_DEPTH, "{depth} levels");
    match &it.value {
        Value::Scalar(scalar) => drop(scalar.kind()),
        Value::Sequence(items) => items.iter().for_each(|it| node(it, bytes, depth + 1)),
        Value::Mapping(entries) => {
            for entry in entries {
                node(&entry.key, bytes, depth + 1);
                node(&entry.value, bytes, depth + 1);
            }
        }
    }
}

fn kubelets(file: &Source, version: Option<Version>) {
    for role in [Role::Main, Role::DropIn] {
        let read = configuration::read_configuration(file, role, version);
        read.remarks
            .iter()
            .for_each(|it| printable(&words(&Remark::Kubelet(it.clone()))));
        read.broken.iter().for_each(|it| printable(it));
        read.stops.iter().for_each(|it| printable(&it.to_string()));
    }
    let read = kubelet::configured(Some(file), &[], version);
    read.remarks
        .iter()
        .for_each(|it| printable(&words(&Remark::Kubelet(it.clone()))));
}

/// Every pod that can be read gets a file, or a reason why not.
fn pods(file: &Source) {
    let manifest = manifest::parse_manifest(file);
    let errors = manifest.workloads.iter().filter_map(|it| it.as_ref().err());
    for error in errors.chain(&manifest.broken) {
        printable(&error.to_string());
    }
    let chosen = match manifest::first_pod(file) {
        Ok(chosen) => chosen,
        Err(error) => return printable(&error.to_string()),
    };
    let kubelet = pod::assumed_kubelet();
    let host = kdns::scenario::file("/etc/resolv.conf", "nameserver 192.0.2.1\nsearch a.test\n");
    let makers = Makers {
        kubelet: &kubelet,
        file: KnownFile::Read(&host),
        node_ips: &[],
        runtime: Runtime::default(),
        node_file: KnownFile::Read(&host),
    };
    let namespace = chosen.workload.namespace.as_deref();
    let id = PodId {
        namespace: namespace.unwrap_or("default"),
        name: Some(&chosen.workload.name),
        uid: None,
    };
    match pod::pod_file(&chosen.workload.pod, id, &makers) {
        Ok(file) => {
            let count = file.bytes.iter().filter(|&&byte| byte == b'\n').count();
            assert!(count <= file.servers.len() + 3, "{count} lines");
            file.events.iter().for_each(|it| printable(&it.message));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
