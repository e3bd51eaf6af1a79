use super::*;
use crate::config::manifest;
use crate::text::Source;

/// A pod as it was captured, the cluster as it was there.
fn check_captured(manifest: &str, expected: Result<&str, PodError>) {
    let source = Source {
        name: "pod.json".to_owned(),
        bytes: manifest.as_bytes().to_vec(),
    };
    let workload = manifest::first_pod(&source).unwrap().workload;
    let namespace = workload.namespace.unwrap();
    let file = pod_file(&workload.pod, &namespace, &captured_cluster());
    let text = file.map(|file| sorted_options(&file.text()));
    assert_eq!(text, expected.map(sorted_options), "{}", workload.name);
}

fn captured_cluster() -> Cluster {
    Cluster {
        host_search: vec!["corp.example".to_owned(), "eu.corp.example".to_owned()],
        limits: Limits::LEGACY,
        ..Cluster::default()
    }
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
    check_captured(testdata!("app.json"), Ok(testdata!("app.resolv.conf")));
    check_captured(
        testdata!("custom-dns.json"),
        Ok(testdata!("custom-dns.resolv.conf")),
    );
    check_captured(
        testdata!("too-many.json"),
        Ok(testdata!("too-many.resolv.conf")),
    );
    check_captured(
        testdata!("hostnet-cf.json"),
        Ok(testdata!("hostnet-cf.resolv.conf")),
    );
}

#[test]
fn the_other_policies_need_the_kubelets_file() {
    check_captured(
        testdata!("default-policy.json"),
        Err(PodError::DefaultPolicy),
    );
    check_captured(testdata!("hostnet.json"), Err(PodError::HostNetwork));
    let cluster = Cluster {
        dns: Vec::new(),
        ..Cluster::default()
    };
    assert_eq!(
        cluster_first("default", &cluster, None),
        Err(PodError::NoClusterDns)
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

#[test]
fn what_was_cut_from_a_captured_file_is_known() {
    let config = config(
        &["10.0.0.1", "10.0.0.2", "10.0.0.3"],
        &["a.example", "b.example", "c.example"],
        &[],
    );
    let file = cluster_first("default", &captured_cluster(), Some(&config)).unwrap();
    let cut: Vec<String> = file.cut.iter().map(Cut::to_string).collect();
    assert_eq!(
        cut,
        [
            "10.0.0.3 (name server, too many)",
            "b.example (search domain, the list is too long)",
            "c.example (search domain, the list is too long)",
        ]
    );
}

#[test]
fn options_are_merged_by_name_and_repeats_fall_out() {
    let cluster = Cluster::default();
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
    let file = cluster_first("shop", &cluster, Some(&config)).unwrap();
    assert_eq!(
        file.text(),
        "search shop.svc.cluster.local svc.cluster.local cluster.local a.example\n\
         nameserver 10.96.0.10\nnameserver 192.0.2.1\noptions ndots:3 edns0 timeout\n"
    );
    assert_eq!(file.cut, []);
}

#[test]
fn repeated_cluster_servers_stay_without_a_dns_config() {
    let cluster = Cluster {
        dns: vec![DEFAULT_CLUSTER_DNS; 2],
        domain: String::new(),
        ..Cluster::default()
    };
    let file = cluster_first("a", &cluster, None).unwrap();
    assert_eq!(
        file.text(),
        "nameserver 10.96.0.10\nnameserver 10.96.0.10\noptions ndots:5\n"
    );
    let file = cluster_first("a", &cluster, Some(&DnsConfig::default())).unwrap();
    assert_eq!(file.text(), "nameserver 10.96.0.10\noptions ndots:5\n");
}

#[test]
fn a_search_list_is_cut_at_its_count_then_long_domains_then_characters() {
    let check = |searches: Vec<String>, kept: usize, cut: usize| {
        let file = PodFile {
            searches,
            ..PodFile::default()
        };
        let file = file.cut(Limits::EXPANDED);
        assert_eq!((file.searches.len(), file.cut.len()), (kept, cut));
    };
    let domains = |count: usize, chars: usize| vec!["x".repeat(chars); count];
    check(domains(33, 10), 32, 1);
    // The long ones have taken places of the 32.
    check([domains(1, 254), domains(33, 5)].concat(), 31, 3);
    check(domains(32, 63), 32, 0);
    check([domains(31, 63), domains(1, 64)].concat(), 32, 0);
    check([domains(31, 63), domains(1, 65)].concat(), 31, 1);
    check(domains(9, 253), 8, 1);
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
        let file = cluster_first(namespace, &Cluster::default(), None);
        assert_eq!(file.is_ok(), fits, "{namespace:?}");
    }
}

#[test]
fn the_host_name_is_the_pods_name_unless_the_spec_says_more() {
    let pod = |hostname: Option<&str>, subdomain: Option<&str>, hostname_is_fqdn: bool| PodSpec {
        hostname: hostname.map(str::to_owned),
        subdomain: subdomain.map(str::to_owned),
        hostname_is_fqdn,
        ..PodSpec::default()
    };
    let check = |pod: &PodSpec, expected: Option<&str>| {
        let found = host_name(pod, "web-1", "shop", "cluster.local").unwrap();
        assert_eq!(found.as_deref(), expected);
    };
    check(&pod(None, None, false), Some("web-1"));
    check(&pod(Some("a"), Some("b"), false), Some("a"));
    check(
        &pod(Some("a"), Some("b"), true),
        Some("a.b.shop.svc.cluster.local"),
    );
    check(&pod(Some("a"), None, true), Some("a"));
    let long = format!("{}-.y", "x".repeat(61));
    check(&pod(Some(&long), None, false), Some(&"x".repeat(61)));
    let error = host_name(
        &pod(Some(&long), Some("b"), true),
        "n",
        "shop",
        "cluster.local",
    );
    assert!(matches!(error, Err(PodError::LongHostName(_))));
    let on_host = PodSpec {
        host_network: true,
        ..PodSpec::default()
    };
    check(&on_host, None);
}
