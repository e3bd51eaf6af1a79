use super::*;
use crate::config::manifest::{self, DnsConfig, DnsOption, DnsPolicy};
use crate::text::Source;

/// A kubelet of this version, with the cluster of kubeadm.
fn kubelet(version: Option<(u32, u32, u32)>) -> Kubelet {
    Kubelet {
        version: version.map(|(major, minor, patch)| Version::release(major, minor, patch)),
        ..assumed_kubelet()
    }
}

fn conf(text: &str) -> ResolvConf {
    ResolvConf::parse(Source::new("k", text))
}

/// As the captured cluster was: Kubernetes 1.20.2, containerd 1.6.20.
const CAPTURED_FILE: &str = "nameserver 172.31.0.53\nsearch corp.example eu.corp.example\n";

fn made(
    pod: &PodSpec,
    namespace: &str,
    kubelet: &Kubelet,
    file: KnownFile<'_>,
) -> Result<PodFile, PodError> {
    let id = PodId {
        namespace,
        name: Some("web"),
        uid: None,
    };
    let makers = Makers {
        kubelet,
        file,
        node_ips: &[],
        runtime: Runtime::default(),
        node_file: KnownFile::Missing,
    };
    pod_file(pod, id, &makers)
}

/// A pod as it was captured, the cluster as it was there.
fn check_captured(manifest: &str, expected: &str) {
    let source = Source::new("pod.json", manifest);
    let workload = manifest::first_pod(&source).unwrap().workload;
    let namespace = workload.namespace.unwrap();
    let kubelet = kubelet(Some((1, 20, 2)));
    let file = KnownFile::Read(&conf(CAPTURED_FILE));
    let file = made(&workload.pod, &namespace, &kubelet, file).unwrap();
    let text = String::from_utf8(file.bytes).unwrap();
    assert_eq!(
        sorted_options(&text),
        sorted_options(expected),
        "{}",
        workload.name
    );
}

/// The kubelet draws the order of options.
fn sorted_options(text: &str) -> String {
    let sorted = |line: &str| match line.strip_prefix("options ") {
        Some(options) => {
            let mut options: Vec<&str> = options.split(' ').collect();
            options.sort_unstable();
            format!("options {}", options.join(" "))
        }
        None => line.to_owned(),
    };
    text.split('\n').map(sorted).collect::<Vec<_>>().join("\n")
}

macro_rules! testdata {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/testdata/pods/",
            $name
        ))
    };
}

#[test]
fn captured_files_are_written_byte_for_byte() {
    check_captured(testdata!("app.json"), testdata!("app.resolv.conf"));
    check_captured(
        testdata!("custom-dns.json"),
        testdata!("custom-dns.resolv.conf"),
    );
    check_captured(
        testdata!("too-many.json"),
        testdata!("too-many.resolv.conf"),
    );
    check_captured(
        testdata!("hostnet-cf.json"),
        testdata!("hostnet-cf.resolv.conf"),
    );
    check_captured(
        testdata!("hostnet.json"),
        testdata!("default-policy.resolv.conf"),
    );
    check_captured(
        testdata!("default-policy.json"),
        testdata!("default-policy.resolv.conf"),
    );
}

fn config(nameservers: &[&str], searches: &[&str], options: &[(&str, Option<&str>)]) -> DnsConfig {
    let texts = |list: &[&str]| list.iter().map(|&it| it.to_owned()).collect();
    DnsConfig {
        nameservers: texts(nameservers),
        searches: texts(searches),
        options: options
            .iter()
            .map(|&(name, value)| DnsOption {
                name: name.to_owned(),
                value: value.map(str::to_owned),
            })
            .collect(),
    }
}

fn with_config(config: DnsConfig) -> PodSpec {
    PodSpec {
        dns_config: Some(config),
        ..PodSpec::default()
    }
}

fn of_policy(dns_policy: DnsPolicy) -> PodSpec {
    PodSpec {
        dns_policy,
        ..PodSpec::default()
    }
}

/// With a server of its own and nothing else.
fn of_no_policy() -> PodSpec {
    PodSpec {
        dns_config: Some(config(&["192.0.2.1"], &[], &[])),
        ..of_policy(DnsPolicy::None)
    }
}

fn text(file: &PodFile) -> &str {
    std::str::from_utf8(&file.bytes).unwrap()
}

