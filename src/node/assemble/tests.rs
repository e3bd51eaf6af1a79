use super::*;
use crate::node::Presence;
use crate::text::Source;

const UID: &str = "6fbd4d33-804b-43cd-b042-9dde89aeac6a";
const SANDBOX: &str = "f3c2d1b98413cc66d7b32f17ff03264eb1d157942ddaf68983e57b3f9a6af0f0";
const ID: &str = "7d7b97a64e581cca30cf98900fe06a2076585d0286621263cf5e970c10bfd03a";

#[expect(clippy::unnecessary_wraps, reason = "tables are easier to read")]
fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn record(id: &str, container: Option<&str>) -> Record {
    Record {
        id: id.to_owned(),
        sandbox: some(SANDBOX),
        is_sandbox: container.is_none(),
        namespace: some("kube-system"),
        name: some("coredns-a"),
        uid: some(UID),
        container: container.map(str::to_owned),
        resolv_conf: some("/sandbox/resolv.conf"),
        ..Record::default()
    }
}

fn task(pid: u32, id: &str, comm: &str) -> Task {
    Task {
        pid,
        comm: comm.to_owned(),
        membership: Membership {
            pod: some(UID),
            container: some(id),
            is_podman: false,
        },
        netns: Some(7),
        ..Task::default()
    }
}

fn logs(last: u32) -> LogDirectory {
    LogDirectory {
        path: format!("/var/log/pods/kube-system_coredns-a_{UID}"),
        owner: crate::node::logs::pod(&format!("kube-system_coredns-a_{UID}")).unwrap(),
        containers: vec![("coredns".to_owned(), Some(last))],
    }
}

fn link() -> Link {
    Link {
        name: "coredns-a".to_owned(),
        namespace: "kube-system".to_owned(),
        container: "coredns".to_owned(),
        id: ID.to_owned(),
    }
}

/// The facts make this one pod, shown in short.
fn check(facts: &Facts, expected: &str) {
    let pods = pods(facts);
    let shown: Vec<String> = pods.iter().map(shown).collect();
    assert_eq!(shown, [expected]);
}

fn shown(draft: &Draft) -> String {
    let pod = &draft.pod;
    let short = |id: &Option<String>| {
        id.as_deref()
            .map_or("-", |it| it.get(..4).unwrap_or(it))
            .to_owned()
    };
    let pids: Vec<u32> = pod.processes.iter().map(|it| it.pid).collect();
    let containers = pod.containers.iter().map(|it| {
        let (pid, restarts) = (it.pid.unwrap_or(0), it.restarts.unwrap_or(0));
        format!("{}={}:{pid}:{restarts}", it.name, short(&it.id))
    });
    let containers: Vec<String> = containers.collect();
    let host = pod
        .host_network
        .map_or("?", |it| if it { "host" } else { "own" });
    format!(
        "{} {} sandbox {} {pids:?} {host} {:?} {} eye {:?} {}",
        pod.label(),
        short(&pod.uid),
        short(&pod.sandbox),
        pod.netns,
        containers.join(","),
        draft.eye,
        draft.resolv_conf.join(" "),
    )
}

#[test]
fn all_sources_agree() {
    let facts = Facts {
        tasks: vec![
            task(20, ID, "coredns"),
            task(30, SANDBOX, "pause"),
            task(40, ID, "coredns"),
        ],
        records: vec![record(SANDBOX, None), record(ID, Some("coredns"))],
        logs: vec![logs(3)],
        links: vec![link()],
        node_netns: Some(1),
        ..Facts::default()
    };
    check(
        &facts,
        "kube-system/coredns-a 6fbd sandbox f3c2 [30, 20, 40] own Some(7) coredns=7d7b:20:3 eye Some(20) /sandbox/resolv.conf",
    );
}

#[test]
fn a_container_is_dead() {
    let facts = Facts {
        tasks: vec![task(30, SANDBOX, "pause")],
        records: vec![record(SANDBOX, None)],
        logs: vec![logs(5)],
        links: vec![link()],
        node_netns: Some(7),
        ..Facts::default()
    };
    check(
        &facts,
        "kube-system/coredns-a 6fbd sandbox f3c2 [30] host Some(7) coredns=7d7b:0:5 eye Some(30) /sandbox/resolv.conf",
    );
}

