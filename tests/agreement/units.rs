//! What systemd makes of the unit of a kubelet.

use crate::cases::{CONFIG, Case, FLAGS, UNIT, check, config, unit};

#[test]
fn what_systemd_makes_of_a_unit() {
    let service = |text: &str| format!("[Service]\n{text}\n");
    let kubelet = "ExecStart=/usr/bin/kubelet";
    let case = |name, files, expected| Case {
        name,
        files,
        expected,
    };
    check(&[
        case(
            "variable-in-braces",
            &[
                (
                    UNIT,
                    &service(&format!(
                        "EnvironmentFile=/{FLAGS}\n{kubelet} --resolv-conf=${{KUBELET_P}}"
                    )),
                ),
                (FLAGS, "KUBELET_P=/run/p\n"),
            ],
            "/run/p - -",
        ),
        case(
            "no-expansion",
            &[(
                UNIT,
                &service(
                    "Environment=KUBELET_A=--resolv-conf=/b\nExecStart=:/usr/bin/kubelet --resolv-conf=/a $KUBELET_A",
                ),
            )],
            "/a - -",
        ),
        case(
            "any-name",
            &[(
                UNIT,
                &service(&format!(
                    "Environment=\"ARGS=--resolv-conf=/a --cluster-dns=10.0.0.1\"\n{kubelet} $ARGS"
                )),
            )],
            "/a 10.0.0.1 -",
        ),
        case(
            "files-over-environment",
            &[
                (
                    UNIT,
                    &service(&format!(
                        "EnvironmentFile=/{FLAGS}\nEnvironment=KUBELET_A=--resolv-conf=/b\n{kubelet} $KUBELET_A"
                    )),
                ),
                (FLAGS, "KUBELET_A=--resolv-conf=/a\n"),
            ],
            "/a - -",
        ),
        case(
            "order-of-environment-files",
            &[
                (
                    UNIT,
                    &service(&format!(
                        "EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env\nEnvironmentFile=-/{FLAGS}\n{kubelet} $KUBELET_A"
                    )),
                ),
                (FLAGS, "KUBELET_A=--resolv-conf=/a\n"),
                (
                    "var/lib/kubelet/kubeadm-flags.env",
                    "KUBELET_A=--resolv-conf=/b\n",
                ),
            ],
            "/a - -",
        ),
        case(
            "environment-file-not-named",
            &[
                (
                    UNIT,
                    &service(&format!(
                        "EnvironmentFile=-/{FLAGS}\n{kubelet} $KUBELET_A $KUBELET_B"
                    )),
                ),
                (FLAGS, "KUBELET_A=--resolv-conf=/a\n"),
                ("etc/sysconfig/kubelet", "KUBELET_B=--resolv-conf=/b\n"),
            ],
            "/a - -",
        ),
        case(
            "taken-back",
            &[
                (
                    UNIT,
                    &service(&format!(
                        "EnvironmentFile=/{FLAGS}\nEnvironment=KUBELET_B=--cluster-domain=b\n{kubelet} --resolv-conf=/b $KUBELET_A $KUBELET_B"
                    )),
                ),
                (FLAGS, "KUBELET_A=--resolv-conf=/a\n"),
                (
                    "etc/systemd/system/kubelet.service.d/10.conf",
                    &service(&format!(
                        "EnvironmentFile=\nEnvironment=\nExecStart=\n{kubelet} --cluster-dns=10.0.0.1 $KUBELET_A $KUBELET_B"
                    )),
                ),
            ],
            "/etc/resolv.conf 10.0.0.1 -",
        ),
        case(
            "strongest-directory",
            &[
                (
                    "usr/lib/systemd/system/kubelet.service",
                    &service(&format!("{kubelet} --resolv-conf=/c $KUBELET_A")),
                ),
                (
                    UNIT,
                    &service(&format!("{kubelet} --resolv-conf=/b $KUBELET_A")),
                ),
                (
                    "usr/lib/systemd/system/kubelet.service.d/10.conf",
                    &service("Environment=KUBELET_A=--resolv-conf=/d"),
                ),
                (
                    "etc/systemd/system/kubelet.service.d/10.conf",
                    &service("Environment=KUBELET_A=--resolv-conf=/a"),
                ),
                (
                    "usr/lib/systemd/system/kubelet.service.d/20.conf",
                    &service("Environment=KUBELET_B=--resolv-conf=/e"),
                ),
            ],
            "/a - -",
        ),
        case(
            "drop-in-of-all-services",
            &[
                (UNIT, &service(&format!("{kubelet} $KUBELET_A"))),
                (
                    "etc/systemd/system/service.d/10-kubelet.conf",
                    &service("Environment=KUBELET_A=--resolv-conf=/a"),
                ),
            ],
            "/a - -",
        ),
        case(
            "quotes-and-percents",
            &[(
                UNIT,
                &service(&format!(
                    "{kubelet} \\\n # kubelet\n '--resolv-conf=/a%%b' --cluster-domain \"c\""
                )),
            )],
            "/a%b - c",
        ),
        case(
            "script",
            &[(
                UNIT,
                &service("ExecStart=/bin/sh -c 'exec /usr/bin/kubelet --resolv-conf=/a && true'"),
            )],
            "/a - -",
        ),
        case(
            "wrapper",
            &[(
                UNIT,
                &service(
                    "ExecStart=/usr/bin/kubenswrapper \\\n  /usr/bin/kubelet --resolv-conf=/a",
                ),
            )],
            "/a - -",
        ),
        case(
            "flags-of-a-list-add-up",
            &[
                (
                    UNIT,
                    &unit(
                        "1.30.1",
                        "--cluster-dns=10.0.0.1 --resolv_conf /a --cluster-dns=10.0.0.2,10.0.0.3",
                    ),
                ),
                (CONFIG, &config("clusterDNS: [10.0.0.4]\nresolvConf: /b\n")),
            ],
            "/a 10.0.0.1,10.0.0.2,10.0.0.3 -",
        ),
        case(
            "relative-path",
            &[
                (UNIT, &unit("1.30.1", "")),
                (CONFIG, &config("resolvConf: ../r.conf\n")),
            ],
            "/var/lib/r.conf - -",
        ),
    ]);
}