#[test]
fn what_was_cut_from_a_captured_file_is_known() {
    let config = config(
        &["10.0.0.1", "10.0.0.2", "10.0.0.3"],
        &["a.example", "b.example", "c.example"],
        &[],
    );
    let kubelet = kubelet(Some((1, 20, 2)));
    let file = KnownFile::Read(&conf(CAPTURED_FILE));
    let file = made(&with_config(config), "default", &kubelet, file).unwrap();
    let dropped = file
        .dropped
        .iter()
        .map(|it| (it.word.text.as_slice(), it.limit));
    let expected = [
        (b"10.0.0.3".as_slice(), Limit::Servers(3)),
        (b"b.example", Limit::Searches(6)),
        (b"c.example", Limit::Searches(6)),
    ];
    assert!(dropped.eq(expected), "{:?}", file.dropped);
    let messages: Vec<&str> = file.events.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "Nameserver limits were exceeded, some nameservers have been omitted, the applied \
             nameserver line is: 10.96.0.10 10.0.0.1 10.0.0.2",
            "Search Line limits were exceeded, some search paths have been omitted, the applied \
             search line is: default.svc.cluster.local svc.cluster.local cluster.local \
             corp.example eu.corp.example a.example",
        ]
    );
}

#[test]
fn options_are_merged_by_name_and_repeats_fall_out() {
    let config = config(
        &["10.96.0.10", "192.0.2.1"],
        &["cluster.local", "a.example"],
        &[
            ("ndots", Some("2")),
            ("edns0", None),
            ("timeout", Some("")),
            ("ndots", Some("3")),
        ],
    );
    let file = KnownFile::Read(&conf("search a.example\noptions rotate\n"));
    let file = made(&with_config(config), "shop", &kubelet(None), file).unwrap();
    assert_eq!(
        text(&file),
        "search shop.svc.cluster.local svc.cluster.local cluster.local a.example\n\
         nameserver 10.96.0.10\nnameserver 192.0.2.1\noptions ndots:3 edns0 timeout\n"
    );
    assert!(file.dropped.is_empty() && file.draws_options);
}

#[test]
fn repeats_stay_where_nothing_removes_them() {
    let mut kubelet = kubelet(None);
    kubelet.cluster_dns.value = vec![DEFAULT_CLUSTER_DNS; 2];
    kubelet.cluster_domain.value = String::new();
    let host = conf("search a a\n");
    let file = made(&PodSpec::default(), "n", &kubelet, KnownFile::Read(&host)).unwrap();
    assert_eq!(
        text(&file),
        "search a a\nnameserver 10.96.0.10\nnameserver 10.96.0.10\noptions ndots:5\n"
    );
    let pod = with_config(DnsConfig::default());
    let file = made(&pod, "n", &kubelet, KnownFile::Read(&host)).unwrap();
    assert_eq!(
        text(&file),
        "search a\nnameserver 10.96.0.10\noptions ndots:5\n"
    );
}

#[test]
fn words_know_where_they_come_from() {
    use WordOrigin::{ClusterDns, ClusterDomain, DnsConfig, Kubelet};

    let config = config(&["192.0.2.1"], &["b"], &[("edns0", None)]);
    let host = conf("# x\n nameserver 192.0.2.53\nsearch a\n");
    let file = made(
        &with_config(config.clone()),
        "n",
        &kubelet(None),
        KnownFile::Read(&host),
    )
    .unwrap();
    let origins = |words: &[Word]| words.iter().map(|it| it.origin.clone()).collect::<Vec<_>>();
    let at = |line, column| WordOrigin::KubeletFile(Place::new("k", line, column));
    assert_eq!(origins(&file.servers), [ClusterDns, DnsConfig]);
    assert_eq!(
        origins(&file.searches),
        [
            ClusterDomain,
            ClusterDomain,
            ClusterDomain,
            at(3, 8),
            DnsConfig
        ]
    );
    assert_eq!(origins(&file.options), [Kubelet, DnsConfig]);
    let default = PodSpec {
        dns_config: Some(config),
        ..of_policy(DnsPolicy::Default)
    };
    let file = made(&default, "n", &kubelet(None), KnownFile::Read(&host)).unwrap();
    assert_eq!(origins(&file.servers), [at(2, 13), DnsConfig]);
}

