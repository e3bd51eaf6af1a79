//! A node with pods: each of its files in every shape, through `check-loop`,
//! `pods` and `upstream`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kdns::host::node::{self, Parts, StandIns};
use kdns::host::root::{Resolution, Root};
use kdns::node::{Container, Node, Pod};
use kdns::render;
use kdns::text::Source;
use kdns::{check_loop, upstream};

use crate::shapes::{Shape, shapes};
use crate::{cost, none, offenders};

/// A copy of a node of testdata that can be changed.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, kind) = entry
            .map(|it| (it.path(), it.file_type().unwrap()))
            .unwrap();
        let to = to.join(path.file_name().unwrap());
        if kind.is_dir() {
            copy(&path, &to);
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&path).unwrap(), to).unwrap();
        } else {
            fs::copy(&path, to).unwrap();
        }
    }
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files(&entry.path(), found);
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
}

/// All that is said about a node.
fn judge(directory: &Path) {
    let root = Root::below(directory, Resolution::default()).unwrap();
    let node = node::read_node(&root, &StandIns::default(), Parts::ALL).unwrap();
    let nowhere = &mut io::sink();
    let report = check_loop::judge(&node);
    render::check_loop::json::write(&report, &[], false, nowhere).unwrap();
    let style = render::Style {
        colors: false,
        links: false,
        verbose: true,
        columns: 80,
    };
    render::check_loop::text::write(&report, style, nowhere).unwrap();
    let report = upstream::of_node(&node);
    render::upstream::write(&report, report.health(&node), style, nowhere).unwrap();
}

fn check(name: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/nodes");
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("node");
    copy(&from.join(name), &root);
    let mut all = Vec::new();
    files(&root, &mut all);
    let mut found = Vec::new();
    for path in all {
        let seed = fs::read(&path).unwrap();
        let shapes: Vec<Shape> = shapes(&seed).into_iter().filter(Shape::is_plain).collect();
        let shown = path.strip_prefix(&root).unwrap().display().to_string();
        found.extend(offenders(&shown, &shapes, |text| {
            fs::write(&path, text).unwrap();
            judge(&root);
        }));
        fs::write(&path, seed).unwrap();
    }
    none(&found);
}

#[test]
fn a_node_costs_its_bytes() {
    check("cluster-loop");
}

/// Anyone who may make pods can make thousands that look like DNS servers.
#[test]
fn dns_pods_cost_their_number() {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/nodes/cluster-loop");
    let root = Root::below(&from, Resolution::default()).unwrap();
    let node = node::read_node(&root, &StandIns::default(), Parts::ALL).unwrap();
    let of = |count: usize| {
        let mut node = node.clone();
        let pod = node.pods.remove(0);
        node.pods.extend((0..count).map(|number| {
            let mut pod = pod.clone();
            pod.sandbox = Some(format!("{number:064}"));
            pod.name = Some(format!("coredns-{number}"));
            pod
        }));
        cost(|| {
            check_loop::judge(&node);
        })
        .as_secs_f64()
    };
    let ratio = || of(800) / of(50);
    let least = (0..3).map(|_| ratio()).fold(f64::INFINITY, f64::min);
    assert!(least < 32.0, "{least:.1} times");
}

/// So do their logs, in whatever namespace: 20,000 directories of logs, each of which
/// ends with a loop, took more than a minute.
#[test]
fn logs_of_dns_pods_cost_their_number() {
    const FATAL: &str = "2026-11-30T22:41:35.1Z stdout F [FATAL] plugin/loop: Loop \
        (127.0.0.1:39301 -> :53) detected for zone \".\"\n";
    let of = |namespace: &str, count: usize| {
        let pod = |number: usize| Pod {
            namespace: Some(namespace.to_owned()),
            name: Some(format!("coredns-{number}")),
            uid: Some(format!("u{number}")),
            containers: vec![Container {
                name: "coredns".to_owned(),
                logs: vec![Source::new(format!("/l/{number}"), FATAL)],
                ..Container::default()
            }],
            ..Pod::default()
        };
        let node = Node {
            pods: (0..count).map(pod).collect(),
            ..Node::default()
        };
        cost(|| {
            check_loop::judge(&node);
        })
        .as_secs_f64()
    };
    for namespace in ["kube-system", "shop"] {
        let ratio = || of(namespace, 2_000) / of(namespace, 250).max(0.02);
        let least = (0..3).map(|_| ratio()).fold(f64::INFINITY, f64::min);
        assert!(least < 32.0, "{namespace}: {least:.1} times");
    }
}

/// Pods that are none of the DNS's own cost what they are, too: 60,000 directories
/// of logs took a minute and a half.
#[test]
fn other_pods_cost_their_number() {
    let of = |count: usize| {
        let pod = |number: usize| Pod {
            namespace: Some("ns".to_owned()),
            name: Some(format!("p{number}")),
            uid: Some(format!("u{number}")),
            ..Pod::default()
        };
        let node = Node {
            pods: (0..count).map(pod).collect(),
            ..Node::default()
        };
        cost(|| {
            check_loop::judge(&node);
        })
        .as_secs_f64()
    };
    let ratio = || of(20_000) / of(1_250).max(0.02);
    let least = (0..3).map(|_| ratio()).fold(f64::INFINITY, f64::min);
    assert!(least < 32.0, "{least:.1} times");
}
