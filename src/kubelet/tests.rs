use std::fmt::Write as _;

use super::*;

/// Where a setting was made, in short.
pub(crate) fn origin(origin: &Origin) -> String {
    match origin {
        Origin::BuiltIn => "the built-in default".to_owned(),
        Origin::File(place) => place.to_string(),
        Origin::Argument { pid, argument } => format!("{argument} (argument of process {pid})"),
        Origin::Option(option) => (*option).to_owned(),
        Origin::Pod(text) | Origin::Unread(text) => text.clone(),
    }
}

/// The settings in short: `value (origin) over …`.
fn check(
    file: Option<&str>,
    arguments: &[&str],
    minor: u32,
    expected: [&str; 3],
    remarks: &[Remark],
) -> Kubelet {
    let source = file.map(|text| {
        Source::new(
            "f",
            format!(
                "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n{text}"
            ),
        )
    });
    let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
    let version = (minor > 0).then_some(Version::minor(1, minor));
    let kubelet = configured(source.as_ref(), &arguments, version);
    let servers = |it: &Vec<IpAddr>| {
        it.iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(",")
    };
    let found = [
        shown(&kubelet.resolv_conf, Clone::clone),
        shown(&kubelet.cluster_dns, servers),
        shown(&kubelet.cluster_domain, Clone::clone),
    ];
    assert_eq!(found, expected, "{file:?} {arguments:?}");
    assert_eq!(kubelet.remarks, remarks);
    kubelet
}

fn shown<T>(setting: &Setting<T>, text: impl Fn(&T) -> String) -> String {
    let set = origin(&setting.origin);
    let mut shown = format!("{} ({set})", text(&setting.value));
    for (value, by) in &setting.overrode {
        write!(shown, " over {} ({})", text(value), origin(by)).unwrap();
    }
    shown
}

const NOTHING: [&str; 3] = [
    "/etc/resolv.conf (the built-in default)",
    " (the built-in default)",
    " (the built-in default)",
];

#[test]
fn nothing_set_is_the_built_in_default() {
    check(None, &[], 0, NOTHING, &[]);
    check(Some("maxPods: 5\n"), &["--v=2"], 30, NOTHING, &[]);
}

#[test]
fn flags_beat_the_file_and_the_last_one_counts() {
    check(
        Some("resolvConf: /a\nclusterDNS: [10.0.0.1, x]\nclusterDomain: a.b\n"),
        &[
            "--resolv-conf=/b",
            "--cluster-dns=10.0.0.2,10.0.0.3",
            "--resolv_conf",
            "",
            "--cluster-dns=::1",
        ],
        30,
        [
            " (--kubelet-arg) over /b (--kubelet-arg) over /a (f:3:13)",
            "10.0.0.2,10.0.0.3,::1 (--kubelet-arg) over 10.0.0.1 (f:4:14)",
            "a.b (f:5:16)",
        ],
        &[Remark::NoAddress {
            at: "f:4:14".to_owned(),
            text: "x".to_owned(),
        }],
    );
}

/// In the file of `--config` a relative path begins in its directory.
#[test]
fn a_relative_path_in_the_file_begins_in_its_directory() {
    for (file, path, expected) in [
        ("/etc/k/config.yaml", "resolv.conf", "/etc/k/resolv.conf"),
        (
            "/etc/k/config.yaml",
            "../r/./resolv.conf",
            "/etc/r/resolv.conf",
        ),
        ("/etc/k/config.yaml", "/run/resolv.conf", "/run/resolv.conf"),
        ("/etc/k/config.yaml", "\"\"", ""),
    ] {
        let text = format!(
            "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nresolvConf: {path}\n"
        );
        let source = Source::new(file, text);
        let kubelet = configured(Some(&source), &[], None);
        assert_eq!(kubelet.resolv_conf.value, expected, "{path}");
        assert!(kubelet.remarks.is_empty(), "{:?}", kubelet.remarks);
    }
}

#[test]
fn a_relative_path_and_a_swallowed_flag_are_told() {
    check(
        None,
        &["--resolv-conf", "--v=2"],
        30,
        ["--v=2 (--kubelet-arg)", NOTHING[1], NOTHING[2]],
        &[
            Remark::Swallowed {
                flag: "--resolv-conf".to_owned(),
                value: "--v=2".to_owned(),
            },
            Remark::RelativePath("--v=2".to_owned()),
        ],
    );
}

#[test]
fn a_broken_file_leaves_a_guess_unless_a_flag_sets_it() {
    let source = Source::new("f", b"a: [");
    let kubelet = configured(Some(&source), &["--resolv-conf=/a".to_owned()], None);
    assert_eq!(kubelet.resolv_conf.origin, Origin::Option("--kubelet-arg"));
    assert_eq!(kubelet.resolv_conf.overrode, []);
    let Origin::Unread(why) = kubelet.cluster_dns.origin else {
        panic!("{:?}", kubelet.cluster_dns);
    };
    assert!(
        why.contains("the kubelet does not start with this file"),
        "{why}"
    );
}

#[test]
fn arguments_can_be_added_to_a_kubelet() {
    let kubelet = check(
        Some("resolvConf: /a\n"),
        &["--cluster-domain=x"],
        30,
        ["/a (f:3:13)", NOTHING[1], "x (--kubelet-arg)"],
        &[],
    );
    let kubelet = kubelet.with_arguments(&["--resolv-conf=/b".to_owned()]);
    let found = shown(&kubelet.resolv_conf, Clone::clone);
    assert_eq!(found, "/b (--kubelet-arg) over /a (f:3:13)");
    assert_eq!(kubelet.cluster_domain.value, "x");
}

#[test]
fn drop_ins_came_with_1_28_and_needed_a_variable_until_1_30() {
    let refuses = |minor, has_variable| {
        effective::refuses_drop_ins(Some(Version::minor(1, minor)), has_variable)
    };
    assert_eq!(refuses(27, Some(true)), Some(Refusal::DropIns));
    assert_eq!(refuses(28, Some(true)), None);
    assert_eq!(refuses(28, None), None);
    assert_eq!(refuses(29, Some(false)), Some(Refusal::DropInGate));
    assert_eq!(refuses(30, Some(false)), None);
    assert_eq!(effective::refuses_drop_ins(None, Some(false)), None);
}
