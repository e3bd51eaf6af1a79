//! What fixes a node: each change was tried before it is named.

use super::*;

const UPLINK: &str = "/run/systemd/resolve/resolv.conf";

/// The change as `FILE:LINE: OLD -> NEW`.
fn check(name: &str, node: &Node, expected: &str) -> Fix {
    let report = judge(node);
    let fix = report.fix.unwrap_or_else(|| panic!("{name}: no fix"));
    let place = &fix.edit.place;
    let old = fix.edit.old.as_deref().unwrap_or_default();
    let shown = format!("{}:{}: {old} -> {}", place.file, place.line, fix.edit.new);
    assert_eq!(shown, expected, "{name}");
    fix
}

fn stub() -> Node {
    let mut node = with_coredns("127.0.0.53", &corefile("/etc/resolv.conf"));
    let config = "kind: KubeletConfiguration\nresolvConf: /etc/resolv.conf\n";
    node.sources.push(source("/c.yaml", config));
    let origin = Origin::File(place("/c.yaml", 2, 13));
    node.kubelet.as_mut().unwrap().resolv_conf.origin = origin;
    node.files.push(host_file(UPLINK, &[], "172.31.0.53"));
    node
}

#[test]
fn the_kubelet_gets_a_file_with_real_servers() {
    let fix = check(
        "file",
        &stub(),
        "/c.yaml:2: resolvConf: /etc/resolv.conf -> resolvConf: /run/systemd/resolve/resolv.conf",
    );
    assert_eq!(fix.then.len(), 2, "{fix:#?}");
    assert!(fix.not.contains(&Useless::NoLoopPlugin));
    // A file that leads back is not named.
    let mut node = stub();
    node.files[0] = host_file(UPLINK, &[], "10.96.0.10");
    let expected =
        "/c.yaml:2: resolvConf: /etc/resolv.conf -> resolvConf: /etc/kubernetes/resolv.conf";
    check("leads back", &node, expected);
    node.files[0] = host_file(UPLINK, &[], "127.0.0.1");
    check("loopback", &node, expected);
}

#[test]
fn a_flag_is_changed_where_it_stands() {
    let mut node = stub();
    let line = "ARGS=\"--v=2 --resolv-conf=/etc/resolv.conf\"\n";
    node.sources.push(source("/f.env", line));
    let setting = &mut node.kubelet.as_mut().unwrap().resolv_conf;
    let shadowed = std::mem::replace(&mut setting.origin, Origin::File(place("/f.env", 1, 27)));
    setting.overrode = vec![(UPLINK.to_owned(), shadowed)];
    let fix = check(
        "flag",
        &node,
        "/f.env:1: --resolv-conf=/etc/resolv.conf -> --resolv-conf=/run/systemd/resolve/resolv.conf",
    );
    let is_of_file = |it: &Caveat| matches!(it, Caveat::NoEffect { at: Origin::File(at), .. } if *at == place("/c.yaml", 2, 13));
    assert!(fix.but.iter().any(is_of_file), "{fix:#?}");
}

#[test]
fn what_nobody_set_is_added() {
    let mut node = stub();
    let kubelet = node.kubelet.as_mut().unwrap();
    kubelet.resolv_conf.origin = Origin::BuiltIn;
    kubelet.cluster_dns.origin = Origin::File(place("/c.yaml", 1, 1));
    check(
        "yaml",
        &node,
        "/c.yaml:3:  -> resolvConf: /run/systemd/resolve/resolv.conf",
    );
    node.sources = vec![source(
        "/c.json",
        "{\n \"clusterDNS\": [\"10.96.0.10\"]\n}\n",
    )];
    let origin = Origin::File(place("/c.json", 2, 17));
    node.kubelet.as_mut().unwrap().cluster_dns.origin = origin;
    check(
        "json",
        &node,
        "/c.json:1:  -> \"resolvConf\": \"/run/systemd/resolve/resolv.conf\",",
    );
    node.sources = vec![source(
        "/etc/default/kubelet",
        "ARGS=--cluster-dns=10.96.0.10\n",
    )];
    let origin = Origin::File(place("/etc/default/kubelet", 1, 20));
    let kubelet = node.kubelet.as_mut().unwrap();
    kubelet.cluster_dns.origin = origin;
    kubelet.cluster_domain.origin = Origin::BuiltIn;
    check(
        "flags",
        &node,
        "/etc/default/kubelet:1: --cluster-dns=10.96.0.10 -> --cluster-dns=10.96.0.10 \
         --resolv-conf=/run/systemd/resolve/resolv.conf",
    );
}

#[test]
fn a_server_is_taken_out_of_a_list() {
    let node = with_coredns("127.0.0.53 172.31.0.53", &corefile("/etc/resolv.conf"));
    let fix = check(
        "line",
        &node,
        "/etc/resolv.conf:1: nameserver 127.0.0.53 -> ",
    );
    assert_eq!(fix.but.len(), 1, "the node reads that file too");
}

#[test]
fn a_literal_is_changed_in_the_corefile() {
    let node = with_coredns("172.31.0.53", &corefile("127.0.0.1"));
    let path = "/var/lib/kubelet/pods/coredns-a/volumes/config-volume/Corefile";
    let expected = format!("{path}:6: forward . 127.0.0.1 -> forward . /etc/resolv.conf");
    let fix = check("corefile", &node, &expected);
    assert_eq!(fix.then, of_map("coredns", None, Some("coredns-a")));
    // The server beside it does not lead back, and stays.
    let node = with_coredns("172.31.0.53", &corefile("127.0.0.1 172.31.0.9 ::1"));
    let expected = format!("{path}:6: forward . 127.0.0.1 172.31.0.9 ::1 -> forward . 172.31.0.9");
    check("one of three", &node, &expected);
    let node = with_coredns("172.31.0.53", &corefile("127.0.0.1 172.31.0.9 # 10.0.0.1"));
    let expected = format!("{path}:6: forward . 127.0.0.1 172.31.0.9 -> forward . 172.31.0.9");
    check("beside a comment", &node, &expected);
}

