//! Pods of a node by all the names that they have.

use std::fs;

use crate::lab::{explains, kdns, refuses};
use crate::node::{Groups, Keeper, Network, Node, Pod, first_process, kill};
use crate::places::shell;

/// The network namespace of a process.
fn network(pid: u32) -> String {
    let link = fs::read_link(format!("/proc/{pid}/ns/net")).unwrap();
    link.display().to_string()
}

/// What is entered for a target.
#[track_caller]
fn entered(target: &str) -> (String, String) {
    let (status, out, err) = kdns(&["nsenter", target, "--", "readlink", "/proc/self/ns/net"]);
    assert_eq!(status, 0, "{target}: {err}");
    (out.trim().to_owned(), err)
}

/// Two pods with one address, and one on the node's network.
pub(crate) fn networks() {
    let node = Node::boot();
    let pods = ["one", "two"].map(|name| {
        let number = u32::try_from(name.len()).unwrap() + u32::from(name == "two");
        let pod = node.pod(name, number, Network::Own);
        let pid = node.container_of(&pod, "main", number + 10);
        shell(&format!(
            "nsenter -t {pid} -n sh -c 'ip link set lo up; ip addr add 10.244.0.5/32 dev lo'"
        ));
        (pod, pid)
    });
    for (pod, pid) in &pods {
        let target = format!("shop/{}", pod.name);
        assert_eq!(entered(&target).0, network(*pid));
        let short = pod.sandbox.get(..6).unwrap();
        let conf = format!(
            "{}…/resolv.conf",
            node.conf(pod).split(short).next().unwrap().to_owned() + short
        );
        explains(
            &target,
            &[
                &format!("process {pid}"),
                &format!("db.{}.test.", pod.name),
                &conf,
            ],
        );
    }
    let agent = node.pod("agent", 7, Network::Nodes);
    node.container_of(&agent, "main", 17);
    let (found, err) = entered("shop/agent");
    assert_eq!(found, network(std::process::id()));
    assert!(err.contains("on the node's network"), "{err}");
    explains("shop/agent", &["on the node's network", "db.agent.test."]);
    explains(
        &first_process(&node.id(17)).to_string(),
        &["on the node's network", "of pod shop/agent"],
    );
}

pub(crate) fn names() {
    for keeper in [Keeper::Containerd, Keeper::CriO] {
        let mut node = Node::boot();
        node.keeper = keeper;
        let first = if keeper == Keeper::CriO { 20 } else { 1 };
        let web = node.pod("web", first, Network::Own);
        let main = node.container_of(&web, "main", first + 1);
        let side = node.container_of(&web, "side", first + 2);
        let both = network(main);
        let [main_id, side_id] = [first + 1, first + 2].map(|it| node.id(it));
        for target in ["shop/web", "web", web.uid.as_str()] {
            assert_eq!(entered(target).0, both, "{target}");
        }
        explains("shop/web", &["this is about main; the others are side"]);
        for (id, pid, name) in [(&main_id, main, "main"), (&side_id, side, "side")] {
            let words = [
                id.clone(),
                id.to_uppercase(),
                format!("containerd://{id}"),
                format!("cri-o://{id}"),
                format!("docker://{id}"),
            ];
            for word in &words {
                assert_eq!(entered(word).0, both, "{word}");
                explains(
                    word,
                    &[&format!("pod shop/web, container {name}, process {pid}")],
                );
            }
        }
        assert_eq!(entered(&web.sandbox).0, both);
        explains(&web.sandbox, &["pod shop/web"]);
        assert_eq!(entered(&format!("/proc/{side}/ns/net")).0, both);
        explains(
            &side.to_string(),
            &[
                &format!("process {side}"),
                "of pod shop/web, container side",
            ],
        );
        ambiguous(&node, &web, &[&main_id, &side_id]);
        shell("umount /var/log /var/lib");
        for id in [&web.sandbox, &main_id, &side_id] {
            kill(id);
        }
    }
}

/// Several things fit: all are named, none is entered.
fn ambiguous(node: &Node, web: &Pod, ids: &[&String]) {
    let prefix = ids[0].get(..60).unwrap();
    let (status, out, err) = kdns(&["explain", "db", "--target", prefix]);
    assert_eq!((status, out.as_str()), (2, ""));
    let all = ids.iter().copied().chain([&web.sandbox]);
    for id in all {
        // Of many, with what was there before, the first few are named.
        let is_named = err.contains(id.as_str()) || err.contains(" more; write");
        assert!(is_named, "{id}: {err}");
    }
    assert!(err.contains("container side of shop/web"), "{err}");
    let (status, _, err) = kdns(&["nsenter", prefix, "--", "true"]);
    assert_eq!(status, 125, "{err}");
    let other = format!("{}f", ids[0].get(..62).unwrap());
    refuses(&other, &format!("there is no container or sandbox {other}"));
    refuses("other/web", "there is no pod other/web");
    // Two pods of one name, as after a replacement by hand.
    let number = if node.keeper == Keeper::CriO { 29 } else { 9 };
    let twin = node.pod("web", number, Network::Own);
    refuses("shop/web", &twin.uid);
    refuses("shop/web", &web.uid);
    kill(&twin.sandbox);
}

