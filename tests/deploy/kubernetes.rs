//! The manifests: built by kubectl, held to Kubernetes' schemas.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::{Outcome, deploy, documents, found, output};

/// The oldest and the newest version that is promised.
const VERSIONS: [&str; 2] = ["1.30", "1.37"];

/// A `DaemonSet` as node-problem-detector's project has it, cut to what the
/// component touches.
const DETECTOR: &str = r#"{
  "apiVersion": "apps/v1", "kind": "DaemonSet",
  "metadata": {"name": "node-problem-detector", "namespace": "kube-system"},
  "spec": {"selector": {"matchLabels": {"app": "npd"}}, "template": {
    "metadata": {"labels": {"app": "npd"}},
    "spec": {
      "containers": [{
        "name": "node-problem-detector",
        "image": "registry.k8s.io/node-problem-detector/node-problem-detector:v0.8.20",
        "command": ["/node-problem-detector", "--logtostderr"],
        "volumeMounts": [{"name": "log", "mountPath": "/var/log"}]
      }],
      "volumes": [{"name": "log", "hostPath": {"path": "/var/log"}}]
    }
  }}
}"#;

pub(crate) fn builds_and_fits() -> Outcome {
    let directory = tempfile::tempdir().unwrap();
    let built = directory.path().join("built.yaml");
    for name in ["daemonset", "cronjob"] {
        fits(&deploy(name), &built)?;
        no_reference_is_open(&documents(&built)?)?;
    }
    let detector = directory.path().join("detector");
    fs::create_dir(&detector).unwrap();
    fs::write(detector.join("daemonset.json"), DETECTOR).unwrap();
    // kustomize takes no path from the root for a component.
    let component = detector.join("kdns");
    fs::create_dir(&component).unwrap();
    for entry in fs::read_dir(deploy("node-problem-detector")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, component.join(path.file_name().unwrap())).unwrap();
    }
    let own = "resources: [daemonset.json]\ncomponents: [kdns]\n";
    fs::write(detector.join("kustomization.yaml"), own).unwrap();
    fits(&detector, &built)?;
    let documents = documents(&built)?;
    no_reference_is_open(&documents)?;
    let set = documents
        .iter()
        .find(|it| it["kind"] == "DaemonSet")
        .unwrap();
    let container = &set["spec"]["template"]["spec"]["containers"][0];
    let option = "--config.custom-plugin-monitor=/config-kdns/kdns-monitor.json";
    assert_eq!(container["command"][2], json!(option));
    Ok(())
}

/// Builds the kustomization and holds every resource to its schema.
fn fits(kustomization: &Path, built: &Path) -> Outcome {
    let kubectl = found("kubectl").unwrap();
    let text = output(Command::new(kubectl).arg("kustomize").arg(kustomization))?;
    fs::write(built, text).unwrap();
    for version in VERSIONS {
        let mut validate = Command::new(found("kubernetes-validate").unwrap());
        output(validate.args(["--strict", "-k", version]).arg(built))?;
    }
    Ok(())
}

/// What a resource names is there as well.
fn no_reference_is_open(documents: &[Value]) -> Outcome {
    let is_there = |kind: &str, name: &Value| {
        let mut all = documents.iter();
        all.any(|it| it["kind"] == kind && it["metadata"]["name"] == *name)
    };
    for document in documents {
        let kind = document["kind"].as_str().unwrap();
        let mut wanted: Vec<(&str, &Value)> = Vec::new();
        let namespace = &document["metadata"]["namespace"];
        if !namespace.is_null() && namespace != "kube-system" {
            wanted.push(("Namespace", namespace));
        }
        if kind == "RoleBinding" {
            wanted.push(("Role", &document["roleRef"]["name"]));
            wanted.push(("ServiceAccount", &document["subjects"][0]["name"]));
            assert_eq!(document["subjects"][0]["namespace"], *namespace);
        }
        let spec = pod_spec(document);
        let account = &spec["serviceAccountName"];
        if !account.is_null() {
            wanted.push(("ServiceAccount", account));
        }
        for volume in spec["volumes"].as_array().into_iter().flatten() {
            let map = &volume["configMap"];
            let name = &map["name"];
            // The cluster's own.
            if !name.is_null() && map["optional"] != json!(true) {
                wanted.push(("ConfigMap", name));
            }
        }
        if kind == "Role" {
            let rule = &document["rules"][0];
            assert_eq!(rule["resources"], json!(["daemonsets"]));
            wanted.push(("DaemonSet", &rule["resourceNames"][0]));
        }
        if let Some((kind, name)) = wanted
            .into_iter()
            .find(|(kind, name)| !is_there(kind, name))
        {
            return Err(format!("there is no {kind} {name}").into());
        }
    }
    Ok(())
}

/// The spec of the pods that a resource makes.
fn pod_spec(document: &Value) -> &Value {
    let spec = &document["spec"];
    let spec = if document["kind"] == "CronJob" {
        &spec["jobTemplate"]["spec"]
    } else {
        spec
    };
    &spec["template"]["spec"]
}

/// What the pod on every node may do.
pub(crate) fn privileges_are_few() -> Outcome {
    let all = documents(&deploy("daemonset/daemonset.yaml"))?;
    let spec = pod_spec(&all[0]);
    for key in ["hostNetwork", "hostPID", "automountServiceAccountToken"] {
        assert_eq!(spec[key], json!(false), "{key}");
    }
    assert_eq!(spec["hostIPC"], Value::Null);
    assert_eq!(
        spec["securityContext"]["seccompProfile"]["type"],
        json!("RuntimeDefault")
    );
    assert_eq!(spec["tolerations"], json!([{"operator": "Exists"}]));
    let all = documents(&deploy("cronjob/cronjob.yaml"))?;
    let again = pod_spec(&all[0]);
    let containers = [
        &spec["initContainers"],
        &spec["containers"],
        &again["containers"],
    ];
    for container in containers.iter().flat_map(|it| it.as_array().unwrap()) {
        let context = &container["securityContext"];
        assert_eq!(context["allowPrivilegeEscalation"], json!(false));
        assert_eq!(context["readOnlyRootFilesystem"], json!(true));
        assert_eq!(context["capabilities"]["drop"], json!(["ALL"]));
        assert!(container["resources"]["limits"]["memory"].is_string());
        for mount in container["volumeMounts"].as_array().into_iter().flatten() {
            assert_eq!(mount["readOnly"], json!(true));
        }
    }
    // Who talks to the API sees nothing of the node.
    assert_eq!(again["volumes"], Value::Null);
    assert_eq!(again["securityContext"]["runAsNonRoot"], json!(true));
    Ok(())
}
