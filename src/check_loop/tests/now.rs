//! What counts as now, and what the running kubelet would write.

use super::*;
use crate::check_loop::facts::Trouble;
use crate::kubelet::Running;
use crate::kubelet::age::{Started, Written};
use crate::node::Presence;
use crate::node::runtime::state::Ended;

const STUB: &str = "127.0.0.53";
const REAL: &str = "172.31.0.53";
const FINE: (Verdict, State, State) = (Verdict::NoLoop, State::NoLoop, State::NoLoop);
const LOOP: (Verdict, State, State) = (Verdict::Loop, State::Loop, State::Loop);

fn pod(name: &str, servers: &str, address: &str) -> Pod {
    Pod {
        addresses: ips(address),
        started: Some(500),
        ..dns_pod(name, &corefile("/etc/resolv.conf"), servers)
    }
}

/// A node with two DNS pods that have these servers.
fn two(files: &str, first: &str, second: &str) -> Node {
    Node {
        pods: vec![
            pod("coredns-a", first, "10.244.0.7"),
            pod("coredns-b", second, "10.244.0.8"),
        ],
        ..node(files)
    }
}

fn steps(report: &Report) -> &[Step] {
    &report.fix.as_ref().unwrap().then
}

const RESTART: Step = Step::RestartKubelet {
    command: "systemctl restart kubelet",
    is_unit_changed: false,
};

#[test]
fn one_of_several_pods_is_mixed_and_the_fix_names_it() {
    let expected = (Verdict::Mixed, State::Mixed, State::NoLoop);
    let report = check("loops", &two(REAL, STUB, REAL), expected);
    let cause = report.cause.as_ref();
    assert!(matches!(
        cause,
        Some(Cause::Path {
            pods: Some((1, 2)),
            ..
        })
    ));
    assert_eq!(steps(&report), [recreate(&["coredns-a"])]);
    check(
        "all",
        &two(REAL, STUB, STUB),
        (Verdict::Loop, State::Loop, State::NoLoop),
    );
    // Whose file is not known is neither.
    let mut node = two(REAL, STUB, REAL);
    node.pods[1].resolv_conf = None;
    check(
        "unknown",
        &node,
        (Verdict::Loop, State::Loop, State::NoLoop),
    );
    let mut node = two(STUB, STUB, REAL);
    node.files
        .push(host_file("/run/systemd/resolve/resolv.conf", &[], REAL));
    let report = check("both", &node, (Verdict::Mixed, State::Mixed, State::Loop));
    assert_eq!(steps(&report).last(), Some(&recreate(&["coredns-a"])));
}

/// Any pod can have a list as the cluster's, and any server.
#[test]
fn the_service_is_what_the_kubelet_says() {
    let text = "search default.svc.cluster.local svc.cluster.local cluster.local\n\
                nameserver 172.31.0.53\noptions ndots:5\n";
    let conf = || Some(ResolvConf::parse(source("/s/resolv.conf", text)));
    let mut node = with_coredns(REAL, &corefile("/etc/resolv.conf"));
    let mut other = pod("none", REAL, "10.244.0.9");
    other.corefiles.clear();
    other.containers[0].name = "app".to_owned();
    other.resolv_conf = conf();
    node.pods.push(other);
    check("another pod", &node, FINE);
    // The same of CoreDNS itself: its next start is like this one.
    let mut node = with_coredns(STUB, &corefile("/etc/resolv.conf"));
    node.pods[0].resolv_conf = conf();
    check("its own", &node, FINE);
}

/// The kubelet was started at tick 400, before its file was changed.
fn stale(mut node: Node, value: Option<&str>) -> Node {
    let kubelet = node.kubelet.as_mut().unwrap();
    let origin = match value {
        Some(_) => Origin::Option("--kubelet-config"),
        None => Origin::Unread("/c.yaml was changed since".to_owned()),
    };
    kubelet.running = Some(Running {
        resolv_conf: Setting {
            value: value.unwrap_or("/etc/resolv.conf").to_owned(),
            origin,
            overrode: Vec::new(),
        },
        changed: vec!["/c.yaml".to_owned()],
        is_unsure: false,
        is_unit_changed: false,
        started: Some(400),
    });
    node.running_file = Some(match value {
        Some(path) => host_file(path, &[], STUB),
        None => HostFile {
            path: "/etc/resolv.conf".to_owned(),
            links: Vec::new(),
            content: Err(crate::node::Unread {
                is_missing: false,
                reason: "/c.yaml was changed since".to_owned(),
            }),
        },
    });
    node
}

#[test]
fn the_running_kubelet_is_restarted_before_pods_are_recreated() {
    for (name, value) in [
        ("what it gave to a pod", None),
        ("known", Some("/etc/stub.conf")),
    ] {
        let report = check(name, &stale(two(REAL, STUB, STUB), value), LOOP);
        let expected = [RESTART, recreate(&["coredns-a", "coredns-b"])];
        assert_eq!(steps(&report), expected, "{name}");
        assert!(report.fix.as_ref().unwrap().is_restart, "{name}");
    }
    // A file that leads back is to be edited first.
    let mut node = stale(two(STUB, STUB, STUB), None);
    node.files
        .push(host_file("/run/systemd/resolve/resolv.conf", &[], REAL));
    let report = check("edit", &node, LOOP);
    let fix = report.fix.unwrap();
    assert!(!fix.is_restart && fix.edit.new.ends_with("/run/systemd/resolve/resolv.conf"));
    assert_eq!(fix.then[0], RESTART);
}