#[test]
fn the_runtimes_state_is_gone() {
    let mut inner = task(20, ID, "coredns");
    inner.membership = Membership {
        container: some(ID),
        ..Membership::default()
    };
    inner.mounts = Mounts {
        pod: some(UID),
        container: some("coredns"),
        sandbox: some(SANDBOX),
        resolv_conf: some(&format!("/{SANDBOX}/resolv.conf")),
    };
    let facts = Facts {
        tasks: vec![inner, task(30, SANDBOX, "pause")],
        ..Facts::default()
    };
    let expected = format!(
        "6fbd4d33-804b-43cd-b042-9dde89aeac6a 6fbd sandbox f3c2 [30, 20] ? Some(7) coredns=7d7b:20:0 eye Some(20) /{SANDBOX}/resolv.conf"
    );
    let pods = pods(&facts);
    assert_eq!(pods.len(), 1);
    assert_eq!(
        shown(&pods[0]).replace(&format!("{SANDBOX} 6fbd"), &format!("{UID} 6fbd")),
        expected
    );
}

/// A disk without `/run` and `/proc`: the sandbox is known by its host name.
#[test]
fn only_files_are_left() {
    let facts = Facts {
        logs: vec![logs(2)],
        kubelet: vec![KubeletDirectory {
            path: format!("/var/lib/kubelet/pods/{UID}"),
            uid: UID.to_owned(),
            containers: vec!["coredns".to_owned(), "sidecar".to_owned()],
            hosts: Some(Hosts {
                is_host_network: false,
                hostname: some("coredns-a"),
            }),
        }],
        sandboxes: vec![SandboxDirectory {
            id: SANDBOX.to_owned(),
            resolv_conf: "/disk/resolv.conf".to_owned(),
            hostname: some("coredns-a"),
        }],
        ..Facts::default()
    };
    check(
        &facts,
        "kube-system/coredns-a 6fbd sandbox f3c2 [] own None coredns=-:0:2,sidecar=-:0:0 eye None /disk/resolv.conf",
    );
}

#[test]
fn the_running_one_of_two_sandboxes_counts() {
    let old = "0".repeat(64);
    let mut older = record(&old, None);
    older.sandbox = Some(old);
    older.attempt = Some(9);
    let facts = Facts {
        tasks: vec![task(30, SANDBOX, "pause")],
        records: vec![record(SANDBOX, None), older],
        ..Facts::default()
    };
    check(
        &facts,
        "kube-system/coredns-a 6fbd sandbox f3c2 [30] ? Some(7)  eye Some(30) /sandbox/resolv.conf",
    );
}

#[test]
fn a_container_of_no_pod_is_left_out() {
    let mut lone = task(20, ID, "sh");
    lone.membership.pod = None;
    let facts = Facts {
        tasks: vec![lone],
        ..Facts::default()
    };
    assert!(pods(&facts).is_empty());
}

