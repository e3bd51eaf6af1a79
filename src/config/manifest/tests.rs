use super::*;

fn source(text: &str) -> Source {
    Source::new("f.yaml", text)
}

fn check(text: &str, workloads: &[&str], broken: &[&str]) {
    let manifest = parse_manifest(&source(text));
    let found: Vec<String> = manifest
        .workloads
        .iter()
        .map(|it| match it {
            Ok(workload) => workload.to_string(),
            Err(error) => error.to_string(),
        })
        .collect();
    assert_eq!(found, workloads, "{text}");
    let found: Vec<String> = manifest.broken.iter().map(ToString::to_string).collect();
    assert_eq!(found, broken, "{text}");
}

#[test]
fn every_kind_with_a_pod_template_counts() {
    for kind in [
        "Deployment",
        "DaemonSet",
        "StatefulSet",
        "ReplicaSet",
        "ReplicationController",
        "Job",
    ] {
        let text = format!(
            "kind: {kind}\nmetadata: {{name: a}}\nspec: {{template: {{spec: {{hostNetwork: true}}}}}}\n"
        );
        check(&text, &[&format!("{kind} a (f.yaml:1:1)")], &[]);
        assert!(
            parse_manifest(&source(&text)).workloads[0]
                .as_ref()
                .unwrap()
                .pod
                .host_network
        );
    }
    check(
        "kind: CronJob\nmetadata: {name: a}\nspec: {jobTemplate: {spec: {template: {spec: {}}}}}",
        &["CronJob a (f.yaml:1:1)"],
        &[],
    );
    check(
        "kind: Rollout\nmetadata: {name: a}\nspec: {template: {spec: {containers: []}}}",
        &["Rollout a (f.yaml:1:1)"],
        &[],
    );
    check("kind: Other\nspec: {template: {spec: {x: 1}}}", &[], &[]);
    check(
        "kind: ConfigMap\ndata: {spec: x}\n---\n- 1\n---\nx\n---\n",
        &[],
        &[],
    );
}

#[test]
fn lists_and_several_documents_are_opened() {
    check(
        "kind: List\nitems:\n- {kind: Service}\n- kind: Pod\n  metadata: {name: a, namespace: shop}\n  spec: {}\n\
         ---\n[\n---\nkind: PodList\nitems:\n- metadata: {generateName: b-}\n  spec: {}\n",
        &[
            "Pod a in namespace shop (f.yaml:4:3)",
            "Pod b (f.yaml:12:3)",
        ],
        &["f.yaml:9:1: while parsing a flow node, did not find expected node content"],
    );
}

#[test]
fn the_first_workload_is_chosen_and_the_others_are_named() {
    let text = "kind: Service\n---\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {}}}\n\
                ---\nkind: Pod\nmetadata: {name: one}\nspec: {hostNetwork: 3}\n---\nkind: Pod\nmetadata: {name: two}\nspec: {}\n";
    let chosen = first_pod(&source(text)).unwrap();
    assert_eq!(
        chosen.sentence(),
        "explaining Deployment web (f.yaml:3:1), the first of the file; not explained: \
         f.yaml:9:21: hostNetwork must be true or false, not a number, Pod two (f.yaml:11:1)"
    );
    let error = |text: &str| first_pod(&source(text)).unwrap_err().to_string();
    assert_eq!(
        error("a: 1"),
        "f.yaml: there is no Pod in it and nothing with a pod template"
    );
    assert_eq!(
        error("a: [1"),
        "f.yaml:1:4: while parsing a flow sequence, did not find expected ',' or ']'"
    );
}

#[test]
fn the_dns_fields_of_a_pod_are_read() {
    let text = "
kind: Pod
metadata: {name: a}
spec:
  dnsPolicy: \"None\"
  hostNetwork: yes
  hostname: h
  subdomain: s
  setHostnameAsFQDN: true
  dnsConfig:
    nameservers: [192.0.2.1, '2001:db8::1']
    searches:
    - a.example
    options:
    - name: ndots
      value: \"2\"
    - name: edns0
";
    let pod = first_pod(&source(text)).unwrap().workload.pod;
    let option = |name: &str, value: Option<&str>| DnsOption {
        name: name.to_owned(),
        value: value.map(str::to_owned),
    };
    assert_eq!(
        pod,
        PodSpec {
            dns_policy: DnsPolicy::None,
            host_network: true,
            dns_config: Some(DnsConfig {
                nameservers: vec!["192.0.2.1".to_owned(), "2001:db8::1".to_owned()],
                searches: vec!["a.example".to_owned()],
                options: vec![option("ndots", Some("2")), option("edns0", None)],
            }),
            hostname: Some("h".to_owned()),
            subdomain: Some("s".to_owned()),
            hostname_is_fqdn: true,
        }
    );
}

