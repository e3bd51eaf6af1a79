use super::*;
use crate::node::Process;
use crate::node::cgroup::Membership;
use crate::scenario::file;

fn process(pid: u32) -> Process {
    Process {
        pid,
        comm: "x".to_owned(),
        arguments: Vec::new(),
    }
}

fn container(name: &str, id: &str, pid: Option<u32>) -> Container {
    Container {
        name: name.to_owned(),
        id: Some(id.repeat(64)),
        pid,
        ..Container::default()
    }
}

fn pod(namespace: &str, name: &str, sandbox: &str) -> Pod {
    Pod {
        namespace: Some(namespace.to_owned()),
        name: Some(name.to_owned()),
        uid: Some(format!("uid-{sandbox}")),
        sandbox: Some(sandbox.repeat(64)),
        host_network: Some(false),
        resolv_conf: Some(file("/kept", "nameserver 10.0.0.1\n")),
        ..Pod::default()
    }
}

fn task(pid: u32, id: &str, started: u64) -> Task {
    Task {
        pid,
        started: Some(started),
        membership: Membership {
            container: Some(id.repeat(64)),
            ..Membership::default()
        },
        ..Task::default()
    }
}

fn pods() -> Vec<Pod> {
    let mut web = pod("default", "web", "a");
    web.processes = vec![process(10), process(11), process(12)];
    web.containers = vec![
        container("app", "b", Some(11)),
        container("side", "c", Some(12)),
    ];
    web.netns = Some(7);
    web.netns_path = Some("/run/netns/cni-1".to_owned());
    let mut crashing = pod("kube-system", "coredns", "d");
    crashing.processes = vec![process(20)];
    crashing.containers = vec![container("coredns", "e", None)];
    let mut pinned = pod("default", "pinned", "f");
    pinned.containers = vec![container("app", "1", None)];
    pinned.netns_path = Some("/run/netns/cni-2".to_owned());
    pinned.netns = Some(9);
    let disk = pod("default", "disk", "6");
    let mut gone = pod("default", "gone", "2");
    gone.resolv_conf = None;
    let mut host = pod("kube-system", "web", "3");
    host.host_network = Some(true);
    host.processes = vec![process(30)];
    host.containers = vec![container("agent", "4", Some(30))];
    let old = pod("default", "web", "5");
    vec![web, crashing, pinned, gone, host, old, disk]
}