#[test]
fn a_kubelet_that_nobody_saw_writing_is_unknown() {
    let mut node = stale(two(STUB, REAL, REAL), None);
    for pod in &mut node.pods {
        pod.started = Some(300);
    }
    let expected = (Verdict::Unknown, State::NoLoop, State::Unknown);
    let report = check("older pods", &node, expected);
    let is_file = matches!(report.missing[0], Missing::KubeletFileContent(_));
    assert!(is_file, "{report:#?}");
    let is_loop = |it: &Remark| matches!(it, Remark::Restart(State::Loop, _));
    assert!(report.remarks.iter().any(is_loop));
    // One that it made: it has the good file, for now, and what comes has its fix.
    node.pods[1].started = Some(500);
    let good = host_file("/run/systemd/resolve/resolv.conf", &[], REAL);
    node.files.push(good);
    let report = check("a newer one", &node, FINE);
    let fix = report.fix.as_ref().unwrap();
    assert!(fix.edit.new.ends_with("/run/systemd/resolve/resolv.conf"));
    assert_eq!(steps(&report), [RESTART]);
    // What is right has none.
    let mut node = stale(two(REAL, REAL, REAL), Some("/etc/resolv.conf"));
    node.running_file = node.kubelet_file.clone();
    assert!(check("touched", &node, FINE).fix.is_none());
}

#[test]
fn a_static_pod_is_recreated_by_its_manifest() {
    let mut node = two(REAL, STUB, STUB);
    node.pods[0].uid = Some("c31a8e4c908b8e67011274b4801a9b87".to_owned());
    node.pods[1].manifest = Some("/m/dns.yaml".to_owned());
    node.kubelet.as_mut().unwrap().static_pods = Some("/m".to_owned());
    let report = check("static", &node, (Verdict::Loop, State::Loop, State::NoLoop));
    let step = |name: &str, manifest| Step::RecreateStatic {
        pod: format!("kube-system/{name}"),
        manifest,
    };
    let expected = [
        step("coredns-a", Manifest::In("/m".to_owned())),
        step("coredns-b", Manifest::File("/m/dns.yaml".to_owned())),
    ];
    assert_eq!(steps(&report), expected);
}

#[test]
fn without_a_kubelet_now_is_the_answer() {
    let mut node = two(REAL, REAL, REAL);
    node.kubelet = None;
    let fine = (Verdict::NoLoop, State::NoLoop, State::Unknown);
    check("fine", &node, fine);
    let mut node = two(REAL, STUB, STUB);
    node.kubelet = None;
    check("loops", &node, (Verdict::Loop, State::Loop, State::Unknown));
}

/// A server that stands twice in the kubelet's file is asked twice, and that is all.
#[test]
fn a_repeated_server_is_no_other_file() {
    let node = with_coredns(REAL, &corefile("/etc/resolv.conf"));
    let kubelets = host_file("/etc/resolv.conf", &[], "172.31.0.53 172.31.0.53");
    for (file, expected) in [
        (kubelets, false),
        (
            host_file("/etc/resolv.conf", &[], "172.31.0.53 172.31.0.54"),
            true,
        ),
    ] {
        let changed = Node {
            kubelet_file: Some(file),
            ..node.clone()
        };
        let report = check("drift", &changed, FINE);
        assert_eq!(report.remarks.iter().any(is_drift), expected);
    }
}

/// One that does not start again is no loop, and no DNS either.
#[test]
fn a_dns_pod_that_ended_is_told_first() {
    let mut node = two(REAL, REAL, REAL);
    let mut logs = source(
        "/var/log/pods/x/coredns/2.log",
        "2026-11-24T08:44:43Z stderr F listen udp :53: bind: address already in use\n\n",
    );
    logs.name.push_str(" (its last MiB)");
    let ended = |code| Ended {
        at: Some("2026-11-24T08:44:43Z".to_owned()),
        code,
        reason: Some("Error".to_owned()),
    };
    node.pods[1].containers = vec![Container {
        name: "coredns".to_owned(),
        ended: Some(ended(1)),
        logs: vec![logs],
        ..Container::default()
    }];
    let report = check("crashes", &node, FINE);
    let expected = Trouble::Down {
        pod: "kube-system/coredns-b".to_owned(),
        container: "coredns".to_owned(),
        ended: ended(1),
        last: Some("listen udp :53: bind: address already in use".to_owned()),
    };
    assert_eq!(report.concern.unwrap().troubles, [expected]);
    // Nothing is wrong with one that was told to end, or runs again.
    node.pods[1].containers[0].ended = Some(ended(0));
    assert_eq!(check("ended", &node, FINE).concern, None);
    node.pods[1].containers[0].ended = Some(ended(1));
    node.pods[1].containers[0].pid = Some(9);
    assert_eq!(check("runs", &node, FINE).concern, None);
    // Nothing sends queries where no container was ever made.
    node.pods[1].presence = Presence::Waits;
    let expected = Trouble::Waits("kube-system/coredns-b".to_owned());
    assert_eq!(
        check("waits", &node, FINE).concern.unwrap().troubles,
        [expected]
    );
    node.pods[1].presence = Presence::Runs;
    // Frozen it answers nothing.
    node.pods[1].containers[0].is_paused = true;
    let expected = Trouble::Paused {
        pod: "kube-system/coredns-b".to_owned(),
        container: "coredns".to_owned(),
        id: None,
    };
    let report = check("paused", &node, FINE);
    assert_eq!(report.concern.unwrap().troubles, [expected]);
}

