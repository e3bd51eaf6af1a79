use super::*;
use crate::kubelet::{Kubelet, Setting};
use crate::node::{Listener, Pod, Process};
use crate::pod::assumed_kubelet;
use crate::text::Source;
use crate::topology::Network;

fn host_file(path: &str, text: &str) -> HostFile {
    let conf = ResolvConf::parse(Source::new(path, text));
    HostFile::without_links(path.to_owned(), Ok(conf))
}

fn node(text: &str) -> Node {
    Node {
        node_file: Some(host_file("/etc/resolv.conf", text)),
        addresses: vec![
            "10.0.0.5".parse().unwrap(),
            "192.168.122.1".parse().unwrap(),
        ],
        interfaces: vec![
            ("10.0.0.5".parse().unwrap(), "eth0".to_owned()),
            ("192.168.122.1".parse().unwrap(), "virbr0".to_owned()),
        ],
        ..Node::default()
    }
}

fn kubelet(cluster_dns: &str) -> Kubelet {
    Kubelet {
        cluster_dns: Setting::built_in(vec![cluster_dns.parse().unwrap()]),
        ..assumed_kubelet()
    }
}

fn listener(address: &str, comm: &str) -> Listener {
    Listener {
        network: Network::Node,
        address: address.parse().ok(),
        port: DNS_PORT,
        is_udp: true,
        file: "/proc/net/udp".to_owned(),
        dropped: 0,
        owner: Some(Process {
            pid: 7,
            comm: comm.to_owned(),
            arguments: Vec::new(),
        }),
    }
}

fn who(who: &Who) -> String {
    match who {
        Who::Server(name) => name.to_string(),
        Who::Other(text) => text.clone(),
        Who::Usual(text) => (*text).to_owned(),
        Who::Process(process) => process.comm.clone(),
        Who::Node(interface) => format!("own {}", interface.as_deref().unwrap_or_default()),
        other => format!("{other:?}"),
    }
}

/// The first server: its short name, how it goes on, and who it is.
fn check(node: &Node, expected: (&str, &str, &str)) {
    let report = of_node(node);
    let step = report.files.first().unwrap().servers.first().unwrap();
    let end = format!("{:?}", step.end);
    let end = end.split('(').next().unwrap();
    assert_eq!((step.id, end, who(&step.who).as_str()), expected);
}

#[test]
fn servers_of_no_program_that_is_known() {
    check(
        &node("nameserver 192.0.2.1\n"),
        ("server", "Outside", "Outside"),
    );
    check(
        &node("nameserver 169.254.169.253\n"),
        (
            "cloud",
            "Outside",
            "the resolver of the cloud's network (AWS 169.254.169.253, Google Cloud and Oracle \
         169.254.169.254, Azure 168.63.129.16)",
        ),
    );
    check(
        &node("nameserver 192.168.122.1\n"),
        ("own-address", "Unknown", "own virbr0"),
    );
    let mut cluster = node("nameserver 10.96.0.10\n");
    cluster.kubelet = Some(kubelet("10.96.0.10"));
    // kube-proxy in IPVS mode.
    cluster.addresses.push("10.96.0.10".parse().unwrap());
    cluster.sockets_known = true;
    check(&cluster, ("cluster-dns", "Unknown", "ClusterDns"));
}

#[test]
fn sockets_tell_who_it_is_and_that_nobody_is_there() {
    let mut silent = node("nameserver 127.0.0.1\n");
    silent.sockets_known = true;
    let who = "a local DNS server (dnsmasq, unbound, named or another)";
    check(&silent, ("local", "Refused", who));
    let mut own = node("nameserver 10.0.0.5\n");
    own.sockets_known = true;
    let who = "own eth0";
    check(&own, ("own-address", "Refused", who));
    own.listeners.push(listener("10.0.0.5", "pdns_recursor"));
    check(&own, ("process", "Unknown", "pdns_recursor"));
    silent.listeners.push(listener("", "stubby"));
    check(&silent, ("local", "Unknown", "stubby"));
    silent.listeners[0].is_udp = false;
    check(&silent, ("local", "Refused", "stubby"));
    // Docker's listens elsewhere, behind rules.
    let mut docker = node("nameserver 127.0.0.11\n");
    docker.sockets_known = true;
    check(
        &docker,
        ("docker", "Unknown", "Docker's embedded DNS server"),
    );
}