/// A crashed container, a sandbox without a process.
pub(crate) fn dead() {
    let node = Node::boot();
    shell("ip netns add cni-1; ip netns add cni-2");
    let pod = node.pod("dead", 1, Network::At("/run/netns/cni-1"));
    node.container_of(&pod, "main", 2);
    let number = fs::read_link(format!("/proc/{}/ns/net", first_process(&pod.sandbox))).unwrap();
    kill(&node.id(2));
    let (found, err) = entered("shop/dead");
    assert_eq!(found, number.display().to_string());
    assert!(err.contains("container main does not run"), "{err}");
    explains(
        "shop/dead",
        &["container main does not run", "db.dead.test."],
    );
    kill(&pod.sandbox);
    let (found, err) = entered("shop/dead");
    assert_eq!(found, number.display().to_string());
    assert!(err.contains("no process of the pod runs"), "{err}");
    explains(
        "shop/dead",
        &["no process of the pod runs", "db.dead.test."],
    );
    explains("/run/netns/cni-1", &["pod shop/dead", "db.dead.test."]);
    let (_, out, _) = kdns(&["nsenter", "shop/dead", "--", "cat", "/etc/resolv.conf"]);
    assert_eq!(out, "nameserver 10.96.0.10\nsearch dead.test\n");
    // The file that kept it is gone: there is no other way in.
    shell("ip netns del cni-1");
    let (status, _, err) = kdns(&["nsenter", "shop/dead", "--", "true"]);
    assert_eq!(status, 125, "{err}");
    assert_eq!(
        err.lines().filter(|it| it.starts_with("kdns: ")).count(),
        1,
        "{err}"
    );
    // A name longer than any host's is cut as the kubelet cuts it.
    shell("ip netns add cni-3");
    let long = format!("{}-{}", "a".repeat(62), "b".repeat(30));
    let pod = node.pod(&long, 3, Network::At("/run/netns/cni-3"));
    kill(&pod.sandbox);
    let (status, out, err) = kdns(&["nsenter", &format!("shop/{long}"), "--", "uname", "-n"]);
    assert_eq!((status, out), (0, format!("{}\n", "a".repeat(62))), "{err}");
}

/// Only control groups tell: what the runtime wrote is gone.
pub(crate) fn control_groups() {
    let mut node = Node::boot();
    let mut number = 0;
    for layout in ["as it is", "version 1", "version 2"] {
        if !lay_out(layout) {
            continue;
        }
        for groups in [Groups::Plain, Groups::Systemd] {
            node.groups = groups;
            number += 2;
            let name = format!("web-{number}");
            let pod = node.pod(&name, number, Network::Own);
            let pid = node.container_of(&pod, "main", number + 1);
            for id in [number, number + 1].map(|it| node.id(it)) {
                fs::remove_file(format!("{}/config.json", node.bundle(&id))).unwrap();
            }
            let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
            let second = text.lines().find(|it| it.starts_with("0::"));
            let is_second = second.is_some_and(|it| it.contains(&node.id(number + 1)));
            let is_first = text
                .lines()
                .any(|it| !it.starts_with("0::") && it.contains(&node.id(number + 1)));
            match layout {
                "version 1" => assert!(is_first && !is_second, "{text}"),
                "version 2" => assert!(is_second && !is_first, "{text}"),
                _ => assert!(is_first || is_second, "{text}"),
            }
            let told = [node.id(number + 1), pid.to_string(), format!("shop/{name}")];
            for target in &told {
                assert_eq!(
                    entered(target).0,
                    network(pid),
                    "{layout}, {groups:?}, {target}: {text}"
                );
                explains(
                    target,
                    &[&format!("process {pid}"), &format!("shop/{name}")],
                );
            }
            for id in [number, number + 1].map(|it| node.id(it)) {
                kill(&id);
            }
        }
    }
    assert!(number >= 4, "no layout of control groups can be made here");
}

/// Mounts control groups so; `false`: this kernel does not have them so.
fn lay_out(layout: &str) -> bool {
    let script = match layout {
        "version 2" => "umount -R /sys/fs/cgroup; mount -t cgroup2 x /sys/fs/cgroup",
        "version 1" => "test -d /sys/fs/cgroup/unified && umount /sys/fs/cgroup/unified",
        _ => "true",
    };
    let status = std::process::Command::new("sh")
        .args(["-ec", script])
        .status();
    status.unwrap().success()
}