#[test]
fn without_cluster_dns_two_events_say_so() {
    let mut kubelet = kubelet(None);
    kubelet.cluster_dns.value.clear();
    let pod = of_policy(DnsPolicy::ClusterFirstWithHostNet);
    let file = made(
        &pod,
        "shop",
        &kubelet,
        KnownFile::Read(&conf(CAPTURED_FILE)),
    )
    .unwrap();
    assert_eq!(
        text(&file),
        "search corp.example eu.corp.example\nnameserver 172.31.0.53\n"
    );
    let message = "kubelet does not have ClusterDNS IP configured and cannot create Pod using \
                   \"ClusterFirst\" policy. Falling back to \"Default\" policy.";
    let events: Vec<(Object, &str)> = file
        .events
        .iter()
        .map(|it| (it.object, it.message.as_str()))
        .collect();
    let of_pod = format!("pod: \"web_shop(<uid>)\". {message}");
    assert_eq!(
        events,
        [(Object::Node, message), (Object::Pod, of_pod.as_str())]
    );
}

#[test]
fn an_empty_resolv_conf_gives_loopback_servers() {
    let mut kubelet = kubelet(None);
    kubelet.resolv_conf.value = String::new();
    let check = |pod: &PodSpec, node_ips: &[&str], expected: &str| {
        let node_ips: Vec<IpAddr> = node_ips.iter().map(|it| it.parse().unwrap()).collect();
        let makers = Makers {
            kubelet: &kubelet,
            file: KnownFile::Missing,
            node_ips: &node_ips,
            runtime: Runtime::default(),
            node_file: KnownFile::Missing,
        };
        let id = PodId {
            namespace: "n",
            name: None,
            uid: None,
        };
        assert_eq!(text(&pod_file(pod, id, &makers).unwrap()), expected);
    };
    let default = of_policy(DnsPolicy::Default);
    check(&default, &[], "search .\nnameserver 127.0.0.1\n");
    check(&default, &["10.0.0.1"], "search .\nnameserver 127.0.0.1\n");
    check(
        &default,
        &["10.0.0.1", "fd00::1"],
        "search .\nnameserver 127.0.0.1\nnameserver ::1\n",
    );
    check(
        &PodSpec::default(),
        &["fd00::1"],
        "search n.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\n\
         options ndots:5\n",
    );
    let none = of_no_policy();
    check(&none, &[], "nameserver 192.0.2.1\n");
}

#[test]
fn a_file_that_the_kubelet_cannot_read_stops_every_pod() {
    let none = of_no_policy();
    let broken = conf("nameserver 192.0.2.1\n nameserver\n");
    for pod in [&PodSpec::default(), &of_policy(DnsPolicy::Default), &none] {
        let error = made(pod, "n", &kubelet(None), KnownFile::Read(&broken)).unwrap_err();
        let sentence = error.to_string();
        assert!(error.is_answer(), "{sentence}");
        assert!(
            sentence.contains("nameserver list is empty (k:2:2)"),
            "{sentence}"
        );
        let error = made(pod, "n", &kubelet(None), KnownFile::Missing).unwrap_err();
        let sentence = error.to_string();
        assert!(
            sentence.contains("open /etc/resolv.conf: no such file or directory"),
            "{sentence}"
        );
    }
}

#[test]
fn an_unknown_file_counts_only_where_it_is_used() {
    let seen = KnownFile::Unknown("it is not there");
    let file = made(&PodSpec::default(), "n", &kubelet(None), seen).unwrap();
    assert!(file.incomplete.unwrap().ends_with("; it is not there"));
    let error = made(&of_policy(DnsPolicy::Default), "n", &kubelet(None), seen).unwrap_err();
    assert!(!error.is_answer());
    let none = of_no_policy();
    let file = made(&none, "n", &kubelet(None), seen).unwrap();
    assert_eq!(
        (text(&file), &file.incomplete),
        ("nameserver 192.0.2.1\n", &None)
    );
    let error = made(&of_policy(DnsPolicy::None), "n", &kubelet(None), seen).unwrap_err();
    assert!(matches!(error, PodError::Refused(_)));
}

#[test]
fn a_namespace_is_a_dns_label() {
    for (namespace, fits) in [
        ("default", true),
        ("a-1", true),
        ("", false),
        ("-a", false),
        ("A", false),
        ("a b", false),
        ("a\nnameserver", false),
        (&"x".repeat(64), false),
    ] {
        let file = made(
            &PodSpec::default(),
            namespace,
            &kubelet(None),
            KnownFile::Unknown(""),
        );
        assert_eq!(file.is_ok(), fits, "{namespace:?}");
    }
}