#[test]
fn a_stateful_set_names_its_pods() {
    let text = "kind: StatefulSet\nmetadata: {name: db}\nspec:\n  serviceName: dbs\n  template: {spec: {hostname: x}}\n";
    let pod = first_pod(&source(text)).unwrap().workload.pod;
    assert_eq!(pod.hostname.as_deref(), Some("db-0"));
    assert_eq!(pod.subdomain.as_deref(), Some("dbs"));
}

fn check_spec(spec: &str, expected: &str) {
    let text = format!("kind: Pod\nmetadata: {{name: a}}\nspec: {spec}\n");
    let error = first_pod(&source(&text)).unwrap_err();
    assert_eq!(error.to_string(), expected, "{spec}");
}

#[test]
fn what_the_api_server_refuses_is_an_error_with_its_place() {
    check_spec(
        "{dnsConfig: {options: [{name: ndots, value: 2}]}}",
        "f.yaml:3:51: dnsConfig.options.value must be a string, not a number: put it in quotes, \"2\"",
    );
    check_spec(
        "{dnsPolicy: clusterFirst}",
        "f.yaml:3:19: there is no dnsPolicy \"clusterFirst\": it is one of ClusterFirst, \
         ClusterFirstWithHostNet, Default and None",
    );
    check_spec(
        "{dnsPolicy: None}",
        "f.yaml:3:19: dnsPolicy None needs at least one name server in dnsConfig",
    );
    check_spec(
        "{dnsConfig: {nameservers: [dns.example]}}",
        "f.yaml:3:34: dnsConfig.nameservers has \"dns.example\", which is no IP address",
    );
    check_spec(
        "{dnsConfig: {nameservers: 192.0.2.1}}",
        "f.yaml:3:33: dnsConfig.nameservers must be a list, not a text",
    );
    check_spec(
        "{dnsConfig: {nameservers: [192.0.2.1, 192.0.2.2, 192.0.2.3, 192.0.2.4]}}",
        "f.yaml:3:67: dnsConfig.nameservers has more than 3 entries",
    );
    check_spec(
        "{dnsConfig: {searches: [\"a b\\x1b\"]}}",
        "f.yaml:3:31: dnsConfig.searches has \"a b\\u{1b}\", which is no domain name",
    );
    check_spec(
        "{dnsConfig: {options: [{value: \"1\"}]}}",
        "f.yaml:3:30: an entry of dnsConfig.options has no name",
    );
    check_spec(
        "{hostNetwork: \"true\"}",
        "f.yaml:3:21: hostNetwork must be true or false, not a text",
    );
    check_spec(
        "{dnsConfig: 3}",
        "f.yaml:3:19: dnsConfig must be a mapping, not a number",
    );
}

#[test]
fn a_manifest_says_how_containers_are_started() {
    let text = "
kind: Pod
metadata: {name: a}
spec:
  volumes:
  - {name: files, hostPath: {path: /etc/dns/}}
  - {name: empty, emptyDir: {}}
  containers:
  - name: coredns
    command: [/coredns]
    args: [-conf, /conf/Corefile]
    workingDir: /w
    volumeMounts:
    - {name: files, mountPath: /conf}
    - {name: files, mountPath: /one, subPath: a/b}
    - {name: files, mountPath: /expr, subPathExpr: $(POD)}
    - {name: empty, mountPath: /tmp}
    - {name: none, mountPath: /none}
  - name: bare
";
    let containers = first_pod(&source(text)).unwrap().workload.containers;
    let [coredns, bare] = containers.as_slice() else {
        panic!("{containers:?}");
    };
    assert_eq!(coredns.command, ["/coredns"]);
    assert_eq!(coredns.arguments, ["-conf", "/conf/Corefile"]);
    assert_eq!(coredns.directory, "/w");
    let mounts = coredns.mounts.iter();
    let mounts: Vec<_> = mounts
        .map(|it| (it.point.as_str(), it.host_path.as_deref()))
        .collect();
    let expected = [
        ("/conf", Some("/etc/dns/")),
        ("/one", Some("/etc/dns/a/b")),
        ("/expr", None),
        ("/tmp", None),
        ("/none", None),
    ];
    assert_eq!(mounts, expected);
    assert_eq!(bare.mounts, []);
}