/// `workload`: what makes the pods; `None`: that is not known.
fn of_map(map: &str, workload: Option<&str>, pod: Option<&str>) -> [Step; 2] {
    let namespace = "kube-system".to_owned();
    let map = map.to_owned();
    let read = workload.map_or(Step::Reload, |it| Step::Rollout {
        namespace: namespace.clone(),
        name: it.to_owned(),
    });
    [
        Step::ConfigMap {
            namespace,
            name: map,
            pod: pod.map(str::to_owned),
        },
        read,
    ]
}

#[test]
fn a_corefile_of_the_node_is_edited_there() {
    let mut node = with_coredns("172.31.0.53", &corefile("127.0.0.1"));
    for pod in &mut node.pods {
        pod.corefiles[0].name = "/opt/dns/Corefile".to_owned();
    }
    let expected = "/opt/dns/Corefile:6: forward . 127.0.0.1 -> forward . /etc/resolv.conf";
    assert_eq!(check("hostPath", &node, expected).then, [Step::Reload]);
}

#[test]
fn the_pod_tells_what_makes_it() {
    for (pod, map, workload) in [
        (
            "coredns-9d5799d79-78gn6",
            "coredns",
            Some("deployment/coredns"),
        ),
        (
            "rke2-coredns-rke2-coredns-84b9cb946c-69fvv",
            "rke2-coredns-rke2-coredns",
            Some("deployment/rke2-coredns-rke2-coredns"),
        ),
        (
            "dns-default-x7k2b",
            "dns-default",
            Some("daemonset/dns-default"),
        ),
        ("coredns-node-a", "coredns", None),
    ] {
        let mut node = with_coredns("172.31.0.53", &corefile("127.0.0.1"));
        node.pods[0].name = Some(pod.to_owned());
        let path = node.pods[0].corefiles[0].name.clone();
        let expected = format!("{path}:6: forward . 127.0.0.1 -> forward . /etc/resolv.conf");
        let fix = check(pod, &node, &expected);
        let bare = workload.is_none().then_some(pod);
        assert_eq!(fix.then, of_map(map, workload, bare), "{pod}");
    }
}

#[test]
fn programs_on_the_node_get_another_server() {
    let mut node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    let conf = "no-resolv\nserver=127.0.0.2\n";
    node.sources.push(source("/etc/server.conf", conf));
    let mut first = server(Program::Dnsmasq, "127.0.0.1", "127.0.0.2");
    first.forwards[0].to[0].place = place("/etc/server.conf", 2, 8);
    node.servers.push(first);
    node.servers
        .push(server(Program::Unbound, "127.0.0.2", "127.0.0.1"));
    check(
        "dnsmasq",
        &node,
        "/etc/server.conf:2: server=127.0.0.2 -> server=172.31.0.53",
    );
}

/// NodeLocal DNSCache and systemd-resolved send to each other, and what systemd-resolved
/// writes for the kubelet leads there, too.
#[test]
fn systemd_resolved_gets_another_server() {
    let corefile = "cluster.local:53 {\n bind 169.254.20.10\n forward . 10.96.0.10\n}\n\
                    .:53 {\n bind 169.254.20.10\n forward . 127.0.0.53\n}\n";
    let listed = "169.254.20.10 172.31.0.53";
    let mut node = node(listed);
    node.kubelet_file = Some(host_file(UPLINK, &[], listed));
    let plain = ".:53 {\n forward . /etc/resolv.conf\n}\n";
    node.pods = vec![
        dns_pod("coredns-a", plain, "172.31.0.53"),
        node_cache(corefile, listed),
    ];
    let mut resolved = server(Program::SystemdResolved, "127.0.0.53", "169.254.20.10");
    let file = "/etc/systemd/resolved.conf.d/dns.conf";
    resolved.forwards[0].to[0].place = place(file, 2, 5);
    node.sources
        .push(source(file, "[Resolve]\nDNS=169.254.20.10\n"));
    node.servers.push(resolved);
    let fix = check(
        "DNS=",
        &node,
        "/etc/systemd/resolved.conf.d/dns.conf:2: DNS=169.254.20.10 -> DNS=172.31.0.53",
    );
    assert_eq!(fix.then, [Step::Restart("systemd-resolved")]);
    // Other words of the line stay, and what stands there is not added.
    for (line, column, new) in [
        (
            "DNS=169.254.20.100 169.254.20.10",
            20,
            "DNS=169.254.20.100 172.31.0.53",
        ),
        ("DNS=169.254.20.10#cache", 5, "DNS=172.31.0.53"),
        ("DNS=172.31.0.53 169.254.20.10", 17, "DNS=172.31.0.53"),
    ] {
        node.sources.pop();
        let text = format!("[Resolve]\n{line}\n");
        node.sources.push(source(file, &text));
        node.servers[0].forwards[0].to[0].place = place(file, 2, column);
        check(line, &node, &format!("{file}:2: {line} -> {new}"));
    }
    // From DHCP, or from what writes that file, it would come again.
    for file in ["/run/systemd/netif/links/2", "/etc/resolv.conf"] {
        node.servers[0].forwards[0].to[0].place = place(file, 2, 5);
        assert_eq!(judge(&node).fix, None, "{file}");
    }
}

#[test]
fn what_works_needs_no_fix() {
    let node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    assert_eq!(judge(&node).fix, None);
    assert_eq!(judge(&Node::default()).fix, None);
}
