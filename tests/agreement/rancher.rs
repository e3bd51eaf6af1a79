//! What k3s, rke2 and snaps make of their options.

use crate::cases::{Case, check};

#[test]
fn what_k3s_and_rke2_make_of_their_options() {
    let server = "etc/systemd/system/k3s.service";
    let main = "etc/rancher/k3s/config.yaml";
    let start =
        |arguments: &str| format!("[Service]\nExecStart=/usr/local/bin/k3s server {arguments}\n");
    let case = |name, files, expected| Case {
        name,
        files,
        expected,
    };
    check(&[
        case(
            "argument-over-file",
            &[
                (server, &start("--resolv-conf /a")),
                (main, "resolv-conf: /b\ncluster-domain: c\n"),
            ],
            "/a 10.43.0.10 c",
        ),
        case(
            "kubelet-arg-of-file-over-argument",
            &[
                (server, &start("--resolv-conf /b")),
                (main, "kubelet-arg: [resolv-conf=/a]\n"),
            ],
            "/a 10.43.0.10 cluster.local",
        ),
        case(
            "kubelet-arg-of-both",
            &[
                (server, &start("--kubelet-arg=resolv-conf=/a")),
                (
                    main,
                    "kubelet-arg:\n- \"resolv-conf=/b\"\n- 'cluster-domain=c'\n",
                ),
            ],
            "/a 10.43.0.10 c",
        ),
        case(
            "drop-ins-of-the-file",
            &[
                (server, &start("")),
                (main, "resolv-conf: /b\nkubelet-arg: [cluster-domain=b]\n"),
                (
                    "etc/rancher/k3s/config.yaml.d/1.yaml",
                    "kubelet-arg: [cluster-domain=c]\n",
                ),
                (
                    "etc/rancher/k3s/config.yaml.d/2.yml",
                    "resolv-conf: /a\nkubelet-arg+: [cluster-dns=10.0.0.1]\n",
                ),
                ("etc/rancher/k3s/config.yaml.d/3.conf", "resolv-conf: /d\n"),
            ],
            "/a 10.0.0.1 c",
        ),
        case(
            "variable-below-the-file",
            &[
                (
                    server,
                    &format!("{}EnvironmentFile=-/etc/default/%N\n", start("")),
                ),
                ("etc/default/k3s", "K3S_RESOLV_CONF=/b\n"),
                (main, "resolv-conf: /a\n"),
            ],
            "/a 10.43.0.10 cluster.local",
        ),
        case(
            "variable-alone",
            &[
                (
                    server,
                    &format!("{}EnvironmentFile=-/etc/default/%N\n", start("")),
                ),
                ("etc/default/k3s", "K3S_RESOLV_CONF=/a\n"),
                (main, "cluster-domain: c\n"),
            ],
            "/a 10.43.0.10 c",
        ),
        case(
            "rke2",
            &[
                (
                    "usr/local/lib/systemd/system/rke2-agent.service",
                    "[Service]\nEnvironmentFile=-/usr/local/lib/systemd/system/%N.env\nExecStart=/usr/local/bin/rke2 agent\n",
                ),
                (
                    "usr/local/lib/systemd/system/rke2-agent.env",
                    "RKE2_RESOLV_CONF=/b\n",
                ),
                ("etc/rancher/rke2/config.yaml", "resolv-conf: /a\n"),
            ],
            "/a 10.43.0.10 cluster.local",
        ),
        case(
            "resolv-conf-taken-back",
            &[
                (server, &start("--resolv-conf=")),
                (main, "resolv-conf: /b\n"),
                ("etc/resolv.conf", "nameserver 192.0.2.1\n"),
            ],
            "/etc/resolv.conf 10.43.0.10 cluster.local",
        ),
    ]);
}

#[test]
fn snaps_have_files_of_arguments() {
    let arguments = "--resolv-conf=${SNAP_DATA}/r.conf\n--cluster-dns=10.152.183.10 # x\n";
    check(&[Case {
        name: "microk8s",
        files: &[("var/snap/microk8s/current/args/kubelet", arguments)],
        expected: "/var/snap/microk8s/current/r.conf 10.152.183.10 -",
    }]);
}
