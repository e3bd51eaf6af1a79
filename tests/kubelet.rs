//! Compares the lists for a pod with those that the kubelet's own code made of
//! the same input: `testdata/kubelet/`.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use kdns::config::manifest::{DnsConfig, DnsOption, DnsPolicy, PodSpec};
use kdns::config::resolv_conf::ResolvConf;
use kdns::kubelet::{Kubelet, Version};
use kdns::pod::{
    KnownFile, Makers, Object, PodError, PodFile, PodId, Runtime, Word, assumed_kubelet, pod_file,
};
use kdns::text::Source;
use serde_json::Value;

#[test]
fn lists_are_those_of_the_kubelet() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/kubelet/lists.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let mut failures = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let case: Value = serde_json::from_str(line).unwrap();
        if let Err(difference) = check(&case) {
            failures.push(format!("line {}: {difference}\n{line}", index + 1));
        }
    }
    assert!(text.lines().count() >= 300);
    let count = failures.len();
    failures.truncate(5);
    assert!(count == 0, "{count} differ\n{}", failures.join("\n"));
}

fn check(case: &Value) -> Result<(), String> {
    let made = made(case);
    if let Some(error) = case["error"].as_str() {
        return match made {
            Err(error_here) if error_here.to_string().contains(error.trim()) => Ok(()),
            other => Err(format!("{other:?}")),
        };
    }
    let file = made.map_err(|error| error.to_string())?;
    let mut options = shown(&file.options);
    options.sort();
    let actual = [
        ("servers", shown(&file.servers)),
        ("searches", shown(&file.searches)),
        ("options", options),
        ("events", events(&file)),
    ];
    for (key, list) in actual {
        if list != texts(&case[key]) {
            return Err(format!("{key}: {list:?}"));
        }
    }
    Ok(())
}

fn made(case: &Value) -> Result<PodFile, PodError> {
    let text = |key: &str| case[key].as_str().unwrap().to_owned();
    let mut kubelet: Kubelet = assumed_kubelet();
    kubelet.version = Some(version(&text("version")));
    kubelet.cluster_dns.value = addresses(&case["cluster_dns"]);
    kubelet.cluster_domain.value = text("cluster_domain");
    if let Some(path) = case["resolv_conf"].as_str() {
        path.clone_into(&mut kubelet.resolv_conf.value);
    }
    let conf = ResolvConf::parse(Source::new("k", text("file")));
    let pod = PodSpec {
        dns_policy: policy(&text("policy")),
        host_network: case["host_network"].as_bool().unwrap_or_default(),
        dns_config: case.get("dns_config").map(dns_config),
        ..PodSpec::default()
    };
    let makers = Makers {
        kubelet: &kubelet,
        file: KnownFile::Read(&conf),
        node_ips: &addresses(&case["node_ips"]),
        // What it writes where there is nothing is not the question.
        runtime: Runtime {
            version: Some(Version::release(2, 0, 0)),
            ..Runtime::default()
        },
        node_file: KnownFile::Missing,
    };
    let namespace = text("namespace");
    let id = PodId {
        namespace: &namespace,
        name: Some("web"),
        uid: None,
    };
    pod_file(&pod, id, &makers)
}

fn version(text: &str) -> Version {
    let mut numbers = text.split('.').map(|it| it.parse().unwrap());
    let mut next = || numbers.next().unwrap();
    Version::release(next(), next(), next())
}

fn policy(text: &str) -> DnsPolicy {
    match text {
        "ClusterFirst" => DnsPolicy::ClusterFirst,
        "ClusterFirstWithHostNet" => DnsPolicy::ClusterFirstWithHostNet,
        "Default" => DnsPolicy::Default,
        other => {
            assert_eq!(other, "None");
            DnsPolicy::None
        }
    }
}

fn dns_config(config: &Value) -> DnsConfig {
    let option = |option: &Value| DnsOption {
        name: option[0].as_str().unwrap().to_owned(),
        value: option[1].as_str().map(str::to_owned),
    };
    DnsConfig {
        nameservers: texts(&config["nameservers"]),
        searches: texts(&config["searches"]),
        options: config["options"]
            .as_array()
            .unwrap()
            .iter()
            .map(option)
            .collect(),
    }
}

fn texts(list: &Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items.map(|it| it.as_str().unwrap().to_owned()).collect()
}

fn addresses(list: &Value) -> Vec<IpAddr> {
    texts(list).iter().map(|it| it.parse().unwrap()).collect()
}

fn shown(words: &[Word]) -> Vec<String> {
    let text = |word: &Word| String::from_utf8(word.text.clone()).unwrap();
    words.iter().map(text).collect()
}

/// Without the one that the kubelet records at its start, not for a pod.
fn events(file: &PodFile) -> Vec<String> {
    let of_pod = file
        .events
        .iter()
        .filter(|it| it.reason != "CheckLimitsForResolvConf");
    of_pod
        .map(|event| {
            let object = match event.object {
                Object::Node => "node",
                Object::Pod => "pod",
            };
            format!("{object} {} {}", event.reason, event.message)
        })
        .collect()
}