/// CoreDNS reads its Corefile when it starts, and after that only with `reload`.
#[test]
fn what_stands_in_a_corefile_since_may_not_be_read() {
    let unknown = (Verdict::WillLoop, State::Unknown, State::Loop);
    for (what, reload, at, now, expected) in [
        ("older", "", 990, Some(2000), LOOP),
        ("newer", "", 1500, Some(2000), unknown),
        ("of another time", "", 1500, None, unknown),
        ("read again", "reload", 1500, Some(2000), LOOP),
        ("by now", "reload", 1500, Some(1560), LOOP),
        ("not yet", "reload", 1500, Some(1559), unknown),
        ("often", "reload 2s 1s", 1500, Some(1520), LOOP),
        ("seldom", "reload 5m", 1500, Some(1900), unknown),
        ("read in a copy", "reload", 1500, None, LOOP),
        ("the clock was set", "", 2500, Some(2000), unknown),
    ] {
        let text = corefile("127.0.0.1").replace("loop\n", &format!("loop\n    {reload}\n"));
        let mut node = with_coredns(REAL, &text);
        let reader = Started {
            counted: 1000,
            noted: None,
            now,
        };
        node.pods[0].corefile_written = Some(Written { at, reader });
        let report = check(what, &node, expected);
        let is_said = |it: &Remark| matches!(it, Remark::Now(Unknown::UnreadCorefile { .. }));
        assert_eq!(report.remarks.iter().any(is_said), expected == unknown);
    }
    // What the file says comes with the next start, if it is good, too.
    let mut node = with_coredns(REAL, &corefile("/etc/resolv.conf"));
    let reader = Started {
        counted: 1000,
        noted: None,
        now: Some(2000),
    };
    node.pods[0].corefile_written = Some(Written { at: 1500, reader });
    let good = (Verdict::NoLoop, State::Unknown, State::NoLoop);
    check("good", &node, good);
    node.pods[0].corefiles = vec![source("/Corefile", ".:53 {\n    hosts\n}\n")];
    check("that asks nobody", &node, good);
}

/// A static pod that was made anew has the logs that it had before.
#[test]
fn what_a_static_pod_did_before_is_over() {
    let mut node = two(REAL, REAL, REAL);
    let log = source(
        "/var/log/pods/x/coredns/4.log",
        "2026-11-24T08:57:33Z stdout F [FATAL] plugin/loop: Loop (127.0.0.1:5 -> :53) detected \
         for zone \".\"\n",
    );
    node.pods[1].containers = vec![Container {
        name: "coredns".to_owned(),
        pid: Some(9),
        logs: vec![log],
        ..Container::default()
    }];
    let report = check("by the API", &node, FINE);
    assert!(report.concern.is_some(), "it can have been chance");
    node.pods[1].manifest = Some("/etc/kubernetes/manifests/coredns.yaml".to_owned());
    assert_eq!(check("static", &node, FINE).concern, None);
    // One that did not come up again is another thing.
    node.pods[1].containers[0].pid = None;
    let report = judge(&node);
    assert_eq!(report.verdict, Verdict::Unknown);
}

/// It is no server that could be asked for a name.
#[test]
fn a_kubernetes_api_that_is_not_reached_is_walked_to() {
    let mut node = two(REAL, REAL, REAL);
    let log = source(
        "/var/log/pods/x/coredns/0.log",
        "2026-11-24T08:57:33Z stdout F [WARNING] plugin/kubernetes: Kubernetes API connection \
         failure: Get \"https://10.96.0.1:443/version\": dial tcp 10.96.0.1:443: i/o timeout\n",
    );
    node.pods[1].containers = vec![Container {
        name: "coredns".to_owned(),
        pid: Some(9),
        logs: vec![log],
        ..Container::default()
    }];
    let concern = check("no API", &node, FINE).concern.unwrap();
    let expected = Step::Walk {
        pod: "kube-system/coredns-b".to_owned(),
        server: "10.96.0.1:443".parse().unwrap(),
    };
    assert_eq!(concern.then, [expected]);
    node.read_at = Some(i64::MAX);
    assert_eq!(check("long ago", &node, FINE).concern, None);
}