#[test]
fn one_file_with_two_roles_is_told_once() {
    let mut node = node("nameserver 192.0.2.1\n");
    node.kubelet_file = node.node_file.clone();
    let roles: Vec<Role> = of_node(&node).files.iter().map(|it| it.role).collect();
    assert_eq!(roles, [Role::Both]);
    node.kubelet_file = Some(host_file("/run/other", "nameserver 192.0.2.2\n"));
    let roles: Vec<Role> = of_node(&node).files.iter().map(|it| it.role).collect();
    assert_eq!(roles, [Role::Kubelet, Role::Node]);
}

#[test]
fn health_is_of_all_servers() {
    let health = |node: &Node| of_node(node).health(node);
    assert_eq!(health(&node("nameserver 192.0.2.1\n")), Health::Clean);
    assert_eq!(health(&node("search a\n")), Health::Dead);
    let mut silent = node("nameserver 192.0.2.1\nnameserver 127.0.0.1\n");
    assert_eq!(health(&silent), Health::Clean);
    silent.sockets_known = true;
    assert_eq!(health(&silent), Health::Dead);
    assert_eq!(health(&Node::default()), Health::Nothing);
}

#[test]
fn servers_that_are_not_equivalent_are_remarked_on_as_check_loop_does() {
    let mut node = node("nameserver 10.0.0.2\nnameserver 8.8.8.8\n");
    node.kubelet = Some(kubelet("10.96.0.10"));
    node.kubelet_file = node.node_file.clone();
    let found = of_node(&node).remarks;
    let unlike = check_loop::unlike(&node).into_iter().map(Remark::Loop);
    assert_eq!(found, unlike.collect::<Vec<_>>());
    assert_eq!(found.len(), 1);
    node.kubelet_file = Some(host_file("/etc/resolv.conf", "nameserver 10.0.0.2\n"));
    assert_eq!(of_node(&node).remarks, []);
}

#[test]
fn a_file_that_was_not_read_is_unknown() {
    let mut node = node("nameserver 10.0.0.2\n");
    node.kubelet_file = Some(HostFile {
        path: "/run/own.conf".to_owned(),
        links: Vec::new(),
        content: Err(Unread {
            is_missing: false,
            reason: "cannot read /run/own.conf: permission denied (needs root)".to_owned(),
        }),
    });
    let report = of_node(&node);
    assert_eq!(report.health(&node), Health::Unknown);
    assert!(report.unread().unwrap().contains("(needs root)"));
    // Without a kubelet, where its process would not be seen.
    node.kubelet_file = None;
    node.unseen = Some("cannot see the processes of others".to_owned());
    let report = of_node(&node);
    assert_eq!(report.health(&node), Health::Unknown);
}

/// Where the real servers stand in a file that could not be read.
#[test]
fn a_hidden_file_can_name_servers_outside() {
    let mut node = node("nameserver 127.0.0.1\n");
    let content = |is_missing| {
        Err(Unread {
            is_missing,
            reason: "cannot read it: i/O error".to_owned(),
        })
    };
    let uplink = |content| HostFile::without_links(UPLINK_FILE.to_owned(), content);
    node.files = vec![uplink(content(true))];
    assert_eq!(of_node(&node).health(&node), Health::Clean);
    node.files = vec![uplink(content(false))];
    assert_eq!(of_node(&node).health(&node), Health::Unknown);
    node.node_file = Some(host_file("/etc/resolv.conf", "nameserver 192.0.2.1\n"));
    assert_eq!(of_node(&node).health(&node), Health::Clean);
}

#[test]
fn servers_beyond_the_third_are_lost() {
    let lost = |count: usize| {
        let lines: Vec<String> = (1..=count)
            .map(|it| format!("nameserver 192.0.2.{it}\n"))
            .collect();
        let all = of_node(&node(&lines.concat())).files.into_iter();
        let all = all.flat_map(|it| it.lost);
        all.filter(|it| matches!(it, Lost::Taken { .. })).count()
    };
    assert_eq!((lost(3), lost(4)), (0, 1));
}

