//! Small nodes, each for one way in which two readings of the same files can
//! part; what is expected is what systemd, the kubelet and k3s make of them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::{by_node, difference};

pub(crate) const UNIT: &str = "etc/systemd/system/kubelet.service";
pub(crate) const CONFIG: &str = "var/lib/kubelet/config.yaml";
pub(crate) const FLAGS: &str = "etc/default/kubelet";

/// A unit that starts a kubelet of this version with these arguments.
pub(crate) fn unit(version: &str, arguments: &str) -> String {
    format!(
        "[Service]\nExecStart=/opt/v{version}/kubelet --config=/var/lib/kubelet/config.yaml {arguments}\n"
    )
}

pub(crate) fn config(text: &str) -> String {
    format!("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n{text}")
}

/// The files of a node, a text that begins with `->` as a link, and what its
/// kubelet has: `resolvConf`, `clusterDNS`, `clusterDomain`, with spaces
/// between them and `-` for none.
pub(crate) struct Case<'c> {
    pub(crate) name: &'c str,
    pub(crate) files: &'c [(&'c str, &'c str)],
    pub(crate) expected: &'c str,
}

fn make(files: &[(&str, &str)], node: &Path) {
    for (path, text) in files {
        let path = node.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match text.strip_prefix("->") {
            Some(target) => symlink(target, path).unwrap(),
            None => fs::write(path, text).unwrap(),
        }
    }
}

/// What is wrong with a case.
fn failure(case: &Case<'_>) -> Option<String> {
    let directory = tempfile::tempdir().unwrap();
    let node = directory.path().join("node");
    make(case.files, &node);
    let (_, said) = by_node(&node)?;
    let shown = |values: &[String]| match values.join(",") {
        text if text.is_empty() => "-".to_owned(),
        text => text,
    };
    let found = said.0.each_ref().map(|it| shown(&it.0)).join(" ");
    if found != case.expected {
        let expected = case.expected;
        return Some(format!("{found}, expected {expected}: {:?}", said.0));
    }
    let differs = difference(&node)?.err();
    differs.map(|text| format!("\n{text}"))
}

pub(crate) fn check(cases: &[Case<'_>]) {
    let wrong = cases.iter().filter_map(|it| {
        let text = failure(it)?;
        Some(format!("{}: {text}", it.name))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn versions_and_keys_of_drop_ins() {
    let old = unit("1.29.3", "--config-dir=/etc/k.d");
    let new = unit("1.33.1", "--config-dir=/etc/k.d");
    let ancient = unit("1.22.4", "");
    let main = config("resolvConf: /a\nclusterDNS: [10.0.0.1]\nclusterDomain: a\n");
    check(&[
        Case {
            name: "resolverconfig-1.29",
            files: &[
                (UNIT, &old),
                (CONFIG, &main),
                (
                    "etc/k.d/1.conf",
                    &config("resolverconfig: /b\nCLUSTERDOMAIN: b\n"),
                ),
            ],
            expected: "/b 10.0.0.1 b",
        },
        Case {
            name: "documented-1.29",
            files: &[
                (UNIT, &old),
                (CONFIG, &main),
                (
                    "etc/k.d/1.conf",
                    &config("resolvConf: /b\nclusterDomain: ~\n"),
                ),
            ],
            expected: "/a 10.0.0.1 a",
        },
        Case {
            name: "null-1.33",
            files: &[
                (UNIT, &new),
                (CONFIG, &main),
                (
                    "etc/k.d/1.conf",
                    &config("resolvConf: null\nclusterDNS: ~\n"),
                ),
            ],
            expected: "/etc/resolv.conf - a",
        },
        Case {
            name: "internal-1.33",
            files: &[
                (UNIT, &new),
                (CONFIG, &main),
                (
                    "etc/k.d/1.conf",
                    &config("resolverConfig: /b\nClusterDNS: [10.0.0.2]\n"),
                ),
            ],
            expected: "/a 10.0.0.1 a",
        },
        Case {
            name: "order-of-drop-ins",
            files: &[
                (UNIT, &new),
                (CONFIG, &main),
                ("etc/k.d/10.conf", &config("resolvConf: /10\n")),
                (
                    "etc/k.d/9.conf",
                    &config("resolvConf: /9\nclusterDNS: [10.0.0.9, 10.0.0.8]\n"),
                ),
                (
                    "etc/k.d/8/a.conf",
                    &config("resolvConf: /8\nclusterDomain: eight\n"),
                ),
                ("etc/k.d/99.yaml", &config("resolvConf: /99\n")),
            ],
            expected: "/9 10.0.0.9,10.0.0.8 eight",
        },
        Case {
            name: "empty-1.22",
            files: &[(UNIT, &ancient), (CONFIG, &config("resolvConf: \"\"\n"))],
            expected: "/etc/resolv.conf - -",
        },
        Case {
            name: "empty-1.33",
            files: &[
                (UNIT, &unit("1.33.1", "")),
                (CONFIG, &config("resolvConf: \"\"\nclusterDNS: []\n")),
            ],
            expected: "- - -",
        },
        Case {
            name: "repeated-and-null",
            files: &[
                (UNIT, &unit("1.33.1", "")),
                (
                    CONFIG,
                    &config("resolvConf: /a\nresolvConf: /b\nclusterDomain: x\nclusterDomain: ~\n"),
                ),
            ],
            expected: "/b - -",
        },
        Case {
            name: "drop-ins-of-another-folder",
            files: &[
                (UNIT, &new),
                (CONFIG, &main),
                ("etc/k.d/1.conf", &config("clusterDomain: b\n")),
                ("etc/kubelet.conf.d/1.conf", &config("resolvConf: /c\n")),
            ],
            expected: "/a 10.0.0.1 b",
        },
    ]);
}