/// The word leads to this door and these files, with these warnings.
fn check(word: &str, change: impl FnOnce(&mut Scene<'_>), expected: &str) {
    let pods = pods();
    let tasks = [task(40, "9", 5), task(41, "9", 3), task(11, "b", 1)];
    let mut scene = Scene {
        pods: &pods,
        tasks: &tasks,
        node_netns: Some(1),
        ..Scene::default()
    };
    change(&mut scene);
    let shown = match plan(&word.parse().unwrap(), &scene) {
        Ok(plan) => {
            let warnings = plan.warnings.iter().map(|it| format!("; {it:?}"));
            let warnings: String = warnings.collect();
            format!("{}: {:?} {:?}{warnings}", plan.label, plan.door, plan.files)
        }
        Err(error) => error.to_string(),
    };
    assert_eq!(shown, expected, "{word}");
}

#[test]
fn pods_by_name() {
    check(
        "default/web",
        |_| {},
        "pod default/web, container app: Process(11) Process(11); OneOf { chosen: \"app\", others: [\"side\"] }",
    );
    check(
        "kube-system/web",
        |_| {},
        "pod kube-system/web, container agent: Process(30) Process(30); HostNetwork",
    );
    check(
        "coredns",
        |_| {},
        "pod kube-system/coredns: Process(20) Kept; Dead(\"coredns\")",
    );
    check(
        "pinned",
        |_| {},
        "pod default/pinned: NodeFile(\"/run/netns/cni-2\", Some(9)) Kept; Dead(\"app\"); NoProcess",
    );
    check(
        "gone",
        |_| {},
        "nothing of pod default/gone is left to enter: no process, and no file keeps its network namespace",
    );
    check("disk", |_| {}, "pod default/disk: Nowhere Kept");
    check(
        "nobody",
        |_| {},
        "there is no pod nobody on this node; `kdns pods` lists its pods",
    );
    check(
        "uid-d",
        |_| {},
        "pod kube-system/coredns: Process(20) Kept; Dead(\"coredns\")",
    );
    let shown = "pod web can be uid-a (default/web), kube-system/web or uid-5 (default/web); \
        write one of these";
    check("web", |_| {}, shown);
    check(
        "deploy/corends",
        |_| {},
        "there is no deploy/corends on this node; the nearest is kube-system/coredns",
    );
}

#[test]
fn a_container_of_a_pod_by_name() {
    check(
        "default/web:side",
        |_| {},
        "pod default/web, container side: Process(12) Process(12)",
    );
    check(
        "coredns:coredns",
        |_| {},
        "pod kube-system/coredns, container coredns: Process(20) Kept; Dead(\"coredns\")",
    );
    check(
        "default/web:other",
        |_| {},
        "pod default/web has no container other; it has app, side",
    );
    check(
        "default/gone:app",
        |_| {},
        "pod default/gone has no container app; it has none",
    );
}

#[test]
fn ids() {
    check(
        "aaaaaaaa",
        |_| {},
        "pod default/web, container app: Process(11) Process(11); OneOf { chosen: \"app\", others: [\"side\"] }",
    );
    check(
        "containerd://cccccccccc",
        |_| {},
        "pod default/web, container side: Process(12) Process(12)",
    );
    check(
        "eeeeeeee",
        |_| {},
        "pod kube-system/coredns, container coredns: Process(20) Kept; Dead(\"coredns\")",
    );
    check(
        "99999999",
        |_| {},
        "container 999999999999, process 41: Process(41) Process(41)",
    );
    check(
        "00000000",
        |_| {},
        "there is no container or sandbox 00000000 on this node; `kdns pods` lists its pods",
    );
    let mut twins = pods();
    twins[0].containers[0].id = Some(format!("cccccccc{}", "0".repeat(56)));
    let scene = Scene {
        pods: &twins,
        ..Scene::default()
    };
    let error = plan(&"cccccccc".parse().unwrap(), &scene).unwrap_err();
    let PlanError::Ambiguous { candidates, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(candidates.len(), 2);
    assert!(
        candidates[1].ends_with("(container side of default/web)"),
        "{candidates:?}"
    );
    twins[0].name = Some("facade00".to_owned());
    let scene = Scene {
        pods: &twins,
        ..Scene::default()
    };
    assert!(plan(&"facade00".parse().unwrap(), &scene).is_ok());
}

#[test]
fn processes_and_files() {
    check("99", |_| {}, "process 99: Process(99) Process(99)");
    check(
        "99",
        |it| it.target_netns = Some(1),
        "process 99: Process(99) Process(99); HostNetwork",
    );
    check(
        "30",
        |_| {},
        "process 30: Process(30) Process(30); HostNetwork",
    );
    let node = "network namespace /run/netns/x: OwnFile(\"/run/netns/x\")";
    check(
        "/run/netns/x",
        |it| it.target_netns = Some(3),
        &format!("{node} Node; NodeFiles"),
    );
    check(
        "/run/netns/x",
        |it| it.named = Some("x"),
        &format!("{node} Named(\"x\")"),
    );
    check(
        "/run/netns/x",
        |it| it.target_netns = Some(1),
        &format!("{node} Node; HostNetwork; NodeFiles"),
    );
    check(
        "/run/netns/x",
        |it| it.target_netns = Some(7),
        "network namespace /run/netns/x of pod default/web, container app: OwnFile(\"/run/netns/x\") Process(11); OneOf { chosen: \"app\", others: [\"side\"] }",
    );
    check(
        "/run/netns/cni-2",
        |_| {},
        "network namespace /run/netns/cni-2 of pod default/pinned: OwnFile(\"/run/netns/cni-2\") Kept; Dead(\"app\"); NoProcess",
    );
}

#[test]
fn a_process_knows_its_pod_and_drift() {
    let pods = pods();
    let scene = Scene {
        pods: &pods,
        ..Scene::default()
    };
    let plan = plan(&Target::Pid(12), &scene).unwrap();
    assert_eq!(plan.pod.as_deref(), Some("default/web"));
    assert_eq!(plan.container.as_deref(), Some("side"));
    assert_eq!(plan.drift(b"nameserver 10.0.0.1\n"), None);
    assert!(plan.drift(b"nameserver 127.0.0.53\n").is_some());
}