/// Two DNS pods behind 10.96.0.10, the second one with this Corefile's `forward`.
fn cluster(second: &str) -> Node {
    let pod = |name: &str, address: &str, forward: &str| {
        let corefile = format!(".:53 {{\n kubernetes cluster.local\n forward . {forward}\n}}\n");
        Pod {
            namespace: Some("kube-system".to_owned()),
            name: Some(name.to_owned()),
            host_network: Some(false),
            addresses: vec![address.parse().unwrap()],
            corefiles: vec![Source::new(format!("/{name}/Corefile"), corefile)],
            ..Pod::default()
        }
    };
    Node {
        kubelet: Some(kubelet("10.96.0.10")),
        pods: vec![
            pod("coredns-a", "10.244.0.2", "172.31.0.53"),
            pod("coredns-b", "10.244.0.3", second),
            Pod {
                corefiles: Vec::new(),
                ..pod("app", "10.244.0.4", "")
            },
        ],
        ..node("nameserver 10.96.0.10\n")
    }
}

#[test]
fn the_service_of_the_clusters_dns_is_followed_to_its_pods() {
    let asked = |node: &Node, address: &str| {
        let report = of_address(node, address.parse().unwrap(), None);
        let health = report.health(node);
        (report.files[0].servers[0].clone(), health)
    };
    let ends = |step: &Step| -> Vec<String> {
        let next = step.next.iter();
        next.map(|it| format!("{} {:?}", it.address.unwrap(), it.next[0].end))
            .collect()
    };
    let well = cluster("172.31.0.54");
    let (service, health) = asked(&well, "10.96.0.10");
    assert_eq!((&service.end, health), (&End::Endpoints, Health::Clean));
    assert_eq!(
        ends(&service),
        ["10.244.0.2:53 Outside", "10.244.0.3:53 Outside"]
    );
    // What Corefiles alone name stands beside the files.
    for (file, expected) in [("10.9.9.9", Role::Cluster), ("172.31.0.53", Role::Node)] {
        let node_file = node(&format!("nameserver {file}\n")).node_file;
        let report = of_node(&Node {
            node_file,
            ..cluster("172.31.0.53")
        });
        assert_eq!(report.files.last().unwrap().role, expected);
    }
    // To itself by way of the Service, or in its own network namespace.
    let (service, health) = asked(&cluster("10.96.0.10"), "10.96.0.10");
    assert_eq!(health, Health::Dead);
    assert_eq!(
        ends(&service),
        ["10.244.0.2:53 Outside", "10.244.0.3:53 Cycle"]
    );
    let (pod, _) = asked(&cluster("127.0.0.1"), "10.244.0.3");
    assert_eq!(pod.next[0].end, End::Cycle);
    let (app, health) = asked(&well, "10.244.0.4");
    assert_eq!(app.who, Who::Pod("kube-system/app".to_owned()));
    assert_eq!(
        (app.end, health),
        (End::Unknown(Unknown::Forwards), Health::Clean)
    );
    let (elsewhere, _) = asked(&node("nameserver 10.0.0.2\n"), "10.96.0.10");
    assert_eq!(elsewhere.end, End::Outside);
    // Where no rules were read, what is near the Service is one, too.
    let (near, _) = asked(&well, "10.96.0.1");
    assert_eq!(
        (near.end, near.who),
        (End::Unknown(Unknown::Rules), Who::Service(None))
    );
    assert_eq!(asked(&well, "10.7.0.1").0.end, End::Outside);
}

#[test]
fn rules_make_a_service_of_what_is_outside_else() {
    let who = Who::Service(Some("shop/db:dns".to_owned()));
    let asked = |address: &str| {
        let report = of_address(&cluster(""), address.parse().unwrap(), Some(who.clone()));
        report.files[0].servers[0].clone()
    };
    let step = asked("10.96.3.4");
    assert_eq!((step.end, &step.who), (End::Unknown(Unknown::Rules), &who));
    assert_eq!(asked("10.96.0.10").who, Who::ClusterDns);
}