#[test]
fn the_kubelets_hosts_file_tells_the_name() {
    let own = "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\nfe00::1\tip6-allnodes\n10.244.0.9\tcoredns-a.sub\tcoredns-a\n";
    let node = "# Kubernetes-managed hosts file (host network).\n127.0.0.1\tlocalhost\n172.31.0.10 node-a\n";
    for (text, expected) in [
        (own, Some((false, Some("coredns-a")))),
        (node, Some((true, None))),
        ("127.0.0.1 localhost\n", None),
        ("", None),
    ] {
        let hosts = Hosts::parse(text.as_bytes());
        let hosts = hosts.as_ref();
        let found = hosts.map(|it| (it.is_host_network, it.hostname.as_deref()));
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn a_removed_pod_leaves_only_its_logs() {
    let other = KubeletDirectory {
        path: "/var/lib/kubelet/pods/other".to_owned(),
        uid: "other".to_owned(),
        ..KubeletDirectory::default()
    };
    let mut facts = Facts {
        logs: vec![logs(3)],
        kubelet: vec![other],
        ..Facts::default()
    };
    assert_eq!(pods(&facts).len(), 1, "{:?}", pods(&facts));
    // Without the kubelet's directories nobody knows.
    facts.kubelet.clear();
    assert_eq!(pods(&facts).len(), 1);
}

#[test]
fn init_containers_end_before_others_begin() {
    let log = |first: &str, last: &str| {
        Source::new(
            "l",
            format!(
                "2026-01-02T15:04:{first}.1Z stdout F a\n2026-01-02T15:04:{last}.1Z stdout F b\n"
            ),
        )
    };
    let container = |name: &str, pid, restarts, log| crate::node::Container {
        name: name.to_owned(),
        pid,
        restarts: Some(restarts),
        logs: vec![log],
        ..crate::node::Container::default()
    };
    let pod = |stopped, running| Pod {
        containers: vec![stopped, running],
        ..Pod::default()
    };
    let main = || container("main", Some(7), 0, log("10", "20"));
    let check = |pod: &Pod, has_finished, crashes| {
        let stopped = pod.containers.first().unwrap();
        assert_eq!(pod.has_finished(stopped), has_finished, "{pod:?}");
        assert_eq!(pod.crashes(), crashes, "{pod:?}");
    };
    check(
        &pod(container("init", None, 0, log("01", "05")), main()),
        true,
        false,
    );
    check(
        &pod(container("init", None, 1, log("01", "05")), main()),
        true,
        false,
    );
    check(
        &pod(container("side", None, 1, log("11", "15")), main()),
        false,
        true,
    );
    let dead = container("main", None, 2, log("10", "20"));
    check(
        &pod(container("init", None, 2, log("01", "05")), dead),
        false,
        true,
    );
    // The first log of a container that was started again is gone.
    let again = container("main", Some(7), 3, log("10", "20"));
    check(
        &pod(container("side", None, 1, log("01", "05")), again),
        false,
        true,
    );
}

/// A pod of which there are directories.
fn left() -> Facts {
    let directory = KubeletDirectory {
        path: format!("/var/lib/kubelet/pods/{UID}"),
        uid: UID.to_owned(),
        ..KubeletDirectory::default()
    };
    Facts {
        logs: vec![logs(3)],
        kubelet: vec![directory],
        sandboxes: vec![SandboxDirectory {
            id: SANDBOX.to_owned(),
            resolv_conf: "/sandbox/resolv.conf".to_owned(),
            hostname: some("coredns-a"),
        }],
        has_all_tasks: true,
        ..Facts::default()
    }
}

/// The pod with its pause process, with what containerd has in its state, with a kept
/// namespace.
fn running() -> [Facts; 3] {
    let pause = Facts {
        tasks: vec![task(9, SANDBOX, "pause")],
        ..left()
    };
    let state = Facts {
        records: vec![Record {
            is_state: true,
            ..record(SANDBOX, None)
        }],
        ..left()
    };
    let kept = Facts {
        records: vec![Record {
            netns_path: some("/run/netns/cni-1"),
            ..record(SANDBOX, None)
        }],
        netns_files: vec![(7, "/run/netns/cni-1".to_owned())],
        ..left()
    };
    [pause, state, kept]
}

fn presence(facts: &Facts) -> Vec<Presence> {
    pods(facts).iter().map(|it| it.pod.presence).collect()
}

/// A directory alone is no pod that runs, if every process was seen.
#[test]
fn what_is_left_over_is_told_from_what_runs() {
    assert_eq!(presence(&left()), [Presence::LeftOver]);
    let unseen = Facts {
        has_all_tasks: false,
        ..left()
    };
    assert_eq!(presence(&unseen), [Presence::NotSeen]);
    for facts in running() {
        assert_eq!(presence(&facts), [Presence::Runs], "{facts:?}");
    }
    // A sandbox in which no container was ever made.
    for mut facts in running() {
        facts.logs[0].containers.clear();
        let waits = presence(&facts) == [Presence::Waits];
        assert_eq!(waits, facts.tasks.len() == 1);
        facts.tasks = vec![task(9, &SANDBOX.replace('f', "a"), "coredns")];
        assert_eq!(presence(&facts), [Presence::Runs]);
    }
    // A sandbox that is kept after its end.
    let records = vec![record(SANDBOX, None)];
    let ended = Facts { records, ..left() };
    assert_eq!(presence(&ended), [Presence::LeftOver]);
}

/// Where all processes are hidden, no pod is known to be gone, nor to crash.
#[test]
fn nothing_is_left_over_of_what_is_hidden() {
    let [pause, state, kept] = running();
    for (facts, expected) in [
        (pause, Presence::Runs),
        (state, Presence::Hidden),
        (kept, Presence::Hidden),
        (left(), Presence::Hidden),
    ] {
        let hidden = Facts {
            has_all_tasks: false,
            hides_tasks: true,
            ..facts
        };
        assert_eq!(presence(&hidden), [expected], "{hidden:?}");
        let crashes = pods(&hidden).iter().any(|it| it.pod.crashes());
        assert_eq!(crashes, expected == Presence::Runs);
    }
}