#[test]
fn a_cache_that_has_ended_answers_nobody() {
    let mut node = cluster("172.31.0.53");
    let corefile = ".:53 {\n bind 169.254.20.10\n forward . 172.31.0.53\n}\n";
    node.pods.push(Pod {
        namespace: Some("kube-system".to_owned()),
        name: Some("node-local-dns-x8wzk".to_owned()),
        host_network: Some(true),
        corefiles: vec![Source::new("/cache/Corefile", corefile)],
        ..Pod::default()
    });
    let end = |node: &Node| {
        let report = of_address(node, "169.254.20.10".parse().unwrap(), None);
        report.files[0].servers[0].end.clone()
    };
    assert_eq!(end(&node), End::Forwards);
    node.sockets_known = true;
    assert_eq!(end(&node), End::Refused(Refused::Nobody));
    // Its Corefile may not even say that it is to listen there.
    let cache = node.pods.pop().unwrap();
    assert_eq!(end(&node), End::Refused(Refused::Nobody));
    node.pods.push(cache);
    node.listeners.push(listener("169.254.20.10", "node-cache"));
    node.listeners[0].owner = None;
    assert_eq!(end(&node), End::Forwards);
    // Names of the cluster go to CoreDNS, which sends all others to the cache: no circle.
    let own = "cluster.local:53 {\n bind 169.254.20.10\n forward . 10.96.0.10\n}\n";
    let cache = node.pods.last_mut().unwrap();
    cache.corefiles[0] = Source::new("/cache/Corefile", format!("{own}{corefile}"));
    for pod in &mut node.pods[..2] {
        let corefile = ".:53 {\n kubernetes cluster.local\n forward . 169.254.20.10\n}\n";
        pod.corefiles[0] = Source::new("/Corefile", corefile);
    }
    let report = of_address(&node, "10.96.0.10".parse().unwrap(), None);
    assert_eq!(report.health(&node), Health::Clean, "{report:#?}");
}

/// The cache has the Service's address, and CoreDNS sends what it has not to the Service.
#[test]
fn a_circle_through_a_cache_with_the_services_address_is_seen() {
    let mut node = cluster("172.31.0.53");
    let corefile = ".:53 {\n bind 10.96.0.10\n forward . 10.96.0.10\n}\n";
    node.pods.push(Pod {
        name: Some("node-local-dns-x8wzk".to_owned()),
        host_network: Some(true),
        corefiles: vec![Source::new("/cache/Corefile", corefile)],
        ..Pod::default()
    });
    let report = of_address(&node, "10.96.0.10".parse().unwrap(), None);
    assert_eq!(report.files[0].servers[0].next[0].end, End::Cycle);
    assert_eq!(report.health(&node), Health::Dead);
}

fn steps(step: &Step) -> usize {
    1 + step.next.iter().map(steps).sum::<usize>()
}

/// Each is followed once for a zone, not once for each way to it.
#[test]
fn servers_that_all_name_each_other_are_followed_once() {
    let mut node = node("nameserver 10.244.0.2\n");
    let addresses: Vec<String> = (2..22).map(|it| format!("10.244.0.{it}")).collect();
    let zone = format!("a.example {{\n forward . {}\n}}\n", addresses.join(" "));
    for address in &addresses {
        node.pods.push(Pod {
            name: Some(format!("coredns-{address}")),
            host_network: Some(false),
            addresses: vec![address.parse().unwrap()],
            corefiles: vec![Source::new("/Corefile", zone.clone())],
            ..Pod::default()
        });
    }
    let report = of_node(&node);
    let all: usize = report.files[0].servers.iter().map(steps).sum();
    assert!((20..1000).contains(&all), "{all}");
}

/// `clusterDNS` names the cache alone: what has a usual address can be the Service.
#[test]
fn a_usual_address_is_not_known_where_the_service_is_not() {
    let end = |cluster_dns: &str| {
        let mut node = node("nameserver 10.96.0.10\n");
        node.kubelet = Some(kubelet(cluster_dns));
        of_node(&node).files[0].servers[0].end.clone()
    };
    assert_eq!(end("169.254.20.10"), End::Unknown(Unknown::Rules));
    assert_eq!(end("10.43.0.10"), End::Outside);
    // A pod has the search list of the cluster, and sees no kubelet.
    let in_pod = |search: &str| {
        let node = node(&format!("search {search}\nnameserver 10.96.0.10\n"));
        of_node(&node).files[0].servers[0].end.clone()
    };
    let search = "shop.svc.cluster.local svc.cluster.local cluster.local";
    assert_eq!(in_pod(search), End::Unknown(Unknown::Rules));
    assert_eq!(in_pod("corp.example"), End::Outside);
}
